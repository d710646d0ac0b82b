"""A session at a memory server; the same answers as one in this process.

What is watched is kept here, by frames, and read from here. A commit shows at once, as a layer
over what is kept, and is confirmed or rolled back by the server's verdict. A connection that
ended is made anew by whatever is asked next, with all its watches: what was missed comes then.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.answers import asked_watch, document_body, scope_named
from scripts.swarm_v2.memory.connection import GONE, Connection
from scripts.swarm_v2.memory.conversation import Conversation
from scripts.swarm_v2.memory.document import check_id
from scripts.swarm_v2.memory.editing import Edit
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import SyncFrame, encode
from scripts.swarm_v2.memory.frames import parse as parse_frame
from scripts.swarm_v2.memory.kept import Kept, copied
from scripts.swarm_v2.memory.memories import DERIVED
from scripts.swarm_v2.memory.proposals import parse_proposal
from scripts.swarm_v2.memory.redirects import instance_for
from scripts.swarm_v2.memory.transactions import Transaction
from scripts.swarm_v2.memory.watch_view import SelectorTracker
from scripts.swarm_v2.scope_key import Identity, scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from scripts.swarm_v2.memory.answers import AskedWatch
    from scripts.swarm_v2.memory.replica import Sealed

    Body = Mapping[str, object]


def connect(address: str, token: str, space: str, session_id: str = "") -> RemoteMemory:
    """Open a session at the server of ``address``: ``unix:<path>`` or ``tcp:<port>``.

    A port is one of this machine: a token never leaves it.

    Raises:
        MemoryRefused: ``server-gone``, ``credential-refused``, ``space-invalid`` …
    """
    return RemoteMemory(lambda: Connection(address, token, space, session_id), space, session_id)


class Verdict:
    """What becomes of a commit that was handed over."""

    def __init__(self, wait_for: Callable[[Callable[[], bool]], None]) -> None:
        self._wait_for = wait_for
        self.found: int | MemoryRefused | None = None

    def seq(self) -> int:
        """Wait for it; return the commit's number, 0 where it changed nothing.

        Raises:
            MemoryRefused: the refusal; ``server-gone`` where the connection ended before it
                came: whether it was written, the next read says.
        """
        self._wait_for(lambda: self.found is not None)
        if isinstance(self.found, MemoryRefused):
            raise self.found
        return self.found or 0


class _Watched(NamedTuple):
    """A watch as it was asked for, and the one that brings what it shows; "" where it is that."""

    asked: AskedWatch
    within: str = ""


class RemoteMemory:
    """See ``library.Memory``. For one thread; every method may raise ``server-gone``.

    After that it goes on with whatever is asked next, where a server answers again; ``frames``
    then has one with ``reset``, which is everything that is watched.
    """

    def __init__(self, open: Callable[[], Connection], space: str, session_id: str) -> None:
        self.space = space
        self._talk = Conversation(open, self._come, self._begin_again)
        self.principal = self._talk.principal
        self._own = Identity(self.principal, session_id or None)
        self._kept = Kept(self._talk, space, self._own)
        self._tracker: SelectorTracker[str] = SelectorTracker(lambda: self._own)
        self._watches: dict[str, _Watched] = {}
        self._frames: list[Body] = []
        self._last = SyncFrame(space, 1, 0, 0)

    def read(self, id: str, scope: str = "space", *, follow: bool = True) -> Body | None:
        """Return the instance as this client sees it: with ``"pending"`` before the verdict.

        Without ``follow`` it is the very instance that is named, as the server has stored it.
        """
        address = Address(self.space, check_id(id), scope_named({"scope": scope}))
        instance_for(address, self._own)
        if not follow:
            return self._talk.again(lambda: self._asked(address, follow=False))
        return self._talk.again(lambda: self._read(address))

    def documents(
        self, scope: str = "space", *, prefix: str = "", after: str = "", limit: int = 100
    ) -> Body:
        fields = {"scope": scope, "prefix": prefix, "after": after, "limit": limit}
        return self._talk.again(lambda: self._talk.ask("list", fields))

    def history(self, id: str, scope: str = "space", *, limit: int = 100) -> Body:
        fields = {"id": id, "scope": scope, "limit": limit}
        return self._talk.again(lambda: self._talk.ask("history", fields))

    def commit(self, proposal: Body) -> int:
        return self.propose(proposal).seq()

    def propose(self, proposal: Body) -> Verdict:
        """Hand a commit over; what it writes shows in this client's reads at once."""
        writes = parse_proposal(copied(proposal)).writes
        verdict = Verdict(self._talk.wait_for)
        sealed: list[Sealed] = []

        def answered(found: Body | MemoryRefused) -> None:
            seq = found if isinstance(found, MemoryRefused) else int(str(found["seq"]))
            self._kept.settle(sealed[0], 0 if isinstance(seq, MemoryRefused) else seq)
            verdict.found = seq

        self._talk.ready()
        try:
            self._talk.send("commit", {"proposal": proposal}, answered)
        except MemoryRefused as err:
            if err.code != GONE:
                raise
            self._talk.ready()  # the whole of it did not get there: it may be handed over again
            self._talk.send("commit", {"proposal": proposal}, answered)
        sealed.append(self._kept.seal(writes))
        return verdict

    def transaction(self) -> Edit:
        """Begin a change of several documents; see ``Edit``."""
        self._talk.ready()
        return Edit(self._kept.reader(settled=True), self.space, self._own, self.commit)

    def watch(
        self,
        watch_id: str,
        id: str,
        scope: str = "space",
        *,
        path: tuple[str, ...] = (),
        schema: object = True,
    ) -> Body:
        fields = {"watch": watch_id, "id": id, "scope": scope, "path": [*path], "schema": schema}
        asked = asked_watch(fields)
        instance_for(self._root(asked), self._own)
        return self._talk.again(lambda: self._watch(asked))

    def unwatch(self, watch_id: str) -> Body:
        return self._talk.again(lambda: self._unwatch(watch_id))

    def frames(self, timeout_s: float) -> list[Body]:
        """Return the frames that came; waits for the first up to ``timeout_s``."""
        until = time.monotonic() + timeout_s
        while True:
            self._talk.ready()
            left = until - time.monotonic()
            if self._frames or left <= 0:
                break
            self._talk.again(lambda left=left: self._talk.receive(left))  # type: ignore[misc]
        found, self._frames = self._frames, []
        return found

    def fileno(self) -> int:
        """Return what to select on for frames; another one once the connection was made anew."""
        return self._talk.fileno()

    def close(self) -> None:
        self._talk.close()

    def __enter__(self) -> RemoteMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    # What is kept.

    def _come(self, body: Body) -> None:
        self._frames.append(body)
        self._last = parse_frame(copied(body))
        self._kept.apply(self._last)

    def _begin_again(self) -> None:
        """Set every watch again; what the first one shows replaces all that was kept."""
        before, self._frames = self._frames, []
        try:
            for address, schema, name in list(self._tracker.on_the_wire()):
                self._talk.ask("watch", _fields(name, address, schema))
        finally:
            self._frames = before
        if self._watches:
            self._frames.append(encode(self._kept.whole(self._last)))

    def _read(self, address: Address) -> Body | None:
        if address.id in DERIVED and not self._kept.holds(address):
            return self._asked(address, follow=True)
        run = Transaction(self._kept.reader(settled=False), self.space)
        run.act_as(self._own)
        document = run.document(address)
        if document is None:
            return None
        body = document_body(document, scope_of(document.scope_key)) or {}
        key = InstanceKey(document.space, document.scope_key, document.id)
        return {**body, "pending": True} if self._kept.is_pending(key) else body

    def _asked(self, address: Address, *, follow: bool) -> Body | None:
        fields = {"id": address.id, "scope": address.scope, "follow": follow}
        found = self._talk.ask("read", fields)["document"]
        return found if isinstance(found, dict) else None

    def _root(self, asked: AskedWatch) -> Address:
        return Address(self.space, asked.id, asked.scope, asked.path)

    def _watch(self, asked: AskedWatch) -> Body:
        """Set a watch at the server, unless one that is there shows all of it."""
        root, before = self._root(asked), self._watches.get(asked.name)
        if before is not None and before.asked.same(asked):
            return self._nothing()
        wider = self._tracker.superset(root, asked.schema)
        if wider is not None and wider != asked.name:
            frame = self._nothing() if before is None else self._unwatch(asked.name)
            self._note(_Watched(asked, wider))
            return frame
        if before is not None:
            self._set_free(before)
        try:
            self._talk.ask("watch", _fields(asked.name, root, asked.schema))
        except MemoryRefused:
            if before is not None and not before.within:
                self._tracker.add(self._root(before.asked), before.asked.schema, asked.name)
            raise
        frame = self._frames.pop()  # it came right before the answer
        self._tracker.add(root, asked.schema, asked.name)
        self._note(_Watched(asked))
        return frame

    def _unwatch(self, name: str) -> Body:
        before = self._watches.get(name)
        if before is not None and not before.within:
            self._set_free(before)
            self._talk.ask("unwatch", {"watch": name})
            frame = self._frames.pop()
        else:
            frame = self._nothing()
        self._watches.pop(name, None)
        self._note()
        return frame

    def _set_free(self, going: _Watched) -> None:
        """Give what a watch brought for others a watch of its own, before it goes."""
        if going.within:
            return
        self._tracker.discard(self._root(going.asked), going.asked.schema)
        for one in [one for one in self._watches.values() if one.within == going.asked.name]:
            root, schema, name = self._root(one.asked), one.asked.schema, one.asked.name
            wider = self._tracker.superset(root, schema)
            self._note(one._replace(within=wider or ""))
            if wider is None:
                self._tracker.add(root, schema, name)
                self._talk.ask("watch", _fields(name, root, schema))
                self._frames.pop()  # empty: all of it is here

    def _note(self, *watched: _Watched) -> None:
        self._watches.update({one.asked.name: one for one in watched})
        self._kept.follow([self._root(one.asked) for one in self._watches.values()])

    def _nothing(self) -> Body:
        return encode(
            self._last._replace(since=self._last.seq, upserts=(), removes=(), reset=False)
        )


def _fields(name: str, root: Address, schema: object) -> dict[str, object]:
    path = [*root.path]
    return {"watch": name, "id": root.id, "scope": root.scope, "path": path, "schema": schema}
