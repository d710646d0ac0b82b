"""Several documents changed as one, where nothing that was read for it moved meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.answers import document_body, told
from scripts.swarm_v2.memory.document import MISSING, check_id
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.proposals import check_scope
from scripts.swarm_v2.memory.transactions import Transaction
from scripts.swarm_v2.scope_key import scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Any

    from scripts.swarm_v2.memory.store import Reader
    from scripts.swarm_v2.memory.transactions import Annotated
    from scripts.swarm_v2.scope_key import Identity


class Edit:
    """One transaction of one session: ``with memory.transaction() as edit: …``.

    Reads are repeatable and see the own writes. At the end of the block all writes are one
    commit, refused as ``stale-base`` or ``stale-read`` where another commit moved anything that
    was read; where the block raises, nothing is written.

    Attributes:
        seq: the number of the commit, once the block ended; 0 where it changed nothing.
    """

    def __init__(
        self,
        reader: Reader,
        space: str,
        identity: Identity,
        commit: Callable[[Mapping[str, object]], int],
    ) -> None:
        self.space, self.seq = space, 0
        self._run, self._commit = Transaction(reader, space), commit
        self._run.act_as(identity)

    def read(self, id: str, scope: str = "space", default: Any = None) -> Any:
        """Return a value, redirects followed; ``default`` where none is stored."""
        found = self._told(lambda: self._run.read(self._at(id, scope)))
        return default if found is MISSING else found

    def document(self, id: str, scope: str = "space") -> Mapping[str, object] | None:
        """Return what ``Memory.read`` does, as it is stored: a tombstone too."""
        found = self._told(lambda: self._run.document(self._at(id, scope)))
        return document_body(found, scope_of(found.scope_key)) if found else None

    def write(self, id: str, value: object, scope: str = "space") -> None:
        """Set a whole document; where a redirect stands, what it leads to."""
        self._told(lambda: self._run.write(self._at(id, scope), value))

    def patch(self, id: str, patch: object, scope: str = "space") -> None:
        """Merge into a document, also where somebody else does meanwhile."""
        self._told(lambda: self._run.patch(self._at(id, scope), patch))

    def delete(self, id: str, scope: str = "space") -> None:
        """Delete a document; its history stays."""
        self._told(lambda: self._run.delete(self._at(id, scope)))

    def __enter__(self) -> Edit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None
    ) -> None:
        if kind is None and self._run.writes:
            self.seq = self._commit(self._proposal())

    def _at(self, id: str, scope: str) -> Address:
        return Address(self.space, check_id(id), check_scope(scope))

    def _proposal(self) -> dict[str, object]:
        """Name instances by scope: they are the session's own, and only it can say so."""
        reads = [
            {"id": one.id, "scope": scope_of(one.scope_key), "seq": one.seq}
            for one in self._run.seen
        ]
        return {"writes": [_asked(one) for one in self._run.writes], "reads": reads}

    def _told(self, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except MemoryRefused as err:
            raise told(err) from None


def _asked(write: Annotated) -> dict[str, object]:
    asked: dict[str, object] = {"id": write.id, "scope": write.scope, "op": write.op}
    if write.op != "delete":
        asked["value"] = write.value
    return asked if write.base is None else {**asked, "base": write.base}
