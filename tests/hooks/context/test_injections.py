from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context import injections
from hooks.context.compose import Source

AT = "2026-11-30T12:00:00.000000+00:00"


def test_what_was_said_comes_back_to_the_byte_with_the_memories_behind_each_line(tmp_path):
    home, text = str(tmp_path), "a\n- é 😀 \ufffd line\n"
    injections.note(home, "s", "SessionStart", text, [Source(("1", "2"), "- é")], at=AT)
    (row,) = injections.read(home, "s")
    assert (row.text, row.event, row.at) == (text, "SessionStart", AT)
    assert row.sources == ((("1", "2"), "- é"),)
    assert row.ids == {"1", "2"}


def test_sessions_have_files_of_their_own(tmp_path):
    injections.note(str(tmp_path), "a", "SessionStart", "x", [], at=AT)
    assert injections.read(str(tmp_path), "b") == []


def test_a_torn_line_hides_only_itself(tmp_path):
    home = str(tmp_path)
    injections.note(home, "s", "SessionStart", "one", [], at=AT)
    with open(injections.path_of(home, "s"), "ab") as out:
        out.write(b'{"text": "to')
    injections.note(home, "s", "UserPromptSubmit", "two", [], at=AT)
    assert [row.text for row in injections.read(home, "s")] == ["one", "two"]


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=100),
        st.sampled_from(
            [
                b'{"text":1}',
                b'{"text":"x","sources":{}}',
                b'{"text":"x","sources":[1,{"ids":3}]}',
                b'{"text":"x","sources":[{"ids":[1,"a"]}]}',
            ]
        ),
    )
)
def test_any_line_is_an_injection_or_nothing(line):
    row = injections.parse(line)
    assert row is None or isinstance(row.text, str)
