"""Random commits, demands, restarts: what is stored is what a naive run gives; no run more."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.dependencies import Reader
from scripts.swarm_v2.memory.derivations import Roots
from scripts.swarm_v2.memory.derive_context import CONTEXT
from scripts.swarm_v2.memory.derive_digest import DIGEST
from scripts.swarm_v2.memory.document import same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import unlinked
from scripts.swarm_v2.memory.store import Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.transactions import Transaction
from scripts.swarm_v2.scope_key import Identity
from tests.support.broken import break_preferences
from tests.support.scheduling import ALL, World, key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PEOPLE = [Identity(f"did:key:z{name}", f"s{n}") for name in "ABC" for n in (1, 2)]
who = st.sampled_from(PEOPLE)
slug = st.sampled_from(["x", "y", "z"])
word = st.sampled_from(["one", "two", "three"])
scope = st.sampled_from(["space", "user", "session"])
step = st.one_of(
    st.tuples(st.just("prefer"), who, word),
    st.tuples(st.just("spoil"), who),
    st.tuples(st.just("note"), who, word),
    st.tuples(st.just("forget_notes"), who),
    st.tuples(st.just("remember"), who, slug, word, scope),
    st.tuples(st.just("link_user"), who, slug),
    st.tuples(st.just("unlink"), who, slug, scope),
    st.tuples(st.just("erase"), who, slug, scope),
    st.tuples(st.just("demand"), who),
    st.tuples(st.just("undemand"), who),
    st.tuples(st.just("restart")),
    st.tuples(st.just("go"), st.integers(1, 50)),
)
_numbers = count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    folder: Path = tmp_path_factory.mktemp("random")
    made = SqliteStore(str(folder / "memory.db"), wal=True)
    yield made
    made.close()


class Play(World):
    """Also keeps, for each instance, where its inputs stood when it last ran."""

    def __init__(self, store: SqliteStore) -> None:
        self.stood: dict[Reader, dict[Any, int]] = {}
        self.counted: dict[Reader, int] = {}
        self.wanted: dict[Identity, int] = {}
        super().__init__(store, ALL, f"proj-{next(_numbers)}")

    def restart(self) -> Any:
        if self.wanted:  # of what failed nothing is stored: another process has to try
            for node in self.scheduler.nodes.values():
                for scope_key, one in node.instances.items():
                    if one.fault is not None:
                        self.stood.pop(Reader(node.name, scope_key), None)
        super().restart()
        self.counted = {}
        for one, times in self.wanted.items():
            for _ in range(times):
                self.scheduler.demand(one)

    def go(self, budget: int = 1_000) -> Any:
        report = super().go(budget)
        self.at_ms += 60_000
        ran = [
            (Reader(node.name, scope_key), one)
            for node in self.scheduler.nodes.values()
            for scope_key, one in node.instances.items()
            if one.runs > self.counted.get(Reader(node.name, scope_key), 0)
        ]
        for reader, instance in ran:
            self.counted[reader] = instance.runs
            stands = self.store.heads(self.scheduler.index.reads(reader))
            assert stands != self.stood.get(reader), f"{reader} ran though nothing moved"
            self.stood[reader] = stands
        return report

    def do(self, name: str, *args: Any) -> None:
        getattr(self, f"do_{name}")(*args)

    def do_prefer(self, one: Identity, style: str) -> None:
        self.save(one, "preferences", "user", {"style": style})

    def do_spoil(self, one: Identity) -> None:
        break_preferences(self.store, self.space, key("user", one))

    def do_note(self, one: Identity, text: str) -> None:
        self.save(one, "notes", "session", {"goals": [text]})

    def do_forget_notes(self, one: Identity) -> None:
        self.put(Write("notes", key("session", one), "delete"))

    def do_remember(self, one: Identity, name: str, text: str, at: str) -> None:
        self.remember(one, name, f"{text} of {at}", at)

    def do_link_user(self, one: Identity, name: str) -> None:
        link = {
            "memory": {"$link": {"id": f"memory/{name}", "scope": "user"}},
            "title": one.session_id,
        }
        self.put(Write("index", "space", "patch", {"links": {name: link}}))

    def do_unlink(self, one: Identity, name: str, at: str) -> None:
        self.put(unlinked(name, key(at, one)))

    def do_erase(self, one: Identity, name: str, at: str) -> None:
        self.put(Write(f"memory/{name}", key(at, one), "erase"))

    def do_demand(self, one: Identity) -> None:
        self.scheduler.demand(one)
        self.wanted[one] = self.wanted.get(one, 0) + 1

    def do_undemand(self, one: Identity) -> None:
        self.scheduler.undemand(one)
        self.wanted[one] = max(0, self.wanted.get(one, 0) - 1)

    def do_restart(self) -> None:
        self.restart()

    def do_go(self, budget: int) -> None:
        self.go(budget)


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(step, min_size=4, max_size=30))
def test_what_is_stored_is_what_a_naive_run_gives_and_no_run_is_needless(
    store: SqliteStore, steps: list[tuple[Any, ...]]
) -> None:
    play = Play(store)
    for one in steps:
        play.do(*one)
    for _ in range(40):
        play.go()
        if not play.scheduler.left:
            break
    assert play.scheduler.left == 0
    for who_asks, times in play.wanted.items():
        if not times:
            continue
        for derivation in (CONTEXT, DIGEST):
            tx = Transaction(store, play.space)
            tx.act_as(who_asks)
            try:
                expected = derivation.run(tx, Roots(play.space))
            except MemoryRefused:
                continue
            assert same(play.result(derivation.name, who_asks), expected), derivation.name
