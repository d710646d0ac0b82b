"""A session collected and flushed in this process: the library's own calls, real files."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hooks.context import outbox
from hooks.context.brains import open_brain
from hooks.context.collect import Collected, collect
from hooks.context.flush import Drained, drain
from hooks.context.ledger import Ledger, Receipt, Sighting
from hooks.payload import Event
from hooks.settings import Settings
from scripts.swarm_v2.installation import installation
from tests.support.session import Session, compact

if TYPE_CHECKING:
    from pathlib import Path

    from hooks.context.brains import Item

FOUNDED = datetime(2026, 11, 1, tzinfo=UTC)
START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def lesson(text: str, **attrs: str) -> str:
    said = "".join(f' {name}="{value}"' for name, value in attrs.items())
    return f"<!-- @lesson{said} -->{text}<!-- @/lesson -->"


class Kept:
    """One session's transcript and the home that keeps it. ``at`` goes on a minute a call."""

    def __init__(self, home: Path, project: Path, **named: Any) -> None:
        self.brain_source = named.pop("brain_source", "local")
        self.session = Session(home, project, **named)
        self.home, self.at = str(home), START
        home.mkdir(parents=True, exist_ok=True)
        installation(self.home, FOUNDED)
        self.env = {"HOME": str(home.parent), "CLAUDE_PROJECT_DIR": str(project)}

    @property
    def settings(self) -> Settings:
        return Settings(self.home, brain_source=self.brain_source)

    def tick(self) -> datetime:
        self.at += timedelta(minutes=1)
        return self.at

    def ask(self, text: str = "go on") -> None:
        self.session.prompt_id = f"prompt-{self.tick():%H%M}"
        message = {"role": "user", "content": text}
        self.session.write("user", message, at=self.at, promptId=self.session.prompt_id)

    def say(self, *texts: str) -> str:
        return self.session.says(*texts, at=self.tick())

    def collect(self, event: str = "Stop", **fields: Any) -> Collected:
        known: dict[str, Any] = {
            "session_id": self.session.id,
            "transcript_path": str(self.session.transcript),
            "cwd": self.session.cwd,
            "prompt_id": self.session.prompt_id,
        }
        return collect(Event(event, **{**known, **fields}), self.settings, self.env, self.tick())

    def drain(self) -> Drained:
        return drain(self.settings, self.env, self.tick())

    def memory(self, project: str = "git.example.org/shop/web") -> list[Item]:
        brain = open_brain(self.settings._replace(brain_source="local"), self.env)
        try:
            return brain.project_memory(project, installation(self.home).installation_id)
        finally:
            brain.close()

    def texts(self) -> list[str]:
        return [item.text for item in self.memory()]

    def receipts(self) -> list[Receipt]:
        """The oldest first."""
        ledger = Ledger.read_only(self.home)
        if ledger is None:
            return []
        try:
            return ledger.receipts()[::-1]
        finally:
            ledger.close()

    def states(self) -> list[str]:
        return [receipt.state for receipt in self.receipts()]

    def ignored(self) -> list[Sighting]:
        ledger = Ledger.read_only(self.home)
        assert ledger is not None
        try:
            return ledger.ignored()[::-1]
        finally:
            ledger.close()

    def waiting(self) -> list[str]:
        return outbox.names(self.home)


def copy_as_fork(kept: Kept, home: Path, project: Path, *, marked: bool = True) -> Kept:
    """Another session whose transcript repeats the first one's lines, as a fork's does."""
    fork = Kept(home, project)
    fork.at = kept.at
    lines = [json.loads(line) for line in kept.session.transcript.read_bytes().splitlines()]
    with fork.session.transcript.open("ab") as file:
        for line in lines:
            origin = {"requestSessionId": kept.session.id} if line["type"] == "assistant" else {}
            extra = origin if marked else {"sessionKind": "bg"}
            file.write(compact({**line, "sessionId": fork.session.id, **extra}))
    return fork


def turn(kept: Kept, *texts: str) -> None:
    """A prompt, and the agent's answer to it."""
    kept.ask()
    kept.say(*texts)
