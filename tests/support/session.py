"""One agent session played from outside: a transcript of real line shapes, and its hooks."""

from __future__ import annotations

import itertools
import json
import re
import uuid
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.support.run_hook import ROOT, Run, recorded, run_hook, wait_for_workers

if TYPE_CHECKING:
    from pathlib import Path

TRANSCRIPTS = ROOT / "tests" / "transcripts"


def recorded_lines(name: str) -> list[dict[str, Any]]:
    """Return the lines of a recorded transcript (``plain``, ``tools``, ``forked``…)."""
    text = (TRANSCRIPTS / f"{name}.jsonl").read_bytes()
    return [json.loads(line) for line in text.split(b"\n") if line]


def compact(line: dict[str, Any]) -> bytes:
    """Write a line as the client does: no blanks, raw UTF-8, one newline."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@cache
def _shape(kind: str) -> dict[str, Any]:
    return next(line for line in recorded_lines("plain") if line["type"] == kind)


class Session:
    """A session in ``project``; every step is what the client would do, hook included.

    ``run`` is how its hooks are run; ``forked_hook`` has another way.
    ``env`` goes to each of its hook processes. Nothing is written before ``start``.
    """

    run = staticmethod(run_hook)

    def __init__(
        self,
        home: Path,
        project: Path,
        *,
        session_id: str | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.home, self.project, self.env = home, project, dict(env or {})
        self.id = session_id or str(uuid.uuid4())
        folder = re.sub(r"[^A-Za-z0-9]", "-", str(project))
        self.transcript = home.parent / ".claude" / "projects" / folder / f"{self.id}.jsonl"
        self.prompt_id = str(uuid.uuid4())
        self.cwd = str(project)
        self.branch = "main"
        self._message = itertools.count(1)
        self._last_said = ""
        self.flags: tuple[str, ...] = ()  # what stands before the entry in its start commands

    def fire(self, event: str, **fields: object) -> Run:
        """Run the hook of ``event`` (a recorded payload's name) for this session."""
        common = {
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": self.cwd,
            **({} if event.startswith("SessionStart") else {"prompt_id": self.prompt_id}),
        }
        payload = recorded(event, **{**common, **fields})
        env = {"CLAUDE_PROJECT_DIR": str(self.project), **self.env}
        name = payload["hook_event_name"]
        return self.run(name, payload, self.home, env=env, flags=self.flags)

    def start(self, source: str = "startup") -> Run:
        name = "SessionStart" if source == "startup" else f"SessionStart.{source}"
        return self.fire(name)

    def prompt(self, text: str) -> Run:
        """Submit a prompt; its line is written unless the hook blocked it."""
        self.prompt_id = str(uuid.uuid4())
        run = self.fire("UserPromptSubmit", prompt=text)
        if not run.answer:
            self.write("user", {"role": "user", "content": text}, promptId=self.prompt_id)
        return run

    def says(self, *texts: str, at: datetime | None = None) -> str:
        """Write one assistant message, a line per text block as the client does; its id."""
        message = dict(_shape("assistant")["message"])
        message["id"] = f"msg_{self.id[:8]}{next(self._message):06d}"
        for text in texts:
            self.write("assistant", {**message, "content": [{"type": "text", "text": text}]}, at=at)
            self._last_said = text
        return message["id"]

    def write(
        self, kind: str, message: dict[str, Any], *, at: datetime | None = None, **fields: object
    ) -> None:
        """Append one line of ``kind`` with ``message``, stamped now or ``at``."""
        at = at or datetime.now(UTC)  # noqa: TID251 - the client's clock, not ours
        line = {
            **_shape(kind),
            "message": message,
            "uuid": str(uuid.uuid4()),
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "sessionId": self.id,
            "cwd": self.cwd,
            "gitBranch": self.branch,
            **fields,
        }
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        with self.transcript.open("ab") as file:
            file.write(compact(line))

    def stop(self, **fields: object) -> Run:
        return self.fire("Stop", **{"last_assistant_message": self._last_said, **fields})

    def end(self, reason: str = "other") -> Run:
        return self.fire("SessionEnd", reason=reason)

    def settle(self) -> None:
        """Wait until no worker of this session's hooks is left."""
        wait_for_workers(self.home)
