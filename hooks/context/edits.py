"""Which tool calls change something, so that what failed before them may succeed now.

An edit is a success of ``Edit``, ``MultiEdit``, ``Write`` or ``NotebookEdit``, of an MCP tool
whose name says that it writes or edits, or of a shell command that sends output into a file,
runs a program of the tables below, or says in its words that it fixes, formats or generates,
whatever runs it (``npx``, ``uv run``, ``make``). It falls to "an edit": it only ever keeps a tool
allowed.
"""

from __future__ import annotations

from hooks.context.operation import EDITORS
from hooks.context.shell_words import commands, operands, writers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hooks.context.shell_words import Command

_SAYS = (
    "write edit create update replace insert delete move patch rename apply save append remove "
    "refactor"
)
_MCP = tuple(_SAYS.split())
# Programs that change files whatever their arguments are.
_ANYWAY = (
    "cp mv rm rmdir mkdir touch ln install dd truncate tee patch ed ex rsync scp unzip chmod chown "
    "brew apt apt-get dnf apk snap unlink shred tar wget dos2unix sponge rename sd "
    "vi vim nvim nano emacs apply_patch pre-commit"
)
_CHANGE = frozenset(_ANYWAY.split())
# program -> the subcommands with which it changes files, or what is installed.
_CHANGE_WITH = {
    "git": "apply am checkout switch restore reset stash merge rebase pull cherry-pick revert "
    "clean rm mv clone submodule worktree init",
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"),
        "install i ci add remove rm uninstall un update up upgrade dedupe audit init link",
    ),
    **dict.fromkeys(("pip", "pipx", "conda", "gem"), "install uninstall update upgrade remove"),
    **dict.fromkeys(
        ("uv", "poetry", "pdm", "pipenv"), "add remove sync install lock update pip venv init"
    ),
    **dict.fromkeys(("cargo", "go"), "add remove update fix fmt install get mod clean init"),
    **dict.fromkeys(("bundle", "composer"), "install update require remove add"),
    "ruff": "format",
}
# What a program, or a task that one runs, is called that changes files; and what asks for it.
_NAMED = (
    "fix fixes autofix fixer fmt format formatter reformat gofmt rustfmt black isort prettier yapf "
    "autopep8 clangformat codemod rewrite generate codegen makemigrations migrate revision "
    "scaffold edit patch"
)
_FIXES = frozenset(_NAMED.split())
_ASK = (
    "--fix --fix-only --autofix --unsafe-fixes --write --in-place --inplace --autocorrect "
    "--auto-correct --update-snapshots --snapshot-update --updateSnapshot -delete"
)
_ASKED = frozenset(_ASK.split())
# What only looks, prints or moves about, whatever words it is given; git has its own table.
_LOOKS = (
    "git gh glab cd pushd popd echo printf cat less more head tail ls tree stat file wc grep egrep "
    "fgrep find rg ag ack fd awk sed diff cmp man which type test [ true false sleep curl jq sort "
    "uniq cut tr docker podman kubectl"
)
_LOOKERS = frozenset(_LOOKS.split())
_WORDS = 4  # that are looked at: behind them are the names of files
_IN_PLACE = {  # program -> what begins the option with which it changes files
    **dict.fromkeys(("sed", "gsed", "awk", "gawk"), ("-i", "-ni", "-Ei", "-ri", "--in-place")),
    "perl": ("-i", "-pi", "-ni"),
    **dict.fromkeys(("eslint", "ruff", "stylelint", "biome"), ("--fix", "--write")),
}
_INLINE = ("python", "node", "ruby", "perl", "deno", "bun", "php")  # programs that run a text
_SAYS_WRITE = ("write", "'w'", '"w"', "'a'", '"a"', "File.")


def edits(tool: str, tool_input: Mapping[str, object]) -> bool:
    """Say whether a successful call of ``tool`` is an edit."""
    if tool in EDITORS:
        return True
    if tool.startswith("mcp__"):
        name = tool.rpartition("__")[2].lower()
        return any(word in name for word in _MCP)
    text = tool_input.get("command")
    if tool != "Bash" or not isinstance(text, str):
        return False
    return bool(writers(text)) or any(_changes(one, text) for one in commands(text))


def edits_first(tool: str, tool_input: Mapping[str, object]) -> bool:
    """Say whether a failed shell command changed a file's text before something else failed.

    ``sed -i … && make`` does; a log (``make > log``) and what a retry repeats (``rm``) do not.
    """
    text = tool_input.get("command")
    if tool != "Bash" or not isinstance(text, str):
        return False
    found = commands(text)
    changed = [one for one in found if _changes_text(one, text)]
    texts = [program for program in writers(text) if program in ("cat", "echo", "printf")]
    return bool(changed or texts) and len(found) > len(changed) + len(texts)


def _changes(one: Command, text: str) -> bool:
    if one.program in _CHANGE or _changes_text(one, text) or _is_named_so(one):
        return True
    words = operands(one)
    subcommands = _CHANGE_WITH.get(_base(one.program), "")
    if one.args[:2] == ("-m", "pip"):
        return True
    return bool(words) and words[0] in subcommands.split()


def _is_named_so(one: Command) -> bool:
    """Say whether its own words say that it changes files: ``npm run lint:fix``, ``--write``."""
    if any(arg.partition("=")[0] in _ASKED for arg in one.args):
        return True
    if one.program in _LOOKERS:
        return False
    named = [one.program, *(arg for arg in one.args if not arg.startswith("-"))][:_WORDS]
    return any(_fixes(word) for word in named)


def _fixes(word: str) -> bool:
    """Read a name by its words; the folders that a file lies in say nothing of it."""
    name = word.rpartition("/")[2].lower()
    words = "".join(char if char.isalpha() else " " for char in name).split()
    return not _FIXES.isdisjoint(words) and "test" not in words and "check" not in words


def _changes_text(one: Command, text: str) -> bool:
    if one.program in ("patch", "ed", "ex"):
        return True
    if one.program == "git" and operands(one)[:1] == ("apply",):
        return True
    begins = _IN_PLACE.get(one.program, ())
    if begins and any(arg.startswith(begins) for arg in one.args):
        return True
    return _base(one.program) in _INLINE and _runs_a_text(one, text)


def _runs_a_text(one: Command, text: str) -> bool:
    """Say whether it runs a text of the command itself that speaks of writing."""
    given = not one.args or one.args[0] in ("-", "-c", "-e", "-r", "eval", "--eval")
    return given and any(word in text for word in _SAYS_WRITE)


def _base(program: str) -> str:
    return program.rstrip("0123456789.")
