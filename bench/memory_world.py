"""A store of 10,000 documents: a project's memories, and those of 100 people with two sessions.

A person has preferences, notes of two sessions and forty memories with their index; the rest are
the project's memories behind one index of more than five thousand links.
"""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from bench.workload import FOLDER
from hooks.clock import iso
from scripts.swarm_v2.memory.library import open_store
from scripts.swarm_v2.memory.memories import INDEX, writes_for
from scripts.swarm_v2.memory.preferences import DEFAULT_PREFERENCES, NOTES, PREFERENCES
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import SESSION, SPACE, USER, Identity, resolve_scope_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.scope_key import Scope

DOCUMENTS, PEOPLE, SESSIONS, OWN = 10_000, 100, 2, 40
AT_ONCE = 200  # documents of one commit that fills the store
WEB = "git.example.org/shop/web"
AT = "2026-11-02T08:00:00.000Z"
TYPES = ("lesson", "decision", "fact", "error", "preference", "discovery")
SEVERITIES = ("", "", "", "low", "medium", "high", "critical")
SYLLABLES = (
    "ra",
    "li",
    "to",
    "me",
    "ver",
    "con",
    "dep",
    "mig",
    "tok",
    "que",
    "sch",
    "fix",
    "wor",
    "hea",
)
WORDS = [
    one + other for one in SYLLABLES for other in SYLLABLES
]  # as many as a project's notes use


class Person(NamedTuple):
    name: str
    sessions: tuple[str, ...]

    def identity(self, session: str = "") -> Identity:
        return Identity(self.name, session or self.sessions[0])


def people(count: int = PEOPLE) -> list[Person]:
    return [
        Person(f"person-{number:03d}", tuple(f"run-{number:03d}-{one}" for one in range(SESSIONS)))
        for number in range(count)
    ]


def memory(rng: random.Random, number: int) -> dict[str, object]:
    """Return a memory of two or three sentences, as markers leave them."""
    words = [rng.choice(WORDS) for _ in range(rng.randrange(25, 60))]
    hour, minute = divmod(number % 1440, 60)
    return {
        "text": " ".join(words),
        "title": " ".join(words[:6]) if number % 3 == 0 else "",  # few give one
        "type": rng.choice(TYPES),
        "cls": rng.choice(("agent", "agent", "agent", "person")),
        "severity": rng.choice(SEVERITIES),
        "at": f"2026-10-{number % 28 + 1:02d}T{hour:02d}:{minute:02d}:00.000Z",
        "session": "bench",
    }


def documents(rng: random.Random) -> Iterator[tuple[Write, ...]]:
    """Yield the writes of every document, each person's together and then the project's."""
    count = 0
    for person in people():
        user = resolve_scope_key(USER, person.identity())
        yield (Write(PREFERENCES, user, "set", {**DEFAULT_PREFERENCES, "style": "short answers"}),)
        for session in person.sessions:
            key = resolve_scope_key(SESSION, person.identity(session))
            value = {"goals": [f"finish the {rng.choice(WORDS)}"], "files": [], "questions": []}
            yield (Write(NOTES, key, "set", value),)
        for number in range(OWN):
            yield writes_for(f"own-{number}", memory(rng, number), user, USER, is_new=True)
        count += 2 + SESSIONS + OWN  # with the index
    for number in range(DOCUMENTS - count - 1):
        yield writes_for(f"shared-{number}", memory(rng, number), SPACE, SPACE, is_new=True)


def fill(store: DocumentStore) -> None:
    """Put all of them into an empty store, many in a commit, as an import does."""
    batch: list[Write] = []
    links: dict[str, dict[str, object]] = {}

    def flush() -> None:
        patches = [Write(INDEX, key, "patch", {"links": one}) for key, one in links.items()]
        store.commit(WEB, Commit("system", (*batch, *patches), at=AT))
        batch.clear()
        links.clear()

    for writes in documents(random.Random(5)):
        for write in writes:
            if write.op == "patch" and isinstance(write.value, dict):
                links.setdefault(write.scope_key, {}).update(write.value["links"])
            else:
                batch.append(write)
        if len(batch) >= AT_ONCE:
            flush()
    flush()


class Bed:
    """A filled store; each measurement works on a copy of its own."""

    def __init__(self) -> None:
        self._folder = FOLDER / "memory"
        shutil.rmtree(self._folder, ignore_errors=True)
        self._number = 0
        store = open_store(str(self._home("filled")), wal=True)
        fill(store)
        store.close()
        self.bytes = (self._folder / "filled" / "brain" / "local.db").stat().st_size

    def home(self) -> str:
        self._number += 1
        home = self._home(str(self._number))
        source = self._folder / "filled" / "brain" / "local.db"
        shutil.copy(source, home / "brain" / "local.db")
        return str(home)

    def _home(self, name: str) -> Path:
        home = self._folder / name
        (home / "brain").mkdir(parents=True)
        return home


def now() -> datetime:
    return datetime.now(UTC)


def proposal(rng: random.Random, slug: str, scope: Scope) -> dict[str, object]:
    """Return a new memory as a client proposes it: the document and its link, in one commit."""
    writes = writes_for(slug, memory(rng, rng.randrange(999)), "", scope, is_new=True)
    named = [{"id": w.id, "scope": scope, "op": w.op, "value": w.value} for w in writes]
    return {"writes": named}


class Embedded:
    """A runtime on a copy of the store, with sessions of some people."""

    def __init__(self, bed: Bed, count: int, *, wal: bool = True, home: str = "") -> None:
        self.store = open_store(home or bed.home(), wal=wal)
        self.runtime = MemoryRuntime(self.store, now=now)
        self.sessions: list[Session] = [
            self.runtime.open_session(WEB, Credential(person.name, "token"), session)
            for person in people(count)
            for session in person.sessions
        ]

    def watch(self, id: str, *, schema: object = True) -> None:
        for session in self.sessions:
            frame = self.runtime.watch(session, id, id, SPACE, schema=schema)
            self.runtime.delivered(session, frame)

    def pump(self) -> int:
        found = self.runtime.pump()
        for session, frame in found:
            self.runtime.delivered(session, frame)
        return len(found)

    def commit(self, session: Session, what: dict[str, object]) -> None:
        assert self.runtime.commit(session, what, iso(now()))

    def change(self, person: int, what: dict[str, object]) -> None:
        """Commit as a person's first session, and tell everybody who is owed something."""
        self.commit(self.sessions[SESSIONS * person], what)
        assert self.pump()

    def runs(self) -> dict[str, int]:
        """Return how often the context of each instance was run."""
        graph = self.runtime.graph(WEB)
        return {row.scope_key: row.runs for row in graph.of("context")} if graph else {}

    def close(self) -> None:
        self.runtime.close()
        self.store.close()
