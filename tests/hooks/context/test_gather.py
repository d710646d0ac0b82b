"""Many markers in one Stop cost a batch what few do, plus their own files and rows."""

from __future__ import annotations

from tests.support.keeping import Kept, lesson, turn
from tests.support.processes import run_code

_COLLECT = """
from datetime import UTC, datetime
from hooks.context.collect import collect
from hooks.payload import Event
from hooks.settings import Settings
home, session, path, cwd = sys.argv[1:]
seen = []
sys.addaudithook(lambda name, args: seen.append(name) if name == "os.listdir" else None)
event = Event("Stop", session_id=session, transcript_path=path, cwd=cwd)
found = collect(event, Settings(home), {"HOME": cwd}, datetime.now(UTC))
print(len(found.kept), len(seen))
"""


def listed(kept: Kept, project: object) -> list[int]:
    session = kept.session
    said = run_code(_COLLECT, kept.home, session.id, session.transcript, project)
    return [int(word) for word in said.split()]


def test_the_outbox_is_listed_once_a_batch_and_not_once_a_marker(home, project):
    kept = Kept(home, project)
    turn(kept, lesson("one"))
    one, few = listed(kept, project)
    turn(kept, *(lesson(f"marker {number}") for number in range(200)))
    many, same = listed(kept, project)
    assert (one, many) == (1, 200)
    assert same <= few
