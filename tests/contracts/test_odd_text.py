"""Text that no encoding likes, the whole way through real hooks: kept once, told, no crash."""

from __future__ import annotations

import json

import pytest

from tests.support.git import make_repo
from tests.support.keeping import lesson
from tests.support.run_hook import recorded, run_hook, wait_for_workers
from tests.support.session import Session

LONE = "\\ud83d"  # half of a pair, as JSON escapes it


def with_lone(event, **fields):
    """A payload whose ``HALF`` is a lone surrogate, as bytes: no Python text could hold it."""
    return json.dumps(recorded(event, **fields)).replace("HALF", LONE).encode()


@pytest.mark.parametrize("field", ["session_id", "cwd", "prompt_id", "transcript_path"])
def test_a_lone_surrogate_in_any_field_keeps_the_marker_once(home, project, field):
    own = {"session_id": "s1", "cwd": str(project), "prompt_id": "p1", "transcript_path": ""}
    own[field] += "/HALF" if field == "cwd" else "aHALF"
    env = {"CLAUDE_PROJECT_DIR": str(project)}

    def fire(event, **fields):
        run = run_hook(event, with_lone(event, **{**own, **fields}), home, env=env, cwd=project)
        wait_for_workers(home)
        assert (run.rc, run.stderr) == (0, "")
        return run

    fire("SessionStart")
    marked = lesson("read HALF of it", path="src/HALF.py", task="HALF")
    runs = [fire("Stop", last_assistant_message=marked) for _ in range(3)]
    assert "read \ufffd of it" in runs[0].message
    assert [run.stdout for run in runs[1:]] == [b"", b""]
    if field != "session_id":  # such a session has no log of where it was, and so no project
        told = fire("SessionStart", session_id="s2", cwd=str(project)).context
        assert told.count("read \ufffd of it (src/\ufffd.py)") == 1
        assert "noted" not in told
    log = home / "logs" / "hooks.log"
    assert not log.exists() or "unforeseen" not in log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
        {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["C", "POSIX"],
)
def test_folders_of_any_script_remember_in_any_locale(tmp_path, locale):
    person = tmp_path / "Gómez 名前 😀 it's"
    project = make_repo(person / "prójekt 😀", "https://git.example.org/shop/web.git")
    one = Session(person / "ho me 名", project, env=locale)
    one.start()
    one.prompt("go")
    one.says(lesson("naïve 名前 😀"))
    assert "naïve 名前 😀" in one.stop().message
    one.settle()
    other = Session(person / "ho me 名", project, env=locale)
    assert "naïve 名前 😀" in other.start().context
    other.settle()


@pytest.mark.parametrize(
    "text", [r"\\1 \\g<0> \\0", "$& $1 ${HOME} $`", "%s {0} {x!r}", "a\\nb \\"]
)
def test_what_a_replacement_would_mean_is_text(session, text):
    one = session()
    one.start()
    one.prompt("go")
    one.says(f"so: {lesson(text)} and on")
    assert text in one.stop().message
    one.settle()
    shown = one.fire("MessageDisplay", delta=f"so: {lesson(text)} and on\n")
    assert text in shown.reply["hookSpecificOutput"]["displayContent"]
    other = session()
    assert text in other.start().context
    other.settle()
