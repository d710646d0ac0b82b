"""The log of a session's turns: each once, none that memory off forbids, whatever dies when."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks.context import switch
from hooks.context.followed import everything
from hooks.context.session_state import Key
from hooks.context.state_embedded import EmbeddedState
from hooks.context.tidy import tidy
from hooks.context.transcript_log import FOREGROUND_BYTES, log_of, path_of
from hooks.errors import StateError
from hooks.lock import held
from hooks.settings import Settings
from tests.support.run_hook import ROOT, agent_env, wait_for_workers
from tests.support.session import TRANSCRIPTS

ON = {"BRAINHOOKS_TRANSCRIPT_LOG": "1"}
SESSION = "s1"


class Logged:
    """One session's transcript and log, written as a hook does."""

    def __init__(self, home, folder, at, session=SESSION):
        self.home, self.at, self.session = str(home), at, session
        self.path = folder / f"{session}.jsonl"
        self.log = path_of(self.home, session)
        self.state = EmbeddedState.open(self.home, at)

    def say(self, *uuids, **fields):
        with self.path.open("ab") as file:
            for uuid in uuids:
                file.write(self.line(uuid, **fields))

    def line(self, uuid, *, at="", kind="user", **fields):
        message = {"role": kind, "content": f"text of {uuid}"}
        stamp = at or self.at.isoformat()
        row = {"type": kind, "uuid": uuid, "timestamp": stamp, "message": message, **fields}
        return json.dumps(row).encode() + b"\n"

    def run(self, *, patient=False, state=None, folder="/"):
        options = Settings(self.home)
        made = log_of(state or self.state, options, {}, self.at, self.session, folder)
        return made is not None and made.write(
            lambda _: everything(str(self.path), self.session), patient=patient
        )

    def lose_position(self):
        self.state.delete([Key("logger", self.session)])

    def rows(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, "rb") as file:
            return [json.loads(line) for line in file]

    def uuids(self):
        return [row["uuid"] for row in self.rows()]


@pytest.fixture
def logged(home, tmp_path, noon):
    one = Logged(home, tmp_path, noon)
    yield one
    one.state.close()


def test_each_hook_appends_what_is_new(logged):
    logged.say("a", "b")
    assert logged.run()
    logged.say("c")
    assert logged.run()
    assert logged.run()
    assert logged.uuids() == ["a", "b", "c"]


def test_nothing_to_say_makes_no_file(logged):
    logged.path.write_bytes(b'{"type":"mode"}\n')
    assert logged.run()
    assert not os.path.exists(logged.log)


def test_the_log_and_its_folder_are_private(logged):
    os.umask(old := os.umask(0))
    try:
        logged.say("a")
        logged.run()
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(logged.log).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(logged.log)).st_mode) == 0o700


def test_where_the_position_is_lost_no_line_is_doubled(logged):
    logged.say("a", "b")
    logged.run()
    logged.lose_position()
    logged.say("c")
    logged.run()
    assert logged.uuids() == ["a", "b", "c"]


def test_a_line_that_stands_twice_in_the_transcript_is_logged_once(logged):
    logged.say("a", "b", "a")
    logged.run()
    logged.say("b", "c")
    logged.run()
    assert logged.uuids() == ["a", "b", "c"]


@pytest.mark.parametrize("how", ["truncated", "replaced", "gone"])
def test_a_transcript_that_changed_adds_what_is_new_in_it(logged, how):
    logged.say("a", "b")
    logged.run()
    if how == "truncated":
        logged.path.write_bytes(logged.line("b"))
    else:
        logged.path.unlink()
    if how == "gone":
        assert logged.run()
    logged.say("c")
    logged.run()
    assert logged.uuids() == ["a", "b", "c"]


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
from tests.hooks.context.test_transcript_log import Logged

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


def test_what_is_too_much_for_a_hook_is_left_to_the_worker(logged):
    logged.say("a", pad="x" * FOREGROUND_BYTES)
    assert not logged.run()
    assert logged.uuids() == []
    assert logged.run(patient=True)
    assert logged.uuids() == ["a"]


def minutes(at, number):
    return (at + timedelta(minutes=number)).isoformat()


@pytest.mark.parametrize("what", ["all", "session:s1", "project:git.example.org/shop/web"])
def test_what_was_said_while_memory_was_off_is_not_logged_also_not_later(
    logged, project, noon, what
):
    switch.turn(logged.home, on=False, what=what, at=noon)
    switch.turn(logged.home, on=True, what=what, at=noon + timedelta(minutes=10))
    logged.say("before", at=minutes(noon, -1))
    logged.say("off", at=minutes(noon, 5))
    logged.say("undated", at="none")
    logged.say("after", at=minutes(noon, 11))
    logged.at = noon + timedelta(minutes=20)
    logged.run(folder=str(project))
    assert logged.uuids() == ["before", "after"]
    logged.lose_position()
    logged.run(folder=str(project))
    assert logged.uuids() == ["before", "after"]


def test_while_the_switch_cannot_be_read_nothing_is_logged_and_nothing_is_lost(logged):
    logged.say("a")
    os.makedirs(logged.home, exist_ok=True)
    with open(switch.path(logged.home), "w") as file:
        file.write("{")
    assert not logged.run()
    assert logged.uuids() == []
    os.unlink(switch.path(logged.home))
    logged.run()
    assert logged.uuids() == ["a"]


def test_what_the_origin_forbade_its_fork_does_not_log(logged, noon):
    """Only the assistant's copied lines name their session; the prompts before them are copies."""
    switch.turn(logged.home, on=False, what="session:origin", at=noon)
    logged.say("copied-prompt")
    logged.say("copied-answer", kind="assistant", requestSessionId="origin")
    logged.say("own-prompt")
    logged.say("own-answer", kind="assistant")
    logged.run()
    assert logged.uuids() == ["own-prompt", "own-answer"]


def test_a_forks_log_says_which_lines_it_took_over(home, tmp_path, noon):
    fork = "623d8cd4-e8cf-4f96-84e5-69eec9699b32"
    one = Logged(home, tmp_path, noon, session=fork)
    shutil.copy(TRANSCRIPTS / "forked.jsonl", one.path)
    assert one.run(patient=True)
    own = [row["role"] for row in one.rows() if row["session"] == fork]
    assert own == ["user", "assistant"]
    assert len(one.rows()) == 8
    one.state.close()


def test_what_is_older_than_the_log_keeps_is_not_logged_anew(logged, noon):
    logged.say("old", at=(noon - timedelta(days=31)).isoformat())
    logged.say("young", at=(noon - timedelta(days=29)).isoformat())
    logged.run()
    assert logged.uuids() == ["young"]


def test_a_log_that_nobody_wrote_to_for_thirty_days_is_removed(logged, noon):
    logged.say("a")
    logged.run()
    for days, there in ((29, True), (31, False)):
        stamp = (noon - timedelta(days=days)).timestamp()
        os.utime(logged.log, (stamp, stamp))
        tidy(logged.home, noon)
        assert os.path.exists(logged.log) is there


def test_a_log_that_somebody_removed_is_not_written_again(logged):
    logged.say("a")
    logged.run()
    os.unlink(logged.log)
    logged.say("b")
    logged.run()
    assert logged.uuids() == ["b"]


def test_a_full_disk_leaves_a_whole_log_and_nothing_is_lost(logged):
    logged.say("a")
    logged.run()
    size = os.stat(logged.log).st_size
    logged.say("b")
    script = f"""
import resource, sys
sys.path.insert(0, {str(ROOT)!r})
from datetime import datetime
from pathlib import Path
from tests.hooks.context.test_transcript_log import Logged
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
one = Logged({logged.home!r}, Path({str(logged.path.parent)!r}),
             datetime.fromisoformat({logged.at.isoformat()!r}))
resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 20}, {size + 20}))
try:
    one.run()
except OSError:
    print("full")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, timeout=60, capture_output=True, text=True
    )
    assert done.stdout == "full\n", done.stderr
    assert os.stat(logged.log).st_size == size
    logged.run()
    assert logged.uuids() == ["a", "b"]


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
    elif step == "tear" and one.rows() and one.uuids()[-1].encode() in one.path.read_bytes():
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


def test_the_hooks_log_nothing_unless_they_are_asked_to(home, session):
    current = session()
    current.start()
    current.prompt("hello")
    current.says("one")
    current.stop()
    current.settle()
    assert not (home / "logs" / "transcripts").exists()


def test_the_hooks_log_a_session_as_it_goes_on(home, session):
    current = session(env=ON)
    current.start()
    current.prompt("hello, password=hunter2hunter2")
    current.says("one")
    current.stop()
    current.says("two")
    current.fire("PreCompact")
    current.says("three")
    current.end()
    current.settle()
    with open(path_of(str(home), current.id), "rb") as file:
        rows = [json.loads(line) for line in file]
    assert [row["text"] for row in rows] == ["hello, password=[redacted:password]", *NUMBERS]


NUMBERS = ["one", "two", "three"]


def test_a_long_transcript_is_logged_by_the_worker(home, session):
    current = session(env=ON)
    current.start()
    current.says("x" * FOREGROUND_BYTES)
    current.says("two")
    current.stop()
    wait_for_workers(home)
    with open(path_of(str(home), current.id), "rb") as file:
        assert [json.loads(line)["text"][:3] for line in file] == ["xxx", "two"]
