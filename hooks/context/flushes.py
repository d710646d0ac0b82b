"""The flushes of one message on the screen, as files: hooks of one message overlap.

Each hook leaves its own flush, then reads those before it. One that has waited in vain leaves a
mark: from there on the original is shown. A hook that comes late finds the mark and shows the
original too, behind whatever was still held back. Text may then appear twice; none is lost.
"""

from __future__ import annotations

import os
import time

from hooks import atomic
from hooks.context.display import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WAIT_S = 0.5  # an earlier flush was dispatched before us and writes its part soon
STEP_S = 0.005
_GAVE_UP = "gave-up"


class Flushes:
    """What is known of the message in ``folder`` by the hook of flush ``index``."""

    def __init__(self, folder: str, index: int, delta: str) -> None:
        self.folder, self.index, self.delta = folder, index, delta

    def show(
        self,
        *,
        final: bool,
        sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - waits for another process
    ) -> str:
        """Return what the screen shows in place of this flush."""
        path = os.path.join(self.folder, str(self.index))
        atomic.write(path, self.delta.encode("utf-8", "replace"), durable=False)
        before = self._before(sleep)
        mark = self._mark()
        if mark is None and len(before) < self.index:
            mark = self.index
            note = str(mark).encode("ascii")
            atomic.write(os.path.join(self.folder, _GAVE_UP), note, durable=False)
        if mark is not None:
            return self.delta if self.index > mark else held("".join(before)) + self.delta
        text = "".join(before)
        return render(text + self.delta, final=final)[len(render(text, final=False)) :]

    def _before(self, sleep: Callable[[float], None]) -> list[str]:
        """Return the earlier flushes, as far as they come before the wait is over."""
        parts: list[str] = []
        waited = 0.0
        while len(parts) < self.index:
            data = atomic.read(os.path.join(self.folder, str(len(parts))))
            if data is not None:
                parts.append(data.decode("utf-8", "replace"))
            elif waited >= WAIT_S or self._mark() is not None:
                break
            else:
                sleep(STEP_S)
                waited += STEP_S
        return parts

    def _mark(self) -> int | None:
        data = atomic.read(os.path.join(self.folder, _GAVE_UP)) or b""
        return int(data) if data.isdigit() else None


def held(text: str) -> str:
    """Return what ``render`` keeps back of ``text`` while more may come."""
    return render(text, final=True)[len(render(text, final=False)) :]


def sweep(folder: str, keep: str, at: float, older_than_s: float = 60.0) -> None:
    """Remove the flushes of messages that are over: they hold the assistant's words as written."""
    import shutil

    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        try:
            if name != keep and at - os.stat(path).st_mtime > older_than_s:
                shutil.rmtree(path, ignore_errors=True)
        except FileNotFoundError:  # another hook was faster
            continue
