"""The notes of acknowledgements: what was appended is read, and nothing else is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context import acks

NOTED = acks.Noted(
    f"20261130T120000-{'a' * 32}.json", "a" * 32, "b", "committed", "r", "", "a note"
)
LINE = json.dumps(NOTED._asdict()).encode()


def leave(home, data):
    path = Path(acks.path_of(str(home)))
    path.parent.mkdir(parents=True)
    path.write_bytes(data)


def test_what_was_appended_is_read_in_its_order_until_it_is_cleared(home):
    name = f"x-{'b' * 32}.json"
    other = NOTED._replace(name=name, key="b" * 32, kind="replayed", forgotten="yes")
    acks.append(str(home), NOTED)
    acks.append(str(home), other)
    assert acks.read(str(home)) == [NOTED, other]
    acks.clear(str(home))
    acks.clear(str(home))
    assert acks.read(str(home)) == []


def test_a_line_torn_by_a_kill_is_no_acknowledgement_and_ends_before_the_next(home):
    leave(home, LINE + b"\n" + LINE[:-9])
    assert acks.read(str(home)) == [NOTED]
    acks.append(str(home), NOTED)
    assert acks.read(str(home)) == [NOTED, NOTED]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../ledger.db"},
        {"name": "/etc/hosts"},
        {"name": ""},
        {"name": "quarantine"},
        {"name": f"another-{'c' * 32}.json"},
        {"name": f"/-{'a' * 32}.json"},
        {"name": f"\0-{'a' * 32}.json"},
        {"kind": "forgotten"},
        {"key": ""},
        {"key": 7},
        {"more": "1"},
    ],
    ids=repr,
)
def test_a_line_that_no_drainer_wrote_names_no_file(home, change):
    leave(home, json.dumps({**NOTED._asdict(), **change}).encode() + b"\n")
    assert acks.read(str(home)) == []


def test_what_cannot_be_read_is_no_acknowledgement(home):
    os.makedirs(acks.path_of(str(home)))
    assert acks.read(str(home)) == []


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=60) | st.just(LINE), max_size=8))
def test_any_bytes_around_it_leave_a_whole_line_what_it_is(tmp_path_factory, lines):
    home = tmp_path_factory.mktemp("home")
    leave(home, b"\n".join(lines))
    whole = b"\n".join(lines).split(b"\n").count(LINE)
    assert acks.read(str(home)) == [NOTED] * whole
