"""A home, and each part of it, that mode bits close: nobody is stopped, and all of it heals.

Root heeds no mode bits, so where the tests run as root the hooks run without that privilege.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.contracts.test_hard_conditions import assert_calm, before, heal, log_of, texts
from tests.support.keeping import lesson
from tests.support.without_privileges import CANNOT, FLAGS

FOLDERS = ("", "brain", "brain-outbox", "locks", "logs", "brain/positions", "brain/project-memory")
FILES = ("ledger.db", "brain/local.db", "projects.json", "installation.json")
CLOSED = (*FOLDERS, *FILES)
SILENT = ("logs", "locks")  # nothing can be said; a lock that is there needs no listing


@pytest.fixture(autouse=True)
def modes_count(tmp_path):
    """Skip where root cannot be made to heed mode bits; prove that it does where it can."""
    closed = tmp_path / "closed"
    closed.write_text("print('opened')")
    closed.chmod(0o200)
    command = [sys.executable, *FLAGS, str(closed)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode == CANNOT:
        pytest.skip("root cannot give up what lets it pass mode bits here")
    assert b"opened" not in done.stdout
    assert b"ermission denied" in done.stderr
    closed.chmod(0o600)
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"opened\n"


def closed_meanwhile(one, path, mode, text):
    """Start and stop a session that says ``text`` while ``path`` has ``mode``; return the log."""
    was, logged = path.stat().st_mode, len(log_of(one.home))
    path.chmod(mode)
    one.flags = FLAGS
    try:
        one.says(lesson(text))
        runs = [one.start("resume"), one.stop()]
        one.settle()
    finally:
        one.flags = ()
        path.chmod(was)
    assert_calm(*runs)
    said = log_of(one.home)[logged:]
    assert "unforeseen" not in said
    return said


@pytest.mark.parametrize("mode", [0o300, 0o500])
def test_what_mode_bits_close_stops_nobody_is_logged_and_heals(session, home, mode):
    one = session()
    before(one)
    (home / "logs").mkdir(exist_ok=True)
    for name in CLOSED:
        said = closed_meanwhile(one, home / name, mode, f"closed {name}")
        assert said or mode != 0o300 or name in SILENT, name
    heal(one)
    assert texts(home) == sorted(["before", *(f"closed {name}".strip() for name in CLOSED)])
