"""What waits to be sent to one client: in order, and never more than a stated size."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scripts.swarm_v2.memory.serving import Out

MAX_QUEUED = 16 << 20  # bytes; a client that lets more wait is cut off
ROOM = 1 << 20  # bytes that may wait while it is still asked what else it wants
STALL_S = 60.0  # in which a client has to take something of what waits


class Stalled(Exception):
    """The client does not read what it is sent; its connection is over."""


class Outgoing:
    """One client's queue, and the task that empties it into the socket."""

    def __init__(
        self,
        writer: asyncio.StreamWriter,
        sent: Callable[[Out], None],
        *,
        most: int = MAX_QUEUED,
        stall_s: float = STALL_S,
    ) -> None:
        self._writer, self._sent, self._most, self._stall_s = writer, sent, most, stall_s
        self._lines: deque[tuple[bytes, Out | None]] = deque()
        self._queued = 0
        self._changed = asyncio.Event()
        self._over = False
        self._task = asyncio.create_task(self._send())

    def put(self, lines: Sequence[bytes], what: Out | None = None) -> None:
        """Queue lines; ``what`` is told to ``sent`` when the last of them left.

        A queue that is over its size ends the connection: the client asks anew when it reads.
        """
        if self._over:
            return
        for number, line in enumerate(lines, 1):
            self._lines.append((line, what if number == len(lines) else None))
            self._queued += len(line)
        if self._queued > self._most:
            self._end()
        self._changed.set()

    async def room(self) -> None:
        """Wait until the client has taken most of what waits.

        Raises:
            Stalled: it is cut off.
        """
        while self._queued > ROOM and not self._over:
            await self._wait()
        if self._over:
            raise Stalled

    async def flushed(self) -> None:
        """Wait until nothing waits any more."""
        while self._queued and not self._over:
            await self._wait()

    async def last(self, line: bytes) -> None:
        """Send one more line, then nothing."""
        self.put([line])
        await self.flushed()

    async def close(self) -> None:
        self._end()
        self._changed.set()
        await asyncio.wait([self._task])

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def _send(self) -> None:
        try:
            while not self._over:
                if not self._lines:
                    await self._wait()
                    continue
                line, what = self._lines[0]
                self._writer.write(line)
                async with asyncio.timeout(self._stall_s):
                    await self._writer.drain()
                if self._over:
                    break
                self._lines.popleft()
                self._queued -= len(line)
                self._changed.set()
                if what is not None:
                    self._sent(what)
        except (OSError, TimeoutError):
            pass
        finally:
            self._end()
            self._changed.set()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._lines.clear()
            self._queued = 0
            # Aborted, not closed: closing waits for a client that may never read.
            self._writer.transport.abort()
