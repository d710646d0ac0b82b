"""The documents whose names mean something: in which form, and at which scope, they are written.

Every authored door looks here before anything is written. Pure.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.document import is_link, parse_link
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import DERIVED, INDEX, PREFIX, slug_of
from scripts.swarm_v2.scope_key import SESSION, SPACE, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from scripts.swarm_v2.memory.store import Op
    from scripts.swarm_v2.scope_key import Scope

PREFERENCES, NOTES, FAULTS = "preferences", "notes", "faults"
SECTIONS = ("project", "person", "brain", "session")  # in the order in which they are told
VERBOSITIES = ("brief", "normal", "full")
UNWRITTEN = (*DERIVED, FAULTS)
# Where each is read. A project may hold preferences of its own: a row that no context is made from.
SCOPES = {PREFERENCES: (USER, SPACE), NOTES: (SESSION,)}
_VALUED = ("set", "patch")
_MEMORY = 'give an object such as {"text": "…", "title": "…"}'
_INDEX = "write memory/NAME: its link is written along with it"


def check_authored(document_id: str) -> None:
    """Refuse a document that nobody writes by hand: it would hide what is derived.

    Raises:
        MemoryRefused: ``derived-write``.
    """
    if document_id in UNWRITTEN:
        sentence = f"{document_id} is made from other documents, and by nobody's hand"
        raise MemoryRefused("derived-write", sentence, "change what it is made from")


def check_form(document_id: str, scope: Scope, op: Op, value: object) -> None:
    """Refuse a write of a reserved document that is not in its form, or not at its scope.

    A patch is judged by what it sets. What stands where it should not may be taken away.

    Raises:
        MemoryRefused: ``derived-write``, ``document-reserved``, or what is wrong with a link.
    """
    check_authored(document_id)
    if document_id == INDEX:
        _check_index(op, value)
        return
    if op not in _VALUED:
        return
    form = _FORMS.get(PREFIX if document_id.startswith(PREFIX) else document_id)
    if form is None:
        return
    wanted = SCOPES.get(document_id, (scope,))
    if scope not in wanted:
        hint = f"write them at scope {wanted[0]}"
        _refuse(f"{document_id} are a {wanted[0]}'s, not of scope {scope}", hint)
    if is_link(value):
        _refuse(f"{document_id} is no redirect", "write what it should say")
    if document_id == PREFIX:
        _refuse("a memory has a name", f"{PREFIX}NAME")
    form(op, value)


def preferences_fault(value: object) -> str:
    """Say what is malformed in preferences; "" for what can be read. A member may be left out."""
    if not isinstance(value, dict) or is_link(value):
        return "it is no object"
    wanted = value.get("sections", [])
    if not isinstance(value.get("style", ""), str):
        return "style is no text"
    if value.get("verbosity", "normal") not in VERBOSITIES:
        return "verbosity is none of " + ", ".join(VERBOSITIES)
    if value.get("cls", "agent") not in ("agent", "person"):
        return "cls is none of agent, person"
    if not isinstance(wanted, list) or not all(one in SECTIONS for one in wanted):
        return "sections is no list of " + ", ".join(SECTIONS)
    return ""


def index_fault(value: object) -> str:
    """Say what is malformed in a whole index; "" where it is one."""
    try:
        _check_links(value, is_patch=False)
    except MemoryRefused as refused:
        return str(refused)
    return ""


def _check_memory(op: Op, value: object) -> None:
    text = value.get("text") if isinstance(value, dict) else None
    if op == "patch" and isinstance(value, dict) and "text" not in value:
        return
    if not isinstance(text, str) or not text.strip():
        _refuse("a memory is an object with a text that says something", _MEMORY)


def _check_preferences(op: Op, value: object) -> None:
    if op == "patch" and isinstance(value, dict):
        value = {name: said for name, said in value.items() if said is not None}
    fault = preferences_fault(value)
    if fault:
        hint = '{"style": "…", "verbosity": "brief|normal|full", "sections": ["project", …]}'
        _refuse(f"the preferences would be malformed: {fault}", hint)


def _check_notes(op: Op, value: object) -> None:
    if not isinstance(value, dict) and (op == "patch" or not isinstance(value, str)):
        _refuse("notes are an object or a text", 'give a text, or {"goals": ["…"]}')


def _check_index(op: Op, value: object) -> None:
    if op == "delete" or value is None:
        hint = "forget the memories that it links, each by its name"
        _refuse("an index stays as long as there are memories", hint)
    if op == "erase":
        _check_links(value, is_patch=True)
        links = value.get("links") if isinstance(value, dict) else None
        if not isinstance(links, dict) or any(said is not None for said in links.values()):
            _refuse("only whole links are erased from an index", _INDEX)
        return
    _check_links(value, is_patch=op == "patch")


def _check_links(value: object, *, is_patch: bool) -> None:
    if not isinstance(value, dict) or value.keys() - {"links"}:
        _refuse('an index is an object {"links": {…}}', _INDEX)
    links = value.get("links", {} if is_patch else None)
    if not isinstance(links, dict) or is_link(links):
        _refuse('an index is an object {"links": {…}}', _INDEX)
    for slug, said in links.items():
        if said is None and is_patch:
            continue
        _check_entry(slug, said, is_patch=is_patch)


def _check_entry(slug: str, said: object, *, is_patch: bool) -> None:
    if not isinstance(said, dict) or is_link(said) or not slug:
        _refuse("an entry of an index is an object that says what it links", _INDEX)
    memory = said.get("memory")
    if memory is None and ("memory" in said or not is_patch):
        _refuse("an entry of an index links its memory", _INDEX)
    if memory is not None:
        link = parse_link(memory)
        if slug_of(link.id) != slug or link.path:
            _refuse(f"an entry of an index links {PREFIX} and its own name", _INDEX)
    for name, what in said.items():
        if name != "memory" and not isinstance(what, str) and not (what is None and is_patch):
            _refuse(f"{ascii(name)[:40]} of an index's entry is no text", _INDEX)


def _refuse(sentence: str, hint: str) -> NoReturn:
    raise MemoryRefused("document-reserved", sentence, hint)


_FORMS: dict[str, Callable[[Op, object], None]] = {
    PREFIX: _check_memory,
    PREFERENCES: _check_preferences,
    NOTES: _check_notes,
}
