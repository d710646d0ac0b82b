"""What a watcher has: the documents of its frames, and which watch covers which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripts.swarm_v2.memory.address import Address
    from scripts.swarm_v2.memory.frames import SyncFrame, Upsert
    from scripts.swarm_v2.scope_key import Identity

Future = TypeVar("Future")


class ViewKey(NamedTuple):
    """Where an entry of a frame stands: under its key where it has one, else its scope's name."""

    branch: str
    instance: str
    id: str


class WatchView:
    """The newest state of everything that the frames of one session brought."""

    def apply(self, frame: SyncFrame) -> tuple[ViewKey, ...]:
        """Take a frame in; return what came, changed or went."""
        raise NotImplementedError

    def get(self, key: ViewKey) -> Upsert | None:
        raise NotImplementedError

    def __iter__(self) -> Iterator[tuple[ViewKey, Upsert]]:
        raise NotImplementedError


class SelectorTracker(Generic[Future]):
    """What is being watched already, so that a narrower watch of the same instance can join it."""

    def __init__(self, identity: Callable[[], Identity]) -> None:
        raise NotImplementedError

    def add(self, address: Address, schema: object, future: Future) -> None:
        """Note a watch of ``address`` with everything below that ``schema`` admits."""
        raise NotImplementedError

    def superset(self, address: Address, schema: object) -> Future | None:
        """Return the future of a watch of the same instance that covers this one."""
        raise NotImplementedError

    def discard(self, address: Address, schema: object) -> None:
        """Forget a watch that failed or ended."""
        raise NotImplementedError

    def on_the_wire(self) -> Iterator[tuple[Address, object]]:
        """Return every watch, with a key only where it names another's instance."""
        raise NotImplementedError
