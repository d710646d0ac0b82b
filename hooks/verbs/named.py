"""Memories that were put under a name (``brainhooks memory put memory/db``), for the verbs.

A name may stand for several: the project's, the person's, a session's. The narrowest counts. They
are documents, and changed as such: the verbs say by which command.
"""

from __future__ import annotations

from hooks.context.compose import is_key
from hooks.errors import HookError
from hooks.verbs.wording import one_line, session_of
from scripts.swarm_v2.memory.memories import PREFIX
from scripts.swarm_v2.scope_key import SESSION, SPACE, USER, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.context.brains import Brain, Item
    from hooks.verbs import VerbCtx

_NARROW = (SPACE, USER, SESSION)
_OWN = {"preferences": USER, "notes": SESSION}  # documents that are told, and no memories


class PutByNameError(HookError):
    """A memory is there, and changed by the commands of documents."""

    def __init__(self, name: str, commands: list[str]) -> None:
        self.name = name
        self.hint = f"in a shell: {' or '.join(commands)}"
        super().__init__(f"{name} was put under that name, and is changed as a document")


def named(brain: Brain, name: str, ctx: VerbCtx, project: str = "") -> list[Item]:
    """Return what this session has under a name, the narrowest first: that one counts.

    In the project of this folder, unless another is given.
    """
    from hooks.verbs.library import here

    find = getattr(brain, "named", None)  # the home's own brain has it
    if find is None or not name or is_key(name):
        return []
    found = [
        one for one in find(name, project or here(ctx).id) if not is_of_another_session(one, ctx)
    ]
    return sorted(found, key=lambda one: _NARROW.index(scope_of(one.scope_key)), reverse=True)


def put_by_name(brain: Brain, name: str, ctx: VerbCtx) -> HookError | None:
    """Return how what has that name is changed; None where nothing has it."""
    document = name.partition("/")[0]
    if document in _OWN:
        return PutByNameError(name, [_command(document, _OWN[document])])
    found = named(brain, name, ctx)
    commands = [_command(PREFIX + name, scope_of(one.scope_key)) for one in found]
    return PutByNameError(one_line(name), commands) if found else None


def how_to_change(item: Item) -> str:
    """Return the commands that change a memory with a name; "" for a marker's."""
    return "" if is_key(item.id) else _command(PREFIX + item.id, scope_of(item.scope_key))


def narrowest(items: Iterable[Item]) -> list[Item]:
    """Return one memory for each id: of a name's the narrowest, as a session is told it."""
    best: dict[str, Item] = {}
    for item in items:
        other = best.get(item.id)
        if other is None or _depth(item) > _depth(other):
            best[item.id] = item
    return list(best.values())


def is_of_another_session(item: Item, ctx: VerbCtx) -> bool:
    return scope_of(item.scope_key) == SESSION and session_of(item) != ctx.session_id


def _depth(item: Item) -> int:
    return _NARROW.index(scope_of(item.scope_key))


def _command(document: str, scope: str) -> str:
    bare = all(letter.isalnum() or letter in "._-/" for letter in document)
    word = document if bare else "'" + one_line(document).replace("'", "'\\''") + "'"
    usual = SPACE if document.startswith(PREFIX) else scope
    at = f" --scope {scope}" if scope != usual else ""
    return f"brainhooks memory forget {word}{at} (or edit)"
