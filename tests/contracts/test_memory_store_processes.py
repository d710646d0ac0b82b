"""Several processes at one store: two writers, a watcher, and those that are killed in a commit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tests.support.store_crash
from scripts.swarm_v2.memory.errors import MemoryRefused
from tests.support.processes import at_once, command
from tests.support.redis_servers import until
from tests.support.store_worlds import SPACE, authored, put

ROUNDS = 15
PATIENT = "from hooks.context.database import be_patient\nbe_patient()\n"

# Adds one to a number that both keep, and writes a document of its own, in one commit.
WRITER = f"""
import json, sys
mine, numbers, lost = sys.argv[-1], [], 0
while len(numbers) < {ROUNDS}:
    old = store.read("{SPACE}", "space", "sum")
    seq, value = (old.seq, old.value) if old else (0, 0)
    writes = (
        Write("own" + mine, "space", "set", len(numbers)),
        Write("sum", "space", "set", value + 1, seq),
        Write("all", "space", "patch", {{mine + "." + str(len(numbers)): seq}}),
    )
    try:
        numbers.append(store.commit("{SPACE}", Commit("authored", writes)))
    except MemoryRefused as err:
        assert err.code == "stale-base" and err.facts["current"] > seq, (err.code, err.facts)
        lost += 1
print(json.dumps([numbers, lost]))
"""


def test_two_writers_leave_no_gap_no_number_twice_and_lose_no_update(world, store):
    told = [json.loads(one) for one in at_once(2, PATIENT + world.code, WRITER)]
    numbers = sorted(number for one, _ in told for number in one)
    assert numbers == list(range(1, 2 * ROUNDS + 1))
    assert store.read(SPACE, "space", "sum").value == 2 * ROUNDS
    assert len(store.read(SPACE, "space", "all").value) == 2 * ROUNDS
    assert [one.seq for one in store.changes(SPACE, 0)] == numbers
    assert all(len(one.touched) == 3 for one in store.changes(SPACE, 0))
    past = store.history(SPACE, "space", "sum", limit=1000)
    assert [one.value for one in past] == list(range(2 * ROUNDS, 0, -1))


WAKER = f"""
import sys
sys.stdin.readline()
store.commit("{SPACE}", Commit("system", (Write("a", "user:ann", "set", 1),)))
"""


def test_another_process_wakes_who_waits(world, store):
    other = subprocess.Popen(command(world.code + WAKER), stdin=subprocess.PIPE)
    assert store.wait({SPACE: 0}, 0) is False
    other.stdin.write(b"\n")
    other.stdin.flush()
    assert store.wait({SPACE: 0}, 60) is True
    assert store.changes(SPACE, 0)[0].touched == (("user:ann", "a"),)
    other.communicate()
    assert other.returncode == 0


@pytest.mark.parametrize("what", ["change", "drop"])
def test_a_commit_killed_before_any_of_its_steps_is_whole_or_was_never(world, what):
    script = str(Path(tests.support.store_crash.__file__))
    words = [sys.executable, script, world.code, what]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    told = [json.loads(line) for line in done.stdout.splitlines()]
    whole = told[-1]
    assert whole["killed"] is False
    assert whole["after"] != whole["before"]
    for left in told:
        assert left["after"] in (whole["before"], whole["after"])
        assert left["seq"] == len(left["after"][2])
        assert left["next"] == left["seq"] + 1
    assert [one["killed"] for one in told] == [True] * (len(told) - 1) + [False]
    assert told[0]["after"] == whole["before"]
    assert len(told) > (10 if world.kind == "sqlite" else 2)


ENDLESS = f"""
n = 0
while True:
    n += 1
    store.commit("{SPACE}", Commit("authored", tuple(Write(id, "space", "set", n) for id in "abc")))
"""


def has_come_to(store, number):
    try:
        return store.seq(SPACE) > number
    except MemoryRefused as err:  # a writer that never rests can keep a reader out
        return err.code != "store-busy"


def test_writers_killed_at_any_moment_leave_whole_commits_and_the_next_number(world, store):
    for _ in range(3):
        start = store.seq(SPACE)
        writer = subprocess.Popen(command(PATIENT + world.code + ENDLESS))
        try:
            until(lambda start=start: has_come_to(store, start + 5))
        finally:
            writer.kill()
            writer.communicate()
        newest = store.seq(SPACE)
        found = [store.read(SPACE, "space", id) for id in "abc"]
        assert len({(one.seq, one.value) for one in found}) == 1
        assert found[0].seq == newest
        assert [one.seq for one in store.changes(SPACE, 0, limit=10_000)] == [*range(1, newest + 1)]
        assert store.commit(SPACE, authored(put("z", 1))) == newest + 1
