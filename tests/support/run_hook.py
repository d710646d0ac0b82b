"""Hook processes, started by the one start command exactly as the agent starts them."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
PAYLOADS = ROOT / "tests" / "payloads"
PATH = os.environ.get("PATH", os.defpath)  # noqa: TID251 - where git and python3 are is the machine's

# Read ends of pipes whose other end every process of a home inherits: end of file means
# that the hook and all the workers it left behind are gone. Nothing has to be guessed.
_leashes: dict[Path, list[int]] = {}


class Run(NamedTuple):
    """What a hook process left: exit code, stdout as bytes, stderr as text."""

    rc: int
    stdout: bytes
    stderr: str

    @property
    def reply(self) -> dict[str, Any]:
        """The one JSON object on stdout; {} for a silent hook."""
        if not self.stdout:
            return {}
        found = json.loads(self.stdout)
        assert isinstance(found, dict), self.stdout
        return found

    @property
    def context(self) -> str:
        """What goes to the model."""
        return self.reply.get("hookSpecificOutput", {}).get("additionalContext", "")

    @property
    def message(self) -> str:
        """The line for the person."""
        return self.reply.get("systemMessage", "")

    @property
    def answer(self) -> str:
        """What a blocked prompt was answered with; "" when it was not blocked."""
        return self.reply.get("reason", "") if self.reply.get("decision") == "block" else ""


def recorded(event: str, **fields: object) -> dict[str, Any]:
    """Return a recorded payload (``Stop``, ``SessionStart.resume``) with ``fields`` laid over."""
    payload = json.loads((PAYLOADS / f"{event}.json").read_text(encoding="utf-8"))
    return {**payload, **fields}


def agent_env(home: Path, **extra: str) -> dict[str, str]:
    """The whole environment of a hook process: nothing is inherited but PATH."""
    return {
        "HOME": str(home.parent),
        "AGENTIHOOKS_HOME": str(home),
        "PATH": PATH,
        "LANG": "C.UTF-8",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        **extra,
    }


def run_hook(
    event: str,
    payload: Mapping[str, object] | bytes | None,
    home: Path,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    root: Path = ROOT,
    python: str = sys.executable,
    flags: tuple[str, ...] = (),
    timeout_s: float = 60,
) -> Run:
    """Run one event and return when the hook's own process ends; its workers may still work.

    ``payload`` None takes the recorded one, bytes go to stdin as they are. ``env`` is laid
    over ``agent_env(home)``. The working folder is ``cwd``, else the payload's where it
    exists, else the folder of ``home``.
    """
    if payload is None:
        payload = recorded(event)
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode() + b"\n"
    said = "" if isinstance(payload, bytes) else str(payload.get("cwd", ""))
    home.parent.mkdir(parents=True, exist_ok=True)
    folder = cwd or (Path(said) if said and Path(said).is_dir() else home.parent)
    project = {"CLAUDE_PROJECT_DIR": said} if said else {}
    entry = str(root / "hooks" / "__main__.py")
    return _run(
        [python, "-I", "-S", *flags, entry, event],
        data,
        home,
        env={**agent_env(home), **project, **(env or {})},
        cwd=folder,
        timeout_s=timeout_s,
    )


def run_verb(
    line: str, home: Path, *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Run:
    """Run ``hooks/__main__.py verb <line>``, the shell's way to a person's verb."""
    command = [sys.executable, "-I", "-S", str(ROOT / "hooks" / "__main__.py"), "verb"]
    everything = {**agent_env(home), **(env or {})}
    return _run([*command, *line.split(" ")], b"", home, env=everything, cwd=cwd or home.parent)


def _run(
    command: list[str],
    data: bytes,
    home: Path,
    *,
    env: Mapping[str, str],
    cwd: Path,
    timeout_s: float = 60,
) -> Run:
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            command,
            input=data,
            env=env,
            cwd=cwd,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            pass_fds=(writer,),
        )
    finally:
        os.close(writer)
        _leashes.setdefault(home, []).append(reader)
    return Run(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def wait_for_workers(home: Path, timeout_s: float = 30) -> None:
    """Return when every process that our runs for ``home`` left behind has ended.

    Each inherits the write end of a pipe; we wait for its end of file. A process started
    by somebody else (the real client) is found by its command line instead.

    Raises:
        TimeoutError: one of them still lives after ``timeout_s`` seconds.
    """
    for reader in _leashes.pop(home, []):
        ended, _, _ = select.select([reader], [], [], timeout_s)
        os.close(reader)
        if not ended:
            msg = f"a worker of {home} is still running after {timeout_s:g} s"
            raise TimeoutError(msg)
    wait_for_ended(f"AGENTIHOOKS_HOME={home}", timeout_s)


def wait_for_ended(variable: str, timeout_s: float = 30) -> None:
    """Return when no worker of ours with ``NAME=value`` in its environment is left.

    Raises:
        TimeoutError: one of them still lives after ``timeout_s`` seconds.
    """
    while pids := workers_with(variable):
        for pid in pids:
            _wait_for(pid, timeout_s)


def workers_with(variable: str) -> list[int]:
    """Return the ids of our detached workers with that variable; [] where there is no /proc."""
    wanted, found = variable.encode(), []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit():
            continue
        try:
            words = _told(name, "cmdline")
            ours = b"worker" in words and any(w.endswith(b"hooks/__main__.py") for w in words)
            if ours and wanted in _told(name, "environ"):
                found.append(int(name))
        except OSError:  # it ended while we looked, or is not ours to read
            continue
    return found


def _told(pid: str, what: str) -> list[bytes]:
    with open(f"/proc/{pid}/{what}", "rb", buffering=0) as file:
        return file.read().split(b"\0")


def _wait_for(pid: int, timeout_s: float) -> None:
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if not select.select([fd], [], [], timeout_s)[0]:
            msg = f"worker {pid} is still running after {timeout_s:g} s"
            raise TimeoutError(msg)
    finally:
        os.close(fd)
