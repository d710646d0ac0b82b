"""Hook processes that are forked: for tests of what a hook decides, over many events.

Their workers are started as ever. How a hook starts, and what it imports, is for other tests.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from tests.support.forked import Runner
from tests.support.run_hook import PATH, Run, agent_env, run_hook

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_RUNNER = Runner("hook_runner.py", {"PATH": PATH, "LANG": "C.UTF-8"})


def fork_hook(
    event: str,
    payload: Mapping[str, object],
    home: Path,
    *,
    env: Mapping[str, str],
    flags: tuple[str, ...] = (),
) -> Run:
    """As ``run_hook``, but what ``flags`` ask of a start is a start.

    Without /proc nobody would find the workers: there it is a start, too.
    """
    if flags or not os.path.isdir("/proc"):
        return run_hook(event, payload, home, env=env, flags=flags)
    said = str(payload.get("cwd", ""))
    folder = said if os.path.isdir(said) else os.fspath(home.parent)
    whole = {**agent_env(home), **({"CLAUDE_PROJECT_DIR": said} if said else {}), **env}
    done = _RUNNER.run(event, json.dumps(whole), folder, json.dumps(payload) + "\n")
    return Run(done.returncode, done.stdout.encode(), done.stderr)
