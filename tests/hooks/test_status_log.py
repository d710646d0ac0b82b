"""What the status says of the log, over real log files."""

from __future__ import annotations

from datetime import timedelta

from hooks.clock import iso
from hooks.log import log
from hooks.settings import Settings
from hooks.status import collect_status, render
from hooks.status_log import logged


def test_the_last_line_is_told_and_how_many_more_there_are(home, noon, project):
    for minute, text in enumerate(("first", "[Errno 28] No space left on device")):
        log(str(home), iso(noon - timedelta(minutes=9 - minute)), "Stop", "session", text)

    status = collect_status(Settings(str(home)), {}, noon, str(project), "")

    assert status["log"]["last"]["what"] == "[Errno 28] No space left on device"
    assert status["level"] == "green"  # what failed and heals by itself needs nobody
    said = "2026-11-30 11:52 UTC Stop: [Errno 28] No space left on device (1 more in"
    assert said in render(status)


def test_what_was_said_a_day_ago_is_history(home, noon, project):
    log(str(home), iso(noon - timedelta(days=1, seconds=1)), "Stop", "", "old")

    status = collect_status(Settings(str(home)), {}, noon, str(project), "")

    assert status["log"] == {}
    assert "nothing in the last day" in render(status, verbose=True)
    assert "logged" not in render(status)


def test_lines_that_are_none_and_a_log_cut_in_a_line_are_passed_over(home, noon):
    path = home / "logs" / "hooks.log"
    path.parent.mkdir(parents=True)
    whole = f"{iso(noon)} Stop - said\n".encode()
    path.write_bytes(b"x" * 70_000 + b"\n\xff\n2026 Stop\n" + whole * 2_000 + b"2026-11-30T1")

    found = logged(str(home), noon)

    assert found["last"] == {"at": iso(noon), "event": "Stop", "what": "said"}
    assert 1_000 < found["lines"] < 2_000
