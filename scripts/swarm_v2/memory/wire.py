"""What client and server say to each other: one JSON object a line. Pure.

``parse(encode(message))`` is ``message``; what is no message is refused with a stable code. No
message has a field for a principal or a scope key: the token of the first one says who speaks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.wire_json import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
MAX_LINE = 8 << 20  # bytes of one line to the server: two documents of the largest size
MAX_ANSWER = 16 << 20  # of one line to a client: a page, or one document in a frame
MAX_VALUES = 250_000  # in one line to the server: two documents of the most values, and more
MAX_HELLO = 8 << 10  # of the first line, which anybody may send
MAX_ASKS = 2**53  # every reader of JSON keeps the number of a question exactly


class Hello(NamedTuple):
    """The first line of a client. ``session_id`` "" opens no session of an agent."""

    token: str
    space: str
    session_id: str = ""
    version: int = VERSION


class Welcome(NamedTuple):
    """The answer to it: as whom the client is served, and the space's newest commit."""

    principal: str | None
    seq: int
    version: int = VERSION


class Ask(NamedTuple):
    """A question; ``fields`` are those of ``ASKS[ask]``, each of its type."""

    n: int
    ask: str
    fields: Mapping[str, object]


class Answer(NamedTuple):
    n: int
    body: Mapping[str, object]


class Refusal(NamedTuple):
    """What was refused; ``n`` is 0 where it is the connection, which then ends."""

    n: int
    code: str
    sentence: str
    hint: str = ""
    facts: Mapping[str, object] = {}

    def error(self) -> MemoryRefused:
        """Return the refusal as the store raised it."""
        return MemoryRefused(self.code, self.sentence, self.hint, **self.facts)


class Pushed(NamedTuple):
    """A change of what is watched; ``more`` says that the next line belongs to it."""

    frame: Mapping[str, object]
    more: bool = False


Message = Hello | Welcome | Ask | Answer | Refusal | Pushed

_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_NUMBER = re.compile(rb'\{"kind": ?"ask", ?"n": ?([0-9]{1,16}),')

# ask -> its fields and their types; every field may be left out but those of REQUIRED.
ASKS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "read": {"id": str, "scope": str, "follow": bool},
    "list": {"scope": str, "prefix": str, "after": str, "limit": int},
    "history": {"id": str, "scope": str, "limit": int},
    "commit": {"proposal": dict},
    "watch": {"watch": str, "id": str, "scope": str, "path": list, "schema": (dict, bool)},
    "unwatch": {"watch": str},
}
REQUIRED = {
    "read": ("id",),
    "history": ("id",),
    "commit": ("proposal",),
    "watch": ("watch", "id"),
    "unwatch": ("watch",),
}
IDENTITY = ("principal", "scope_key", "session", "session_id", "identity")

# kind -> (record, field on the wire -> (name in the record, type))
_KINDS: dict[str, tuple[type, dict[str, tuple[str, type | tuple[type, ...]]]]] = {
    "hello": (
        Hello,
        {
            "token": ("token", str),
            "space": ("space", str),
            "session": ("session_id", str),
            "version": ("version", int),
        },
    ),
    "welcome": (
        Welcome,
        {
            "principal": ("principal", (str, type(None))),
            "seq": ("seq", int),
            "version": ("version", int),
        },
    ),
    "ask": (Ask, {"n": ("n", int), "ask": ("ask", str), "fields": ("fields", dict)}),
    "answer": (Answer, {"n": ("n", int), "body": ("body", dict)}),
    "refusal": (
        Refusal,
        {
            "n": ("n", int),
            "code": ("code", str),
            "sentence": ("sentence", str),
            "hint": ("hint", str),
            "facts": ("facts", dict),
        },
    ),
    "frame": (Pushed, {"frame": ("frame", dict), "more": ("more", bool)}),
}
_NAMES = {record: kind for kind, (record, _) in _KINDS.items()}


def encode(message: Message) -> bytes:
    """Return the message as one line, its line end included.

    Raises:
        ValueError, TypeError: it holds what JSON does not.
    """
    kind = _NAMES[type(message)]
    fields = {wire: getattr(message, name) for wire, (name, _) in _KINDS[kind][1].items()}
    return dumps({"kind": kind, **fields}).encode("ascii") + b"\n"


def parse(line: bytes, *, most: int = MAX_LINE) -> Message:
    """Read one line.

    Raises:
        MemoryRefused: ``request-too-large``, ``request-invalid``, ``field-unknown`` or
            ``identity-in-commit``; fact ``n`` is the number of the question where it has one.
    """
    if len(line) > most:
        sentence = f"a line of more than {most} bytes"
        raise MemoryRefused("request-too-large", sentence, "send it in several commits")
    try:
        found = loads(line)
    except ValueError:
        raise MemoryRefused("request-invalid", "a line is no JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
        raise MemoryRefused("request-invalid", "a line is no object with a kind")
    if found["kind"] not in _KINDS:
        raise MemoryRefused("request-invalid", f"there is no kind {found['kind']!r}")
    record, table = _KINDS[found.pop("kind")]
    number = found.get("n") if isinstance(found.get("n"), int) else 0
    _check_fields(found, {name: types for name, (_, types) in table.items()}, number)
    values = {table[name][0]: value for name, value in found.items()}
    optional = record._field_defaults  # type: ignore[attr-defined]
    missing = [name for name, (one, _) in table.items() if one not in {**values, **optional}]
    if missing:
        raise _refused("request-invalid", f"{', '.join(missing)} is missing", number)
    message: Message = record(**values)
    if isinstance(message, Ask):
        _check_ask(message)
    return message


def check_values(line: bytes) -> None:
    """Refuse a line of too many values before it is read: that would take seconds and much room.

    Raises:
        MemoryRefused: ``request-too-large``; fact ``n`` as for ``parse``, where it stands in front.
    """
    if _marks(line) <= MAX_VALUES or _marks(_TEXT.sub(b"", line)) <= MAX_VALUES:
        return
    asked = _NUMBER.match(line)
    sentence = f"a line of more than {MAX_VALUES} values"
    hint = "send it in several commits, or keep it as text"
    raise MemoryRefused(
        "request-too-large", sentence, hint, n=int(asked[1]) if asked is not None else 0
    )


def _marks(line: bytes) -> int:
    """Return how many values a line has at most: one for each that is not the first, and firsts."""
    empty = line.count(b"[]") + line.count(b"{}")
    return 1 + sum(map(line.count, (b",", b"[", b"{"))) - empty


def check_version(hello: Hello) -> None:
    """Refuse a client that speaks otherwise.

    Raises:
        MemoryRefused: ``request-invalid``.
    """
    if hello.version != VERSION:
        sentence = f"version {hello.version} is not spoken here; {VERSION} is"
        raise MemoryRefused("request-invalid", sentence, "use the same brainhooks on both sides")


def _check_ask(ask: Ask) -> None:
    if not 0 < ask.n < MAX_ASKS:
        raise MemoryRefused("request-invalid", "the number of a question is a positive integer")
    table = ASKS.get(ask.ask)
    if table is None:
        raise _refused("request-invalid", f"there is no question {ask.ask!r}", ask.n)
    _check_fields(ask.fields, table, ask.n)
    absent = [name for name in REQUIRED.get(ask.ask, ()) if name not in ask.fields]
    if absent:
        raise _refused("request-invalid", f"{ask.ask} needs {', '.join(absent)}", ask.n)


def _check_fields(
    found: Mapping[str, object], table: Mapping[str, type | tuple[type, ...]], number: object
) -> None:
    for name, value in found.items():
        if name not in table:
            if name in IDENTITY:
                sentence = f"{name} is not asked for: who speaks is proven by the token"
                raise _refused("identity-in-commit", sentence, number)
            raise _refused("field-unknown", f"there is no field {name!r} here", number)
        types = table[name]
        wanted = types if isinstance(types, tuple) else (types,)
        # A bool is an int in Python and none in JSON.
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise _refused("request-invalid", f"{name} is of another type", number)


def _refused(code: str, sentence: str, number: object) -> MemoryRefused:
    return MemoryRefused(code, sentence, n=number)
