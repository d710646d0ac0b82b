"""``brainhooks memory serve``: one process that holds several people's sessions of one store.

Sockets live in the event loop, the store on one other thread. A client's lines go out in the
order in which the store's thread made them.
"""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.feed_thread import FeedThread
from scripts.swarm_v2.memory.outgoing import Outgoing, Stalled
from scripts.swarm_v2.memory.place import claim, make_private, publish
from scripts.swarm_v2.memory.serving import Engine, refusal
from scripts.swarm_v2.memory.wire import MAX_HELLO, MAX_LINE, Ask, Hello, check_values, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from scripts.swarm_v2.memory.place import Place
    from scripts.swarm_v2.memory.serving import Out
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.memory.wire import Message

    T = TypeVar("T")

IDLE_S = 600.0  # a server that nobody is connected to ends after this
HELLO_S = 10.0  # in which a connection has to say who it is
MAX_CLIENTS = 256
GOODBYE_S = 2.0  # for what waits to be sent when the server ends
SWEEP_S = 3600.0
LOOPBACK = "127.0.0.1"
CHUNK = 1 << 16
LONG = 1 << 16  # bytes of a line from which on it is read beside the loop


class MemoryServer:
    """``engine`` makes the engine, on the thread that will use it; ``second`` a store to wait on.

    ``port`` None is a Unix socket; 0 is a free port.
    """

    def __init__(
        self,
        place: Place,
        engine: Callable[[], Engine],
        second: Callable[[], DocumentStore],
        *,
        port: int | None = None,
        idle_s: float = IDLE_S,
        say: Callable[[str], None],
    ) -> None:
        self._place, self._make_engine, self._second = place, engine, second
        self._port, self._idle_s, self._say = port, idle_s, say
        self._worker = ThreadPoolExecutor(1, "memory-store")
        self._reader = ThreadPoolExecutor(1, "memory-lines")
        self._clients: dict[int, Outgoing] = {}  # by the session's number
        self._connections: set[asyncio.Task[None]] = set()
        self._idle: asyncio.TimerHandle | None = None

    def run(self) -> None:
        """Serve until nobody was connected for the idle time, or a signal.

        Raises:
            MemoryRefused: ``server-running``; what the store refuses.
            StateError, OSError: the place cannot be used.
        """
        if self._port is None and not self._place.fits:
            sentence = f"{self._place.socket} is too long for a socket"
            hint = "serve a port of this machine instead: brainhooks memory serve --port 0"
            raise MemoryRefused("request-invalid", sentence, hint)
        make_private(self._place)
        with claim(self._place, lambda: os.sched_yield()):
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ending.set)
        self._engine = await self._loop.run_in_executor(self._worker, self._make_engine)
        feed = FeedThread(self._second, self._pump_from_feed)
        self._feed = feed
        try:
            server, address = await self._listen()
            async with server:
                publish(self._place, address)
                feed.start()
                self._rest()
                self._loop.call_later(SWEEP_S, self._sweep)
                self._say(f"serving at {address}")
                await self._ending.wait()
                server.close()
                await self._goodbye()
        finally:
            feed.stop()
            await self._loop.run_in_executor(self._worker, self._engine.close)
            self._worker.shutdown()
            self._reader.shutdown()
            self._unlink()

    async def _listen(self) -> tuple[asyncio.Server, str]:
        if self._port is not None:
            server = await asyncio.start_server(self._connected, LOOPBACK, self._port)
            return server, f"tcp:{server.sockets[0].getsockname()[1]}"
        self._unlink()  # ours or a dead server's: we hold the lock
        path = self._place.socket
        server = await asyncio.start_unix_server(self._connected, path)
        os.chmod(path, 0o600)
        return server, f"unix:{path}"

    def _unlink(self) -> None:
        for path in (self._place.socket, self._place.address):
            if os.path.lexists(path):
                os.unlink(path)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        out = Outgoing(writer, self._sent)
        try:
            await self._converse(_Lines(reader), out)
        except (OSError, Stalled, EOFError, TimeoutError, asyncio.CancelledError):
            pass  # the client went, or has to
        finally:
            self._connections.discard(task)
            await out.close()

    async def _converse(self, lines: _Lines, out: Outgoing) -> None:
        number = 0
        try:
            if len(self._clients) >= MAX_CLIENTS:
                raise MemoryRefused("server-full", f"the server has {MAX_CLIENTS} clients already")
            async with asyncio.timeout(HELLO_S):
                hello = parse(await lines.next(MAX_HELLO), most=MAX_HELLO)
            if not isinstance(hello, Hello):
                raise MemoryRefused("request-invalid", "the first line says who speaks: hello")
            session, welcome = await self._on_store(lambda: self._engine.hello(hello))
        except MemoryRefused as err:
            await out.last(refusal(err, number))
            return
        self._enter(session, out)
        out.put([welcome])
        try:
            await self._answer_all(session, lines, out)
        finally:
            self._leave(session)

    async def _answer_all(self, session: Session, lines: _Lines, out: Outgoing) -> None:
        while True:
            try:
                ask = await self._parsed(await lines.next(MAX_LINE))
                if not isinstance(ask, Ask):
                    raise MemoryRefused("request-invalid", "after the first line come questions")
            except MemoryRefused as err:
                number = err.facts.get("n")
                if not isinstance(number, int) or not number:
                    await out.last(refusal(err, 0))
                    return
                out.put([refusal(err, number)])
                continue
            await self._deliver(lambda ask=ask: self._engine.ask(session, ask))  # type: ignore[misc]
            await out.room()

    async def _parsed(self, line: bytes) -> Message:
        """Read a line; a long one beside the loop, so that nobody else waits for it."""
        if len(line) <= LONG:
            return parse(line)

        def read() -> Message:
            check_values(line)
            return parse(line)

        return await self._loop.run_in_executor(self._reader, read)

    def _enter(self, session: Session, out: Outgoing) -> None:
        self._clients[session.number] = out
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _leave(self, session: Session) -> None:
        self._clients.pop(session.number, None)
        self._unwatched(lambda: self._engine.leave(session))
        self._rest()

    def _rest(self) -> None:
        if not self._clients and self._idle is None:
            self._idle = self._loop.call_later(self._idle_s, self._ending.set)

    # What follows runs the store's thread and brings its results back, in order.

    async def _on_store(self, job: Callable[[], T]) -> T:
        # Shielded: what a client asked for is done also where it leaves meanwhile.
        return await asyncio.shield(asyncio.wrap_future(self._submit(job), loop=self._loop))

    def _submit(self, job: Callable[[], T]) -> Future[T]:
        """Do it on the store's thread; the future keeps what it raised, and the thread goes on."""
        return self._worker.submit(self._on_worker, job)

    def _unwatched(self, job: Callable[[], object]) -> Future[object]:
        """Do what no client waits for; the owner is told of what it raised."""
        done = self._submit(job)
        done.add_done_callback(self._complain)
        return done

    def _complain(self, done: Future[object]) -> None:
        err = None if done.cancelled() else done.exception()
        if err is not None:
            self._say(f"{type(err).__name__}: {err}")

    async def _deliver(self, job: Callable[[], Iterator[list[Out]]]) -> None:
        def each() -> None:
            for found in job():
                self._hand_over(found)

        await self._on_store(each)

    def _hand_over(self, found: list[Out]) -> None:
        if found:
            self._loop.call_soon_threadsafe(self._put, found)

    def _on_worker(self, job: Callable[[], T]) -> T:
        try:
            return job()
        finally:
            self._feed.know(self._engine.positions(), self._engine.due_s())

    def _put(self, found: list[Out]) -> None:
        for out in found:
            client = self._clients.get(out.session.number)
            if client is not None:
                client.put(out.lines, out if out.frame is not None else None)

    def _sent(self, out: Out) -> None:
        """Tell the engine of a frame that left."""
        self._unwatched(lambda: self._engine.delivered(out))

    def _pump_from_feed(self) -> None:
        """Take the feed; on its thread, and back when that is done."""
        wait([self._unwatched(lambda: self._hand_over(self._engine.pump()))])

    def _sweep(self) -> None:
        self._unwatched(lambda: self._hand_over(self._engine.sweep()))
        self._loop.call_later(SWEEP_S, self._sweep)

    async def _goodbye(self) -> None:
        waits = [asyncio.create_task(one.flushed()) for one in self._clients.values()]
        if waits:
            await asyncio.wait(waits, timeout=GOODBYE_S)
        for task in [*waits, *self._connections]:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=GOODBYE_S)


class _Lines:
    """Lines of one connection, each of a stated size; no more than that is ever held."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader, self._held = reader, bytearray()

    async def next(self, most: int) -> bytes:
        """Return the next line.

        Raises:
            MemoryRefused: ``request-too-large``.
            EOFError: there is none.
        """
        searched = 0
        while True:
            end = self._held.find(b"\n", searched)
            if end > most or (end < 0 and len(self._held) > most):
                sentence = f"a line of more than {most} bytes"
                hint = "send it in several commits"
                raise MemoryRefused("request-too-large", sentence, hint)
            if end >= 0:
                line = bytes(self._held[:end])
                del self._held[: end + 1]
                return line
            searched = len(self._held)
            data = await self._reader.read(CHUNK)
            if not data:
                raise EOFError
            self._held += data
