"""The status line as the agent runs it: one line, whatever is broken, hostile or slow."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.columns import width
from hooks.context.guard import CONTROLS
from hooks.context.line_facts import Facts, client_of
from hooks.context.state_embedded import EmbeddedState
from hooks.context.usage import Usage
from hooks.statusline import COLUMNS, SEGMENT, amount, short, whole
from tests.meta.test_event_imports import HEAVY, LOADED
from tests.support.run_hook import ROOT, agent_env

ENTRY = str(ROOT / "hooks" / "__main__.py")


def run(home, said, *words, env=None, flags=()):
    """Run the line from the bare clone, as a settings file starts it."""
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    done = subprocess.run(
        [sys.executable, "-I", "-S", *flags, ENTRY, "statusline", *words],
        input=data,
        env={**agent_env(home), **(env or {})},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 1
    return done.stdout.decode()[:-1], done.stderr.decode()


def said(current, **fields):
    """What the agent says on stdin, as its documentation lists it."""
    return {
        "session_id": current.id,
        "transcript_path": str(current.transcript),
        "cwd": current.cwd,
        "model": {"id": "claude-opus-5-5", "display_name": "Opus"},
        "workspace": {"current_dir": current.cwd, "project_dir": str(current.project)},
        "version": "2.1.332",
        "cost": {"total_cost_usd": 0.01},
        **fields,
    }


@pytest.fixture
def current(session):
    one = session()
    one.start()
    one.prompt("hello")
    one.says("<!-- @lesson -->the staging database is reset<!-- @/lesson -->")
    one.stop()
    one.settle()
    return one


def test_it_tells_project_branch_fill_and_tokens(home, current):
    line, _ = run(home, said(current))
    assert line == "web main | ctx 0% of 200k | in 101 out 42 read 300 write 20"


def test_it_tells_what_was_injected_and_what_waits(home, session, current):
    other = session()
    other.start()
    other.settle()
    outbox = home / "brain-outbox"
    outbox.mkdir(exist_ok=True)
    (outbox / "x.json").write_text("{}")
    line, _ = run(home, said(other))
    assert line == "web main | 1 memory | 1 waiting"


def test_it_tells_what_is_switched_off(home, current):
    current.prompt("/brainhooks:memory off")
    state = EmbeddedState.open(str(home), _now())
    state.write(CONTROLS, b'{"off":true,"until":""}')
    state.close()
    line, _ = run(home, said(current))
    assert line.endswith(" | memory off | controls off")
    assert run(home, said(current), "--segment")[0] == "mem off ctl off ctx 0%"


def test_the_agents_own_word_about_the_context_comes_first(home, current):
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90_000, "output_tokens": 5}
    context = {"context_window_size": 1_000_000, "current_usage": usage}
    assert "ctx 9% of 1M" in run(home, said(current, context_window=context))[0]
    context["current_usage"] = None  # as right behind a compaction
    assert "ctx 0% of 1M" in run(home, said(current, context_window=context))[0]
    large = {"id": "claude-opus-5-5[1m]"}
    assert "of 1M" in run(home, said(current, model=large))[0]


def test_the_branch_is_that_of_the_folder_the_agent_is_in(home, current, repo):
    other = repo("other")
    (other / ".git" / "HEAD").write_text("ref: refs/heads/feature\n")
    place = {"current_dir": str(other), "project_dir": str(current.project)}
    assert run(home, said(current, workspace=place))[0].startswith("web feature |")


def test_a_hostile_branch_puts_nothing_on_the_terminal(home, current):
    head = current.project / ".git" / "HEAD"
    head.write_bytes(b"ref: refs/heads/\x1b]0;owned\x07\xe2\x80\xae\xff" + b"x" * 900 + b"\n")
    line, _ = run(home, said(current))
    assert line.isprintable()
    assert width(line) <= COLUMNS
    assert "]0;owned" in line


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"session_id":7,"workspace":[],"model":"x"}',
     b'{"session_id":"../../etc/passwd","cwd":"/nowhere"}', b'{"cwd":"a\\u0000b"}',
     b'{"context_window":{"context_window_size":-1,"current_usage":{"input_tokens":"x"}}}'],
)  # fmt: skip
def test_whatever_comes_on_stdin_there_is_one_line(home, data):
    for words in ((), ("--segment",)):
        line, _ = run(home, data, *words)
        assert line.startswith("brainhooks") or line
    assert not home.exists(), "a status line makes nothing"


def test_settings_that_cannot_be_read_are_told_in_a_word(home):
    env = {"BRAIN_SOURCE_TYPE": "unheard-of"}
    assert run(home, {}, env=env)[0] == "brainhooks: run doctor"


def test_a_damaged_state_leaves_the_rest_of_the_line(home, current):
    (home / "state.db").write_bytes(b"x" * 4096)
    assert run(home, said(current))[0].startswith("web main")


def test_other_words_are_refused(home):
    done = subprocess.run(
        [sys.executable, "-I", "-S", ENTRY, "statusline", "--wide"],
        env=agent_env(home),
        input=b"",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert b"--segment" in done.stderr


def test_a_silent_redis_is_asked_once_and_then_left_alone(home, current):
    """It accepts and never answers; the mark of the first line keeps the second from trying."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        met = []
        thread = threading.Thread(target=_accept, args=(server, met), daemon=True)
        thread.start()
        env = {"REDIS_URL": f"redis://127.0.0.1:{server.getsockname()[1]}"}
        for _ in range(2):
            assert run(home, said(current), env=env)[0] == "web main"
        ((connection, _),) = met
        connection.close()


def _accept(server, met):
    while True:
        try:
            met.append(server.accept())
        except OSError:
            return


def test_it_loads_nothing_heavy(home, current):
    _, log = run(home, said(current), flags=("-X", "importtime"))
    names = set(LOADED.findall(log))
    assert "hooks.statusline" in names
    assert (HEAVY | {"re", "datetime", "hashlib", "socket"}) & names == set()


def test_the_command_of_the_package_gives_the_same_line(home, current):
    done = subprocess.run(
        [sys.executable, "-c", "from scripts.cli import main; main()", "statusline"],
        input=json.dumps(said(current)).encode(),
        env={**agent_env(home), "PYTHONPATH": str(ROOT)},
        cwd=current.project,
        capture_output=True,
        check=False,
    )
    assert done.stdout.decode()[:-1] == run(home, said(current))[0]


@pytest.mark.parametrize("words", [(), ("--segment",)])
def test_the_command_of_the_package_loads_nothing_of_the_other_commands(home, current, words):
    entry = "from scripts.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-S", "-X", "importtime", "-c", entry, "statusline", *words],
        input=json.dumps(said(current)).encode(),
        env={**agent_env(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    names = set(LOADED.findall(done.stderr.decode()))
    assert (done.returncode, "hooks.statusline" in names) == (0, True)
    assert (HEAVY | {"re", "typer", "scripts.app"}) & names == set()


def test_counts_of_nothing_are_left_out():
    facts = Facts(project="web", used=Usage(0, 1_200, 0, 5))
    assert whole(facts) == "web | out 1.2k write 5"
    assert whole(Facts(project="web")) == "web"


@pytest.mark.parametrize(
    ("window", "line"),
    [
        ({"used_percentage": 34, "context_window_size": 1_000_000}, "ctx 34% of 1M"),
        ({"used_percentage": 8.6, "current_usage": None}, "ctx 8% of 200k"),
        ({"used_percentage": 34, "current_usage": {"input_tokens": 20_000}}, "ctx 10% of 200k"),
        ({"used_percentage": "34"}, "ctx 0% of 200k"),
        ({"used_percentage": -1}, "ctx 0% of 200k"),
        ({"used_percentage": True}, "ctx 0% of 200k"),
    ],
)
def test_a_share_alone_is_taken_where_the_agent_gives_no_tokens(home, current, window, line):
    assert f"| {line} |" in run(home, said(current, context_window=window))[0]


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (1234, "1.2k"), (99_949, "99.9k"), (200_000, "200k"),
     (999_999, "999k"), (1_000_000, "1M"), (1_250_000, "1.2M"), (5_000_000_000, "5G"), (-3, "0")],
)  # fmt: skip
def test_amounts_are_short(number, text):
    assert amount(number) == text


NUMBER = st.integers(0, 1 << 62)
NAME = st.text(max_size=80)
FACTS = st.builds(
    Facts,
    project=NAME,
    branch=NAME,
    context=NUMBER,
    window=NUMBER,
    used=st.builds(Usage, NUMBER, NUMBER, NUMBER, NUMBER),
    memories=NUMBER,
    waiting=NUMBER,
    memory_off=st.booleans(),
    controls_off=st.booleans(),
)


@settings(max_examples=100, deadline=None)
@given(FACTS)
def test_any_facts_make_a_line_and_a_segment_of_at_most_their_columns(facts):
    for line, columns in ((whole(facts), COLUMNS), (short(facts), SEGMENT)):
        assert line
        assert line.isprintable()
        assert width(line) <= columns
    if facts.memory_off:
        assert "mem off" in short(facts)
    if facts.controls_off:
        assert "ctl off" in short(facts)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NAMES = ("session_id", "cwd", "model", "workspace", "context_window")


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), JSON | st.dictionaries(st.text(), JSON)))
def test_any_json_of_the_agent_is_read(given_json):
    client = client_of(given_json)
    assert all(
        type(value) is type(default) for value, default in zip(client, type(client)(), strict=True)
    )


def test_the_line_ends_in_one_newline_also_without_a_standard_input(home):
    done = subprocess.run(
        [sys.executable, "-I", "-S", ENTRY, "statusline"],
        stdin=subprocess.DEVNULL,
        env=agent_env(home),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"brainhooks\n")


def _now():
    from datetime import UTC, datetime

    return datetime.now(UTC)  # noqa: TID251 - the processes above have the real clock
