"""Sixteen hooks at once, on one transcript and on copies of it: each marker once."""

from __future__ import annotations

from hooks.context.brains.local import LocalBrain
from tests.support.keeping import Kept, copy_as_fork, lesson
from tests.support.processes import at_once

_COLLECT = """
event = Event("Stop", session_id=sys.argv[2], transcript_path=sys.argv[3 + int(sys.argv[-1]) % 2],
    cwd=sys.argv[5], last_assistant_message=sys.argv[6])
found = collect(event, Settings(sys.argv[1]), {"HOME": "/nonexistent"}, datetime.now(UTC))
assert not found.note, found.note
done = drain(Settings(sys.argv[1]), {"HOME": "/nonexistent"}, datetime.now(UTC))
print(len(found.kept), done.committed)
"""
_IMPORTS = """
from datetime import UTC, datetime
from hooks.context.collect import collect
from hooks.context.database import be_patient
from hooks.context.flush import drain
from hooks.payload import Event
from hooks.settings import Settings
import hooks.context.gather, hooks.context.delivery, hooks.context.last_message
be_patient()  # how long a hook waits is not what these tests are about
"""


def test_sixteen_processes_on_one_transcript_and_its_copy_keep_each_marker_once(home, project):
    kept = Kept(home, project)
    kept.ask()
    for number in range(5):
        kept.say(lesson(f"lesson {number}"), lesson(f"other {number}"))
    copy = copy_as_fork(kept, home, project, marked=False)
    last = lesson("only in the payload")
    paths = (kept.session.transcript, copy.session.transcript)
    counts = at_once(16, _IMPORTS, _COLLECT, kept.home, kept.session.id, *paths, project, last)
    assert sum(int(line.split()[0]) for line in counts) == 11
    kept.drain()
    assert len(kept.receipts()) == 11
    assert len(kept.texts()) == 11
    assert kept.waiting() == []


def test_sixteen_first_writers_of_one_brain_lose_no_row(tmp_path):
    path = tmp_path / "brain" / "local.db"
    setup = _IMPORTS + "from hooks.context.brains.local import LocalBrain"
    code = """
brain = LocalBrain(sys.argv[1], "ann")
for n in range(5):
    body = {"type": "lesson", "content": f"{sys.argv[-1]} {n}", "attrs": {"project_id": "a/b/c"}}
    brain.post_marker(body, f"{int(sys.argv[-1]):016x}{n:016x}")
    brain.post_marker({**body, "content": "shared"}, "f" * 32)
"""
    at_once(16, setup, code, path)
    brain = LocalBrain(str(path), "ann")
    assert brain.counts("a/b/c")["project"] == 81
    brain.close()
