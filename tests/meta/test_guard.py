"""The guard of conftest.py guards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.home import resolve_home
from tests.conftest import OURS, REAL_HOMES
from tests.support.run_hook import ROOT, run_hook, wait_for_workers


def test_home_is_a_file_so_nothing_can_be_made_below_it():
    home = Path.home()  # noqa: TID251 - the guard is what is tested
    assert home.is_file()
    with pytest.raises(NotADirectoryError):
        (home / ".agentihooks").mkdir()


def test_the_home_that_a_child_process_resolves_is_not_a_real_one():
    code = "import os; from hooks.home import resolve_home; print(resolve_home(os.environ))"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert found not in REAL_HOMES
    with pytest.raises(NotADirectoryError):
        os.mkdir(found)


def test_no_setting_of_the_developer_reaches_a_test():
    env = os.environ  # noqa: TID251 - the guard is what is tested
    assert not [name for name in env if name.startswith(OURS) or name == "CI"]
    assert resolve_home(env) not in REAL_HOMES


STAND_IN = """
import os, sys
sys.path.insert(0, {root!r})
from hooks.spawn import detach
code = "import sys; open(sys.argv[1]).read(); open(sys.argv[2], 'w').close()"
detach([sys.executable, "-c", code, {gate!r}, {late!r}], os.environ)
"""


def test_the_wait_for_workers_sees_one_that_outlives_its_hook(tmp_path, home):
    """A stand-in hook leaves a child in its own session, which waits for us at a gate."""
    gate, late = tmp_path / "gate", tmp_path / "late"
    os.mkfifo(gate)
    entry = tmp_path / "stand-in" / "hooks" / "__main__.py"
    entry.parent.mkdir(parents=True)
    entry.write_text(
        STAND_IN.format(root=str(ROOT), gate=str(gate), late=str(late)), encoding="utf-8"
    )

    assert run_hook("Stop", None, home, root=tmp_path / "stand-in").rc == 0
    assert not late.exists()
    gate.write_bytes(b"")
    wait_for_workers(home)
    assert late.exists()
