"""Files, clocks and input at their worst, with real hook processes.

Each hook exits 0 and prints nothing but its answer; what was said is there once afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hooks.context.brains import open_brain
from hooks.context.flush import drain
from hooks.settings import Settings
from scripts.swarm_v2.installation import installation
from tests.support.file_limit import limit
from tests.support.git import make_repo
from tests.support.keeping import lesson
from tests.support.run_cli import run_cli
from tests.support.run_hook import ROOT, agent_env, recorded, run_hook, wait_for_workers
from tests.support.session import Session

WEB = "git.example.org/shop/web"
MARKERS = ("n0", "n1", "n2")


def now():
    return datetime.now(UTC)  # noqa: TID251 - the clock that the hook processes have, too


def texts(home):
    settings = Settings(str(home))
    drain(settings, {}, now() + timedelta(hours=1))  # a failed drainer's pause is over
    brain = open_brain(settings, {})
    try:
        found = brain.project_memory(WEB, installation(str(home)).installation_id)
    finally:
        brain.close()
    return sorted(item.text for item in found)


def log_of(home):
    path = home / "logs" / "hooks.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def assert_calm(*runs):
    assert [(run.rc, run.stderr) for run in runs] == [(0, "")] * len(runs)
    for run in runs:
        assert isinstance(run.reply, dict)


def before(session):
    session.start()
    session.prompt("go")
    session.says(lesson("before"))
    session.stop()
    session.settle()


def events(session, *marked):
    """A session goes on: every event, and one marker a turn."""
    runs = [session.start("resume"), session.prompt("go")]
    for text in marked:
        session.says(lesson(text))
        runs.append(session.stop())
        session.settle()
    runs += [session.fire("PreCompact"), session.fire("SubagentStart"), session.end()]
    session.settle()
    return runs


def heal(session):
    session.start("resume")
    session.stop()
    session.settle()


@pytest.fixture
def disk(home):
    """A home on a file system of its own, of one mebibyte."""
    home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", str(home)]
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let root mount a file system")
    yield home
    wait_for_workers(home)
    subprocess.run(["umount", "-l", str(home)], check=True)


def fill(home, free_kib):
    path = home / "fill"
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
    os.truncate(path, max(0, path.stat().st_size - free_kib * 1024))
    return path


@pytest.mark.parametrize("free_kib", [0, 8, 24, 60, 160])
def test_a_disk_that_fills_up_loses_nothing_once_there_is_room(session, disk, free_kib):
    one = session()
    before(one)
    filled = fill(disk, free_kib)
    assert_calm(*events(one, *MARKERS))
    filled.unlink()
    heal(one)
    assert texts(disk) == ["before", *MARKERS]
    assert "unforeseen" not in log_of(disk)


def test_a_read_only_home_still_shows_its_memory_and_gets_the_rest_later(session, disk):
    one = session()
    before(one)
    remount = ["mount", "-o", "remount,%s", str(disk)]
    subprocess.run([word.replace("%s", "ro") for word in remount], check=True)
    try:
        shown = session().start()
        runs = events(one, *MARKERS)
    finally:
        subprocess.run([word.replace("%s", "rw") for word in remount], check=True)
    assert_calm(shown, *runs)
    assert "before" in shown.context
    heal(one)
    assert texts(disk) == ["before", *MARKERS]


@pytest.fixture
def other_device(tmp_path):
    if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system to write to")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_parts_of_the_outbox_on_another_device_lose_and_block_nothing(session, home, other_device):
    one = session()
    before(one)
    for name in ("brain-outbox-backlog", "brain-outbox/quarantine"):
        shutil.rmtree(home / name, ignore_errors=True)
        (other_device / Path(name).name).mkdir()
        (home / name).symlink_to(other_device / Path(name).name)
    body = {"type": "lesson", "content": "old", "attrs": {"project_id": WEB}}
    older = {**body, "session_id": "s", "agent_name": "a", "project": "web", "ts": "2026-11-01"}
    (home / "brain-outbox-backlog" / "20261101-1.json").write_text(json.dumps(older))
    (home / "brain-outbox" / "20261102-1.json").write_text("poison")
    one.says(lesson("n0"))
    assert_calm(one.stop())
    one.settle()
    assert texts(home) == ["before", "n0", "old"]
    assert sorted(os.listdir(other_device / "quarantine"))[0] == "20261102-1.json"
    assert os.listdir(other_device / "brain-outbox-backlog") == []
    assert [name for name in os.listdir(home / "brain-outbox") if name != "quarantine"] == []
    (other_device / "quarantine" / "20261102-1.json").write_text(
        json.dumps({**older, "content": "p"})
    )
    assert run_cli("outbox", "retry", home=home).returncode == 0
    assert texts(home) == ["before", "n0", "old", "p"]


@pytest.mark.parametrize("most", [512, 4096, 20_000, 45_000])
def test_files_that_may_not_grow_lose_nothing_once_they_may(session, home, most):
    """What SQLite writes meets it too: its journal, its pages, both in the middle of a commit."""
    one = session()
    before(one)
    one.flags = limit(most)
    assert_calm(*events(one, *MARKERS))
    one.flags = ()
    assert "[Errno " in log_of(home) if most < 4096 else ".db: disk " in log_of(home)
    assert "unforeseen" not in log_of(home)
    heal(one)
    assert texts(home) == ["before", *MARKERS]


def test_a_home_behind_a_link_is_one_home(home, project, tmp_path):
    link = tmp_path / "link"
    home.mkdir()
    link.symlink_to(home)
    by_name, by_link = Session(home, project), Session(link, project)
    before(by_name)
    by_link.transcript = by_name.transcript
    by_link.id = by_name.id
    assert_calm(*events(by_link, *MARKERS))
    heal(by_name)
    assert texts(home) == ["before", *MARKERS]
    assert link.is_symlink()


@pytest.mark.parametrize("days", [-20_000, -400, -1, 1, 400, 20_000])
def test_lines_stamped_by_a_clock_that_was_wrong_are_kept_once(session, home, days):
    one = session()
    before(one)
    at = now() + timedelta(days=days)
    one.prompt("go")
    for number, text in enumerate(MARKERS):
        one.says(lesson(text), at=at + timedelta(seconds=number))
        assert_calm(one.stop())
    one.settle()
    heal(one)
    assert texts(home) == ["before", *MARKERS]


_AT = """
import os, sys
sys.path.insert(0, sys.argv[1])
from hooks.dispatch import main
os._exit(main(["Stop"], env=os.environ, stdin=0, stdout=1, now=float(sys.argv[2])))
"""


@pytest.mark.parametrize("clock", [0.0, 1e9, 4e9, 2.5e11])
def test_a_clock_that_jumped_loses_and_doubles_nothing(session, home, clock):
    one = session()
    before(one)
    one.prompt("go")
    one.says(lesson("n0"))
    payload = recorded(
        "Stop",
        session_id=one.id,
        transcript_path=str(one.transcript),
        cwd=one.cwd,
        prompt_id=one.prompt_id,
        last_assistant_message=lesson("n0"),
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _AT, str(ROOT), str(clock)],
        input=json.dumps(payload).encode(),
        env={**agent_env(home), "CLAUDE_PROJECT_DIR": one.cwd},
        cwd=one.project,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    heal(one)
    assert texts(home) == ["before", "n0"]


def test_two_containers_on_one_home_keep_each_marker_once(home, tmp_path):
    """Two clones of one repository, two sessions, hooks of both at the same time."""
    remote = f"https://{WEB}.git"
    players = [Session(home, make_repo(tmp_path / name / "web", remote)) for name in ("a", "b")]
    for number in range(3):
        for name, player in zip("ab", players, strict=True):
            player.start() if not number else None
            player.prompt("go")
            player.says(lesson(f"{name}{number}"))
            assert_calm(player.stop())  # its worker runs on while the other's hook comes
    for player in players:
        player.settle()
        heal(player)
    assert texts(home) == ["a0", "a1", "a2", "b0", "b1", "b2"]


def test_paths_of_32_kib_stop_nobody(session, home):
    long = "/" + "/".join(["d" * 250] * 130)
    one = session()
    before(one)
    own = {"session_id": one.id, "cwd": one.cwd, "transcript_path": str(one.transcript)}
    runs = []
    for event in ("SessionStart", "Stop", "SessionEnd", "SubagentStop"):
        for name in ("transcript_path", "cwd", "agent_transcript_path"):
            payload = recorded(event, **{**own, "last_assistant_message": "", name: long})
            env = {"CLAUDE_PROJECT_DIR": payload["cwd"]}
            runs.append(run_hook(event, json.dumps(payload).encode(), home, env=env))
    one.settle()
    assert_calm(*runs)
    heal(one)
    assert texts(home) == ["before"]


@pytest.mark.parametrize("event", ["SessionStart", "Stop", "UserPromptSubmit", "SessionEnd"])
@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe{}", b'{"cwd":"/h\xe9"}', b"[]", b"null", b"{" * 5_000, b"\0" * 4096],
    ids=["empty", "one byte", "utf-16", "latin-1", "list", "null", "deep", "zeros"],
)
def test_a_payload_that_is_none_is_logged_and_stops_nobody(session, home, event, data):
    run = run_hook(event, data, home)
    assert (run.rc, run.stdout, run.stderr) == (0, b"", "")
    wait_for_workers(home)
    assert log_of(home).count("\n") == 1
    assert "payload" in log_of(home)
