"""The scope log: what is recorded, what is refused, and what was in force when."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context import scope_log
from hooks.context.project import Project
from hooks.context.scope_log import Scope, record, scope_at, scope_from, valid_session
from hooks.settings import Swarm
from tests.conftest import NOON
from tests.support.run_hook import ROOT

SESSION = "6f1c2a9e-0000-4000-8000-000000000005"
WEB = Scope(project_id="h/shop/web", project="web", worktree="/src/web", branch="main")
DOCS = Scope(project_id="h/shop/docs", project="docs", worktree="/src/docs", branch="main")


def later(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def log_path(home, session=SESSION):
    return home / "brain" / "session-scopes" / f"{session}.jsonl"


def test_a_transition_holds_every_documented_field(home):
    scope = Scope("h/a/b", "b", "b", "/w", "/w/src", "h/a/b", "main", "s", "t", "3", "l")
    assert record(str(home), SESSION, NOON, scope) == "recorded"
    row = json.loads(log_path(home).read_bytes())
    assert len(row.pop("transition_id")) == 64
    assert row == {
        "session_id": SESSION,
        "sequence": 1,
        "at": "2026-11-30T12:00:00.000000+00:00",
        **scope._asdict(),
    }


def test_the_transition_id_is_made_of_session_time_and_scope():
    make = scope_log.transition_id
    at = "2026-11-30T12:00:00.000000+00:00"
    assert make(SESSION, at, WEB) == make(SESSION, at, Scope(*WEB))
    others = {
        make("other", at, WEB),
        make(SESSION, "2026-11-30T12:00:00.000001+00:00", WEB),
        make(SESSION, at, DOCS),
        *(make(SESSION, at, WEB._replace(**{name: "x"})) for name in Scope._fields),
    }
    assert len(others) == 3 + len(Scope._fields)
    assert make(SESSION, at, WEB) not in others


@pytest.mark.parametrize(
    "field", ["project_id", "worktree", "branch", "swarm", "task", "task_revision", "lane"]
)
def test_what_decides_is_recorded(home, field):
    record(str(home), SESSION, NOON, WEB)
    assert record(str(home), SESSION, later(1), WEB._replace(**{field: "9"})) == "recorded"
    assert [row.sequence for row in scope_log.load(str(home), SESSION)] == [1, 2]


@pytest.mark.parametrize("field", ["cwd", "project", "repo", "remote"])
def test_what_only_describes_is_no_transition(home, field):
    record(str(home), SESSION, NOON, WEB)
    before = log_path(home).read_bytes()
    assert record(str(home), SESSION, later(1), WEB._replace(**{field: "9"})) == "unchanged"
    assert log_path(home).read_bytes() == before


def test_replaying_a_transition_changes_nothing(home):
    for minute, scope in enumerate((WEB, DOCS, WEB)):
        assert record(str(home), SESSION, later(minute), scope) == "recorded"
    before = log_path(home).read_bytes()
    for minute, scope in enumerate((WEB, DOCS, WEB)):
        assert record(str(home), SESSION, later(minute), scope) == "replayed"
    assert log_path(home).read_bytes() == before


def test_older_than_the_latest_is_refused_and_equally_old_is_not(home):
    record(str(home), SESSION, later(5), WEB)
    assert record(str(home), SESSION, later(4), DOCS) == "refused-older"
    assert record(str(home), SESSION, later(5), DOCS) == "recorded"
    assert scope_at(str(home), SESSION, later(5)).project_id == DOCS.project_id


@pytest.mark.parametrize("at", ["", "yesterday", "2026-11-30", "12:00", "2026-13-01T00:00:00"])
def test_a_time_that_is_none_is_refused(home, at):
    assert record(str(home), SESSION, at, WEB) == "refused-time"
    assert not home.exists()


def test_a_time_as_text_is_read_in_its_own_offset(home):
    record(str(home), SESSION, "2026-11-30T14:00:00+02:00", WEB)
    other = datetime(2026, 11, 30, 7, tzinfo=timezone(timedelta(hours=-5)))
    assert record(str(home), SESSION, other, WEB) == "replayed"
    assert record(str(home), SESSION, "2026-11-30T11:59:59.999Z", DOCS) == "refused-older"


BAD_SESSIONS = ["", ".", "..", "-a", "_a", ".a", "a/b", "../a", "a b", "a\n", "é", "a\0", "x" * 129]


@pytest.mark.parametrize("session", BAD_SESSIONS)
def test_a_session_id_outside_the_grammar_is_never_stored(home, session):
    assert not valid_session(session)
    assert record(str(home), session, NOON, WEB) == "refused-session"
    scope_log.note_grants(str(home), session, ["h/a/b"])
    assert scope_log.load(str(home), session) == []
    assert scope_at(str(home), session, NOON) is None
    assert scope_log.grants(str(home), session) == ()
    assert not home.exists()


@pytest.mark.parametrize("session", ["a", "0", "A.b_c-d", "x" * 128, SESSION])
def test_a_session_id_inside_the_grammar_is_stored(home, session):
    assert valid_session(session)
    assert record(str(home), session, NOON, WEB) == "recorded"


@pytest.mark.parametrize(
    ("before", "then", "verdict"),
    [
        (("s", "t", "3"), ("s", "t", "2"), "refused-revision"),
        (("s", "t", "10"), ("s", "t", "9"), "refused-revision"),
        (("s", "t", "3"), ("s", "t", "4"), "recorded"),
        (("s", "t", "3"), ("s", "u", "2"), "recorded"),
        (("s", "t", "3"), ("r", "t", "2"), "recorded"),
        (("s", "t", "3"), ("s", "t", ""), "recorded"),
        (("s", "t", "3"), ("s", "t", "draft"), "recorded"),
        (("s", "t", "x"), ("s", "t", "1"), "recorded"),
        (("s", "t", "3"), ("s", "t", "²"), "recorded"),
        (("s", "t", "3"), ("s", "t", "9" * 5000), "recorded"),
    ],
)
def test_a_revision_never_goes_down(home, before, then, verdict):
    first = WEB._replace(swarm=before[0], task=before[1], task_revision=before[2])
    second = WEB._replace(swarm=then[0], task=then[1], task_revision=then[2])
    assert record(str(home), SESSION, NOON, first) == "recorded"
    assert record(str(home), SESSION, later(1), second) == verdict


def test_a_revision_is_remembered_behind_another_task(home):
    task = WEB._replace(swarm="s", task="t", task_revision="3")
    record(str(home), SESSION, NOON, task)
    record(str(home), SESSION, later(1), WEB._replace(swarm="s", task="u", task_revision="1"))
    lower = task._replace(task_revision="2")
    assert record(str(home), SESSION, later(2), lower) == "refused-revision"
    assert record(str(home), SESSION, later(2), task) == "recorded"


def damage(kind: str, line: bytes) -> bytes:
    found = json.loads(line)
    return {
        "torn": line[: len(line) // 2],
        "undecodable": line.replace(b"web", b"w\xffb"),
        "nul": b"\0" * 512,
        "a list": b"[1]",
        "another session": line.replace(SESSION.encode(), b"another-session"),
        "no sequence": json.dumps({**found, "sequence": None}).encode(),
        "sequence true": json.dumps({**found, "sequence": True}).encode(),
        "sequence zero": json.dumps({**found, "sequence": 0}).encode(),
        "no time": json.dumps({**found, "at": "x"}).encode(),
        "no id": json.dumps({**found, "transition_id": ""}).encode(),
        "a number for a text": json.dumps({**found, "branch": 1}).encode(),
    }[kind]


KINDS = ["torn", "undecodable", "nul", "a list", "another session", "no sequence", "no time"]
KINDS += ["sequence true", "sequence zero", "no id", "a number for a text"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_line_is_skipped_and_the_next_one_starts_afresh(home, kind):
    record(str(home), SESSION, NOON, WEB)
    line = log_path(home).read_bytes().rstrip(b"\n")
    log_path(home).write_bytes(line + b"\n" + damage(kind, line))
    record(str(home), SESSION, later(1), DOCS)
    rows = scope_log.load(str(home), SESSION)
    assert [(row.sequence, row.project) for row in rows] == [(1, "web"), (2, "docs")]
    assert log_path(home).read_bytes().startswith(line + b"\n" + damage(kind, line) + b"\n{")


def test_a_whole_last_line_without_a_newline_counts(home):
    record(str(home), SESSION, NOON, WEB)
    log_path(home).write_bytes(log_path(home).read_bytes().rstrip(b"\n"))
    assert record(str(home), SESSION, NOON, WEB) == "replayed"
    record(str(home), SESSION, later(1), DOCS)
    assert len(scope_log.load(str(home), SESSION)) == 2


def test_a_log_cut_at_any_byte_never_raises_and_never_invents(home):
    for minute, scope in enumerate((WEB, DOCS, WEB._replace(branch="größe"))):
        record(str(home), SESSION, later(minute), scope)
    scope_log.note_grants(str(home), SESSION, ["h/a/b"])
    whole, rows = log_path(home).read_bytes(), scope_log.load(str(home), SESSION)
    for cut in range(len(whole) + 1):
        log_path(home).write_bytes(whole[:cut])
        found = scope_log.load(str(home), SESSION)
        assert found == rows[: len(found)]
        assert len(found) >= whole[:cut].count(b"\n{") - 1
        assert scope_log.grants(str(home), SESSION) in {(), ("h/a/b",)}


def test_what_was_in_force_before_the_first_transition_is_unknown(home):
    record(str(home), SESSION, NOON, WEB)
    assert scope_at(str(home), SESSION, NOON - timedelta(microseconds=1)) is None
    assert scope_at(str(home), SESSION, NOON).project_id == WEB.project_id
    assert scope_at(str(home), "no-such-session", NOON) is None


def test_the_launch_counts_a_little_early_and_for_its_own_session_only(home):
    record(str(home), SESSION, NOON, WEB)
    record(str(home), SESSION, NOON + timedelta(seconds=1), DOCS)
    log = scope_log.load(str(home), SESSION)
    near, tolerance = scope_log.in_force_near, timedelta(seconds=scope_log.LAUNCH_TOLERANCE_S)

    assert near(log, NOON - tolerance).project_id == WEB.project_id
    assert near(log, NOON - tolerance - timedelta(microseconds=1)) is None
    assert near(log, NOON + timedelta(seconds=1)).project_id == DOCS.project_id
    assert near([], NOON) is None


SCOPES = [WEB, DOCS, WEB._replace(branch="b"), WEB._replace(swarm="s", task="t", lane="l")]
HISTORY = st.lists(st.tuples(st.integers(0, 12), st.sampled_from(SCOPES)), max_size=12)


@given(HISTORY, st.lists(st.integers(-1, 13), max_size=6))
@settings(deadline=None, max_examples=80)
def test_the_log_answers_as_a_list_in_memory_would(tmp_path_factory, history, questions):
    home = str(tmp_path_factory.mktemp("scopes"))
    kept: list[tuple[int, Scope]] = []
    for minute, scope in history:
        verdict = record(home, SESSION, later(minute), scope)
        expected = "recorded"
        if (minute, scope) in kept:
            expected = "replayed"
        elif kept and minute < kept[-1][0]:
            expected = "refused-older"
        elif kept and kept[-1][1] == scope:
            expected = "unchanged"
        assert verdict == expected
        if verdict == "recorded":
            kept.append((minute, scope))
    for minute in questions:
        past = [scope for at, scope in kept if at <= minute]
        found = scope_at(home, SESSION, later(minute))
        assert (Scope(*found[4:]) if found else None) == (past[-1] if past else None)


CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from hooks.clock import from_epoch
from hooks.context.scope_log import Scope, record
sys.stdin.read()
for number in range(8):
    scope = Scope(project_id="h/a/b", lane=f"{sys.argv[3]}-{number}")
    print(record(sys.argv[2], "shared", from_epoch(1_796_040_000), scope))
"""


def test_sixteen_writers_never_share_a_sequence(home):
    children = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", CHILD, str(ROOT), str(home), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(16)
    ]
    for child in children:  # all are loaded and wait for this
        assert child.stdin is not None
        child.stdin.close()
        child.stdin = None
    said = [word for child in children for word in child.communicate()[0].split()]
    rows = scope_log.load(str(home), "shared")
    assert said == ["recorded"] * 128
    assert [row.sequence for row in rows] == list(range(1, 129))
    assert len({row.lane for row in rows}) == 128
    assert all(one.at <= other.at for one, other in pairwise(rows))


def test_a_scope_joins_the_folder_and_the_group():
    project = Project("h/a/web", "web", "/w", "/w/.git", "h/a/web", "main", "/w/src", "origin")
    scope = scope_from(project, Swarm("s", "t", "1", "l"))
    assert scope == (
        "h/a/web", "web", "web", "/w", "/w/src", "h/a/web", "main", "s", "t", "1", "l",
    )  # fmt: skip
    plain = scope_from(Project("local:notes", "notes", cwd="/n"), Swarm())
    assert (plain.repo, plain.remote, plain.swarm) == ("", "", "")


def test_text_that_cannot_be_written_is_replaced(home):
    project = Project("h/a/web", "web", "/w\udcff", "/w/.git", "h/a/web", "b\ud800", "/w\udcff")
    scope = scope_from(project, Swarm(task="t\udcff"))
    assert (scope.worktree, scope.branch, scope.task) == ("/w�", "b�", "t�")
    record(str(home), SESSION, NOON, scope)
    assert scope_at(str(home), SESSION, NOON)[4:] == scope


def test_grants_are_the_ones_noted_last(home):
    assert scope_log.grants(str(home), SESSION) == ()
    scope_log.note_grants(str(home), SESSION, [])
    assert not home.exists()
    scope_log.note_grants(str(home), SESSION, ("h/a/b", "local:n"))
    record(str(home), SESSION, NOON, WEB)
    before = log_path(home).read_bytes()
    scope_log.note_grants(str(home), SESSION, ("h/a/b", "local:n"))
    assert log_path(home).read_bytes() == before
    assert scope_log.grants(str(home), SESSION) == ("h/a/b", "local:n")
    assert scope_log.grants(str(home), "another") == ()
    scope_log.note_grants(str(home), SESSION, [])
    assert scope_log.grants(str(home), SESSION) == ()
    assert [row.sequence for row in scope_log.load(str(home), SESSION)] == [1]


def test_the_log_is_private(home):
    record(str(home), SESSION, NOON, WEB)
    assert log_path(home).stat().st_mode & 0o777 == 0o600
    assert log_path(home).parent.stat().st_mode & 0o777 == 0o700
