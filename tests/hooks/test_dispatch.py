from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from hooks.dispatch import EVENTS
from tests.support.run_hook import ROOT, agent_env, recorded, run_hook, wait_for_workers

SPEAKING = [name for name in EVENTS if name != "MessageDisplay"]


def log_of(home):
    path = home / "logs" / "hooks.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="one byte"),
        pytest.param(b"\xff\xfe{}", id="not UTF-8"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"hook_event_name":"Elsewhere"}', id="another event"),
        pytest.param(b'{"session_id":7,"cwd":[],"prompt":{}}', id="fields of other kinds"),
        pytest.param(b'{"a":' * 50_000, id="nested without end"),
    ],
)
def test_an_unusable_payload_never_stops_the_agent(event, data, home):
    run = run_hook(event, data, home)
    assert (run.rc, run.stderr) == (0, "")
    assert run.stdout == b"" or json.loads(run.stdout)
    wait_for_workers(home)


def test_an_unusable_payload_is_one_line_in_the_log(home):
    run_hook("Stop", b"{", home)
    (line,) = log_of(home).splitlines()
    assert "Stop" in line
    assert "not JSON" in line


@pytest.mark.parametrize("event", SPEAKING)
def test_where_ci_is_set_nothing_is_said_or_written(event, home):
    run = run_hook(event, None, home, env={"CI": "true"})
    assert run == (0, b"", "")
    assert not home.exists()


@pytest.mark.parametrize("word", ["1", "True"])
def test_ci_can_be_told_to_use_memory(home, word):
    run = run_hook("SessionStart", None, home, env={"CI": "true", "BRAINHOOKS_CI": word})
    assert run.message
    wait_for_workers(home)


def test_an_unknown_event_says_how_to_call_and_is_not_a_refusal(home):
    run = run_hook("Elsewhere", b"{}", home)
    assert run.rc == 1
    assert run.stdout == b""
    assert "usage:" in run.stderr


def test_a_bad_setting_is_named_in_the_log_with_what_it_must_be(home):
    run = run_hook("Stop", recorded("Stop"), home, env={"BRAIN_CONTEXT_BUDGET": "lots"})
    assert (run.rc, run.stdout) == (0, b"")
    assert "BRAIN_CONTEXT_BUDGET is 'lots'; it must be" in log_of(home)


def test_a_damaged_installation_record_is_kept_and_the_agent_goes_on(home):
    home.mkdir(parents=True)
    record = home / "installation.json"
    record.write_text('{"installation_id": "inst-')
    for event in SPEAKING:
        run = run_hook(event, None, home)
        assert (run.rc, run.stdout) == (0, b"")
    assert record.read_text() == '{"installation_id": "inst-'
    assert "installation.json" in log_of(home)
    wait_for_workers(home)


def test_what_nobody_foresaw_exits_1_and_logs_the_place_but_no_value(tmp_path, home):
    root = tmp_path / "broken"
    subprocess.run(
        ["cp", "-r", str(ROOT / "hooks"), str(ROOT / "scripts"), "."], cwd=_made(root), check=True
    )
    step = root / "hooks" / "steps" / "collect_markers.py"
    step.write_text("def run(ctx):\n    raise KeyError(ctx.event.last_assistant_message)\n")
    run = run_hook("Stop", recorded("Stop"), home, root=root)
    assert (run.rc, run.stdout) == (1, b"")
    assert "unforeseen KeyError at" in log_of(home)
    assert "collect_markers.py:2" in log_of(home)
    assert "always run the tests" not in log_of(home)


def _made(path):
    path.mkdir()
    return path


@pytest.mark.parametrize("shape", ["package", "module"])
def test_a_project_with_a_hooks_package_of_its_own_is_not_run(shape, tmp_path, home):
    hostile = _made(tmp_path / "hostile")
    evil = "print('evil')\nraise SystemExit(2)\n"
    if shape == "package":
        _made(hostile / "hooks")
        (hostile / "hooks" / "__init__.py").write_text(evil)
        (hostile / "hooks" / "__main__.py").write_text(evil)
    else:
        (hostile / "hooks.py").write_text(evil)
    for name in ("os", "json", "scripts", "sqlite3", "re"):
        (hostile / f"{name}.py").write_text(evil)
    env = {"PYTHONPATH": str(hostile)}
    for event in EVENTS:
        run = run_hook(event, recorded(event, cwd=str(hostile)), home, cwd=hostile, env=env)
        assert run.rc == 0
        assert b"evil" not in run.stdout
    wait_for_workers(home)


def test_the_hooks_run_as_an_installed_module_too(home):
    env = {**agent_env(home), "PYTHONPATH": str(ROOT)}
    home.parent.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "hooks", "SessionStart"],
        input=json.dumps(recorded("SessionStart", cwd=str(home.parent))).encode(),
        env=env,
        cwd=home.parent,
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["systemMessage"].startswith("brainhooks:")
    wait_for_workers(home)


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"HOME": ""}, id="HOME empty"),
        pytest.param({"HOME": "/nonexistent"}, id="HOME that is not there"),
        pytest.param({"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"}, id="C locale"),
        pytest.param({"PATH": ""}, id="no PATH"),
    ],
)
def test_odd_environments_do_not_stop_the_agent(env, tmp_path, project):
    home = tmp_path / "Gómez 名前 😀" / "a home"
    for event in EVENTS:
        run = run_hook(event, recorded(event, cwd=str(project)), home, env=env)
        assert (run.rc, run.stderr) == (0, "")
    wait_for_workers(home)
    assert (home / "installation.json").exists()


def test_a_home_that_cannot_be_made_costs_one_quiet_exit(home, project):
    (home.parent / "file").write_text("")
    blocked = {"AGENTIHOOKS_HOME": str(home.parent / "file" / "home")}
    for event in SPEAKING:
        run = run_hook(event, recorded(event, cwd=str(project)), home, env=blocked)
        assert (run.rc, run.stderr) == (0, "")
    wait_for_workers(home)


def test_sixteen_first_hooks_at_once_agree_on_one_installation(home, project):
    home.parent.mkdir(exist_ok=True)
    payload = json.dumps(recorded("SessionStart", cwd=str(project))).encode()
    entry = str(ROOT / "hooks" / "__main__.py")
    running = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", entry, "SessionStart"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=agent_env(home, CLAUDE_PROJECT_DIR=str(project), CLAUDE_PID=str(number)),
        )
        for number in range(16)
    ]
    outputs = [process.communicate(payload)[0] for process in running]
    assert {process.returncode for process in running} == {0}
    assert sum(b"systemMessage" in output for output in outputs) == 1
    wait_for_workers(home)
    assert len(list(home.glob("installation.json*"))) <= 2
    assert os.stat(home / "installation.json").st_mode & 0o77 == 0


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_stream_costs_nothing_but_its_words(closed, home):
    home.parent.mkdir(exist_ok=True)
    entry = str(ROOT / "hooks" / "__main__.py")
    start = f'exec "$0" -I -S "$1" SessionStart {closed}{"<" if closed == 0 else ">"}&-'
    done = subprocess.run(
        ["/bin/sh", "-c", start, sys.executable, entry],
        input=json.dumps(recorded("SessionStart", cwd=str(home.parent))).encode(),
        env=agent_env(home),
        cwd=home.parent,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    for path in home.rglob("*"):
        assert path.is_dir() or b"additionalContext" not in path.read_bytes()
    wait_for_workers(home)


def test_a_verb_never_becomes_a_prompt_whatever_is_broken(home):
    home.mkdir(parents=True)
    (home / "settings.json").write_text("{", encoding="utf-8")
    payload = recorded("UserPromptSubmit", prompt="/brainhooks:remember my private words")
    run = run_hook("UserPromptSubmit", payload, home)
    assert run.rc == 0
    assert "settings.json" in run.answer
    assert run.reply["hookSpecificOutput"]["suppressOriginalPrompt"] is True


def test_without_a_home_of_any_kind_nothing_is_said_and_nothing_stopped(home, tmp_path):
    """A user without an entry in the password database, as containers have them."""
    setpriv = shutil.which("setpriv")
    if os.getuid() != 0 or setpriv is None:
        pytest.skip("only root can become a user who does not exist")
    entry = str(ROOT / "hooks" / "__main__.py")
    if not all(folder.stat().st_mode & 0o001 for folder in (ROOT, *ROOT.parents)):
        pytest.skip("nobody else may read this clone")
    become = [setpriv, "--reuid=54321", "--regid=54321", "--clear-groups"]
    done = subprocess.run(
        [*become, "/usr/bin/python3", "-I", "-S", entry, "Stop"],
        input=json.dumps(recorded("Stop")).encode(),
        env={"PATH": os.defpath},
        cwd="/",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
