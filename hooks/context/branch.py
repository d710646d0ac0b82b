"""What branch a working copy is on, read from git's own files; git itself is never asked.

It falls quiet: where a file does not say it (no repository, HEAD in a reftable, a folder that is
gone), nothing is known, and nothing is told.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.context import git_files
from hooks.quick import signature
from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple

    from hooks.context.shell_words import Command
else:
    from hooks.record import NamedTuple

_LONGEST = 4_096  # bytes of a file that names a ref
EDITS = ("Edit", "MultiEdit", "Write", "NotebookEdit")  # the tools that change a file
_SHOWN = 100  # characters of a branch name that is quoted
_BRANCH = "refs/heads/"
_ORIGIN = "refs/remotes/origin/"
# Where git keeps the branch to come back to while HEAD is detached for a while.
_MEANWHILE = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")


class Head(NamedTuple):
    """What one working copy has checked out."""

    path: str  # of the file HEAD
    signature: str  # its, taken before it was read
    key: str  # tells working copies apart
    name: str  # of the branch, also while it is rebased or bisected; "" when detached
    commit: str  # the first ten digits; "" on a branch
    default: bool  # the repository's default branch, and it has a commit


def look(folder: str) -> Head | None:
    """Return what the working copy that ``folder`` is in has checked out; None: nobody can say."""
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        return None
    repo = git_files.find(os.path.realpath(folder))
    if repo is None or not repo.git_dir:
        return None
    path = os.path.join(repo.git_dir, "HEAD")
    before = signature(path)
    said = _line(path)
    ref = said.removeprefix("ref:").strip()
    if not ref or ref == _BRANCH + ".invalid":
        return None
    detached = ref == said
    name = _meanwhile(repo.git_dir) if detached else ref.removeprefix(_BRANCH)
    default = bool(name) and _is_default(repo.common_dir, name)
    commit = "" if name else ref[:10]
    return Head(path, before, short_digest(os.fsencode(path)), name, commit, default)


def _meanwhile(git_dir: str) -> str:
    for file in _MEANWHILE:
        said = _line(os.path.join(git_dir, file))
        name = said.removeprefix(_BRANCH)
        if said and said != "detached HEAD" and not _is_commit(name):
            return name
    return ""


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")


def _is_default(common: str, name: str) -> bool:
    """By what a clone noted of its origin; else it is called main, or master without a main."""
    origin = _line(os.path.join(common, _ORIGIN + "HEAD")).removeprefix("ref:").strip()
    if origin.startswith(_ORIGIN):
        named = name == origin.removeprefix(_ORIGIN)
    else:
        named = name == "main" or (name == "master" and not _exists(common, "main"))
    return named and _exists(common, name)


def _exists(common: str, name: str) -> bool:
    ref = _BRANCH + name
    if os.path.exists(os.path.join(common, ref)):
        return True
    packed = _read(os.path.join(common, "packed-refs"), 4 << 20)
    return f" {ref}\n".encode("utf-8", "surrogateescape") in packed


def _line(path: str) -> str:
    return _read(path, _LONGEST).decode("utf-8", "surrogateescape").partition("\n")[0].strip()


def _read(path: str, most: int) -> bytes:
    try:
        return atomic.read(path, most) or b""
    except (OSError, ValueError):
        return b""


def shown(name: str) -> str:
    """Return a branch's name in quotes for the model, or what stands for one that is no such text.

    A name comes from whoever pushed it; only one that reads as a name is quoted.
    """
    plain = all(char.isalnum() or char in "-_./+@#=," for char in name)
    return f"`{name}`" if plain and len(name) <= _SHOWN else "a branch with an unusual name"


# Subcommands of git that leave the working copy on its branch. Any other (an alias too) may not.
_STAY = (
    "add am annotate apply archive blame cat-file check-ignore cherry cherry-pick clean "
    "clone commit config describe diff diff-files diff-index diff-tree difftool fetch "
    "for-each-ref format-patch fsck gc grep help hash-object log ls-files ls-remote ls-tree "
    "maintenance merge merge-base mv name-rev notes prune pull push range-diff reflog "
    "remote reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref "
    "status submodule tag var version whatchanged"
)
_STAYS = frozenset(_STAY.split())
_RENAMES = frozenset(("-m", "-M", "--move"))
_SWITCH_TOO = frozenset(("gt", "hub", "jj", "sl", "git-town"))
_REQUESTS = frozenset(("checkout", "co", "merge", "accept", "develop", "sync"))
_COMMITS = frozenset(("commit", "merge", "cherry-pick", "revert", "am"))


def may_switch(some: Sequence[Command]) -> bool:
    """Say whether one of the commands may have put another branch under the session."""
    return any(_may_switch(one) for one in some)


def _may_switch(one: Command) -> bool:
    from hooks.context.shell_words import operands

    words = operands(one)
    first = words[0] if words else ""
    if not one.certain or one.program in _SWITCH_TOO:
        return True
    if one.program in ("gh", "glab"):
        return not _REQUESTS.isdisjoint(words[1:2])
    if one.program != "git" or not first:
        return False
    if first == "branch":
        return not _RENAMES.isdisjoint(words)
    if first == "checkout":
        return "--" not in words
    if first == "stash":
        return words[1:2] == ("branch",)
    return first not in _STAYS


def commits(some: Sequence[Command]) -> bool:
    """Say whether one of the commands makes a commit on the branch."""
    from hooks.context.shell_words import operands

    return any(one.program == "git" and not _COMMITS.isdisjoint(operands(one)[:1]) for one in some)


def elsewhere(some: Sequence[Command]) -> bool:
    """Say whether the commands may have worked in another folder than the session's."""
    return any(
        one.program in ("cd", "pushd")
        or any(arg.startswith(("-C", "--git-dir", "--work-tree")) for arg in one.args)
        for one in some
    )
