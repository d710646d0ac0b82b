"""How the ``memory`` commands are run, and what they print."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from tests.support.run_cli import ENTRY
from tests.support.run_hook import ROOT, agent_env

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Said(NamedTuple):
    stdout: str
    stderr: str


def command(*args: str) -> list[str]:
    code = ENTRY.format(before="", function="main")
    return [sys.executable, "-P", "-c", code, "memory", *args]


def environment(home: Path, runtime: Path) -> dict[str, str]:
    return {**agent_env(home), "PYTHONPATH": str(ROOT), "XDG_RUNTIME_DIR": str(runtime)}


def listed(done) -> list[tuple[str, str]]:
    return [(one["scope"], one["id"]) for one in json.loads(done.stdout)]


class Watcher:
    """``brainhooks memory watch`` with a reader; ``env`` is laid over its environment."""

    def __init__(
        self,
        home: Path,
        project: Path,
        runtime: Path,
        *args: str,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            command("watch", *args),
            cwd=project,
            env={**environment(home, runtime), **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr.readline() == "watching\n"

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def line(self) -> str:
        return self.process.stdout.readline()

    def change(self) -> tuple[str, str, str, str]:
        found = json.loads(self.line())
        value = found.get("value")
        text = value["text"] if isinstance(value, dict) else ""
        return found["change"], found["scope"], found["id"], text
