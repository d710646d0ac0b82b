"""What a tool call is aimed at: a call is denied only for failures of its own target.

Whoever reads ten missing files, or asks ten hosts, has repeated a mistake and is told so; the
eleventh file may be there. It falls open: whatever may aim elsewhere is another target.
"""

from __future__ import annotations

from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# With these in it the same words may run something else: then the text itself has to be the same.
_OPEN = ("$", "`", "<<", "=")


def target(tool: str, tool_input: Mapping[str, object], cwd: str = "") -> str:
    """Return 32 hex digits that are the same for calls with one target.

    Of ``Read`` it is the file, of ``WebFetch`` the address without its query, of ``Bash`` the
    folder and the words that are no options; of every other tool all that it was given.
    """
    return short_digest(
        "\0".join((tool, *_parts(tool, tool_input, cwd))).encode("utf-8", "replace")
    )


def _parts(tool: str, tool_input: Mapping[str, object], cwd: str) -> tuple[str, ...]:
    file, url, command = (tool_input.get(name) for name in ("file_path", "url", "command"))
    if tool == "Read" and isinstance(file, str):
        return (file,)
    if tool == "WebFetch" and isinstance(url, str):
        return (url.partition("#")[0].partition("?")[0].rstrip("/"),)
    if tool == "Bash" and isinstance(command, str):
        return _of_shell(command, cwd)
    from scripts.swarm_v2.wire_json import dumps

    return (dumps(dict(sorted(tool_input.items()))),)


def _of_shell(text: str, cwd: str) -> tuple[str, ...]:
    from hooks.context.shell_words import commands

    ran, folder, words = commands(text), cwd, []
    for one in ran:
        if not one.certain or f"/{one.program}" in text:  # a program by its path
            return (cwd, text)
        given = [arg for arg in one.args if not arg.startswith("-")]
        if one.program == "cd" and len(given) == 1:
            to = given[0].rstrip("/")
            folder = to if given[0].startswith("/") else f"{folder}/{to}"
        else:
            words += [one.program, *given]
    if not ran or any(sign in text for sign in _OPEN):
        return (cwd, text)
    return (folder, *words)
