"""Containers on one home: process ids, host names and mounts of their own, one disk in common.

A process id that a note names may be anybody's in another container, and process 1 is in each.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess

import pytest

from tests.contracts.test_hard_conditions import log_of, texts
from tests.support.git import make_repo
from tests.support.processes import command

_ROOTLESS = () if os.geteuid() == 0 else ("--user", "--map-root-user")
BOX = (
    *("unshare", *_ROOTLESS, "--fork", "--kill-child", "--pid", "--mount", "--uts"),
    *("--mount-proc", "sh", "-c", 'hostname "$0" && exec "$@"'),
)
PLAY = """
import os
from pathlib import Path
from tests.support.keeping import lesson
from tests.support.session import Session
assert os.getpid() == 1
home, project, name, turns, how = sys.argv[1:]
one = Session(Path(home), Path(project), env={"CLAUDE_PID": "1"})
one.start()
print("started", flush=True)
sys.stdin.readline()
for number in range(int(turns)):
    one.prompt("go")
    one.says(lesson(f"{name}{number}"))
    if how == "stops":
        run = one.stop()
        assert (run.rc, run.stderr) == (0, ""), run
one.settle()
print("said", flush=True)
sys.stdin.readline()
"""


class Container:
    """A session played by process 1 of a container; ``go`` lets it speak."""

    def __init__(self, home, folder, name, turns, how="stops"):
        project = folder / name / "web"
        if not project.exists():
            make_repo(project, "https://git.example.org/shop/web.git")
        pipe = subprocess.PIPE
        words = command(PLAY, home, project, name, turns, how)
        self.process = subprocess.Popen([*BOX, name, *words], stdin=pipe, stdout=pipe, stderr=pipe)
        self.hear("started")

    def hear(self, word):
        said = self.process.stdout.readline().decode().strip()
        assert said == word, self.process.stderr.read().decode()

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end(self):
        _, errors = self.process.communicate(b"\n")
        assert (self.process.returncode, errors) == (0, b"")

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture(autouse=True)
def containers_are_possible():
    try:
        done = subprocess.run([*BOX, "box", "true"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode:
        pytest.skip("this machine lets nobody make a container")


def test_two_containers_at_once_keep_each_marker_once(home, tmp_path):
    boxes = [Container(home, tmp_path, name, 4) for name in ("a", "b")]
    for box in boxes:
        box.go()
    for box in boxes:
        box.hear("said")
        box.end()
    assert texts(home) == [f"{name}{number}" for name in "ab" for number in range(4)]
    assert "unforeseen" not in log_of(home)


def test_what_a_killed_container_said_is_kept_by_the_next_one_at_its_start(home, tmp_path):
    killed = Container(home, tmp_path, "a", 2, "is killed before it stops")
    killed.go()
    killed.hear("said")
    killed.kill()
    after = Container(home, tmp_path, "b", 0)
    after.go()
    after.hear("said")
    after.end()
    assert texts(home) == ["a0", "a1"]


@pytest.mark.parametrize("turns", [1, 6])
def test_a_container_that_is_killed_at_work_leaves_no_lock_and_no_claim(home, tmp_path, turns):
    killed = Container(home, tmp_path, "a", 40)
    killed.go()
    after = Container(home, tmp_path, "b", turns)
    killed.kill()
    after.go()
    after.hear("said")
    after.end()
    last = Container(home, tmp_path, "c", 0)
    last.go()
    last.hear("said")
    last.end()
    written = home.parent.glob(".claude/projects/*/*.jsonl")
    said = [re.findall(r"@lesson -->(\w+)<", path.read_text()) for path in written]
    assert texts(home) == sorted(itertools.chain(*said))
    assert len(texts(home)) >= turns
