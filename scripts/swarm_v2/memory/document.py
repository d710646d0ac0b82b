"""What a document may hold, and the few things that are done to values. Pure.

Values are JSON. Equality looks at types: ``True``, ``1`` and ``1.0`` are three values, as a
reader of the stored text would see them.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.scope_key import SESSION, SPACE, USER
from scripts.swarm_v2.wire_json import canonical, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Final, NamedTuple

    from scripts.swarm_v2.scope_key import Scope
else:
    from hooks.record import NamedTuple

MAX_BYTES = 4 << 20  # of one document's canonical text: an index of some 20,000 memories
MAX_DEPTH = 64  # containers inside containers; real documents stay below 10
MAX_NODES = 100_000  # values in values of one document: to look at each takes a tenth of a second
MAX_INDEX_NODES = 250_000  # of an index, whose entries have a dozen each; of one commit too
MAX_ID_BYTES = 512
MAX_INTEGER = 2**63 - 1  # what every store and every reader keeps exactly
LINK = "$link"
SCOPES = (SPACE, USER, SESSION)


class _Missing:
    """No value at all, which None (JSON null) is not."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()


class Link(NamedTuple):
    """``{"$link": {"id", "scope", "path"}}``: ``scope`` is None where the link declares none."""

    id: str
    scope: Scope | None = None
    path: tuple[str, ...] = ()


def check_id(document_id: object) -> str:
    """Return a usable document id.

    Raises:
        MemoryRefused: ``id-invalid``.
    """
    usable = isinstance(document_id, str) and document_id and _is_text(document_id)
    if usable and len(str(document_id).encode("utf-8")) <= MAX_ID_BYTES:
        return str(document_id)
    sentence = f"a document id is 1 to {MAX_ID_BYTES} bytes of Unicode text"
    raise MemoryRefused("id-invalid", sentence)


def check_text(text: object, name: str) -> str:
    """Return what is asked with; no store can look for a lone surrogate.

    Raises:
        MemoryRefused: ``request-invalid``.
    """
    if isinstance(text, str) and _is_text(text):
        return text
    raise MemoryRefused("request-invalid", f"{name} is Unicode text")


def check_space(space: object) -> str:
    """Return a usable space; ``unknown`` names no project and so has none.

    Raises:
        MemoryRefused: ``space-invalid``.
    """
    usable = isinstance(space, str) and 0 < len(space) <= MAX_ID_BYTES and _is_text(space)
    if not usable or space == "unknown" or "\0" in str(space):
        hint = "register the folder first: brainhooks project register"
        raise MemoryRefused("space-invalid", "this is no project that memory could belong to", hint)
    return str(space)


def encode(value: object) -> str:
    """Return the canonical text of a value that can be stored.

    Raises:
        MemoryRefused: ``document-invalid``, ``document-too-deep``, ``document-too-large``, or
            what is wrong with a link in it.
    """
    for link in links(value):
        parse_link(link)
    text = canonical(value).decode("ascii")
    if len(text) > MAX_BYTES:
        sentence = f"the document has {len(text)} bytes; at most {MAX_BYTES} can be stored"
        raise MemoryRefused("document-too-large", sentence, "split it into several documents")
    return text


def count_nodes(value: object, most: int) -> int:
    """Return how many values a value is made of, itself too; counting ends behind ``most``."""
    heap, found = [value], 0
    while heap and found <= most:
        item = heap.pop()
        found += 1
        if isinstance(item, dict):
            heap.extend(item.values())
        elif isinstance(item, list):
            heap.extend(item)
    return found


def decode(text: str) -> object:
    """Read stored text back.

    Raises:
        MemoryRefused: ``store-damaged``.
    """
    try:
        return loads(text)
    except ValueError:
        raise MemoryRefused("store-damaged", "a stored document is no JSON any more") from None


def links(value: object) -> Iterator[object]:
    """Yield the body of every link in a value, and refuse on the way what cannot be stored.

    Raises:
        MemoryRefused: ``document-invalid`` or ``document-too-deep``.
    """
    heap: list[tuple[object, int]] = [(value, 0)]
    while heap:
        item, depth = heap.pop()
        if depth >= MAX_DEPTH and isinstance(item, (dict, list)):
            sentence = f"the document is nested deeper than {MAX_DEPTH}"
            raise MemoryRefused("document-too-deep", sentence)
        if isinstance(item, dict):
            _check_names(item)
            if LINK in item:
                yield item
            heap += [(one, depth + 1) for one in item.values()]
        elif isinstance(item, list):
            heap += [(one, depth + 1) for one in item]
        else:
            _check_leaf(item)


def _check_names(item: dict[object, object]) -> None:
    if not all(isinstance(name, str) and _is_text(name) for name in item):
        raise MemoryRefused("document-invalid", "a member's name is not Unicode text")


def _check_leaf(item: object) -> None:
    if item is None or isinstance(item, bool):
        return
    if isinstance(item, str):
        if _is_text(item):
            return
        raise MemoryRefused("document-invalid", "a text holds a lone surrogate")
    if isinstance(item, int) and -MAX_INTEGER <= item <= MAX_INTEGER:
        return
    if isinstance(item, float) and item - item == 0:
        return
    what = "a number that JSON cannot keep" if isinstance(item, (int, float)) else "no JSON value"
    raise MemoryRefused("document-invalid", f"the document holds {what}")


def _is_text(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_link(value: object) -> bool:
    return isinstance(value, dict) and LINK in value


def parse_link(value: object) -> Link:
    """Read a value for which ``is_link`` holds.

    Raises:
        MemoryRefused: ``link-invalid``, ``link-cross-space`` or ``scope-unknown``.
    """
    body = value.get(LINK) if isinstance(value, dict) else None
    if not isinstance(body, dict) or (isinstance(value, dict) and len(value) != 1):
        raise MemoryRefused("link-invalid", f'a link is {{"{LINK}": {{"id", "scope", "path"}}}}')
    if "space" in body:
        sentence = "a link cannot lead into another space"
        raise MemoryRefused("link-cross-space", sentence, "copy what it should show")
    scope, path = body.get("scope"), body.get("path", [])
    if body.keys() - {"id", "scope", "path"} or not isinstance(path, list):
        raise MemoryRefused("link-invalid", "a link holds id, scope and path, and nothing else")
    if not all(isinstance(step, str) for step in path):
        raise MemoryRefused("link-invalid", "the path of a link is a list of texts")
    if scope is not None and scope not in SCOPES:
        raise MemoryRefused("scope-unknown", f"a link names the scope {scope!r}")
    return Link(check_id(body.get("id")), scope, tuple(path))


def make_link(document_id: str, scope: Scope | None = None, path: Iterable[str] = ()) -> object:
    """Return the JSON of a link; parts at their default are left out."""
    body: dict[str, object] = {"id": document_id}
    if scope is not None:
        body["scope"] = scope
    steps = list(path)
    if steps:
        body["path"] = steps
    return {LINK: body}


def same(one: object, other: object) -> bool:
    """Say whether two values are equal with their types, whatever the order of members."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def at(value: object, path: Iterable[str]) -> object:
    """Return what stands at ``path`` (list items by their decimal index), or MISSING."""
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and step.isascii():
            if int(step) >= len(value):
                return MISSING
            value = value[int(step)]
        else:
            return MISSING
    return value


def merge(target: object, patch: object) -> object:
    """Apply a JSON merge patch (RFC 7396); neither argument is changed.

    A link is one value, not an object: it replaces and is replaced whole. Otherwise a patch
    could leave half a link, or one with members beside it, that no reader can follow.
    """
    if not isinstance(patch, dict) or is_link(patch):
        return patch
    merged = dict(target) if isinstance(target, dict) and not is_link(target) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged
