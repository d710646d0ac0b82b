"""Hook entries in the agent's settings, edited as text: every byte that is not ours stays.

Pure: text in, text out. The document is read with ``json`` and cut by the offsets of its values,
so indentation, line ends, a byte order mark and the order of keys are never written anew.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HOOKS = "hooks"
_BLANKS = frozenset(" \t\r\n")


class UnusableSettingsError(ValueError):
    """The text is not settings that we could edit without guessing; the message says why."""


class Member(NamedTuple):
    """One member of an object, or one element of an array (``key`` is then empty)."""

    key: str
    start: int  # the key's quote, or the element's first character
    value: int  # the value's first character
    end: int  # behind the value


class Box(NamedTuple):
    """An object or array in the text."""

    start: int  # its bracket
    end: int  # behind its closing bracket
    members: tuple[Member, ...]

    def get(self, key: str) -> Member | None:
        """Return the member under ``key``; of several the last, as every JSON reader takes it."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def _refuse_constant(name: str) -> object:
    msg = f"it holds {name}, which is not JSON"
    raise UnusableSettingsError(msg)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def decode(data: bytes) -> str:
    """Return the text of a settings file; a byte order mark stays its first character.

    Raises:
        UnusableSettingsError: not UTF-8, not one JSON object, or ``hooks`` in it is not what
            the agent documents, or a key that we would edit stands twice.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as err:
        msg = f"it is not UTF-8 (byte {err.start})"
        raise UnusableSettingsError(msg) from None
    if not text.lstrip("\ufeff").strip():
        raise UnusableSettingsError("it is empty")
    _check(text)
    return text


def _check(text: str) -> None:
    begin = _begin(text)
    document, end = _read(text, begin)
    if text[end:].strip(" \t\r\n"):
        raise UnusableSettingsError("more text stands behind its JSON value")
    if not isinstance(document, dict):
        raise UnusableSettingsError("it is not a JSON object")
    root = read_box(text, begin)
    _no_doubles(root)
    if (member := root.get(HOOKS)) is not None:
        _check_hooks(document[HOOKS])
        _no_doubles(read_box(text, member.value))


def _read(text: str, begin: int) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError as err:
        msg = f"it is not JSON: {err.msg} in line {err.lineno}"
        raise UnusableSettingsError(msg) from None
    except RecursionError:
        raise UnusableSettingsError("it is nested too deeply") from None
    except UnusableSettingsError:
        raise
    except ValueError:  # Python reads no number of more than some thousand digits
        raise UnusableSettingsError("a number in it is too long to be read") from None


def _check_hooks(hooks: object) -> None:
    if not isinstance(hooks, dict):
        raise UnusableSettingsError('its "hooks" is not an object')
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            msg = f'its "hooks" has no array under {event!r}'
            raise UnusableSettingsError(msg)


def _no_doubles(box: Box) -> None:
    keys = [member.key for member in box.members]
    for key in keys:
        if keys.count(key) > 1:
            msg = f"its key {key!r} stands there twice"
            raise UnusableSettingsError(msg)


def _begin(text: str) -> int:
    return _skip(text, 1 if text.startswith("\ufeff") else 0)


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at


def read_root(text: str) -> Box:
    """Return the object that a valid settings text is."""
    return read_box(text, _begin(text))


def read_box(text: str, start: int) -> Box:
    """Return the object or array that begins at ``start`` of a valid JSON text."""
    keyed = text[start] == "{"
    members = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, ""
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # over the colon
        _, end = _DECODER.raw_decode(text, at)
        members.append(Member(key, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Box(start, at + 1, tuple(members))


class _Style(NamedTuple):
    """How the document is written."""

    newline: str
    unit: str | None  # indentation of one level; None: everything stands on one line
    colon: str

    def render(self, value: object, indent: str) -> str:
        """Write ``value`` as it would stand at ``indent``; ASCII, so no encoding can spoil it."""
        if self.unit is None:
            comma = "," + self.colon[1:]
            return json.dumps(value, separators=(comma, self.colon))
        return json.dumps(value, indent=self.unit).replace("\n", self.newline + indent)


def _style(text: str) -> _Style:
    root = read_root(text)
    found = re.search(r"\r\n|\n|\r", text)
    newline = found.group() if found else "\n"
    if not root.members:
        return _Style(newline, "  ", ": ")
    first = root.members[0]
    colon = ": " if text[first.value - 1].isspace() else ":"
    inner = text[root.start + 1 : first.start]
    if not re.search(r"[\r\n]", inner):
        multi = re.search(r"[\r\n]", text[root.start : root.end])
        return _Style(newline, "  " if multi else None, colon)
    return _Style(newline, re.split(r"[\r\n]", inner)[-1], ": ")


def append(text: str, box: Box, key: str, value: object) -> str:
    """Put ``value`` last into ``box`` (under ``key`` where it is an object), styled as the text."""
    style = _style(text)
    before = _indent_of_line(text, box.start)
    if not box.members:
        if style.unit is None:
            made = _named(key, value, style, "")
        else:
            indent = before + style.unit
            made = style.newline + indent + _named(key, value, style, indent)
            made += style.newline + before
        return text[: box.start + 1] + made + text[box.end - 1 :]
    last = box.members[-1]
    blank = text[len(text[: last.start].rstrip(" \t\r\n")) : last.start]
    lines = re.split(r"\r\n|\n|\r", blank)
    if len(lines) > 1:
        joint, indent = style.newline + lines[-1], lines[-1]
    else:
        style = style._replace(unit=None)
        joint, indent = style.colon[1:], ""
    return text[: last.end] + "," + joint + _named(key, value, style, indent) + text[last.end :]


def _named(key: str, value: object, style: _Style, indent: str) -> str:
    name = json.dumps(key) + style.colon if key else ""
    return name + style.render(value, indent)


def _indent_of_line(text: str, at: int) -> str:
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return re.match(r"[ \t]*", text[begin:at]).group()  # type: ignore[union-attr]


def remove(text: str, box: Box, index: int, inner: str = "") -> str:
    """Take member ``index`` out of ``box``: the exact inverse of ``append``.

    ``inner`` is what shall stand between the brackets when nothing else does.
    """
    members = box.members
    if len(members) == 1:
        return text[: box.start + 1] + inner + text[box.end - 1 :]
    if index:
        return text[: members[index - 1].end] + text[members[index].end :]
    return text[: members[0].start] + text[members[1].start :]


def add_groups(text: str, groups: Mapping[str, object]) -> str:
    """Append one hook group per event; ``hooks`` and the events' arrays are made where absent."""
    for event, group in groups.items():
        root = read_root(text)
        hooks = root.get(HOOKS)
        if hooks is None:
            text = append(text, root, HOOKS, {event: [group]})
            continue
        events = read_box(text, hooks.value)
        here = events.get(event)
        if here is None:
            text = append(text, events, event, [group])
        else:
            text = append(text, read_box(text, here.value), "", group)
    return text


def containers(text: str) -> dict[str, str | None]:
    """Return what stood before us, by place: ``/``, ``/hooks`` and ``/hooks/EVENT``.

    The value is the blank text between the brackets, or None where they were not empty.
    """
    root = read_root(text)
    boxes = {"/": root}
    if (hooks := root.get(HOOKS)) is not None:
        boxes["/hooks"] = events = read_box(text, hooks.value)
        boxes |= {f"/hooks/{m.key}": read_box(text, m.value) for m in events.members}
    return {
        place: None if box.members else text[box.start + 1 : box.end - 1]
        for place, box in boxes.items()
    }


def entries(text: str, ours: Callable[[str], bool]) -> dict[str, list[object]]:
    """Return, per event, the hook entries whose command is ``ours``."""
    return {
        event: [entry for group in groups for entry in _list_of(group)]
        for event, groups in our_groups(text, ours).items()
    }


def our_groups(text: str, ours: Callable[[str], bool]) -> dict[str, list[dict[str, object]]]:
    """Return, per event, the groups with an entry whose command is ``ours``, without the others."""
    found: dict[str, list[dict[str, object]]] = {}
    hooks = _DECODER.raw_decode(text, _begin(text))[0].get(HOOKS, {})
    for event, groups in hooks.items():
        for group in groups:
            mine = [entry for entry in _list_of(group) if _is(entry, ours)]
            if mine:
                found.setdefault(event, []).append({**group, HOOKS: mine})
    return found


def _list_of(group: object) -> list[object]:
    inner = group.get(HOOKS) if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else []


def _is(entry: object, ours: Callable[[str], bool]) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and ours(command)


def remove_ours(
    text: str, ours: Callable[[str], bool], before: Mapping[str, str | None] | None
) -> str:
    """Take out every entry whose command is ``ours``, and what stands empty because of that.

    ``before`` is what ``containers`` said of the text before us: a container named there stays,
    empty as it was. None (nobody remembers): every container that we emptied goes.
    """
    kept = before or {}
    for event in entries(text, ours):
        while (shorter := _remove_one(text, event, ours, kept)) is not None:
            text = shorter
    return text


def _remove_one(
    text: str, event: str, ours: Callable[[str], bool], kept: Mapping[str, str | None]
) -> str | None:
    root = read_root(text)
    hooks = root.get(HOOKS)
    events = read_box(text, hooks.value) if hooks else None
    here = events.get(event) if events else None
    if hooks is None or events is None or here is None:
        return None
    groups = read_box(text, here.value)
    for index, member in enumerate(groups.members):
        group = _DECODER.raw_decode(text, member.value)[0]
        places = [place for place, entry in enumerate(_list_of(group)) if _is(entry, ours)]
        if not places:
            continue
        if len(_list_of(group)) > 1:
            inner = read_box(text, member.value).get(HOOKS)
            assert inner is not None
            return remove(text, read_box(text, inner.value), places[0])
        if len(groups.members) > 1 or f"/hooks/{event}" in kept:
            return remove(text, groups, index, kept.get(f"/hooks/{event}") or "")
        if len(events.members) > 1 or "/hooks" in kept:
            return remove(text, events, events.members.index(here), kept.get("/hooks") or "")
        return remove(text, root, root.members.index(hooks), kept.get("/") or "")
    return None
