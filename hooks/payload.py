"""The agent's event, read once from standard input."""

from __future__ import annotations

from hooks.errors import PayloadError
from scripts.swarm_v2.wire_json import clean as clean
from scripts.swarm_v2.wire_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

MAX_BYTES = 16 << 20  # real payloads stay below 5 MB (a Write of 1 MB is 4 MB as JSON)


class Event(NamedTuple):
    """One hook event. Absent fields are empty; paths are as the agent gave them."""

    name: str
    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    source: str = ""
    prompt: str = ""
    prompt_id: str = ""
    agent_id: str = ""
    agent_type: str = ""
    agent_transcript_path: str = ""
    last_assistant_message: str = ""
    reason: str = ""
    trigger: str = ""
    message_id: str = ""
    index: int = 0  # type: ignore[assignment]  # the payload's word, over tuple.index
    final: bool = False
    delta: str = ""
    tool_name: str = ""
    tool_use_id: str = ""
    error: str = ""  # of a tool that failed
    interrupted: bool = False  # a person stopped the tool: no failure of its own
    tool_input: Mapping[str, object] = {}
    tool_response: object = None  # as the agent gave it: an object, a list of blocks, a text


_PATHS = ("transcript_path", "agent_transcript_path", "cwd")
_NO_TEXTS = {"name", "index", "final", "interrupted", "tool_input", "tool_response"}
_TEXTS = frozenset(Event._fields) - _NO_TEXTS


def parse_event(name: str, data: bytes) -> Event:
    """Read ``data`` as the payload of event ``name``; unknown fields are ignored.

    Lone surrogates become U+FFFD, so every text can be hashed and written.

    Raises:
        PayloadError: not one JSON object in UTF-8, larger than ``MAX_BYTES``, or of another event.
    """
    if len(data) > MAX_BYTES:
        raise PayloadError(name, f"larger than {MAX_BYTES} bytes")
    try:
        raw = loads(data)
    except ValueError as err:
        raise PayloadError(name, f"not JSON ({type(err).__name__})") from None
    if not isinstance(raw, dict):
        raise PayloadError(name, "not a JSON object")
    return event_of(name, raw)


def event_of(name: str, raw: Mapping[str, object]) -> Event:
    """Take the event out of what the agent said of it.

    Raises:
        PayloadError: it was said of another event.
    """
    said = raw.get("hook_event_name", name)
    if said != name:
        raise PayloadError(name, f"it is a {str(said)[:40]!r} event")
    texts = {field: clean(text) for field in _TEXTS if isinstance(text := raw.get(field), str)}
    for field in _PATHS:
        if "\0" in texts.get(field, ""):  # no path has one, and open() would raise ValueError
            del texts[field]
    index, tool_input = raw.get("index"), raw.get("tool_input")
    return Event(
        name=name,
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        tool_response=raw.get("tool_response"),
        interrupted=raw.get("is_interrupt") is True,
        index=index if isinstance(index, int) and not isinstance(index, bool) else 0,
        final=raw.get("final") is True,
        **texts,
    )
