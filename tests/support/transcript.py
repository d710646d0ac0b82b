"""Transcript lines in the client's shapes, for tests that make their own files."""

from __future__ import annotations

import json

from hooks.context.transcript import scan

SESSION = "0ab96787-666b-4423-b983-6a30353e01f6"


def lesson(text: str) -> str:
    return f"<!-- @lesson -->{text}<!-- @/lesson -->"


def line(kind: str = "user", **fields: object) -> bytes:
    """One line without its newline, keys in the client's order: place and branch at the end."""
    value: dict[str, object] = {"parentUuid": None, "isSidechain": False, "type": kind}
    value |= {"uuid": f"u{fields.pop('n', 0)}", "timestamp": "2026-11-30T10:00:00.000Z"}
    end = {"cwd": "/home/dev/proj", "sessionId": SESSION, "version": "2", "gitBranch": "main"}
    value |= {k: v for k, v in fields.items() if k not in end}
    value |= end | {k: v for k, v in fields.items() if k in end}
    value = {key: item for key, item in value.items() if item is not ...}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def said(text: object, message_id: str = "msg_1", **fields: object) -> bytes:
    """One assistant line; ``text`` may be a content list instead."""
    content = [{"type": "text", "text": text}] if isinstance(text, str) else text
    message = {"id": message_id, "role": "assistant", "model": "m", "content": content}
    return line("assistant", message=message, **fields)


def read(path, start=None, cwd="", branch=""):
    """Scan once; return the taken texts, the moves' places and the finished scan."""
    found = scan(str(path), start, cwd=cwd, branch=branch)
    texts, moves = [], []
    for batch in found.batches():
        texts += [s.candidate.marker.content for s in batch.sightings if s.candidate.marker]
        moves += [(move.cwd, move.branch) for move in batch.moves]
    return texts, moves, found


def sightings(path, start=None):
    return [seen for batch in scan(str(path), start).batches() for seen in batch.sightings]


def write(path, *lines, end=b"\n"):
    path.write_bytes(b"\n".join(lines) + end)
