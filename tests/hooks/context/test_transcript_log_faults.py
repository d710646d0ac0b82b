"""Whatever dies, tears, fills up or runs twice: no turn is doubled in the log, none is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks.errors import StateError
from hooks.lock import held
from tests.support.logged import SESSION, Logged
from tests.support.run_hook import ROOT, agent_env

ON = {"BRAINHOOKS_TRANSCRIPT_LOG": "1"}


@pytest.fixture
def logged(home, tmp_path, noon):
    one = Logged(home, tmp_path, noon)
    yield one
    one.state.close()


def test_a_torn_line_of_the_log_is_cut_off_at_every_byte_and_written_again(logged):
    logged.say("a", "b")
    logged.run()
    with open(logged.log, "rb") as file:
        data = file.read()
    last = data.index(b"\n") + 1
    for cut in range(last, len(data), 3):
        with open(logged.log, "wb") as file:
            file.write(data[:cut])
        logged.lose_position()
        logged.run()
        assert logged.uuids() == ["a", "b"], cut


def test_a_log_whose_last_newline_an_editor_took_keeps_its_line(logged):
    logged.say("a")
    logged.run()
    os.truncate(logged.log, os.stat(logged.log).st_size - 1)
    logged.say("b")
    logged.run()
    assert logged.uuids() == ["a", "b"]


def test_damage_inside_the_log_hides_no_other_line(logged):
    logged.say("a", "b")
    logged.run()
    with open(logged.log, "r+b") as file:
        file.write(b"\0" * 20)
    logged.lose_position()
    logged.run()
    with open(logged.log, "rb") as file:
        whole = [line for line in file.read().splitlines() if line.startswith(b"{")]
    assert [json.loads(line)["uuid"] for line in whole] == ["b", "a"]


KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
from datetime import datetime
from pathlib import Path
from hooks.context.state_embedded import EmbeddedState
from tests.support.logged import Logged

class Dying(EmbeddedState):
    def swap(self, *args):
        os.kill(os.getpid(), signal.SIGKILL)

at = datetime.fromisoformat({at!r})
one = Logged({home!r}, Path({folder!r}), at)
one.run(state=Dying.open({home!r}, at))
"""


def test_killed_between_the_line_and_the_position_nothing_is_doubled(logged, tmp_path):
    logged.say("a", "b")
    words = {"root": str(ROOT), "home": logged.home, "folder": str(tmp_path)}
    script = KILLED.format(**words, at=logged.at.isoformat())
    done = subprocess.run([sys.executable, "-c", script], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert logged.uuids() == ["a", "b"], "it died too early for this test"
    logged.say("c")
    logged.run()
    assert logged.uuids() == ["a", "b", "c"]


def test_two_processes_at_once_double_and_lose_nothing(logged):
    logged.say(*[f"u{n}" for n in range(200)])
    words = ("worker", "log-transcript", SESSION, str(logged.path), "/")
    command = [sys.executable, "-I", "-S", str(ROOT / "hooks" / "__main__.py"), *words]
    env = agent_env(Path(logged.home))
    # the worker's clock is the real one: our noon must not be a month back
    logged.path.write_bytes(b"".join(logged.line(f"u{n}", at=now()) for n in range(200)))
    started = [subprocess.Popen(command, env=env) for _ in range(3)]
    assert [one.wait(60) for one in started] == [0, 0, 0]
    assert logged.uuids() == [f"u{n}" for n in range(200)]


def test_another_writer_is_not_waited_for_long_by_a_hook(logged):
    logged.say("a")
    logged.run()
    (lock,) = os.listdir(os.path.join(logged.home, "locks"))
    logged.say("b")
    with (
        held(os.path.join(logged.home, "locks", lock), wait_s=1),
        pytest.raises(StateError, match="locked"),
    ):
        logged.run()
    logged.run()
    assert logged.uuids() == ["a", "b"]


FULL = """
import resource, signal, sys
sys.path.insert(0, {root!r})
from datetime import datetime
from pathlib import Path
from tests.support.logged import Logged
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
one = Logged({home!r}, Path({folder!r}), datetime.fromisoformat({at!r}))
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
try:
    one.run(patient=True)
except OSError:
    print("full")
"""


def run_where_a_file_holds(logged, size):
    words = {"root": str(ROOT), "home": logged.home, "folder": str(logged.path.parent)}
    script = FULL.format(**words, at=logged.at.isoformat(), size=size)
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, timeout=60, capture_output=True, text=True
    )
    assert done.stdout == "full\n", done.stderr


def test_a_full_disk_leaves_a_whole_log_and_nothing_is_lost(logged):
    logged.say("a")
    logged.run()
    size = os.stat(logged.log).st_size
    logged.say("b")
    run_where_a_file_holds(logged, size + 20)
    assert os.stat(logged.log).st_size == size
    logged.run()
    assert logged.uuids() == ["a", "b"]


def test_a_long_transcript_is_appended_part_by_part_and_never_held_whole(logged):
    text = "a word. " * 4_000
    with logged.path.open("ab") as file:
        for number in range(80):
            message = {"role": "assistant", "content": text}
            file.write(logged.line(f"u{number}", kind="assistant", message=message))
    run_where_a_file_holds(logged, 2_000_000)
    assert 0 < len(logged.uuids()) < 80
    logged.run(patient=True)
    assert logged.uuids() == [f"u{number}" for number in range(80)]


STEP = st.sampled_from(["say", "double", "run", "lose", "tear", "truncate", "unfinished"])


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(STEP, max_size=16))
def test_whatever_happens_in_whatever_order_no_line_is_doubled_and_none_is_lost(
    tmp_path_factory, noon, steps
):
    folder = tmp_path_factory.mktemp("log")
    one = Logged(folder / "home", folder, noon)
    said = []
    for step in [*steps, "run"]:
        _do(one, step, said)
    assert sorted(one.uuids()) == sorted(set(said))
    one.state.close()


def _do(one, step, said):
    if step == "say":
        said.append(f"u{len(said)}")
        one.say(said[-1])
    elif step == "double" and said:
        one.say(said[0])
    elif step == "run":
        one.run()
    elif step == "lose":
        one.lose_position()
    elif (
        step == "tear"
        and one.rows()
        and one.run()
        and one.uuids()[-1].encode() in one.path.read_bytes()
    ):
        os.truncate(one.log, os.stat(one.log).st_size - 5)
        one.lose_position()  # a line is torn only where its position was not written
    elif step == "truncate" and one.path.exists():
        one.run()
        one.path.write_bytes(b"")
    elif step == "unfinished" and one.path.exists() and one.path.stat().st_size:
        os.truncate(one.path, one.path.stat().st_size - 1)
        one.run()
        with one.path.open("ab") as file:
            file.write(b"\n")


def now():
    return datetime.now(UTC).isoformat()  # noqa: TID251 - the client's clock, not ours
