from __future__ import annotations

import json

import pytest

from hooks.clock import iso
from hooks.context import injections, project_cache
from hooks.context.brain_adapter import namespace
from hooks.context.compose import Source
from hooks.context.scrub import FORGOTTEN, drop_cached, scrub_notes
from hooks.settings import Settings

KEY, OTHER = "a1" * 16, "b2" * 16


def cache(home, noon, project: str, key: str) -> str:
    space = namespace(Settings(home=str(home)), project)
    payload: dict[str, object] = {"items": [{"id": key, "type": "lesson", "text": "x"}]}
    project_cache.store(str(home), space, "project-memory", payload, project, at=noon)
    return project_cache.document_path(str(home), space, "project-memory", project)


def test_only_the_documents_that_hold_the_memory_are_dropped(home, noon):
    paths = [cache(home, noon, f"host/o/{name}", KEY) for name in ("a", "b")]
    kept = cache(home, noon, "host/o/c", OTHER)
    counts = home / project_cache.FOLDER / project_cache.MISMATCHES
    counts.write_text(json.dumps({KEY: 1}), encoding="utf-8")

    assert drop_cached(str(home), KEY) == 2

    assert [home.joinpath(path).exists() for path in (*paths, kept)] == [False, False, True]
    assert counts.exists()


def test_a_note_loses_the_line_and_the_text_and_nothing_else(home, noon):
    sources = [Source((OTHER, KEY), "- secret plan"), Source((OTHER,), "- harmless")]
    injections.note(str(home), "s1", "SessionStart", "all of it", sources, at=iso(noon))
    injections.note(str(home), "s1", "UserPromptSubmit", "other", sources[1:], at=iso(noon))
    injections.note(str(home), "s2", "SessionStart", "other", sources[1:], at=iso(noon))

    assert scrub_notes(str(home), KEY) == 1

    first, second = injections.read(str(home), "s1")
    assert first.text == FORGOTTEN
    assert first.sources == (((OTHER, KEY), FORGOTTEN), ((OTHER,), "- harmless"))
    assert second.text == "other"


def test_a_torn_note_that_holds_the_memory_is_dropped(home, noon):
    injections.note(str(home), "s1", "SessionStart", "t", [Source((OTHER,), "- x")], at=iso(noon))
    path = injections.path_of(str(home), "s1")
    with open(path, "ab") as file:
        file.write(b'{"text": "secret plan", "ids": ["' + KEY.encode())

    assert scrub_notes(str(home), KEY) == 1

    with open(path, "rb") as file:
        assert b"secret plan" not in file.read()
    assert len(injections.read(str(home), "s1")) == 1


def test_notes_of_more_than_anybody_reads_go_as_a_whole(home, noon):
    injections.note(str(home), "s1", "SessionStart", "t", [Source((KEY,), "- x")], at=iso(noon))
    path = injections.path_of(str(home), "s1")
    with open(path, "ab") as file:
        file.write(b"secret plan\n")
        file.truncate(injections.MAX_BYTES + 1)
    assert scrub_notes(str(home), KEY) == 1
    assert not home.joinpath(path).exists()


@pytest.mark.parametrize("name", ["a", "ä", 'with "quotes"'])
def test_a_name_is_no_part_of_another_name(home, noon, name):
    both = [Source((name,), "- secret plan"), Source((f"{name}b",), "- harmless")]
    for one in both:
        injections.note(str(home), "s1", "Stop", one.line, [one], at=iso(noon))
    kept = cache(home, noon, "host/o/c", f"{name}b")
    assert (scrub_notes(str(home), name), drop_cached(str(home), name)) == (1, 0)
    assert [row.text for row in injections.read(str(home), "s1")] == [FORGOTTEN, "- harmless"]
    assert home.joinpath(kept).exists()


def test_an_empty_home_has_nothing_to_scrub_and_stays_absent(home):
    assert (drop_cached(str(home), KEY), scrub_notes(str(home), KEY)) == (0, 0)
    assert not home.exists()
