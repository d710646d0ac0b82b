"""One transcript line as a line of the log: pure. ``docs/transcript-log.md`` is its contract."""

from __future__ import annotations

from hooks.context.redact import redact
from scripts.swarm_v2.wire_json import clean, dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

VERSION = 1
MOST_TEXT = 32_768  # characters of what was said
MOST_TOOL = 2_000  # characters of a tool's input or result: what it was about
_CLIENT = ("<command-name>", "<command-message>", "<local-command-", "<system-reminder>")
_DEPTH = 40  # of a tool's input; what lies deeper is left out


class _Said(NamedTuple):
    """One content block: its text, the tool that it calls, and what kind of block it is."""

    kind: str
    text: str = ""
    tool: str = ""
    failed: bool = False
    redacted: tuple[str, ...] = ()  # what was taken out of it already


def turn(line: Mapping[str, object], *, session: str, agent: str) -> dict[str, object] | None:
    """Return the log's object for a transcript line; None for one that is no turn.

    A turn is a user's or assistant's line with a uuid and something said: not the client's
    bookkeeping, not thinking. Secrets are taken out before anything is cut.
    """
    uuid, kind, message = _text(line, "uuid"), line.get("type"), line.get("message")
    if not uuid or kind not in ("user", "assistant") or not isinstance(message, dict):
        return None
    said = list(_blocks(message.get("content")))
    if line.get("isMeta") or not said:
        return None
    texts = [_safe(one) for one in said]
    kinds = dict.fromkeys(name for _, found, _ in texts for name in found)
    return {
        "v": VERSION,
        "uuid": uuid,
        "at": _text(line, "timestamp"),
        "session": _text(line, "requestSessionId") or session,
        "agent": agent,
        "role": _role(line, message, said),
        "model": _text(message, "model"),
        "text": "\n\n".join(text for text, _, _ in texts if text),
        "tool": ", ".join(one.tool for one in said if one.tool),
        "error": any(one.failed for one in said),
        "cut": any(cut for _, _, cut in texts),
        "redacted": list(kinds),
    }


def _role(line: Mapping[str, object], message: Mapping[str, object], said: list[_Said]) -> str:
    if line.get("type") == "assistant":
        synthetic = line.get("isApiErrorMessage") or message.get("model") == "<synthetic>"
        return "client" if synthetic else "assistant"
    if line.get("isCompactSummary"):
        return "summary"
    if any(one.kind == "tool_result" for one in said):
        return "tool"
    noticed = isinstance(line.get("origin"), dict) or said[0].text.lstrip().startswith(_CLIENT)
    return "client" if noticed else "user"


def _blocks(content: object) -> Iterator[_Said]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield from _block(block)


def _block(block: Mapping[str, object]) -> Iterator[_Said]:
    kind = _text(block, "type")
    if kind == "text":
        text = _text(block, "text")
        if text and not text.isspace():
            yield _Said(kind, text)
    elif kind == "tool_use":
        tool = redact(_text(block, "name"))[0][:200] or "?"
        kinds: list[str] = []
        given = dumps(_plain(block.get("input"), kinds, 0))
        yield _Said(kind, given, tool, redacted=tuple(kinds))
    elif kind == "tool_result":
        yield _Said(kind, _flat(block.get("content")), failed=block.get("is_error") is True)
    elif kind == "image":
        yield _Said(kind, "[image]")


def _flat(content: object) -> str:
    """Return what a tool answered as one text."""
    if isinstance(content, str):
        return clean(content)
    parts = content if isinstance(content, list) else []
    texts = (
        _text(one, "text") or f"[{_text(one, 'type')}]" for one in parts if isinstance(one, dict)
    )
    return "\n".join(texts)


def _plain(value: object, kinds: list[str], depth: int) -> object:
    """Return a tool's input without secrets and lone surrogates, every text on its own.

    In the JSON around them a line's end is the letter n, which would hide what begins behind it.
    """
    if depth > _DEPTH:
        return "…"
    if isinstance(value, str):
        text, found = redact(clean(value))
        kinds += found
        return text
    if isinstance(value, dict):
        return {clean(str(name)): _plain(one, kinds, depth + 1) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, kinds, depth + 1) for one in value]
    return value


def _safe(one: _Said) -> tuple[str, tuple[str, ...], bool]:
    """Return the text without secrets, their kinds, and whether it was cut."""
    text, kinds = redact(one.text)
    most = MOST_TEXT if one.kind == "text" else MOST_TOOL
    return text[:most], (*one.redacted, *kinds), len(text) > most


def _text(line: Mapping[str, object], name: str) -> str:
    value = line.get(name)
    return clean(value) if isinstance(value, str) else ""
