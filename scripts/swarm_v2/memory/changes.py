"""What a batch of commits changed, instance by instance and path by path.

Before a batch is taken in, ``capture`` keeps what each touched instance shows; afterwards
``compare`` says what is different. A batch belongs to one space.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import MISSING, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import NamedTuple

    from scripts.swarm_v2.scope_key import DirtyKey

    # The value of an instance, MISSING for one that is absent or deleted.
    Read = Callable[[InstanceKey], object]
else:
    from hooks.record import NamedTuple


class Changed(NamedTuple):
    """One place that is different. ``before`` or ``after`` is MISSING where nothing stood."""

    key: InstanceKey
    path: tuple[str, ...]
    before: object
    after: object

    @property
    def address(self) -> str:
        """Return ``/key/id/json-path``, without the space."""
        return self.key.change_address(self.path)


class ChangeSet:
    """The differential of one batch; of several captures of an instance the first counts."""

    def __init__(self) -> None:
        # site 8: change addresses. What each touched instance showed before the batch.
        self._before: dict[InstanceKey, object] = {}

    def capture(self, space: str, keys: Iterable[DirtyKey], read: Read) -> None:
        """Keep what the instances show now. An absent one is kept too, without a value."""
        for scope_key, document_id in keys:
            key = InstanceKey(space, scope_key, document_id)
            if key not in self._before:
                self._before[key] = read(key)

    def keys(self) -> tuple[InstanceKey, ...]:
        """Return each captured instance, once, in the order of the captures."""
        return tuple(self._before)

    def compare(self, read: Read) -> list[Changed]:
        """Return every place whose value is another now, types compared too (1 is not True)."""
        found: list[Changed] = []
        for key, before in self._before.items():
            places = _differences((), before, read(key))
            found += [Changed(key, path, old, new) for path, old, new in places]
        return found


Place = tuple[tuple[str, ...], object, object]


def _differences(path: tuple[str, ...], before: object, after: object) -> Iterator[Place]:
    if isinstance(before, dict) and isinstance(after, dict):
        names = [*before, *(name for name in after if name not in before)]
        for name in names:
            old, new = before.get(name, MISSING), after.get(name, MISSING)
            yield from _differences((*path, str(name)), old, new)
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            old = before[index] if index < len(before) else MISSING
            new = after[index] if index < len(after) else MISSING
            yield from _differences((*path, str(index)), old, new)
    elif not same(before, after):
        yield path, before, after
