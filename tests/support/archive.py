"""Transcripts and their forks for the archive's tests, and one archive in a folder."""

from __future__ import annotations

import json
import random
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scripts.swarm_v2.store.archive.manifest import namespace
from scripts.swarm_v2.store.archive.read import fresh
from scripts.swarm_v2.store.archive.save import Place, Source, load, save
from tests.support.session import compact

if TYPE_CHECKING:
    from pathlib import Path

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
ME = "inst-" + "5" * 32
NAME = "proj/s.jsonl"


def conversation(seed: int, turns: int, session: str) -> list[dict]:
    """Lines as the client writes them: a prompt, an answer, and bookkeeping, per turn."""
    chance = random.Random(seed)
    lines: list[dict] = []
    parent = None
    for turn in range(turns):
        prompt = str(uuid.UUID(int=chance.getrandbits(128)))
        text = " ".join(f"{chance.getrandbits(30):x}" for _ in range(chance.randrange(20, 200)))
        for kind in ("user", "assistant"):
            mine = str(uuid.UUID(int=chance.getrandbits(128)))
            line = {"parentUuid": parent, "isSidechain": False}
            line |= {"promptId": prompt} if kind == "user" else {}
            line |= {"type": kind, "message": {"role": kind, "content": f"{kind} {text}"}}
            line |= {"uuid": mine, "timestamp": "2026-11-30T10:00:00.000Z", "cwd": "/home/dev/p"}
            lines.append({**line, "sessionId": session, "version": "2", "gitBranch": "main"})
            parent = mine
        lines.append({"type": "last-prompt", "lastPrompt": f"{turn}", "sessionId": session})
    return lines


def fork_of(lines: list[dict], session: str) -> list[dict]:
    """The lines as a fork repeats them: its own ids, and none of the bookkeeping."""
    prompt = str(uuid.uuid4())
    made: list[dict] = [{"type": "mode", "mode": "normal", "sessionId": session}]
    for line in lines:
        if "uuid" in line:
            own = {"promptId": prompt} if "promptId" in line else {}
            asked = {"requestSessionId": line["sessionId"]} if line["type"] == "assistant" else {}
            made.append({**line, **own, "sessionId": session, **asked})
    return made


def as_bytes(lines: list[dict]) -> bytes:
    return b"".join(compact(line) for line in lines)


class Archive:
    """An archive of one installation, and a folder of transcripts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = Place(str(folder / "archive"), namespace(ME))

    def path(self, session: str = "s") -> Path:
        return self.folder / f"{session}.jsonl"

    def save(self, session: str = "s", *, close: bool = False) -> int:
        source = Source(NAME, str(self.path(session)))
        return save(self.place, session, [source], AT, close=close)

    def write(self, data: bytes, session: str = "s") -> None:
        self.path(session).write_bytes(data)

    def append(self, data: bytes, session: str = "s") -> None:
        with self.path(session).open("ab") as file:
            file.write(data)

    def export(self, session: str = "s", part: int | None = None) -> bytes:
        whole = load(self.place, session)
        now = whole.current(NAME)
        assert now is not None
        chosen = now.part if part is None else part
        return b"".join(fresh(self.place, session, NAME, chosen))

    def chunk_files(self) -> dict[str, int]:
        folder = self.folder / "archive" / "chunks"
        return {path.name: path.stat().st_size for path in folder.iterdir()}

    def documents(self) -> list[dict]:
        folder = self.folder / "archive"
        return [json.loads(path.read_bytes()) for path in folder.glob("*.json")]
