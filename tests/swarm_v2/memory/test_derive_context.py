"""What ``context`` is made of, and that telling it is what a session start composes."""

from __future__ import annotations

import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.brains import Item
from hooks.context.compose import Section, compose
from scripts.swarm_v2.memory.choosing import MOST_LOADED
from scripts.swarm_v2.memory.derivations import FLEET, PERSON, Roots
from scripts.swarm_v2.memory.derive_context import TITLES, run_for
from scripts.swarm_v2.memory.memories import unlinked, writes_for
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.told import WAITING, Facts, tell
from scripts.swarm_v2.scope_key import Identity
from tests.support.memory_stores import SPACE
from tests.support.scheduling import A1, A2, B1, World, key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.swarm_v2.memory.store import DocumentStore

NOW = "2026-11-30T12:00:00.000000+00:00"
ROOT = Path(__file__).parents[3]
_numbers = count()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path_factory.mktemp("context") / "memory.db"), wal=True)
    yield made
    made.close()


@pytest.fixture
def world(sqlite_store: DocumentStore) -> World:
    return World(sqlite_store)


def put(
    store: DocumentStore, slug: str, value: dict[str, Any], scope: Any, who: Identity, space: str
) -> None:
    store.commit(space, Commit("system", writes_for(slug, value, key(scope, who), scope)))


def text(world: World, who: Identity, **facts: Any) -> str:
    value, _ = run_for(world.store, Roots(SPACE), who)
    return tell(value, Facts(SPACE, NOW, **facts)).text


words = st.sampled_from(["ports", "tests", "paths", "a < b", "naïve ☃", "<b>bold</b>"])
memory = st.fixed_dictionaries(
    {
        "text": st.lists(words, min_size=1, max_size=6).map(" ".join),
        "type": st.sampled_from(["lesson", "decision"]),
        "cls": st.sampled_from(["agent", "person"]),
        "severity": st.sampled_from(["", "high", "low", "critical", "odd"]),
        "priority": st.sampled_from(["", "5", "-2"]),
        "at": st.sampled_from(["", "2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z"]),
        "until": st.sampled_from(["", "2026-11-29T00:00:00.000000+00:00", "2027-01-01T00:00:00Z"]),
    }
)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from(["space", "user", "session"]), memory), max_size=12),
    st.integers(400, 3_000),
    st.booleans(),
)
def test_what_is_told_is_what_a_session_start_composes_of_these_memories(
    shared: SqliteStore, rows: list[tuple[str, dict[str, Any]]], budget: int, how_to: bool
) -> None:
    space = f"proj-{next(_numbers)}"
    by_scope: dict[str, list[Item]] = {"space": [], "user": [], "session": []}
    for number, (scope, row) in enumerate(rows):
        slug = f"{number:08d}" * 4
        put(shared, slug, row, scope, A1, space)
        if not row["until"] or row["until"] > NOW:
            by_scope[scope].append(Item(slug, project=space, scope_key=key(scope, A1), **row))
    value, _ = run_for(shared, Roots(space), A1)
    titles = {"space": "This project", "user": "This person", "session": "This session"}
    sections = [Section(titles[scope], by_scope[scope]) for scope in titles]
    expected = compose(space, sections, budget=budget, how_to=how_to)
    assert tell(value, Facts(space, NOW, budget, how_to)) == expected
    stored = tell(value, Facts(space, NOW))
    assert stored == compose(space, sections, budget=3_000)


def test_the_sections_have_the_titles_of_a_session_start() -> None:
    from hooks.context import memory_view

    source = Path(memory_view.__file__).read_text(encoding="utf-8")
    assert all(f'"{title}"' in source for title in (*TITLES.values(), WAITING))


def test_nothing_is_told_where_nothing_is_remembered(world: World) -> None:
    assert text(world, A1) == ""


def test_a_persons_memory_of_the_same_id_overrides_the_spaces_for_that_person(world: World) -> None:
    world.remember(B1, "port", "the port is 8080")
    world.remember(A1, "port", "here the port is 9090", "user")
    assert "9090" in text(world, A1)
    assert "8080" not in text(world, A1)
    assert "8080" in text(world, B1)


def test_a_persons_link_in_the_spaces_index_leads_each_into_their_own(world: World) -> None:
    link = {"memory": {"$link": {"id": "memory/mine", "scope": "user"}}}
    world.put(Write("index", "space", "patch", {"links": {"mine": link}}))
    world.put(Write("memory/mine", key("user", B1), "set", {"text": "of B alone", "type": "note"}))
    assert text(world, A1) == ""
    assert "of B alone" in text(world, B1)
    _, log = run_for(world.store, Roots(SPACE), A1)
    absent = [one for one in log if one.address.id == "memory/mine"]
    assert [(str(one.key), one.present) for one in absent] == [
        (f"{SPACE}/{key('user', A1)}/memory/mine", False)
    ]


def test_other_roots_are_read_and_shown_where_a_start_shows_them(world: World) -> None:
    put(world.store, "p", {"text": "crosses projects", "accepted": True}, "user", A1, PERSON)
    put(world.store, "f", {"text": "for everybody", "home": "fleet"}, "space", A1, FLEET)
    put(world.store, "s", {"text": "a signal of here", "home": SPACE}, "space", A1, FLEET)
    put(world.store, "o", {"text": "under the old name"}, "space", A1, "old")
    value, log = run_for(world.store, Roots(SPACE, ("old",)), A1)
    assert isinstance(value, dict)
    told = {
        section["title"]: [item["text"] for item in section["items"]]
        for section in value["sections"]
    }
    assert told == {
        "This project": ["a signal of here", "under the old name"],
        "This person": ["crosses projects"],
        "From this brain": ["for everybody"],
    }
    assert {one.address.space for one in log} == {SPACE, "old", PERSON, FLEET}
    assert (
        "crosses projects"
        not in tell(run_for(world.store, Roots(SPACE), B1)[0], Facts(SPACE, NOW)).text
    )


def test_preferences_choose_the_sections_their_order_and_the_length(world: World) -> None:
    world.remember(A1, "s", "of the project")
    world.remember(A1, "u", "of the person", "user")
    for number in range(40):
        world.remember(A1, f"m{number}", f"number {number} " + "words " * 20)
    world.save(
        A1,
        "preferences",
        "user",
        {"style": "be brief", "verbosity": "brief", "sections": ["person"]},
    )
    told = text(world, A1)
    assert "of the person" in told
    assert "be brief" in told
    assert "This project" not in told
    world.save(A1, "preferences", "user", {"verbosity": "brief"})
    assert len(text(world, A1)) <= 1_000
    world.save(A1, "preferences", "user", {"sections": ["person", "project"]})
    told = text(world, A1)
    assert told.index("This person") < told.index("This project")


def test_notes_are_the_sessions_that_wrote_them(world: World) -> None:
    world.save(A1, "notes", "session", {"goals": ["ship it", "rest"], "files": ["a.py"], "n": 3})
    assert "ship it; rest" in text(world, A1)
    assert "a.py" in text(world, A1)
    assert text(world, A2) == ""


@pytest.mark.parametrize("notes", ["ship it", {"text": "ship it"}, {"goal": "ship it"}])
def test_notes_are_told_in_each_of_their_forms(world: World, notes: object) -> None:
    world.save(A1, "notes", "session", notes)
    lines = text(world, A1).splitlines()
    assert lines[-3] == "This session:"
    assert lines[-2].endswith("] ship it")
    world.save(A1, "notes", "session", " ")
    assert text(world, A1) == ""


def test_at_most_so_many_bodies_are_loaded_and_the_best_are_among_them(world: World) -> None:
    writes = []
    links = {}
    for number in range(1_000):
        grave = {"severity": "high"} if number == 3 else {}
        ends = {"until": "2026-01-01T00:00:00Z"} if number % 2 else {}
        value = {"text": f"memory {number} is alone", "at": f"2026-{number:04d}", **grave, **ends}
        one, index = writes_for(f"m{number:04d}", value, "space", "space", is_new=True)
        writes.append(one)
        assert isinstance(index.value, dict)
        links.update(index.value["links"])
    world.put(*writes, Write("index", "space", "patch", {"links": links}))
    value, log = run_for(world.store, Roots(SPACE), A1)
    assert isinstance(value, dict)
    bodies = [one for one in log if one.address.id.startswith("memory/")]
    assert len(bodies) == MOST_LOADED
    items = value["sections"][0]["items"]
    assert items[0]["id"] == "m0003"
    assert items[1]["id"] == "m0999"
    assert sum("until" not in item for item in items) >= MOST_LOADED // 2
    assert value["sections"][0]["left_out"] == 1_000 - MOST_LOADED
    assert "memory 998 is alone" in tell(value, Facts(SPACE, NOW)).text


def test_a_small_section_keeps_its_place_beside_a_large_one(world: World) -> None:
    for number in range(200):
        world.remember(A1, f"m{number}", f"number {number}")
    world.remember(A1, "mine", "the one note of mine", "session")
    value, _ = run_for(world.store, Roots(SPACE), A1)
    assert isinstance(value, dict)
    assert [len(section["items"]) for section in value["sections"]] == [MOST_LOADED - 1, 1]


def test_what_ends_is_told_until_then_and_the_stored_text_not_after(world: World) -> None:
    world.remember(A1, "x", "for a while", until="2026-12-01T00:00:00.000000+00:00")
    world.remember(A1, "y", "for good")
    value, _ = run_for(world.store, Roots(SPACE), A1)
    assert "for a while" in tell(value, Facts(SPACE, NOW)).text
    later = tell(value, Facts(SPACE, "2026-12-01T00:00:00.000000+00:00")).text
    assert "for a while" not in later
    assert "for good" in later


def test_what_waits_is_told_last_and_hides_what_it_replaces(world: World) -> None:
    slug = "0123456789abcdef" * 2
    world.remember(A1, slug, "the old words", cls="agent", session="a1")
    value, _ = run_for(world.store, Roots(SPACE), A1)
    new = Item("f" * 32, "lesson", "the new words", supersedes=slug, project=SPACE, session="a1")
    told = tell(value, Facts(SPACE, NOW, waiting=(new,))).text
    assert "the new words" in told
    assert "the old words" not in told
    assert "the old words" not in tell(value, Facts(SPACE, NOW, buried=frozenset([slug]))).text


def test_a_memory_that_is_gone_but_linked_is_not_told(world: World) -> None:
    world.remember(A1, "x", "forgotten words")
    world.put(Write("memory/x", "space", "erase"))
    assert text(world, A1) == ""
    world.put(unlinked("x", "space"))
    assert text(world, A1) == ""


def test_an_identity_that_lacks_a_part_reads_what_is_left(world: World) -> None:
    world.remember(A1, "x", "for everybody")
    assert "for everybody" in text(world, Identity())
    assert "for everybody" in text(world, Identity(A1.principal))


def test_a_hook_and_a_server_tell_the_same_bytes_and_commit_nothing_more(world: World) -> None:
    world.remember(A1, "x", "shared")
    world.save(A1, "preferences", "user", {"style": "terse"})
    world.save(B1, "notes", "session", {"goals": ["mend"]})
    world.want(A1, A2, B1)
    seq = world.store.seq(SPACE)
    for who in (A1, A2, B1):
        for facts in (Facts(SPACE, NOW), Facts(SPACE, NOW, 900, how_to=True)):
            value, _ = run_for(world.store, Roots(SPACE), who)
            assert tell(value, facts) == tell(world.result("context", who), facts)
    assert world.go().runs == 0
    assert world.store.seq(SPACE) == seq


def test_a_hook_that_runs_it_loads_nothing_heavy() -> None:
    heavy = "typing json pathlib dataclasses enum functools contextlib collections asyncio re"
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "import scripts.swarm_v2.memory.derive_context, scripts.swarm_v2.memory.told\n"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
