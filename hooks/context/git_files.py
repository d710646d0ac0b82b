"""What git's own files say: where a repository is, its branch, its origin.

A process costs more than a whole hook may, so git itself is asked only where its files cannot
answer: includes, ``insteadOf`` that touches this URL, values that several files give.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.home import user_home
from hooks.spawn import ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

TIMEOUT_S = 1.0  # git answers in 2 ms; a stuck filesystem must not hold the agent
_MAX_CONFIG = 4 << 20
_HEAD_BRANCH = "ref: refs/heads/"
_KEPT = frozenset(
    {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"}
)


class Repo(NamedTuple):
    """One working copy. Paths are resolved; ``worktree`` is empty for a bare repository."""

    worktree: str
    git_dir: str
    common_dir: str  # shared by every worktree; "" when the ``.git`` file leads nowhere


class Config(NamedTuple):
    """What of one config file decides about ``origin``."""

    urls: tuple[str, ...] = ()
    rewrites: tuple[str, ...] = ()  # the prefixes that some ``insteadOf`` replaces
    opaque: bool = False  # includes or continued lines: only git can tell


class Origin(NamedTuple):
    url: str  # may hold a secret; "" when there is none
    rewritten: bool = False  # git was asked, and answered
    unsure: bool = False  # there may be one, but neither a file nor git says which


def find(folder: str) -> Repo | None:
    """Find the repository that the resolved, existing ``folder`` is in, as git does.

    ``GIT_DIR`` and its kin are not looked at: a variable of some parent process must not
    decide whose memory this is.
    """
    while True:
        repo = _at(folder)
        if repo is not None:
            return repo
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _at(folder: str) -> Repo | None:
    dot = os.path.join(folder, ".git")
    if os.path.isfile(dot):
        pointer = _text(dot).strip()
        target = os.path.join(folder, pointer.removeprefix("gitdir:").strip())
        if pointer.startswith("gitdir:") and (common := _common_dir(target)):
            return Repo(folder, os.path.realpath(target), common)
        return Repo(folder, "", "")
    if common := _common_dir(dot):
        return Repo(folder, os.path.realpath(dot), common)
    if common := _common_dir(folder):  # a bare repository, or a folder inside ``.git``
        return Repo(_worktree_of(folder), folder, common)
    return None


def _common_dir(git_dir: str) -> str:
    """Return the common dir of ``git_dir``, or "" when git would not take it for one."""
    if not os.path.lexists(os.path.join(git_dir, "HEAD")):
        return ""
    shared = _text(os.path.join(git_dir, "commondir")).strip()
    common = os.path.realpath(os.path.join(git_dir, shared))
    whole = os.path.isdir(os.path.join(common, "objects"))
    return common if whole and os.path.isdir(os.path.join(common, "refs")) else ""


def _worktree_of(git_dir: str) -> str:
    link = _text(os.path.join(git_dir, "gitdir")).strip()  # in .git/worktrees/<name>
    if link:
        return os.path.dirname(os.path.join(git_dir, link))
    return os.path.dirname(git_dir) if os.path.basename(git_dir) == ".git" else ""


def _text(path: str) -> str:
    """Return a small file's text; "" when it is absent, unreadable or no regular file."""
    try:
        data = atomic.read(path, _MAX_CONFIG)
    except OSError:
        return ""
    return (data or b"").decode("utf-8", "surrogateescape")


def branch(git_dir: str) -> str:
    """Return the checked-out branch (also one without commits); "" when detached.

    A reftable repository keeps its HEAD elsewhere and gives "" too.
    """
    head = _text(os.path.join(git_dir, "HEAD")).strip()
    name = head.removeprefix(_HEAD_BRANCH)
    return "" if name in {head, ".invalid"} else name


def has_commits(repo: Repo) -> bool:
    """Say, without git, whether HEAD may name a commit."""
    name = branch(repo.git_dir)
    loose = os.path.join(repo.common_dir, "refs", "heads", name)
    return not name or any(map(os.path.lexists, (loose, _packed_refs(repo))))


def _packed_refs(repo: Repo) -> str:
    return os.path.join(repo.common_dir, "packed-refs")


def may_hold(common_dir: str, commit: str) -> bool:
    """Return False only on proof that ``commit`` is not in this repository.

    The proof: nothing packed, nothing borrowed, and no loose object of that name.
    """
    objects = os.path.join(common_dir, "objects")
    if os.path.exists(os.path.join(objects, commit[:2], commit[2:])):
        return True
    try:
        packed = any(name.endswith(".idx") for name in os.listdir(os.path.join(objects, "pack")))
    except OSError:
        packed = False
    return packed or os.path.exists(os.path.join(objects, "info", "alternates"))


def origin(repo: Repo, env: Mapping[str, str]) -> Origin:
    """Return the fetch URL of ``origin``, after what git's configuration makes of it.

    Where git would have to be asked and does not answer (absent, slow, or it distrusts the
    folder's owner), the repository's own file speaks.
    """
    config = os.path.join(repo.common_dir, "config")
    text = _text(config)
    own = parse_config(text) if text or _is_empty(config) else Config(opaque=True)
    paths = [os.path.join(repo.git_dir, "config.worktree"), *_shared_configs(env)]
    others = [parse_config(text) for path in paths if (text := _text(path))]
    url = own.urls[0] if own.urls else ""
    if not _needs_git(url, own, others):
        return Origin(url)
    # Unlike `remote get-url` it succeeds without an origin too (and prints the name), so a
    # failure means that git did not answer.
    argv = _git(repo, "ls-remote", "--get-url", "origin")
    answer = ask(argv, clean_env(env), timeout_s=TIMEOUT_S)
    found = (answer or "").rstrip("\n")
    if found in {"", "origin"}:
        return Origin(url, unsure=answer is None and not url)
    return Origin(found, rewritten=True)


def _is_empty(path: str) -> bool:
    """Say whether a file that gave no text has none: it is absent, or of no length."""
    try:
        return os.stat(path).st_size == 0
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _needs_git(url: str, own: Config, others: list[Config]) -> bool:
    if own.opaque or "" in own.urls or any(other.opaque or other.urls for other in others):
        return True
    prefixes = [prefix for config in (own, *others) for prefix in config.rewrites]
    return bool(url) and url.startswith(tuple(prefixes))


def _shared_configs(env: Mapping[str, str]) -> list[str]:
    """Return the system's and the person's config files, as git looks for them."""
    paths = []
    if env.get("GIT_CONFIG_NOSYSTEM", "").lower() not in {"1", "true", "yes", "on"}:
        paths.append(env.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig")
    if "GIT_CONFIG_GLOBAL" in env:
        return [*paths, env["GIT_CONFIG_GLOBAL"]]
    home = user_home(env)
    config_home = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return [
        *paths,
        os.path.join(config_home, "git", "config"),
        os.path.join(home, ".gitconfig"),
    ]


def root_commits(repo: Repo, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return HEAD's commits without parents, oldest first; () when git is silent."""
    argv = _git(repo, "rev-list", "--max-parents=0", "HEAD", "--")
    answer = ask(argv, clean_env(env), timeout_s=TIMEOUT_S)
    return tuple(reversed((answer or "").split()))


# A repository's own configuration can name programs (a transport's ssh command, a file system
# monitor). We look at folders whose trust nobody was asked about: none of them may run.
_INERT = ("-c", "core.fsmonitor=false", "-c", "core.sshCommand=false", "-c", "protocol.allow=never")


def _git(repo: Repo, *args: str) -> list[str]:
    return ["git", *_INERT, "-C", repo.worktree or repo.git_dir, *args]


def clean_env(env: Mapping[str, str]) -> dict[str, str]:
    """Return ``env`` without what would point git at another repository or another setting.

    A partial clone fetches what it lacks when it is read: no transport is allowed either.
    """
    kept = {n: v for n, v in env.items() if not n.startswith("GIT_") or n in _KEPT}
    return {
        **kept,
        "HOME": user_home(env),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }


def parse_config(text: str) -> Config:
    """Read of a git config file what decides about ``origin``."""
    if "\\\n" in text or "\\\r\n" in text:
        return Config(opaque=True)
    urls: list[str] = []
    rewrites: list[str] = []
    opaque = False
    section = subsection = ""
    for line in text.removeprefix("\ufeff").split("\n"):
        rest = line.strip()
        if rest[:1] == "[":
            section, subsection, rest = _header(rest)
        name, _, value = rest.partition("=")
        wanted = _WANTED.get(section)
        if wanted is None or name.strip().lower() != wanted:
            continue
        if section == "remote" and subsection == "origin":
            urls.append(_value(value))
        elif section == "url":
            rewrites.append(_value(value))
        elif section != "remote":
            opaque = True
    return Config(tuple(urls), tuple(rewrites), opaque)


_WANTED = {"remote": "url", "url": "insteadof", "include": "path", "includeif": "path"}


def _header(line: str) -> tuple[str, str, str]:
    """Split ``[section "sub"] rest``; ``[section.sub]`` is the older spelling."""
    quote, end = line.find('"'), line.find("]")
    if quote < 0 or end < quote:
        section, _, older = line[1:end].strip().lower().partition(".")
        return section, older, line[end + 1 :].strip()
    subsection, at = "", quote + 1
    while at < len(line) and line[at] != '"':
        at += line[at] == "\\"
        subsection += line[at : at + 1]
        at += 1
    rest = line[at + 1 :].partition("]")[2]
    return line[1:quote].strip().lower(), subsection, rest.strip()


_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def _value(raw: str) -> str:
    """Read a value: quotes dropped, escapes resolved, a comment and blanks at the end cut."""
    out, kept, quoted, escaped = "", 0, False, False
    for char in raw.strip():
        if escaped:
            out, escaped = out + _ESCAPES.get(char, char), False
        elif char == "\\":
            escaped = True
            continue
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        elif out or quoted or not char.isspace():  # also behind empty quotes: blanks begin nothing
            out += char
        if quoted or not char.isspace():
            kept = len(out)
    return out[:kept]
