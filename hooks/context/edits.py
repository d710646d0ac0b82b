"""Which tool calls change something, so that what failed before them may succeed now.

An edit is a success of ``Edit``, ``MultiEdit``, ``Write`` or ``NotebookEdit``, of an MCP tool
whose name says that it writes or edits, or of a shell command that sends output into a file or
runs a program of the tables below. It falls to "an edit": it only ever keeps a tool allowed.
"""

from __future__ import annotations

from hooks.context.operation import EDITORS
from hooks.context.shell_words import commands, operands, writers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hooks.context.shell_words import Command

_MCP = ("write", "edit", "create", "update", "replace", "insert", "delete", "move", "patch")
# Programs that change files whatever their arguments are.
_ANYWAY = (
    "cp mv rm rmdir mkdir touch ln install dd truncate tee patch ed ex rsync scp unzip chmod chown "
    "gofmt black isort prettier autopep8 rustfmt brew apt apt-get dnf apk snap"
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
_IN_PLACE = {  # program -> what begins the option with which it changes files
    "sed": ("-i", "--in-place"),
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
    if one.program in _CHANGE or _changes_text(one, text):
        return True
    words = operands(one)
    subcommands = _CHANGE_WITH.get(_base(one.program), "")
    if one.args[:2] == ("-m", "pip"):
        return True
    return bool(words) and words[0] in subcommands.split()


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
