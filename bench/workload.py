"""Transcripts as the client writes them, of any size, and the sessions that stop on them."""

from __future__ import annotations

import functools
import itertools
import json
import random
import re
import shutil
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bench.measure import PYTHON, Job
from hooks.context.compose import HOW_TO
from tests.support.run_hook import ROOT, agent_env, recorded
from tests.support.session import compact, recorded_lines

if TYPE_CHECKING:
    from pathlib import Path

MB = 1 << 20
FOLDER = ROOT / ".cache" / "bench"
PROJECT = FOLDER / "web"
_HINT = "!-- @"
IN_EVERY_TURN = ("user", "assistant", "system", "last-prompt", "tools-used", "cost-state", "mode")
_serial = itertools.count(1)


@functools.cache
def _texts() -> list[str]:
    """Code and prose to fill tool results and answers with; none holds a marker's opener."""
    files = sorted([*(ROOT / "hooks").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
    texts = [path.read_text(encoding="utf-8") for path in files]
    return [text for text in texts if text and _HINT not in text]


def _turns(rng: random.Random, cwd: str) -> bytes:
    """Return one turn of work in the recorded line shapes, with texts of usual lengths.

    What a session writes only once, at its start, is left out: in a long one it is a trifle.
    """
    texts, out = _texts(), []
    for line in recorded_lines("tools"):
        if line["type"] not in IN_EVERY_TURN:
            continue
        if line["type"] in ("user", "assistant"):
            _fill_line(line, rng, texts)
        if "uuid" in line:
            line["uuid"] = str(uuid.UUID(int=rng.getrandbits(128)))
        text = compact(line).replace(b"/home/dev/proj", cwd.encode())
        if _HINT.encode() not in text:
            out.append(text)
    return b"".join(out)


def _fill_line(line: dict[str, Any], rng: random.Random, texts: list[str]) -> None:
    """Put a piece of text for each text; a tool's result stands in its line twice."""

    def some(most: int) -> str:
        text = rng.choice(texts)
        start = rng.randrange(len(text))
        return text[start : start + rng.randrange(1, most)]

    content = line["message"]["content"]
    for block in content if isinstance(content, list) else []:
        for name, most in (("text", 1_500), ("content", 12_000), ("thinking", 3_000)):
            if isinstance(block.get(name), str):
                block[name] = some(most)
        result = line.get("toolUseResult")
        if isinstance(result, dict) and "content" in block:
            inner = result.get("file", result)
            inner["content" if "content" in inner else "stdout"] = block["content"]


def _how_to_line(cwd: str) -> bytes:
    """What a terminal session's file holds from us: the note on how to mark a lesson."""
    line = next(one for one in recorded_lines("plain") if one["type"] == "attachment")
    line["cwd"] = cwd
    line["attachment"]["stdout"] = json.dumps({"additionalContext": HOW_TO})
    return compact(line)


def make_transcript(path: Path, size: int, cwd: str, *, repeats: bool = True) -> None:
    """Write at least ``size`` bytes of whole lines; the same size gives the same bytes.

    ``repeats=False`` makes every turn anew: slower, but nothing in it is there twice.
    """
    rng = random.Random(size)
    block = b"".join(_turns(rng, cwd) for _ in range(12))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(_how_to_line(cwd))
        while file.tell() < size:
            file.write(block if repeats else _turns(rng, cwd))


class Bench:
    """One installation and its sessions; each method returns a job that may be run once."""

    def __init__(self, name: str) -> None:
        self.home = FOLDER / name / "agentihooks"
        self.env = {**agent_env(self.home), "CLAUDE_PROJECT_DIR": str(PROJECT)}

    def fresh(self) -> None:
        shutil.rmtree(self.home.parent, ignore_errors=True)
        self.home.parent.mkdir(parents=True)

    def job(self, event: str, **fields: object) -> Job:
        given = self.home.parent / f"{event}-{next(_serial)}.json"
        payload = recorded(event, cwd=str(PROJECT), **fields)
        given.write_text(json.dumps(payload) + "\n", encoding="utf-8")
        entry = str(ROOT / "hooks" / "__main__.py")
        command = [PYTHON, "-I", "-S", entry, payload["hook_event_name"]]
        return Job(command, self.env, str(given))

    def start(self, session: str = "") -> Job:
        return self.job("SessionStart", session_id=session or str(uuid.uuid4()), transcript_path="")

    def prompt(self, session: str) -> Job:
        return self.job("UserPromptSubmit", session_id=session, prompt="and now the next one")

    def stop(self, session: str, transcript: Path, said: str = "done") -> Job:
        path = str(transcript)
        fields = {"transcript_path": path, "last_assistant_message": said}
        return self.job("Stop", session_id=session, **fields)

    def work(self, session: str, transcript: Path, lesson: str, size: int = 20_000) -> str:
        """Append ``size`` bytes of a session's lines, of now, the last an answer with one marker.

        Prompt and time are what the Stop's payload will say: otherwise the answer on disk and the
        one in the payload would be two.
        """
        rng = random.Random(lesson)
        text = f"Done. <!-- @lesson -->{lesson}<!-- @/lesson -->"
        answer = [line for line in recorded_lines("plain") if line["type"] == "assistant"][-1]
        answer |= {"uuid": str(uuid.uuid4()), "cwd": str(PROJECT)}
        answer["message"] |= {"id": f"msg_{uuid.uuid4().hex[:20]}"}
        answer["message"]["content"] = [{"type": "text", "text": text}]
        lines = b""
        while len(lines) < size:
            lines += _turns(rng, str(PROJECT))
        cut = lines[: lines.rfind(b"\n", 0, size) + 1] + compact(answer)
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own = {"sessionId": session, "promptId": recorded("Stop")["prompt_id"], "timestamp": now}
        for name, value in own.items():
            cut = re.sub(f'"{name}":"[^"]*"'.encode(), f'"{name}":"{value}"'.encode(), cut)
        with transcript.open("ab") as file:
            file.write(cut)
        return text
