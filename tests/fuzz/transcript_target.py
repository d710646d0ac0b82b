"""A transcript of any bytes, read at once and in two steps."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hooks.context.transcript import prompt_before, scan

_FOLDER = Path("/dev/shm")


def transcript(data: bytes) -> object:
    """Reading up to a line's end, and on from there, tells what one reading tells."""
    with tempfile.NamedTemporaryFile(dir=_FOLDER if _FOLDER.is_dir() else None) as file:
        path = file.name
        cut = data.rfind(b"\n", 0, len(data) // 2) + 1
        _write(file.fileno(), data[:cut])
        first = scan(path, None)
        seen = _told(first)
        assert first.position is not None
        _write(file.fileno(), data[cut:])
        second = scan(path, first.position, cwd=first.cwd, branch=first.branch)
        assert not second.restarted
        seen += _told(second)
        whole = scan(path, None)
        assert _told(whole) == seen
        assert whole.position == second.position
        assert (whole.cwd, whole.branch) == (second.cwd, second.branch)
        prompt_before(path, len(data))
    kinds = {entry[3].reason if entry[0] == "seen" else "moved" for entry in seen}  # type: ignore[attr-defined]
    return tuple(sorted(kinds)), tuple(min(count, 3) for count in whole.counts)


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _told(reading) -> list[tuple[object, ...]]:
    """What it told, by place; where a move had no time of its own, the time is the batch's."""
    seen: list[tuple[object, ...]] = []
    for batch in reading.batches():
        seen += [
            ("seen", one.line.offset, (one.block, one.ordinal), one.candidate)
            for one in batch.sightings
        ]
        seen += [("move", moved.offset, moved.cwd, moved.branch) for moved in batch.moves]
    return sorted(seen, key=lambda entry: (entry[1], entry[0], str(entry[2])))
