"""What goes to a brain service and what its answers mean: pairs of encode and parse. Pure."""

from __future__ import annotations

from scripts.swarm_v2.keyspace import is_hex
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, NamedTuple

    Meaning = Literal["answered", "refused", "missing", "moved", "away"]
else:
    from hooks.record import NamedTuple

LISTS = ("hot_arcs", "inject_blocks", "entries")
MAX_ROWS = 2_000  # of one list
# Attributes that the sender alone sets, whatever the model wrote.
KEY, PART, GAP, OWNER = "key", "part", "gap", "owner"
OURS = (KEY, PART, GAP, OWNER)
MACHINE = ("cwd", "worktree")  # folders of one machine tell another nothing, and name its user

# What each status of POST /marker means. What no row names is "away": kept, not given up.
_MEANING: dict[int, Meaning] = {
    200: "answered",
    201: "answered",
    301: "moved",
    302: "moved",
    303: "moved",
    307: "moved",
    308: "moved",
    400: "refused",
    404: "missing",  # a refusal only where /health answers: else the address is wrong
    409: "refused",
    413: "refused",
    422: "refused",
}
_WHY = {
    400: "it is no marker that this brain takes (400)",
    404: "this brain has no place for markers (404)",
    409: "its key is taken by another text (409)",
    413: "it is too large (413)",
    422: "it was not understood (422)",
    401: "the token is wrong or missing (401)",
    403: "the token may not write here (403)",
    429: "it is asked too often (429)",
}


def meaning(status: int) -> Meaning:
    return _MEANING.get(status, "away")


def why(status: int) -> str:
    return _WHY.get(status, f"it answered {status}")


class Acknowledged(NamedTuple):
    """The service's explicit word that it has a marker."""

    replay: bool
    key: str  # "" where it names none
    forgotten: bool


def encode_marker(body: Mapping[str, object], own: Mapping[str, str]) -> bytes:
    """Write ``body`` with the sender's ``own`` attributes; the model's of these names go."""
    attrs = body["attrs"]
    assert isinstance(attrs, dict)
    kept = {name: str(value) for name, value in attrs.items() if name not in (*OURS, *MACHINE)}
    said = {**kept, **{name: value for name, value in own.items() if value}}
    document = {"type": body["type"], "content": body["content"], "attrs": said}
    return dumps(document).encode("ascii")


def parse_ack(data: bytes) -> Acknowledged | None:
    """Read the answer to a marker; None unless ``ok`` is true and nothing was only queued."""
    found = load_object(data)
    if found is None or found.get("ok") is not True or found.get("queued"):
        return None
    key = found.get("idempotency_key")
    named = key if isinstance(key, str) and is_hex(key, 32) else ""
    return Acknowledged(
        found.get("idempotent_replay") is True, named, found.get("forgotten") is True
    )


def parse_health(data: bytes) -> str | None:
    """Return the name of a service that says that it is well ("" if it has none), else None."""
    found = load_object(data)
    if found is None or found.get("status") != "ok":
        return None
    service = found.get("service")
    return service if isinstance(service, str) else ""


def parse_feed(data: bytes) -> list[dict[str, object]] | None:
    """Return the rows of every list of a feed, in the order of the lists; None for no feed.

    A list that is missing is empty, and a row that is no object is left out: a newer service
    may know more. Something that has none of the lists is no feed.
    """
    found = load_object(data)
    if found is None or not any(isinstance(found.get(name), list) for name in LISTS):
        return None
    rows: list[dict[str, object]] = []
    for name in LISTS:
        some = found.get(name)
        if isinstance(some, list):
            rows += [row for row in some[:MAX_ROWS] if isinstance(row, dict)]
    return rows


def encode_forget(key: str) -> bytes:
    return dumps({"key": key}).encode("ascii")
