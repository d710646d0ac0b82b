"""The console commands as processes, installed or not: the same entry, the same arguments."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.run_hook import ROOT, agent_env

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ENTRY = "import sys\n{before}\nfrom scripts.cli import {function} as command\ncommand()"


def run_cli(
    *args: str,
    home: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    function: str = "main",
    before: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run ``brainhooks <args>`` (``function="brain_status"``: that script) for ``home``.

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
