"""Questions to a server and their answers, over a connection that is made anew when it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.answers import gathered
from scripts.swarm_v2.memory.connection import ANSWER_S, GONE, Connection, gone
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.wire import Answer, Pushed, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from scripts.swarm_v2.memory.wire import Message

    T = TypeVar("T")
    Body = Mapping[str, object]
    Answered = Callable[[Body | MemoryRefused], None]


class Conversation:
    """``came`` takes each frame; ``begin_again`` is called on each new connection but the first.

    Every method may raise ``server-gone``: the connection ended, and could not be made anew.
    """

    def __init__(
        self,
        open: Callable[[], Connection],
        came: Callable[[Body], None],
        begin_again: Callable[[], None],
    ) -> None:
        self._open, self._came, self._begin_again = open, came, begin_again
        self._connection: Connection | None = open()
        self.principal = self._connection.principal
        self._closed = False
        self._waiting: dict[int, Answered] = {}  # by the number of the question
        self._parts: list[Pushed] = []  # of a frame whose last line is still to come

    def again(self, do: Callable[[], T]) -> T:
        """Do what only looks; once more where the connection ended meanwhile."""
        self.ready()
        try:
            return do()
        except MemoryRefused as err:
            if err.code != GONE:
                raise
        self.ready()
        return do()

    def ready(self) -> None:
        """Take what has come; where the connection ended, make it anew."""
        try:
            while self._connection is not None and self.receive(0) is not None:
                pass
        except MemoryRefused as err:
            if err.code != GONE:
                raise
        if self._connection is None:
            self._reconnect()

    def ask(self, ask: str, fields: Body) -> Body:
        """Ask and wait, on the connection that there is.

        Raises:
            MemoryRefused: the refusal of it.
        """
        found: list[Body | MemoryRefused] = []
        self.send(ask, fields, found.append)
        self.wait_for(lambda: bool(found))
        if isinstance(found[0], MemoryRefused):
            raise found[0]
        return found[0]

    def send(self, ask: str, fields: Body, answered: Answered) -> None:
        """Ask; ``answered`` is called once, when the answer is taken or the connection ends.

        Raises:
            MemoryRefused: ``server-gone``, where nothing can have come of it.
        """
        if self._connection is None:
            raise gone("the connection to the server ended")
        try:
            number = self._connection.ask(ask, fields)
        except MemoryRefused as err:
            if err.code == GONE:
                self._lose(err)
            raise
        self._waiting[number] = answered

    def wait_for(self, is_done: Callable[[], bool]) -> None:
        """Take what comes until that is so; the end of the connection settles what waits."""
        while not is_done():
            try:
                if self.receive(ANSWER_S) is None:
                    raise self._lose(gone(f"the server did not answer within {ANSWER_S:g} s"))
            except MemoryRefused:
                if not is_done():
                    raise

    def receive(self, timeout_s: float) -> Message | None:
        """Take one line, if one comes within the time."""
        if self._connection is None:
            raise gone("the connection to the server ended")
        try:
            message = self._connection.poll(timeout_s)
            if message is not None:
                self._take(message)
        except MemoryRefused as err:
            raise self._lose(err) from None
        return message

    def fileno(self) -> int:
        if self._connection is None:
            self.ready()
        assert self._connection is not None
        return self._connection.fileno()

    def close(self) -> None:
        """End it for good; what waits for an answer is told so."""
        self._closed = True
        self._lose(gone("the session was closed"))

    def _take(self, message: Message) -> None:
        if isinstance(message, (Answer, Refusal)) and message.n in self._waiting:
            answered = self._waiting.pop(message.n)
            answered(message.error() if isinstance(message, Refusal) else message.body)
        elif isinstance(message, Refusal):  # of the connection itself
            raise message.error()
        elif isinstance(message, Pushed):
            self._parts.append(message)
            if not message.more:
                parts, self._parts = self._parts, []
                self._came(gathered(parts))

    def _reconnect(self) -> None:
        if self._closed:
            raise gone("the session was closed")
        self._connection = self._open()
        try:
            if self._connection.principal != self.principal:
                sentence = "the server knows this token as somebody else's now"
                raise MemoryRefused("credential-refused", sentence)
            self._begin_again()
        except MemoryRefused as err:
            raise self._lose(err) from None

    def _lose(self, err: MemoryRefused) -> MemoryRefused:
        """Let go of the connection: nobody will answer what was asked on it."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._parts = None, []
        waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            answered(gone(str(err)))
        return err
