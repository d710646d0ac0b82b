"""The archive through the real hooks: on request only, at Stop, and after the agent's purge."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from hooks.context import archiving
from hooks.settings import Settings
from scripts.swarm_v2.store.archive.read import fresh, manifests, verify
from tests.conftest import NOON
from tests.support.archive import as_bytes, conversation, fork_of
from tests.support.run_hook import wait_for_workers

ON = {"BRAINHOOKS_ARCHIVE": "1"}


def saved(home, session):
    """Return {name: bytes} of a session as the archive gives it back; {} if it has none."""
    where = archiving.place(str(home))
    whole = [one for one in manifests(where)[0] if one.session == session] if where else []
    return {
        t.name: b"".join(fresh(where, session, t.name, t.part))
        for one in whole
        for t in one.transcripts
    }


def closed(home, session):
    found, _ = manifests(archiving.place(str(home)))
    return next(one.closed for one in found if one.session == session)


def talk(one):
    one.start()
    one.prompt("hello")
    one.says("Hello there.")


def test_nothing_is_saved_unasked(home, session):
    one = session()
    talk(one)
    one.stop()
    one.end()
    one.settle()
    assert not (home / "archive").exists()


def test_each_stop_saves_what_is_new_and_the_end_closes(home, session):
    one = session(env=ON)
    talk(one)
    for number in range(3):
        one.says(f"Answer {number}.")
        one.stop()
        one.settle()
        assert list(saved(home, one.id).values()) == [one.transcript.read_bytes()]
        assert not closed(home, one.id)
    one.end()
    one.settle()
    assert closed(home, one.id)
    shutil.rmtree(one.transcript.parent)
    (after,) = saved(home, one.id).values()
    assert b"Answer 2." in after
    assert verify(archiving.place(str(home))).damage == ()


def test_subagents_are_saved_with_their_session(home, session):
    one = session(env=ON)
    talk(one)
    agent = one.transcript.parent / one.id / "subagents" / "agent-1.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_bytes(b'{"uuid":"1"}\n')
    one.stop()
    one.settle()
    folder = one.transcript.parent.name
    assert sorted(saved(home, one.id)) == [
        f"{folder}/{one.id}.jsonl",
        f"{folder}/{one.id}/subagents/agent-1.jsonl",
    ]


def test_a_session_whose_end_no_hook_saw_is_saved_by_the_next_start(home, session):
    one = session(env=ON)
    talk(one)
    assert saved(home, one.id) == {}
    session(env=ON).start()
    wait_for_workers(home)
    assert list(saved(home, one.id).values()) == [one.transcript.read_bytes()]


@pytest.mark.parametrize("what", ["all", "session", "project"])
def test_a_session_in_which_memory_was_off_is_not_saved_by_itself(home, session, what):
    one = session(env=ON)
    talk(one)
    names = {"all": "all", "session": f"session:{one.id}"}
    stretch = {"what": names.get(what, "project:git.example.org/shop/web")}
    stretch |= {"from": "2026-01-01T00:00:00+00:00", "until": None}
    (home / "memory-switch.json").write_text(json.dumps({"off": [stretch]}))
    one.stop()
    one.end()
    one.settle()
    assert saved(home, one.id) == {}


def profile(tmp_path):
    folder = tmp_path / "profile"
    projects = folder / "projects"
    lines = conversation(1, 60, "00000000-0000-4000-8000-00000000000a")
    files = {
        "web/a.jsonl": as_bytes(lines),
        "web/b.jsonl": as_bytes(fork_of(lines, "00000000-0000-4000-8000-00000000000b")),
        "web/a/subagents/agent-1.jsonl": b'{"uuid":"x"}\n',
        "web/a/subagents/agent-1.meta.json": b"{}",
        "web/a/tool-results/out.txt": b"x",
        "other/empty.jsonl": b"",
        "other/torn.jsonl": b'{"uuid":"x"}\n{"uu',
        "not-a-session.txt": b"x",
    }
    for name, data in files.items():
        path = projects / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (projects / "web" / "gone.jsonl").symlink_to("nowhere")
    os.mkfifo(projects / "other" / "pipe.jsonl")
    return folder, {name: data for name, data in files.items() if name.endswith(".jsonl")}


def tree(folder):
    return {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()}


def test_all_saves_every_transcript_of_the_profile_and_touches_nothing_else(home, tmp_path):
    folder, files = profile(tmp_path)
    env = {"CLAUDE_CONFIG_DIR": str(folder)}
    before = tree(folder)
    told: list[tuple[int, int]] = []
    done = archiving.save_all(
        Settings(str(home)), env, NOON, lambda part, whole: told.append((part, whole))
    )
    assert done == archiving.Done(4, sum(map(len, files.values())), ())
    assert told[-1] == (done.gained, done.gained)
    got: dict[str, bytes] = {}
    for one in ("a", "b", "empty", "torn"):
        got |= saved(home, one)
    assert got == files
    assert tree(folder) == before
    assert archiving.save_all(Settings(str(home)), env, NOON).gained == 0


def test_one_session_that_cannot_be_saved_does_not_stop_the_others(home, tmp_path):
    folder, _ = profile(tmp_path)
    env, settings = {"CLAUDE_CONFIG_DIR": str(folder)}, Settings(str(home))
    archiving.save_all(settings, env, NOON)
    with open(archiving.place(str(home)).manifest("a"), "wb") as file:
        file.write(b"rot")
    (folder / "projects" / "web" / "b.jsonl").write_bytes(b'{"uuid":"new"}\n')
    done = archiving.save_all(settings, env, NOON)
    assert len(done.faults) == 1
    assert "session a:" in done.faults[0]
    assert done.gained == len(b'{"uuid":"new"}\n')


def test_the_census_is_bounded_and_opens_nothing(tmp_path):
    folder, files = profile(tmp_path)
    env = {"CLAUDE_CONFIG_DIR": str(folder)}
    found = archiving.census(env)
    assert (found.number, found.size, found.more) == (5, sum(map(len, files.values())), False)
    assert archiving.census(env, most=2).more
    assert archiving.census({"HOME": str(tmp_path / "nobody")}) == archiving.Census()
