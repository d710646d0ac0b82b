"""Lines that cannot be read are passed over, and the person can see that they were."""

from __future__ import annotations

import pytest

from hooks.status import collect_status, render
from tests.support.keeping import Kept, lesson, turn

BAD = b'not json\n{"torn\n' + b"\0" * 512 + b"\n" + b'{"type":"user","cut":\n' + b"[1\n"


@pytest.fixture
def kept(home, project):
    return Kept(home, project)


def write(kept, data):
    with kept.session.transcript.open("ab") as file:
        file.write(data)


def status(kept):
    return collect_status(kept.settings, kept.env, kept.at, kept.session.cwd, kept.session.id)


def test_damaged_lines_are_counted_once_and_what_stands_around_them_is_kept(kept):
    turn(kept, lesson("before"))
    write(kept, BAD)
    turn(kept, lesson("after"))
    for _ in range(3):
        kept.collect()
    kept.drain()
    assert sorted(kept.texts()) == ["after", "before"]
    found = status(kept)
    assert found["transcripts"] == {"unparsed": 4, "nul": 1}
    assert found["level"] == "green"
    assert "5 damaged lines (4 torn or not JSON, 1 with NUL bytes)" in render(found)


def test_later_damage_and_other_sessions_add_up_and_a_rewritten_file_is_counted_afresh(
    kept, home, project
):
    turn(kept, "plain")
    write(kept, b"junk\n")
    kept.collect()
    write(kept, b"more junk\n")
    kept.collect()
    assert status(kept)["transcripts"] == {"unparsed": 2}
    other = Kept(home, project)
    turn(other, lesson("XX"))
    said = other.session.transcript.read_bytes()
    other.session.transcript.write_bytes(
        said.replace(b"XX", b"X\xff") + b'{"a":"' + b"x" * (3 << 20) + b'"}\n'
    )
    other.collect()
    assert status(kept)["transcripts"] == {"unparsed": 2, "oversized": 1, "bad_utf8": 1}
    kept.session.transcript.write_bytes(b"another file now\n")
    kept.collect()
    assert status(kept)["transcripts"] == {"unparsed": 1, "oversized": 1, "bad_utf8": 1}


def test_where_every_line_is_whole_the_short_status_says_nothing_of_it(kept):
    turn(kept, lesson("X"))
    kept.collect()
    found = status(kept)
    assert found["transcripts"] == {}
    assert "damaged" not in render(found)
    assert "no damaged line" in render(found, verbose=True)


@pytest.mark.parametrize("damage", ["[]", '{"unparsed":"7"}', '{"unparsed":-1}', "7", "null"])
def test_a_count_that_is_none_counts_nothing_and_leaves_the_mark_good(kept, home, damage):
    turn(kept, "plain")
    write(kept, b"junk\n")
    kept.collect()
    (mark,) = (home / "brain" / "positions").iterdir()
    text = mark.read_text()
    assert '"damage":{"' in text
    start = text.index('"damage":') + 9
    end = text.index("}", start) + 1
    mark.write_text(text[:start] + damage + text[end:])
    assert status(kept)["transcripts"] == {}
    turn(kept, lesson("X"))
    assert len(kept.collect().kept) == 1
