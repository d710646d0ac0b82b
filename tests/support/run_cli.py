"""The console commands as processes, installed or not: the same entry, the same arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.forked import Runner
from tests.support.run_hook import PATH, ROOT, agent_env

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ENTRY = "import sys\n{before}\nfrom scripts.cli import {function} as command\ncommand()"
_RUNNER = Runner("cli_runner.py", {"PATH": PATH, "LANG": "C.UTF-8"})
_AT_START = ("PYTHON", "LANG", "LC_")  # what only an interpreter that starts looks at


def run_cli(
    *args: str,
    home: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    function: str = "main",
) -> subprocess.CompletedProcess[str]:
    """Run ``brainhooks <args>`` (``function="brain_status"``: that script) for ``home``.

    The process is forked from one that has imported everything; ``start_cli`` starts one.
    """
    more = env or {}
    if any(name.startswith(_AT_START) for name in more):
        return start_cli(*args, home=home, cwd=cwd, env=more, function=function)
    whole = {**agent_env(home), "PYTHONPATH": str(ROOT), **more}
    done = _RUNNER.run(function, json.dumps(whole), os.fspath(cwd or home.parent), *args)
    return subprocess.CompletedProcess(args, *done)


def start_cli(
    *args: str,
    home: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    function: str = "main",
    before: str = "",
) -> subprocess.CompletedProcess[str]:
    """As ``run_cli``, in an interpreter that has imported nothing.

    ``before`` is Python that the process runs first.
    """
    code = ENTRY.format(before=before, function=function)
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *args],
        cwd=cwd or home.parent,
        env={**agent_env(home), "PYTHONPATH": str(ROOT), **(env or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
