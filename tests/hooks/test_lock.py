from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.errors import StateError
from hooks.lock import Lock, held, try_lock
from tests.support.processes import at_once, command


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the lock ``tmp_path/lock`` until it dies."""
    code = (
        "from hooks.lock import try_lock\n"
        "lock = try_lock(sys.argv[1])\n"
        "sys.stdout.write('held\\n' if lock else 'not held\\n'); sys.stdout.flush()\n"
        "sys.stdin.readline()\n"
    )
    process = subprocess.Popen(
        command(code, tmp_path / "lock"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, 0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += 1


def test_a_free_lock_is_taken_and_a_taken_one_is_not(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "folder" / "lock")
    first = try_lock(path)
    assert isinstance(first, Lock)
    assert try_lock(path) is None, "not even by the process that has it"
    first.release()
    first.release()
    with try_lock(path) or pytest.fail("released but not free"):
        assert try_lock(path) is None
    assert try_lock(path) is not None
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_lock_of_a_living_process_is_waited_for_only_so_long(
    tmp_path: Path, holder: subprocess.Popen[bytes]
) -> None:
    time = Time()
    path = str(tmp_path / "lock")
    with pytest.raises(StateError) as caught:
        held(path, wait_s=1.0, clock=time.clock, sleep=time.sleep)
    assert caught.value.where == path
    assert "1 s" in str(caught.value)
    assert 101.0 <= time.now < 101.1
    assert holder.poll() is None


def test_the_lock_of_a_killed_process_is_free_at_once(
    tmp_path: Path, holder: subprocess.Popen[bytes]
) -> None:
    path = str(tmp_path / "lock")
    assert try_lock(path) is None
    holder.kill()
    holder.wait()
    time = Time()
    with held(path, wait_s=0.0, clock=time.clock, sleep=time.sleep):
        assert time.slept == 0


def test_a_waiter_gets_the_lock_when_it_is_let_go(
    tmp_path: Path, holder: subprocess.Popen[bytes]
) -> None:
    time = Time()

    def sleep(seconds: float) -> None:
        time.sleep(seconds)
        if time.slept == 3:
            holder.kill()
            holder.wait()

    with held(str(tmp_path / "lock"), wait_s=60.0, clock=time.clock, sleep=sleep):
        assert time.slept == 3


def test_a_lock_is_not_inherited_by_a_process_that_is_started(tmp_path: Path) -> None:
    lock = try_lock(str(tmp_path / "lock"))
    assert lock is not None
    child = subprocess.Popen(
        command("sys.stdin.readline()"), stdin=subprocess.PIPE, close_fds=False
    )
    lock.release()
    again = try_lock(str(tmp_path / "lock"))
    child.communicate(b"\n")
    assert again is not None


def test_sixteen_processes_count_without_losing_one(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    at_once(
        16,
        "from hooks.lock import held",
        "path = sys.argv[1] + '/count'\n"
        "for _ in range(10):\n"
        "    with held(sys.argv[1] + '/lock', wait_s=60):\n"
        "        with open(path) as file: number = int(file.read())\n"
        "        with open(path, 'w') as file: file.write(str(number + 1))\n",
        tmp_path,
    )
    assert (tmp_path / "count").read_text() == "160"


def test_a_lock_where_a_folder_stands_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        try_lock(str(tmp_path))
