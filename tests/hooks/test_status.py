from __future__ import annotations

import json
import os
from datetime import timedelta

import pytest

from hooks.context import outbox, project_cache, session_index
from hooks.context.brain_adapter import namespace
from hooks.context.flush import drain
from hooks.context.switch import ALL, turn
from hooks.settings import Guards, Settings
from hooks.status import PIECES, collect_status, exit_code, render
from hooks.status_outbox import WAITS_LONG_S
from hooks.status_text import LINES, SHORT
from scripts.swarm_v2.installation import installation
from tests.support.memories import remember


@pytest.fixture
def look(home, noon, project):
    """Return the status of ``home`` at noon, seen from the project."""

    def collect(**settings: object) -> dict:
        return collect_status(
            Settings(home=str(home), **settings), {}, noon, str(project), "session-1"
        )

    return collect


def problems(status: dict) -> list[str]:
    return [problem["what"] for problem in status["problems"]]


def test_every_piece_has_its_line():
    assert [name for name, _ in PIECES] == [name for name, _, _ in LINES]
    assert {name for name, _, _ in SHORT} <= {name for name, _ in PIECES}


def test_a_home_that_does_not_exist_is_green_and_stays_absent(home, look):
    status = look()

    assert (status["level"], exit_code(status)) == ("green", 0)
    assert status["installation"] == {"home": str(home), "id": None, "cutover": None}
    assert status["project"]["id"] == "git.example.org/shop/web"
    assert "none yet" in render(status)
    assert not home.exists()


def test_it_names_installation_cutover_and_brain(home, noon, look):
    made = installation(str(home), noon)

    status = look()

    assert status["installation"]["id"] == made.installation_id
    assert status["installation"]["cutover"] == "2026-11-30T12:00:00.000000+00:00"
    assert status["brain"]["kind"] == "local"
    assert status["brain"]["hash"] == namespace(Settings(home=str(home))).brain
    assert made.installation_id in render(status, verbose=True)
    assert made.installation_id not in render(status)
    assert status["brain"]["hash"] not in render(status)
    assert made.installation_id[5:13] in render(status)


def test_a_brain_address_that_cannot_be_used_is_red_and_never_echoed(look):
    status = look(brain_url="ftp://user:hunter2@host/x")

    assert status["level"] == "red"
    assert status["brain"]["kind"] == "invalid"
    assert "hunter2" not in json.dumps(status) + render(status)


def test_the_long_form_says_which_guards_are_on(look):
    guards = Guards(breaker_deny=True)
    said = render(look(guards=guards), verbose=True)
    assert "guards        denials on, read cache off, transcript log off" in said
    assert "read cache" not in render(look(guards=guards))


BROKEN_RECORDS = {"empty": b"", "torn": b'{"installation_id": "inst-', "no object": b"[]"}


@pytest.mark.parametrize("data", BROKEN_RECORDS.values(), ids=BROKEN_RECORDS.keys())
def test_a_broken_installation_record_is_told_and_left_alone(home, look, data):
    home.mkdir()
    (home / "installation.json").write_bytes(data)
    (home / "brain").mkdir()
    (home / "brain" / "local.db").write_bytes(b"")

    status = look()

    assert (status["level"], exit_code(status)) == ("red", 1)
    assert "installation.json cannot be used" in problems(status)[0]
    assert status["problems"][0]["next"]
    assert (home / "installation.json").read_bytes() == data
    assert "not readable" not in render(status).split("project")[0]


def test_a_damaged_registry_is_told_and_leaves_the_remote_as_it_is(home, look):
    home.mkdir()
    (home / "projects.json").write_text("{", encoding="utf-8")

    status = look()

    assert status["level"] == "yellow"
    assert "the project registry is unusable" in problems(status)[0]
    assert status["project"]["id"] == "git.example.org/shop/web"


def test_a_switched_off_memory_is_no_problem_but_says_its_end(home, noon, look):
    turn(str(home), False, ALL, noon, noon + timedelta(hours=2))

    status = look()

    assert status["level"] == "green"
    assert status["memory"]["on"] is False
    said = "memory is off for everything on this installation, until 2026-11-30 14:00 UTC"
    assert render(status).split("\n")[0] == f"brainhooks: {said} (green)"


def test_a_damaged_switch_is_red(home, look):
    home.mkdir()
    (home / "memory-switch.json").write_text("{}", encoding="utf-8")
    status = look()
    assert status["level"] == "red"
    assert "memory is off for everything" in problems(status)[0]


def waiting(home, noon, *, age_s: float) -> None:
    document = {
        "type": "lesson", "content": "x", "attrs": {}, "idempotency_key": "a" * 32,
        "ts": "2026-11-30T11:00:00Z",
    }  # fmt: skip
    assert outbox.write(str(home), document)
    [name] = outbox.names(str(home))
    when = noon.timestamp() - age_s
    os.utime(os.path.join(outbox.folder(str(home)), name), (when, when))


@pytest.mark.parametrize(
    ("age_s", "level"), [(60, "green"), (WAITS_LONG_S, "green"), (WAITS_LONG_S + 1, "yellow")]
)
def test_a_marker_that_waits_for_more_than_a_day_needs_the_person(home, noon, look, age_s, level):
    waiting(home, noon, age_s=age_s)

    status = look()

    assert status["level"] == level
    assert status["outbox"]["count"] == 1
    assert status["outbox"]["oldest_age_s"] == age_s


UNDELIVERABLE = {
    "no brain": {"brain_source": "none"},
    "no such folder": {"brain_source": "file", "brain_path": "/proc/no/such/folder"},
    "an address nobody answers at": {"brain_url": "http://127.0.0.1:9/brain"},
}


@pytest.mark.parametrize("settings", UNDELIVERABLE.values(), ids=UNDELIVERABLE.keys())
@pytest.mark.parametrize(
    ("age_s", "level"), [(60, "yellow"), (WAITS_LONG_S, "yellow"), (WAITS_LONG_S + 1, "red")]
)
def test_what_cannot_be_delivered_needs_the_person(home, noon, look, settings, age_s, level):
    installation(str(home), noon)
    waiting(home, noon, age_s=age_s)
    drain(Settings(home=str(home), **settings), {}, noon)
    [name] = outbox.names(str(home))
    os.utime(os.path.join(outbox.folder(str(home)), name), (noon.timestamp() - age_s,) * 2)

    status = look(**settings)

    assert (status["level"], exit_code(status)) == (level, 1)
    [what] = problems(status)
    assert what.startswith("1 marker waits and cannot be delivered: ")
    assert (
        what.removeprefix("1 marker waits and cannot be delivered: ")
        == (status["outbox"]["stopped"])
    )
    assert status["outbox"]["stopped"]
    assert status["problems"][0]["next"]
    assert "127.0.0.1" not in status["problems"][0]["next"]


def test_without_a_brain_that_is_said_and_what_to_do(home, noon, look):
    waiting(home, noon, age_s=60)
    status = look(brain_source="none")
    assert problems(status) == ["1 marker waits and cannot be delivered: no brain is configured"]
    assert "unset BRAIN_SOURCE_TYPE" in status["problems"][0]["next"]


def test_another_brains_failure_is_no_news_of_this_one(home, noon, look):
    installation(str(home), noon)
    waiting(home, noon, age_s=60)
    drain(Settings(home=str(home), brain_source="none"), {}, noon)
    assert look()["level"] == "green"


def test_no_brain_is_no_problem_while_nothing_waits(look):
    assert look(brain_source="none")["level"] == "green"


def test_memories_for_no_project_and_of_sessions_are_counted_apart(home, noon, look):
    remember(home, "a1", "here")
    remember(home, "b2", "nowhere", project_id="")
    remember(home, "c3", "a note of one session", scope="session")

    status = look()

    counted = status["brain"]["health"]
    assert (counted["project"], counted["all"], counted["no_project"]) == (1, 3, 1)
    assert "1 here, 3 in all; 1 for no project (`lessons --no-project`)" in render(status)


def test_the_short_form_is_narrow_and_leaves_out_what_means_nothing(home, noon, look):
    project_cache.store(
        str(home), namespace(Settings(home=str(home))), "feed", {"items": []}, at=noon
    )
    short = render(look())
    assert "feed" not in short
    assert "namespace" not in short
    assert max(len(line) for line in short.split("\n") if str(home) not in line) < 80


def test_what_was_refused_needs_the_person(home, noon, look):
    waiting(home, noon, age_s=1)
    outbox.quarantine(str(home), outbox.names(str(home))[0], "too long")

    status = look()

    assert (status["level"], status["outbox"]["quarantined"]) == ("yellow", 1)
    assert "nothing; 1 refused" in render(status)
    assert problems(status)[0].startswith("1 marker was refused and lies, with its reason, in ")
    assert "outbox list" in status["problems"][0]["next"]  # it may have no receipt


def test_refused_cache_reads_are_counted_by_kind(home, noon, look):
    project_cache.count_mismatch(str(home), "feed", at=noon)
    project_cache.count_mismatch(str(home), "feed", at=noon)
    project_cache.count_mismatch(str(home), "pending", at=noon)

    status = look()

    assert status["cache_scope_mismatch_total"] == 3
    assert status["cache_scope_mismatches"] == {"feed": 2, "pending": 1}


def test_caches_are_shown_with_their_age(home, noon, look):
    space = namespace(Settings(home=str(home)))
    project_cache.store(str(home), space, "feed", {"items": []}, at=noon)
    path = project_cache.document_path(str(home), space, "feed")
    os.utime(path, (noon.timestamp() - 120, noon.timestamp() - 120))

    status = look()

    assert status["caches"]["feed"]["age_s"] == 120
    assert "feed 2 min (1)" in render(status, verbose=True)


def test_the_last_run_of_each_event_is_shown(home, noon, look):
    folder = home / "brain" / "last-run"
    folder.mkdir(parents=True)
    (folder / "Stop").touch()
    os.utime(folder / "Stop", (noon.timestamp(), noon.timestamp()))
    assert look()["events"] == {"Stop": "2026-11-30T12:00:00.000000+00:00"}


@pytest.mark.parametrize(("sessions", "level"), [(19, "green"), (20, "yellow")])
def test_no_marker_in_twenty_sessions_is_yellow(home, look, sessions, level):
    for number in range(sessions):
        session_index.append(str(home), session_index.Entry(f"s{number}", "2026-11-30T12:00:00Z"))

    status = look()

    assert status["level"] == level
    assert status["sessions"] == {"last": sessions, "with_markers": 0}


def test_a_lost_ledger_is_told(home, look):
    home.mkdir()
    steps = {"steps": [{"name": "ledger", "at": "2026-11-30T12:00:00Z"}]}
    (home / "migrations.json").write_text(json.dumps(steps), encoding="utf-8")

    status = look()

    assert status["level"] == "yellow"
    assert "the ledger is gone" in problems(status)[0]
    assert status["migration"]["steps"] == steps["steps"]


@pytest.mark.parametrize("damage", [b"{", b'{"steps": "x"}', b'{"steps": [{"name": "n"}, 1]}'])
def test_a_damaged_list_of_steps_is_told(home, look, damage):
    home.mkdir()
    (home / "migrations.json").write_bytes(damage)
    (problem,) = look()["problems"]
    assert "migrations.json is damaged" in problem["what"]
    assert problem["next"].startswith("brainhooks migrate ")


def test_a_piece_that_cannot_be_read_does_not_hide_the_others(home, look):
    (home / "brain").mkdir(parents=True)
    (home / "brain" / "project-sessions.jsonl").symlink_to("project-sessions.jsonl")

    status = look()

    assert status["level"] == "red"
    assert "error" in status["sessions"]
    assert "marked        not readable" in render(status)
    assert status["project"]["id"] == "git.example.org/shop/web"


@pytest.mark.parametrize("name", ["ledger.db", "brain/local.db"])
@pytest.mark.parametrize("data", [b"no database " * 500, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_database_that_is_none_any_more_is_red_and_said_once(home, noon, look, name, data):
    installation(str(home), noon)
    (home / name).parent.mkdir(exist_ok=True)
    (home / name).write_bytes(data)

    status = look()

    assert status["level"] == "red"
    (said,) = problems(status)
    assert f"{home / name}: it is not a database any more" in said
