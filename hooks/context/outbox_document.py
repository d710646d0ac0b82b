"""What an outbox file may say. Other programs write there too, so nothing of it is believed.

One field of a wrong kind would fail the same way at every event and hold up what stands behind
it: here such a file is refused once, with the reason.
"""

from __future__ import annotations

from scripts.swarm_v2.wire_json import clean, dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    Document = dict[str, object]

TEXTS = ("session_id", "agent_name", "project", "ts", "digest", "prompt_id", "principal")
_MAY_BE_NULL = (*TEXTS, "redacted", "sighting")
PLACE_TEXTS = ("message_id", "path")
PLACE_NUMBERS = ("block", "ordinal", "at_byte")
MAX_NUMBER = (1 << 63) - 1  # what a column holds
MAX_TYPE = 40
_TYPE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def checked(found: Mapping[str, object]) -> Document:
    """Return the document as it can be kept and sent; unknown fields stay.

    Lone surrogates become U+FFFD, attributes that are no text become their JSON, a null where
    a text belongs counts as absent.

    Raises:
        ValueError: it is no marker, or not one that can be kept; the text is the reason.
    """
    document = {
        clean(name): value
        for name, value in found.items()
        if value is not None or name not in _MAY_BE_NULL
    }
    type_, content = _text(document, "type"), _text(document, "content")
    if not type_ or not content.strip():
        _refuse("it has no type or no content")
    _check_type(type_)
    document |= {"type": type_, "content": content, "attrs": _attrs(document.get("attrs", {}))}
    for name in TEXTS:
        if name in document:
            document[name] = _text(document, name)
    redacted = document.get("redacted", [])
    if not isinstance(redacted, list) or not all(isinstance(kind, str) for kind in redacted):
        _refuse("its redacted is no list of texts")
    if "redacted" in document:
        document["redacted"] = [clean(kind) for kind in redacted]
    if "sighting" in document:
        document["sighting"] = _sighting(document["sighting"])
    try:
        dumps(document)  # its receipt holds it
    except ValueError as err:
        _refuse(f"it cannot be kept: {err}")
    return document


def _refuse(why: str) -> NoReturn:
    raise ValueError(why)


def _text(document: Mapping[str, object], name: str) -> str:
    value = document.get(name, "")
    if not isinstance(value, str):
        _refuse(f"its {name} is no text")
    return clean(value)


def _check_type(type_: str) -> None:
    """A type is told outside the quotes, to people and to agents: no sentence may pass for one."""
    if len(type_) > MAX_TYPE or not _TYPE.issuperset(type_):
        _refuse("its type is no word")


def _attrs(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        _refuse("its attrs are no object")
    return {clean(name): clean(v if isinstance(v, str) else dumps(v)) for name, v in value.items()}


def _sighting(value: object) -> Document:
    if not isinstance(value, dict):
        _refuse("its sighting is no object")
    for name in PLACE_NUMBERS:
        number = value.get(name)
        if type(number) is not int or not 0 <= number <= MAX_NUMBER:
            _refuse(f"its sighting's {name} is no number of a place")
    return {**value, **{name: _text(value, name) for name in PLACE_TEXTS}}
