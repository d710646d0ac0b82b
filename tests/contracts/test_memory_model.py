"""Three people with two sessions each do anything in any order, at two processes over one store.

After each step that tells somebody something, an oracle that reads nothing but rows says what each
may have: nothing of another's, all of one's own, and no run whose inputs had not moved.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from hooks.clock import iso
from scripts.swarm_v2.memory.document import MISSING, make_link, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import erased, unlinked, writes_for
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import DirtyKey, resolve_scope_key
from tests.support.memory_model import BUDGETS, Faulty, comparable, mark
from tests.support.memory_moves import (
    CASTS,
    HEARING,
    REFUSED,
    SAYING,
    SEATS,
    SESSIONS,
    TROUBLE,
    WATCHED,
    lost,
    who,
)
from tests.support.memory_play import Play
from tests.support.memory_seats import Seat

if TYPE_CHECKING:
    from tests.support.store_worlds import World


class Machine(RuleBasedStateMachine):
    world: ClassVar[World]

    @initialize(
        principals=st.sampled_from(CASTS).flatmap(st.permutations),
        sessions=st.sampled_from(SESSIONS),
        watchers=st.lists(st.tuples(who, st.sampled_from(WATCHED[:6])), min_size=1, max_size=4),
        crowds=st.lists(st.sampled_from([WATCHED[0], WATCHED[3]]), max_size=2, unique_by=id),
    )
    def begin(self, principals: Any, sessions: Any, watchers: Any, crowds: Any) -> None:
        self.play = Play(self.world, principals, sessions)
        self.number = 0
        self.sure: dict[Any, tuple[Any, Any, set[str]]] = {}  # what a person had kept, and where
        for place, wanted in watchers:
            self.watch(place, wanted)
        for wanted in crowds:
            self.crowd(0, wanted)

    @rule(moves=st.lists(SAYING, min_size=1, max_size=5))
    def say(self, moves: Any) -> None:
        self.do(moves)

    @rule(moves=st.lists(HEARING, min_size=1, max_size=3))
    def hear(self, moves: Any) -> None:
        self.do(moves)

    @rule(lost=lost, told=st.booleans(), seconds=st.integers(0, 3))
    def pump(self, lost: Any, told: bool, seconds: int) -> None:
        self.play.now += timedelta(seconds=seconds)
        for host in self.play.hosts:
            self.play.pump(host, lost, told=told)

    @rule(move=TROUBLE)
    def trouble(self, move: Any) -> None:
        self.do([move])

    def do(self, moves: Any) -> None:
        for move in moves:
            getattr(self, move["do"])(**{name: one for name, one in move.items() if name != "do"})

    def seat(self, place: Any) -> Seat:
        host, person, session = place
        return self.play.hosts[host].seat(person, session)

    def word(self, scope: str, seat: Seat) -> str:
        self.number += 1
        assert seat.person is not None
        assert seat.place is not None
        return mark(self.number, scope, seat.person, seat.place)

    def write(self, place: Any, id: str, scope: str, op: str, value: Any) -> None:
        seat = self.seat(place)
        asked = {"id": id, "scope": scope, "op": op}
        if op in ("set", "patch"):
            if isinstance(value, dict) and "text" in value:
                value = {**value, "text": self.word(scope, seat)}
            asked["value"] = value
        done = self.play.commit(seat, [asked])
        assert isinstance(done, int) or done in REFUSED

    def remember(self, place: Any, slug: str, scope: Any, more: Any) -> None:
        seat = self.seat(place)
        word = self.word(scope, seat)
        key = resolve_scope_key(scope, seat.who)
        value = {"text": f"{word} is so", "at": iso(self.play.now), **more}
        writes = [_asked(one, scope) for one in writes_for(slug, value, key, scope)]
        self.sure.setdefault((key, slug), (place, scope, set()))[2].add(word)
        assert isinstance(self.play.commit(seat, writes), int)

    def forget(self, number: int, how: str) -> None:
        if not self.sure:
            return
        key, slug = sorted(self.sure)[number % len(self.sure)]
        place, scope, words = self.sure[(key, slug)]
        writes = erased(slug, key) if how == "erase" else [unlinked(slug, key)]
        asked = [_asked(one, scope) for one in writes]
        assert isinstance(self.play.commit(self.seat(place), asked), int)
        if how == "erase":
            self.play.forgotten |= words
            del self.sure[(key, slug)]

    def link(self, place: Any, slug: str, scope: str) -> None:
        """Link from the project's index to what each has for itself, or nobody has."""
        entry = {"memory": make_link(f"memory/{slug}", scope), "title": "whoever's"}
        asked = {"id": "index", "scope": "space", "op": "patch", "value": {"links": {slug: entry}}}
        self.play.commit(self.seat(place), [asked])

    def litter(self, place: Any, scope: str, what: Any) -> None:
        """Put something into an index that no door lets in, as an older version did."""
        self.past_the_doors(self.seat(place), "index", scope, *what)

    def past_the_doors(self, seat: Seat, id: str, scope: Any, op: Any, value: Any) -> None:
        write = Write(id, resolve_scope_key(scope, seat.who), op, value)
        seat.host.store.commit(self.play.space, Commit("system", (write,), at=iso(self.play.now)))

    def prefer(self, place: Any, verbosity: Any, part: bool) -> None:
        seat = self.seat(place)
        value = {"style": self.word("user", seat), "verbosity": verbosity}
        if part:
            value["sections"] = ["person", "project"]
        asked = {"id": "preferences", "scope": "user", "op": "set", "value": value}
        done = self.play.commit(seat, [asked])
        if verbosity in BUDGETS:
            assert isinstance(done, int)
        else:
            assert done == "document-reserved"
            self.past_the_doors(seat, "preferences", "user", "set", value)

    def note(self, place: Any, op: str) -> None:
        seat = self.seat(place)
        asked: dict[str, Any] = {"id": "notes", "scope": "session", "op": op}
        if op in ("patch", "set"):
            asked["value"] = {"goals": [self.word("session", seat)]}
        assert isinstance(self.play.commit(seat, [asked]), int)

    def edit(self, place: Any, id: str, scope: str, older: int) -> None:
        """Compare and set: done on what stands there, refused on anything else."""
        seat = self.seat(place)
        row = self.play.oracle().rows.get((resolve_scope_key(scope, seat.who), id))
        base = (row.seq if row else 0) + older
        value = {"text": self.word(scope, seat)}
        asked = {"id": id, "scope": scope, "op": "set", "value": value, "base": base}
        done = self.play.commit(seat, [asked])
        assert done == "stale-base" if older else isinstance(done, int)

    def rely(self, place: Any, id: str, scope: str, older: int) -> None:
        """Write because of what one read, if it still stands as it was read."""
        seat = self.seat(place)
        row = self.play.oracle().rows.get((resolve_scope_key(scope, seat.who), id))
        read = {"id": id, "scope": scope, "seq": (row.seq if row else 0) + older}
        value = {"text": self.word("user", seat)}
        asked = {"id": "x/y", "scope": "user", "op": "set", "value": value}
        done = self.play.commit(seat, [asked], reads=[read])
        assert done == "stale-read" if older else isinstance(done, int)

    def spoil(self, place: Any, bad: Any, first: bool, more: int) -> None:
        """Whatever good stands beside it: one bad write, and nothing at all is written."""
        good: list[Any] = [
            {"id": "memory/x", "scope": "space", "op": "erase"},
            {"id": "notes", "scope": "session", "op": "patch", "value": {"files": ["f"]}},
            {"id": "x/y", "scope": "user", "op": "set", "value": {"a": 1}},
        ]
        bad = {"op": "set", "scope": "space", **bad}
        writes = [bad, good[more]] if first else [good[more], bad]
        assert isinstance(self.play.commit(self.seat(place), writes), str)

    def elsewhere(self, person: int, slug: str, where: str, gone: bool) -> None:
        """Another process, behind the back of both: what is accepted, imported, taken back."""
        play = self.play
        seat = play.hosts[0].seat(person, 0)
        scope: Any = "user" if where == "person" else "space"
        key = resolve_scope_key(scope, seat.who)
        word = self.word(scope, seat)
        writes: Any = writes_for(slug, {"text": word, "accepted": True}, key, scope)
        writes = [unlinked(slug, key)] if gone else writes
        space = {"person": play.roots.person, "fleet": play.roots.fleet, "space": play.space}
        if where == "space":
            self.sure.setdefault((key, slug), ((0, person, 0), scope, set()))[2].add(word)
        commit = Commit("system", tuple(writes), at=iso(play.now))
        play.hosts[1].store.commit(space[where], commit)

    def watch(self, place: Any, wanted: Any) -> None:
        self.play.watch(self.seat(place), f"{wanted[0]} {wanted[1]}", wanted)

    def crowd(self, host: int, wanted: Any) -> None:
        """All come at once, as after a restart."""
        for seat in SEATS:
            self.watch((host, *seat), wanted)

    def look_on(self, host: int, wanted: Any) -> None:
        """Somebody who proved to be nobody watches."""
        self.play.watch(self.play.hosts[host].seat(None, None), "it", wanted)

    def keep(self, place: Any, id: str, scope: Any, takes: bool, lapses: bool) -> None:
        seat = self.seat(place)
        if takes:
            self.play.lose_lease(thief=False)
        self.play.keep(seat.host, DirtyKey(resolve_scope_key(scope, seat.who), id))
        self.play.pump(seat.host)
        if lapses:
            self.play.lose_lease(thief=False)
            self.play.pump(seat.host)

    def unwatch(self, place: Any, number: int) -> None:
        seat = self.seat(place)
        if seat.watches:
            name = sorted(seat.watches)[number % len(seat.watches)]
            self.play.unwatch(seat, name)

    def look(self, place: Any, id: str, scope: Any) -> None:
        """Read and list what is written: one's own, redirects followed into one's own."""
        seat, oracle = self.seat(place), self.play.oracle()
        runtime = seat.host.runtime
        try:
            expected = oracle.read(id, scope, seat.who)
        except Faulty:
            expected = None
        found, code = None, ""
        try:
            found = runtime.read(seat.session, id, scope)
        except MemoryRefused as refused:
            code = refused.code
        assert code == ("link-circle" if expected is None else "")
        if expected is not None:
            value = MISSING if found is None or found.deleted else found.value
            assert same(value, expected)
        key = resolve_scope_key(scope, seat.who)
        listed = {one.id: one.value for one in runtime.select(seat.session, scope, limit=1000)}
        assert listed == {at.id: one for at, one in oracle.values.items() if at.scope_key == key}

    def ask(self, place: Any, name: str) -> None:
        """Read what is derived: as it is now, whoever recomputes."""
        seat, play = self.seat(place), self.play
        play.now += timedelta(minutes=1)
        try:
            expected = play.oracle().derive(name, seat.who)
        except Faulty:
            expected = None
        found, code = None, ""
        try:
            scope: Any = "user" if name == "status" else "space"
            found = seat.host.runtime.read(seat.session, name, scope)
        except MemoryRefused as refused:
            code = refused.code
        assert expected is None or not code, code
        play.account(seat.host)
        value = found.value if found else None
        seat.check_words(value)
        if expected is not None and name != "status":
            assert comparable(name, value) == expected

    def lose_lease(self, thief: bool) -> None:
        self.play.lose_lease(thief)

    def return_lease(self) -> None:
        self.play.return_lease()

    def restart(self, host: int, crash: bool) -> None:
        self.play.restart(host, crash)

    def retire(self, place: Any, anew: bool) -> None:
        """A session ended a month ago; where it is not open its rows go, and nobody else's."""
        host, person, session = place
        for each in (0, 1):
            self.note((1 - host, person, each), "patch")
        if anew:
            self.play.restart(host, crash=True)
        self.play.retire(self.play.people[person][session % 2], self.play.hosts[host])

    def settle(self) -> None:
        self.play.settle()

    def teardown(self) -> None:
        if hasattr(self, "play"):
            try:
                self.play.settle()
            finally:
                self.play.close()


def _asked(write: Write, scope: str) -> dict[str, Any]:
    asked = {"id": write.id, "scope": scope, "op": write.op}
    return {**asked, "value": write.value} if write.value is not None else asked


def _settings(examples: int, steps: int) -> settings:
    """Few and always the same; ``--hypothesis-profile=long`` goes on with others for long."""
    long = settings.get_current_profile_name() == "long"
    return settings(
        max_examples=settings().max_examples if long else examples,
        stateful_step_count=50 if long else steps,
        derandomize=not long,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_each_sees_all_of_its_own_and_nothing_of_others_whatever_happens(world: World) -> None:
    machine = type("Bound", (Machine,), {"world": world})
    run_state_machine_as_test(machine, settings=_settings(30, 20))


@pytest.mark.parametrize("world", ["redis"], indirect=True)
def test_so_it_is_on_a_redis(world: World) -> None:
    machine = type("Bound", (Machine,), {"world": world})
    run_state_machine_as_test(machine, settings=_settings(5, 20))
