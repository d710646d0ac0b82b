"""The setting of scoped memory's acceptance scenarios: one store, and two processes that write.

``Scene`` is this process: a runtime whose watchers are here. ``Beside`` is the other one. People
of both say the same things to them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tests.support.memory_writer
from hooks.clock import iso
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import SyncFrame, Upsert, encode, parse
from scripts.swarm_v2.memory.inspect import GraphSnapshot
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential, Lease, Session
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from scripts.swarm_v2.wire_json import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from scripts.swarm_v2.memory.scheduler import Scheduler
    from scripts.swarm_v2.memory.store import DocumentStore
    from tests.support.store_worlds import World

SPACE = "proj"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
A, A2, B, C = "did:key:zA", "did:key:zA2", "did:key:zB", "did:key:zC"


def user(principal: str) -> str:
    return resolve_scope_key("user", Identity(principal))


def run(principal: str, session: str) -> str:
    return resolve_scope_key("session", Identity(principal, session))


def style(text: str) -> dict[str, object]:
    return {"style": text}


def linked(*entries: tuple[str, str, str]) -> dict[str, object]:
    """Return an index: each entry is its slug, the memory's id and the scope of the link."""
    links = {
        slug: {"type": "lesson", "memory": {"$link": {"id": id, "scope": scope}}}
        for slug, id, scope in entries
    }
    return {"links": links}


class Beside:
    """The other process; it serves one store after another."""

    def __init__(self) -> None:
        script = str(Path(tests.support.memory_writer.__file__))
        self._process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, do: str, **args: object) -> Any:
        """Have it do one thing.

        Raises:
            MemoryRefused: what it was refused with.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **args}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "code" in answer:
            raise MemoryRefused(answer["code"], "refused in the other process")
        return answer["said"]

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


class Person:
    """Somebody's session: ``save`` and ``commit`` write, ``value`` reads what is that one's own."""

    def __init__(self, principal: str | None, session: str) -> None:
        self.principal, self.session_id = principal, session

    def commit(self, proposal: object) -> int:
        raise NotImplementedError

    def value(self, id: str, scope: str) -> Any:
        raise NotImplementedError

    def save(self, id: str, scope: str, value: object, op: str = "set") -> int:
        return self.commit({"writes": [{"id": id, "scope": scope, "op": op, "value": value}]})

    def remember(self, slug: str, text: str, scope: str = "space") -> int:
        """Write a memory and its link."""
        writes = [
            {"id": f"memory/{slug}", "scope": scope, "value": {"text": text, "type": "lesson"}},
            {
                "id": "index",
                "scope": scope,
                "op": "patch",
                "value": linked((slug, f"memory/{slug}", scope)),
            },
        ]
        return self.commit({"writes": writes})


class Apart(Person):
    """A session in the other process."""

    def __init__(self, beside: Beside, principal: str | None, session: str) -> None:
        super().__init__(principal, session)
        self._who = {"principal": principal, "session": session}
        self._beside = beside
        beside.ask("open", **self._who)

    def commit(self, proposal: object) -> int:
        return int(self._beside.ask("commit", proposal=proposal, **self._who))

    def value(self, id: str, scope: str) -> Any:
        found = self._beside.ask("read", id=id, scope=scope, **self._who)
        return found and found[0]


class Here(Person):
    """A session in this process; what it is told stands in ``frames``, as the wire carries it."""

    def __init__(self, scene: Scene, session: Session) -> None:
        super().__init__(session.identity.principal, session.identity.session_id or "")
        self._scene, self.session = scene, session
        self.frames: list[SyncFrame] = []

    def commit(self, proposal: object) -> int:
        return self._scene.runtime.commit(self.session, proposal, iso(self._scene.at))

    def value(self, id: str, scope: Any) -> Any:
        found = self._scene.runtime.read(self.session, id, scope)
        return None if found is None or found.deleted else found.value

    def watch(self, id: str, scope: Any, **how: Any) -> SyncFrame:
        frame = self._scene.runtime.watch(self.session, f"{scope} {id}", id, scope, **how)
        self._scene.runtime.delivered(self.session, frame)
        return frame

    def take(self, frame: SyncFrame) -> None:
        self.frames.append(parse(loads(dumps(encode(frame)))))

    @property
    def told(self) -> list[Upsert]:
        """Every row that came since the last look."""
        found = [entry for frame in self.frames for entry in frame.upserts]
        self.frames.clear()
        return found

    @property
    def rows(self) -> list[tuple[str, str, object]]:
        """Scope, id and value of every row that came since the last look."""
        return [(entry.scope, entry.id, entry.value) for entry in self.told]

    @property
    def looked_at(self) -> int:
        return self._scene.runtime.subscriptions.looked_at(self.session)


class Scene:
    """One store. ``wrap`` puts something between it and this process's runtime."""

    def __init__(
        self,
        world: World,
        beside: Beside,
        wrap: Callable[[DocumentStore], Any] = lambda store: store,
    ) -> None:
        self.world, self.beside, self.at = world, beside, NOON
        self._wrap = wrap
        self.people: dict[Session, Here] = {}
        self.begin()
        beside.ask("store", code=world.code)

    def begin(self) -> None:
        self.store = self.world.open()
        self.runtime = MemoryRuntime(self._wrap(self.store), now=lambda: self.at)

    def restart(self) -> None:
        """End this process's runtime, as a process ends, and start another one."""
        self.runtime.close()
        self.people = {}
        self.begin()

    def later(self, **span: float) -> None:
        self.at += timedelta(**span)

    def here(self, principal: str | None, session: str = "") -> Here:
        opened = self.runtime.open_session(SPACE, Credential(principal, "test"), session or None)
        return self._known(opened)

    def apart(self, principal: str | None, session: str = "") -> Apart:
        return Apart(self.beside, principal, session)

    def service(self, principal: str | None = None) -> Here:
        """Open the session of a process that serves the space; it holds the lease."""
        lease = Lease(self.store, SPACE, "serving")
        assert lease.acquire()
        credential = Credential(principal, "test")
        return self._known(self.runtime.registry.open(SPACE, credential, "run", lease=lease))

    def _known(self, session: Session) -> Here:
        self.people[session] = Here(self, session)
        return self.people[session]

    def pump(self) -> list[Here]:
        """Take what both processes committed; return who was told something."""
        found = []
        for session, frame in self.runtime.pump():
            self.people[session].take(frame)
            self.runtime.delivered(session, frame)
            found.append(self.people[session])
        return found

    def rows(self, id: str = "") -> list[tuple[str, str]]:
        """Return every instance that any commit touched, of one document or of all."""
        touched = {one for change in self.store.changes(SPACE, 0) for one in change.touched}
        return sorted((one.scope_key, one.id) for one in touched if id in ("", one.id))

    def state(self) -> tuple[object, ...]:
        """Return everything that a refused commit must leave as it is."""
        keys = sorted({key for key, _ in self.rows()})
        heads = self.store.select(SPACE, keys)
        feed, basis = self.store.changes(SPACE, 0), self.store.basis(SPACE)
        past = [self.store.history(SPACE, *row) for row in self.rows()]
        return self.store.seq(SPACE), feed, heads, past, basis

    @property
    def graph(self) -> GraphSnapshot:
        found = self.runtime.graph(SPACE)
        assert found is not None
        return found

    @property
    def scheduler(self) -> Scheduler:
        return self.runtime._standing._serving[SPACE].scheduler

    def runs(self, node: str = "context") -> dict[str, int]:
        """Return how often each instance that is there has run in this process."""
        return {row.scope_key: row.runs for row in self.graph.of(node)}

    def revisions(self, scope_key: str, id: str = "context") -> int:
        return len(self.store.history(SPACE, scope_key, id))

    def close(self) -> None:
        self.runtime.close()


def spoil(world: World, scope_key: str, id: str, *, head: bool = False) -> None:
    """Damage what is stored of one instance, or its very head, behind the store's back."""
    field = json.dumps(["", scope_key, id], separators=(",", ":"))
    if world.kind == "sqlite":
        said = "UPDATE head SET op = 'gone'" if head else "UPDATE revision SET value = '{'"
        world.sql(f"{said} WHERE id = ? AND scope_key = ?", id, scope_key)
    elif head:
        world.ask("HSET", world.key("head"), field, "x set r 0 1 0")
    else:
        world.ask("LSET", world.key(f"revisions:{field}"), "-1", "x")
