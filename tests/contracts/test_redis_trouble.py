"""A Redis in every kind of trouble: the event goes on without the state, and nothing is told of it.

Real servers, brought into each state by what brings them there; real hook processes, eight at once.
"""

from __future__ import annotations

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from hooks.context import state_down
from hooks.context.session_state import TTL_S, WAIT_S, Key, change, connect, open_state
from hooks.dispatch import main
from hooks.errors import StateDown
from hooks.quick import reads_note
from hooks.settings import Redis, Secret, Settings
from hooks.status import collect_status, render
from hooks.status_state import ELSEWHERE
from scripts.swarm_v2.installation import installation
from tests.conftest import NOON
from tests.support.git import make_repo
from tests.support.redis_servers import WAIT_S as PATIENT_S
from tests.support.redis_servers import Server, ask, binary, until
from tests.support.redis_troubles import SECRET, TROUBLES, frozen
from tests.support.run_hook import ROOT, agent_env, recorded, run_hook, wait_for_workers
from tests.support.server_door import Door
from tests.support.waiting import slept_s

KEY = Key("breaker", "3e55e564-f4b0-4cd3-a6aa-f94fd676bdd1")
SLACK_S = 1.5  # of a machine that does other things; the waits of clients are 5 s and more
GOES_ON_S = 0.3  # an event, without the time that others have the processor
AT_ONCE = 8


def settings_of(home, url, prefix="agentihooks"):
    return Settings(str(home), redis=Redis(Secret(url), prefix))


def use(settings, at):
    """Do what a guard does, and what ``dispatch`` does where that fails; say whether it worked."""
    state = open_state(settings, at)
    if state is None:
        return False
    try:
        change(state, KEY, lambda was: {**was, "n": 1})
    except StateDown as err:
        state_down.mark(settings, at, err.what)
        return False
    finally:
        state.close()
    return True


@pytest.mark.parametrize("name", TROUBLES)
def test_an_event_goes_on_within_its_time_and_a_person_learns_why(name, home, tmp_path):
    trouble, why = TROUBLES[name]
    with trouble(tmp_path / "redis") as url:
        settings, used = settings_of(home, url), []
        installation(home, NOON)
        assert slept_s(lambda: used.append(use(settings, NOON))) < GOES_ON_S
        assert used == [False]
    note = state_down.last(settings)
    assert str(note["why"]).startswith(why)
    status = collect_status(settings, agent_env(home), NOON, str(tmp_path), "")
    [problem] = [one for one in status["problems"] if "state" in one["what"]]
    assert why in problem["what"]
    log = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert why in log
    told = f"{log}{note}{status}{render(status)}{render(status, verbose=True)}"
    assert SECRET not in told
    assert "127.0.0.1" not in told


def test_after_a_failure_nothing_is_tried_for_a_while_and_then_it_is_used_again(home, tmp_path):
    with Server(tmp_path / "redis", binary("wheel")) as server:
        settings = settings_of(home, server.url)
        state_down.mark(settings, NOON, "it was stopped")
        before = ask(server.url, "INFO", "stats")
        assert not use(settings, NOON + timedelta(seconds=state_down.PAUSE_S - 1))
        after = ask(server.url, "INFO", "stats")
        assert connections(after) - connections(before) == 1, "the question itself"
        assert used_sooner_or_later(settings, NOON + timedelta(seconds=state_down.PAUSE_S))


def used_sooner_or_later(settings, at):
    """On a busy machine a quarter of a second may not do; a good server is not refused for ever."""
    pause = timedelta(seconds=state_down.PAUSE_S)
    return any(use(settings, at + tries * pause) for tries in range(20))


def connections(info: bytes) -> int:
    return int(info.partition(b"total_connections_received:")[2].split()[0])


def test_a_server_that_ends_in_the_middle_of_an_event_is_out_of_reach_from_then_on(home, tmp_path):
    with Server(tmp_path / "redis", binary("wheel")) as server:
        state = open_state(settings_of(home, server.url), NOON)
        state.write(KEY, b"{}")
        server.stop()
        for _ in range(2):
            with pytest.raises(StateDown):
                state.swap(KEY, b"{}", None)


@pytest.mark.parametrize("name", ["stopped", "replica"])
def test_an_outage_is_one_line_in_the_log_however_long_it_lasts(name, home, tmp_path):
    trouble, _ = TROUBLES[name]
    with trouble(tmp_path / "redis") as url:
        installation(home, NOON)
        for tries in range(4):
            at = NOON + tries * timedelta(seconds=state_down.PAUSE_S)
            assert not use(settings_of(home, url), at)
    log = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert log.count("\n") == 1


def test_an_event_whose_state_is_lost_logs_no_more_than_that(home, project, tmp_path):
    with TROUBLES["replica"][0](tmp_path / "redis") as url:
        run_hook("PostToolUseFailure", recorded("PostToolUseFailure", cwd=str(project)), home)
        wait_for_workers(home)
        hooks_at_once(home, project, url)
    log = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert "the sessions' state is down: it is read-only" in log
    assert "StateDown" not in log


def test_a_redis_that_is_back_needs_nobody_whether_a_hook_or_a_person_asks_first(home, tmp_path):
    with Server(tmp_path / "redis", binary("wheel")) as server:
        settings = settings_of(home, server.url)
        installation(home, NOON)
        state_down.mark(settings, NOON, "no answer in time")
        after = NOON + timedelta(seconds=state_down.PAUSE_S)

        def status():
            return collect_status(settings, agent_env(home), after, str(tmp_path), "")

        until(lambda: status()["level"] == "green")
        assert status()["state"]["failed"]
        assert used_sooner_or_later(settings, after)
        assert state_down.last(settings) == {}
        assert status()["state"]["failed"] == {}
        assert ":probe" not in "".join(server.keys())


def test_one_that_can_only_be_read_is_not_back(home, tmp_path):
    with TROUBLES["replica"][0](tmp_path / "redis") as url:
        settings, after = settings_of(home, url), NOON + timedelta(seconds=state_down.PAUSE_S)
        installation(home, NOON)
        state_down.mark(settings, NOON, "it is read-only")
        status = collect_status(settings, agent_env(home), after, str(tmp_path), "")
        [problem] = [one for one in status["problems"] if "read-only" in one["what"]]
        assert "doctor" not in problem["next"]
        assert open_state(settings, after) is None
        assert state_down.is_marked(settings, after)


def test_a_failure_needs_nobody_any_more_after_a_while_and_can_still_be_seen(home, tmp_path):
    settings = Settings(str(home))
    installation(home, NOON)
    state_down.mark(settings, NOON, "the disk was full")
    env, cwd = agent_env(home), str(tmp_path)
    soon = collect_status(settings, env, NOON + timedelta(minutes=9), cwd, "")
    assert soon["level"] == "yellow"
    late = collect_status(settings, env, NOON + timedelta(minutes=11), cwd, "")
    assert late["level"] == "green"
    assert "last out of reach" in render(late)
    elsewhere = settings_of(home, "redis://another")
    assert "last out of reach" not in render(collect_status(elsewhere, env, NOON, cwd, ""))


def test_the_mark_of_one_address_says_nothing_of_another(home, tmp_path):
    with Server(tmp_path / "redis", binary("wheel")) as server:
        state_down.mark(settings_of(home, "redis://elsewhere"), NOON, "it is gone")
        assert used_sooner_or_later(settings_of(home, server.url), NOON)


@pytest.mark.parametrize(
    ("url", "prefix", "name"),
    [
        (f"redis://:{SECRET}@host:port", "agentihooks", "REDIS_URL"),
        ("redis://127.0.0.1", f"a:inst-{'0' * 32}", "REDIS_KEY_PREFIX"),
    ],
    ids=["address", "prefix"],
)
def test_a_setting_that_cannot_be_used_is_told_and_memory_goes_on(url, prefix, name, home, project):
    env = {"REDIS_URL": url, "REDIS_KEY_PREFIX": prefix}
    payload = recorded("PostToolUseFailure", cwd=str(project))
    done = run_hook("PostToolUseFailure", payload, home, env=env)
    wait_for_workers(home)
    assert (done.rc, done.stderr) == (0, "")
    told = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert name in told
    assert SECRET not in told


def hooks_at_once(home, project, url):
    """Run eight hooks of eight sessions together; return what they left and the longest time."""

    def one(number):
        session = f"{number}{KEY.id[1:]}"
        payload = recorded("PostToolUseFailure", cwd=str(project), session_id=session)
        start = time.monotonic()
        run = run_hook("PostToolUseFailure", payload, home, env={"REDIS_URL": url})
        return run, time.monotonic() - start

    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = list(pool.map(one, range(AT_ONCE)))
    wait_for_workers(home)
    return [run for run, _ in runs], max(took for _, took in runs)


@pytest.mark.parametrize("name", ["stopped", "frozen", "wrong password", "nonsense", "dripping"])
def test_eight_hooks_at_once_go_on_without_a_word(name, home, project, tmp_path):
    trouble, why = TROUBLES[name]
    hooks_at_once(home, project, "")  # the first run of a home makes it
    _, usual = hooks_at_once(home, project, "")
    with trouble(tmp_path / "redis") as url:
        runs, longest = hooks_at_once(home, project, url)
    assert {(run.rc, run.stderr) for run in runs} == {(0, "")}
    assert longest < usual + WAIT_S + SLACK_S
    log = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert why in log
    assert SECRET not in log + "".join(map(str, runs))
    assert "unforeseen" not in log


def test_two_installations_on_one_redis_have_no_key_in_common_and_no_other_keys(tmp_path, project):
    older = {"agentihooks:controls": "off", f"agentihooks:breaker:{KEY.id}": "9", "other": "theirs"}
    # Its user may touch nothing but keys of an installation: a look at an older one would fail.
    rights = "+mget +set +eval +get +del +scan"
    user = f"user me on >{SECRET} ~agentihooks:inst-????????????????????????????????:* {rights}"
    with Server(tmp_path / "redis", binary("wheel"), user) as server:
        for key, value in older.items():
            server.ask("SET", key, value)
        found = {}
        for name in ("one", "other"):
            home = tmp_path / name / "agentihooks"
            url = f"redis://me:{SECRET}@127.0.0.1:{server.port}"
            runs, _ = hooks_at_once(home, project, url)
            assert {run.rc for run in runs} == {0}
            own = installation(home).installation_id
            state = connect(settings_of(home, url), NOON, PATIENT_S)
            for kind in TTL_S:
                assert change(state, Key(kind, KEY.id), lambda was: {**was, "n": 1})["n"] == 1
                assert KEY.id in state.ids(kind)
            state.close()
            everything = server.keys()
            found[own] = {key for key in everything if key.split(":")[1:2] == [own]}
        (one, ones), (other, others) = found.items()
        assert one != other
        assert not ones & others
        assert set(server.keys()) == ones | others | set(older)
        for own, keys in found.items():
            assert {tuple(key.split(":", 3))[:2] for key in keys} == {("agentihooks", own)}
            assert {key.split(":", 3)[2] for key in keys} == set(TTL_S)
        assert {key: server.ask("GET", key).decode() for key in older} == older
        assert server.ask("ACL", "LOG") == []


def test_a_hook_whose_address_takes_redis_py_goes_on_without_state_and_marks_nothing(home, project):
    url = f"rediss://:{SECRET}@127.0.0.1:1"
    [first, *_], _ = hooks_at_once(home, project, url)
    assert (first.rc, first.stderr) == (0, "")
    assert not Path(state_down.path_of(str(home))).exists()
    status = collect_status(settings_of(home, url), agent_env(home), NOON, str(project), "")
    assert "only the server door and the worker" in render(status)
    [problem] = [one for one in status["problems"] if one["what"] == ELSEWHERE]
    assert (problem["level"], "redis://" in problem["next"]) == ("yellow", True)
    assert "server door" in problem["next"]


def test_where_the_server_door_sees_the_tools_that_needs_nobody(home, project):
    url, env = f"rediss://:{SECRET}@127.0.0.1:1", agent_env(home)
    payload = recorded("PostToolUseFailure", cwd=str(project))

    def told():
        status = collect_status(settings_of(home, url), env, NOON, str(project), "")
        return ELSEWHERE in [one["what"] for one in status["problems"]]

    run_hook("PostToolUseFailure", payload, home, env={"REDIS_URL": url})
    assert told()
    with Door(home, {"REDIS_URL": url, "CLAUDE_PROJECT_DIR": str(project)}) as door:
        door.begin()
        door.call("PostToolUseFailure", payload)
        until(lambda: not told())  # it is noted after the answer
    run_hook("PostToolUseFailure", payload, home, env={"REDIS_URL": url})
    wait_for_workers(home)
    assert told()
    settings = Path(env["HOME"], ".claude", "settings.json")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"enabledPlugins": {"brainhooks-server@brainhooks": true}}')
    assert not told()


EVENTS_WITH_STATE = (
    *("SessionStart", "SessionStart.compact", "UserPromptSubmit", "PreToolUse.Read", "PreToolUse"),
    *("PostToolUse", "PostToolUse.Read", "PostToolUse.Edit", "PostToolUseFailure"),
    *("PreCompact", "Stop", "SubagentStop", "SessionEnd"),
)
ALL_ON = ("READ_CACHE", "BREAKER_DENY", "TRANSCRIPT_LOG")


def one_event(name, home, folder, session, **options):
    """Run an event that has to look everywhere, in this thread; return how long it slept."""
    transcript = folder / f"{session}.jsonl"
    shutil.copy(ROOT / "tests" / "transcripts" / "plain.jsonl", transcript)
    note = Path(reads_note(str(home), session))
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_bytes(b"an epoch")
    paths = {"cwd": str(folder / "project"), "transcript_path": str(transcript)}
    payload = recorded(name, **paths, session_id=session)
    if "agent_transcript_path" in payload:
        payload["agent_transcript_path"] = str(transcript)
    env = agent_env(home) | {f"BRAINHOOKS_{option}": "1" for option in ALL_ON} | options
    (folder / "in").write_text(json.dumps(payload))
    words, left = [payload["hook_event_name"]], []
    with (folder / "in").open("rb") as stdin, (folder / "out").open("wb") as stdout:
        fds = {"stdin": stdin.fileno(), "stdout": stdout.fileno()}
        slept = slept_s(lambda: left.append(main(words, env=env, now=NOON.timestamp(), **fds)))
    wait_for_workers(home)
    assert left == [0]
    return slept


@pytest.mark.parametrize("name", EVENTS_WITH_STATE)
def test_no_event_waits_longer_for_a_silent_redis_than_once(name, home, tmp_path):
    make_repo(tmp_path / "project")
    for session in ("first-of-all", "second"):
        usual = one_event(name, home, tmp_path, session)
    with frozen(tmp_path / "redis") as url:
        slept = one_event(name, home, tmp_path, KEY.id, REDIS_URL=url)
    assert Path(state_down.path_of(str(home))).exists(), "it was not asked at all"
    assert slept < usual + 1.8 * WAIT_S  # a disk that others use may be slower than it was
