"""Sessions as the agent plays them: a transcript that grows, and its hook processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from hooks.spawn import start_command

if TYPE_CHECKING:
    from collections.abc import Mapping

    Kill = tuple[float, int]  # after so many seconds, with that signal

WAIT_S = 60.0
_TICK_S = 0.02


class Stage(NamedTuple):
    """One scratch folder: the home, whose workers are known by its path, and the start command."""

    folder: str
    root: str
    path: str  # PATH, so that git is found
    more: tuple[tuple[str, str], ...] = ()  # settings of the brain

    @property
    def home(self) -> str:
        return os.path.join(self.folder, "person", "agentihooks")

    def env(self, principal: str) -> dict[str, str]:
        """The whole environment of a hook: nothing of the person's own settings is in it."""
        return {
            "HOME": os.path.dirname(self.home),
            "AGENTIHOOKS_HOME": self.home,
            "PATH": self.path,
            "LANG": "C.UTF-8",
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            "BRAINHOOKS_PRINCIPAL": principal,
            **dict(self.more),
        }


class Wrong(NamedTuple):
    """A hook that did not keep to its contract."""

    event: str
    what: str


class Player:
    """One session of ``principal`` in ``project``."""

    def __init__(self, stage: Stage, project: str, principal: str, name: str) -> None:
        self.stage, self.project, self.principal = stage, project, principal
        self.id = name
        folder = os.path.join(stage.folder, "transcripts")
        os.makedirs(folder, exist_ok=True)
        self.transcript = os.path.join(folder, f"{self.id}.jsonl")
        self.prompt_id = ""
        self.last = ""
        self.wrong: list[Wrong] = []
        self.took: list[float] = []
        self.context = ""

    def fire(self, event: str, kill: Kill | None = None, **fields: object) -> None:
        """Run one hook; with ``kill`` it gets that signal after so many seconds."""
        process = subprocess.Popen(
            start_command(self.stage.root, event),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.project,
            env={**self.stage.env(self.principal), "CLAUDE_PROJECT_DIR": self.project},
        )
        data = json.dumps(self._payload(event, fields)).encode()
        try:
            self._see_through(process, event, data, kill)
        finally:  # also when we are broken off: it must not go on in a folder that is removed
            if process.poll() is None:
                process.kill()
                process.communicate()

    def _see_through(
        self, process: subprocess.Popen[bytes], event: str, data: bytes, kill: Kill | None
    ) -> None:
        began = time.monotonic()
        if kill is None:
            out, err = process.communicate(data, timeout=WAIT_S)
            self.took.append(time.monotonic() - began)
            self._judge(event, process.returncode, out, err)
            return
        after_s, how = kill
        try:
            process.communicate(data, timeout=after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(how)
            process.communicate()

    def _payload(self, event: str, fields: Mapping[str, object]) -> dict[str, object]:
        return {
            "hook_event_name": event,
            "session_id": self.id,
            "transcript_path": self.transcript,
            "cwd": self.project,
            "prompt_id": self.prompt_id,
            **fields,
        }

    def _judge(self, event: str, code: int, out: bytes, err: bytes) -> None:
        if code or err:
            self.wrong.append(Wrong(event, f"exit {code}, {err[-200:].decode('utf-8', 'replace')}"))
        if not out:
            return
        try:
            said = json.loads(out)["hookSpecificOutput"]["additionalContext"]
        except KeyError:
            return
        except (ValueError, TypeError):
            self.wrong.append(Wrong(event, f"printed {out[:200]!r}"))
            return
        self.context = str(said)

    def start(self, source: str = "startup") -> None:
        self.context = ""
        self.fire("SessionStart", source=source)

    def prompt(self) -> None:
        self.prompt_id = str(uuid.uuid4())
        self.fire("UserPromptSubmit", prompt="go on")
        self._write("user", {"role": "user", "content": "go on"}, promptId=self.prompt_id)

    def says(self, text: str) -> None:
        block = {"type": "text", "text": text}
        message = {"id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "content": [block]}
        self._write("assistant", {"type": "message", **message})
        self.last = text

    def _write(self, kind: str, message: Mapping[str, object], **more: object) -> None:
        now = datetime.now(UTC)  # noqa: TID251 - the agent's clock, which this plays
        line = {
            "type": kind,
            "message": message,
            "uuid": str(uuid.uuid4()),
            "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "sessionId": self.id,
            "cwd": self.project,
            "gitBranch": "main",
            **more,
        }
        with open(self.transcript, "ab") as file:
            file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def stop(self, kill: Kill | None = None) -> None:
        self.fire("Stop", kill, last_assistant_message=self.last)

    def end(self, kill: Kill | None = None) -> None:
        self.fire("SessionEnd", kill, reason="other")


def workers(home: str) -> list[int]:
    """Return the ids of the detached workers of ``home``; [] where there is no /proc."""
    wanted, found = f"AGENTIHOOKS_HOME={home}".encode(), []
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if b"worker" not in words:
                continue
            with open(f"/proc/{pid}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:  # it ended while we looked, or is another user's
            continue
    return found


def kill_workers(home: str, how: int = signal.SIGKILL) -> int:
    """Kill what works for ``home``; return how many there were."""
    pids = workers(home)
    for pid in pids:
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            continue
    return len(pids)


def settle(home: str) -> bool:
    """Wait until no worker of ``home`` is left; say whether that came within ``WAIT_S``."""
    ends = time.monotonic() + WAIT_S
    while workers(home):
        if time.monotonic() > ends:
            return False
        time.sleep(_TICK_S)  # noqa: TID251 - a detached process is nobody's child to wait for
    return True
