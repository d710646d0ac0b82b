"""What ``put`` and ``edit`` are given: a value in words, from standard input or an editor."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import typer

from scripts.swarm_v2.wire_json import loads

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_VALUE = object()


def given(value: str | None, as_text: bool) -> object:
    """Return the value as it was said, else what standard input has.

    Raises:
        BadParameter: nothing was said, and nothing is there.
    """
    return read_value(value if value is not None else from_stdin(), as_text)


def read_value(text: str, as_text: bool) -> object:
    """Read JSON; what is none is text.

    Raises:
        BadParameter: it has the braces of an object, and is none.
    """
    if as_text:
        return text
    try:
        return loads(text)
    except ValueError:
        bare = text.strip()
        if bare.startswith("{") and bare.endswith("}"):
            sentence = "it looks like a JSON object and is none; --text takes it as a text"
            raise typer.BadParameter(sentence, param_hint="VALUE") from None
    return text.rstrip("\n")


def from_stdin() -> str:
    if sys.stdin.isatty():
        raise typer.BadParameter("say it, or give it on standard input", param_hint="VALUE")
    data = sys.stdin.buffer.read()
    if not data.strip():  # of an agent's shell, say: no one means to empty a document by that
        raise typer.BadParameter("nothing to write; say it, or pipe it in", param_hint="VALUE")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        sentence = "what was given on standard input is no text in UTF-8"
        raise typer.BadParameter(sentence, param_hint="VALUE") from None


def edited(value: object, env: Mapping[str, str]) -> object:
    """Let the person edit it; NO_VALUE where they left it as it was."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    editor = env.get("VISUAL") or env.get("EDITOR") or "vi"
    with tempfile.NamedTemporaryFile("w+", suffix=".json", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([*shlex.split(editor), file.name], check=False)
        with open(file.name, encoding="utf-8") as again:  # editors replace the file
            after = again.read()
    if done.returncode or after.rstrip("\n") == text.rstrip("\n") or not after.strip():
        return NO_VALUE
    return after.rstrip("\n") if isinstance(value, str) else read_value(after, as_text=False)


def redacted(value: object) -> tuple[object, tuple[str, ...]]:
    """Take secrets out of every text; return what was left, and which kinds were taken."""
    from hooks.context.redact import redact

    kinds: dict[str, None] = {}

    def clean(part: object) -> object:
        if isinstance(part, str):
            text, found = redact(part)
            kinds.update(dict.fromkeys(found))
            return text
        if isinstance(part, list):
            return [clean(one) for one in part]
        if isinstance(part, dict):
            return {name: clean(one) for name, one in part.items()}
        return part

    return clean(value), tuple(kinds)


def tell_redacted(kinds: tuple[str, ...]) -> None:
    if kinds:
        typer.echo(f"taken out before it was kept: {', '.join(kinds)}", err=True)
