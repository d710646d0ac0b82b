"""Hooks of a person whom rights hold: root reads everything, so root's tests become another user.

A folder of theirs lies outside the test's own, which nobody else may enter.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.git import make_repo
from tests.support.run_hook import ROOT, Run, agent_env, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOBODY = 65_534


class Nobody:
    """A person with a home, a project and no rights but their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "agentihooks"
        self.project = make_repo(folder / "web", "https://git.example.org/shop/web.git")
        self._is_root = os.geteuid() == 0
        ours = not self._is_root or _everybody_may(sys.executable)
        self._python = sys.executable if ours else "/usr/bin/python3"
        if self._is_root:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, _NOBODY, _NOBODY)

    def fire(
        self, event: str, session: str, env: dict[str, str] | None = None, **fields: object
    ) -> Run:
        """Run a hook and wait for its workers. ``env`` is its whole environment if given."""
        common = {"session_id": session, "cwd": str(self.project), "transcript_path": ""}
        payload = recorded(event, **{**common, **fields})
        become = {"user": _NOBODY, "group": _NOBODY, "extra_groups": ()} if self._is_root else {}
        reader, writer = os.pipe()  # its end comes when the hook and all its workers are gone
        done = subprocess.run(
            [self._python, "-I", "-S", str(ROOT / "hooks" / "__main__.py"), event],
            input=json.dumps(payload).encode(),
            env={"CLAUDE_PROJECT_DIR": str(self.project), **(env or agent_env(self.home))},
            cwd=self.project,
            capture_output=True,
            check=False,
            pass_fds=(writer,),
            **become,
        )
        os.close(writer)
        ended, _, _ = select.select([reader], [], [], 30)
        os.close(reader)
        assert ended, "a worker is still running"
        return Run(done.returncode, done.stdout, done.stderr.decode())


def _everybody_may(path: str | Path) -> bool:
    real = Path(path).resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (*Path(path).parents, *real.parents))


@contextmanager
def nobody() -> Iterator[Nobody]:
    """A person as long as the block; the test is skipped where they could not start a hook."""
    if os.geteuid() == 0 and not _everybody_may(ROOT / "hooks" / "__main__.py"):
        pytest.skip("nobody else may read this clone")
    with tempfile.TemporaryDirectory(prefix="brainhooks-") as base:
        os.chmod(base, 0o755)
        yield Nobody(Path(base))
