"""A memory and its link in an index: written together, unlinked together, erased together."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.document import encode, is_link, merge, parse_link
from scripts.swarm_v2.memory.memories import (
    INDEX,
    document_id,
    entry_of,
    erased,
    least,
    slug_of,
    unlinked,
    writes_for,
)
from scripts.swarm_v2.wire_json import dumps

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=400)
VALUES = st.fixed_dictionaries(
    {"text": TEXT, "type": st.sampled_from(["lesson", "signal"])},
    optional={name: TEXT for name in ("title", "severity", "cls", "at", "priority", "until")},
)
SLUGS = st.text("0123456789abcdef/", min_size=1, max_size=8)


def test_a_slug_may_hold_slashes_and_an_id_without_one_is_no_memory():
    assert slug_of(document_id("a/b")) == "a/b"
    assert [slug_of(one) for one in ("memory/", "index", "memo")] == [None] * 3


@settings(deadline=None, max_examples=100)
@given(SLUGS, VALUES, st.sampled_from(["space", "user", "session"]))
def test_a_memory_and_its_link_are_two_writes_of_one_instance(slug, value, scope):
    document, link = writes_for(slug, value, "user:ann", scope)
    assert (document.id, document.op, document.value) == (f"memory/{slug}", "set", value)
    assert (link.id, link.op) == (INDEX, "patch")
    assert document.scope_key == link.scope_key == "user:ann"
    for write in (document, link):
        encode(write.value)
    entry = merge({}, link.value)["links"][slug]
    assert is_link(entry["memory"])
    assert parse_link(entry["memory"])[:2] == (f"memory/{slug}", scope)
    assert entry == entry_of(slug, value, scope)


@settings(deadline=None, max_examples=100)
@given(SLUGS, VALUES, VALUES)
def test_a_link_that_is_written_again_holds_nothing_of_the_one_before(slug, old, new):
    index = merge({}, writes_for(slug, old, "space", "space", is_new=True)[1].value)
    index = merge(index, writes_for(slug, new, "space", "space")[1].value)
    assert index == {"links": {slug: entry_of(slug, new, "space")}}


@settings(deadline=None, max_examples=100)
@given(VALUES)
def test_what_an_index_says_is_short_and_on_one_line(value):
    summary = str(entry_of("a", value, "space").get("summary", ""))
    assert len(summary) <= 120
    assert summary == " ".join(summary.split())


def test_an_unlinked_memory_and_an_erased_one_are_no_longer_linked():
    index = merge({}, writes_for("a", {"text": "x"}, "space", "space")[1].value)
    assert merge(index, unlinked("a", "space").value) == {"links": {}}
    gone, link = erased("a", "space")
    assert (gone.id, gone.op, gone.value) == ("memory/a", "erase", None)
    assert (link.id, link.op, merge(index, link.value)) == (INDEX, "erase", {"links": {}})


@settings(deadline=None, max_examples=100)
@given(st.dictionaries(SLUGS, VALUES, max_size=20), st.integers(0, 3000))
def test_the_oldest_links_of_agents_go_first_until_there_is_room(values, chars):
    links = {slug: entry_of(slug, value, "space") for slug, value in values.items()}
    gone = least(links, chars)
    kept = {slug: entry for slug, entry in links.items() if slug not in gone}
    assert len(dumps(links)) - len(dumps(kept)) >= min(chars, len(dumps(links)) - 2)

    def standing(slug):
        return (links[slug].get("cls") == "person", links[slug].get("at", ""))

    assert not gone or not kept or max(map(standing, gone)) <= min(map(standing, kept))
