"""What is derived, in words: ``context``, ``digest`` and ``status`` as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.verbs.wording import count, day, one_line, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WISHES = ("style", "verbosity", "sections")
NOTHING_TOLD = "A session that starts here is told nothing of what is remembered."


def words_of(document: Mapping[str, object]) -> str | None:
    """Return a derived document in words; None for every other one, and for what is none."""
    write = _WORDS.get(str(document.get("id")))
    value = document.get("value")
    if write is None or not isinstance(value, dict) or document.get("deleted"):
        return None
    return plain(write(value))


def _context(value: Mapping[str, object]) -> str:
    return str(value.get("text") or NOTHING_TOLD)


def _digest(value: Mapping[str, object]) -> str:
    lines = [_counts(value)]
    newest = value.get("newest")
    for one in newest if isinstance(newest, list) else []:
        said = {name: one_line(str(one.get(name, ""))) for name in ("slug", "title", "type")}
        when = day(str(one.get("at", "")))
        lines.append(f"  {when:<10}  {said['type']:<9}  {said['slug']}  {said['title']}".rstrip())
    return "\n".join(lines)


def _status(value: Mapping[str, object]) -> str:
    own, told = _part(value, "own"), _part(value, "preferences")
    wishes = [f"{name} {_said(told[name])}" for name in WISHES if told.get(name)]
    lines = [
        _counts(_part(value, "shared")),
        f"{_number(own)} of your own.",
        f"You prefer: {'; '.join(wishes)}." if wishes else "Your preferences are malformed.",
    ]
    errors = value.get("errors")
    for one in errors if isinstance(errors, list) else []:
        what = one_line(f"{one.get('node')} ({one.get('scope')}): {one.get('sentence')}")
        lines.append(f"Wrong: {what} [{one.get('code')}]")
    return "\n".join(lines)


def _counts(value: Mapping[str, object]) -> str:
    kinds = [
        f"{number} {one_line(word)}"
        for name in ("types", "severities")
        for word, number in _part(value, name).items()
    ]
    return f"{_number(value)} of the project" + (f": {', '.join(kinds)}." if kinds else ".")


def _number(value: Mapping[str, object]) -> str:
    found = value.get("memories")
    return count(found if isinstance(found, int) else 0, "memory", "memories")


def _part(value: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else one_line(str(value))


_WORDS: dict[str, Callable[[Mapping[str, object]], str]] = {
    "context": _context,
    "digest": _digest,
    "status": _status,
}
