"""The second door: an MCP server over standard input and output, for as long as the agent's client.

The client asks it for the same events as it starts processes for, without a process for each:
one JSON-RPC message a line, one call of the tool ``hook`` an event. Everything known of a session
is on disk, so a server that is killed loses nothing, and the next one goes on.

One loop, no threads. The steps were written for a process that handles one event, and an event
takes a millisecond or two: threads would save nothing under the interpreter's one lock, and every
module below would have to bear them. Calls that come together are answered in their order.

It falls open like the other door: whatever happens, a call is answered, with ``{}`` where nothing
is to be said. A call that was cancelled is finished all the same: what it keeps is worth keeping.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum
import os
import time

from hooks.dispatch import guarded, serve, steps_of
from hooks.errors import HookError, PayloadError
from hooks.home import resolve_home
from hooks.payload import event_of
from hooks.quick import served_note
from hooks.server_input import restored
from scripts.swarm_v2.wire_json import dumps, load_object, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hooks.payload import Event

    Object = Mapping[str, object]

TOOL = "hook"  # called by the client for an event, and listed to no model
SERVED = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "MessageDisplay")
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # the newest first
MAX_LINE = 128 << 20  # bytes; a Write of 1 MB takes 8: its text stands in two fields of it twice
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_NO_JSON, _NO_REQUEST, _NO_METHOD, _NO_TOOL = -32700, -32600, -32601, -32602  # JSON-RPC's numbers
# The environment's session is the one that the client began with; after /clear it is another.
_NOT_OURS = ("CLAUDE_CODE_SESSION_ID",)


def main(*, env: Mapping[str, str], stdin: int, stdout: int) -> int:
    """Serve until standard input ends, or a SIGINT or SIGTERM asks for the end; return 0."""
    kept = {name: value for name, value in env.items() if name not in _NOT_OURS}
    server = Server(kept, stdin, stdout)
    for number in (_signal.SIGINT, _signal.SIGTERM):
        _signal.signal(number, server.asked_to_end)
    server.run()
    return 0


class Server:
    """One client's: reads lines from ``stdin``, writes lines to ``stdout``."""

    def __init__(self, env: Mapping[str, str], stdin: int, stdout: int) -> None:
        self._env, self._stdin, self._stdout = env, stdin, stdout
        self._idle = self._ending = False
        self._methods: dict[str, Callable[[object, Object], None]] = {
            "initialize": self._initialize,
            "ping": lambda id_, _params: self._result(id_, {}),
            "tools/list": lambda id_, _params: self._result(id_, {"tools": []}),
            "tools/call": self._call,
        }

    def run(self) -> None:
        for line in self._lines():
            if line.strip():
                self._take(line)
            if self._ending:
                return

    def asked_to_end(self, _number: int, _frame: object) -> None:
        """End at once, or after the event that is being served: what it writes is finished."""
        if self._idle:
            os._exit(0)
        self._ending = True

    def _lines(self) -> Iterator[bytes]:
        parts: list[bytes] = []
        size = 0
        while chunk := self._read():
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                if size <= MAX_LINE:
                    yield b"".join((*parts, end))
                else:
                    self._log(f"a message of more than {MAX_LINE} bytes was dropped")
                parts, size = [], 0
            size += len(rest)
            parts = [*parts, rest] if size <= MAX_LINE else []

    def _read(self) -> bytes:
        self._idle = True
        try:
            return b"" if self._ending else os.read(self._stdin, 1 << 20)
        finally:
            self._idle = False

    def _take(self, line: bytes) -> None:
        try:
            message = loads(line)
        except ValueError:
            self._error(None, _NO_JSON, "not JSON")
            return
        if not isinstance(message, dict):
            self._error(None, _NO_REQUEST, "not one request")
            return
        method, params = message.get("method"), message.get("params")
        if "id" not in message:
            if method == "notifications/initialized":
                guarded("server", self._env, time.time(), self._warm)  # noqa: TID251 - a door
        elif not isinstance(message["id"], (str, int, float)):
            self._error(None, _NO_REQUEST, "not one request")
        elif isinstance(method, str):  # else it answers a question, and we ask none
            answer = self._methods.get(method)
            if answer is None:
                self._error(message["id"], _NO_METHOD, "no such method")
            else:
                answer(message["id"], params if isinstance(params, dict) else {})

    def _initialize(self, id_: object, params: Object) -> None:
        asked = params.get("protocolVersion")
        made = {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "brainhooks", "version": _version()},
        }
        self._result(id_, made)

    def _warm(self) -> int:
        """Load what the first event would else wait for: the client waits for nothing now."""
        from hooks.clock import from_epoch
        from hooks.context.session_state import allow_redis_py, connect
        from hooks.settings import load

        allow_redis_py()
        for event in SERVED:
            for step in steps_of(event):
                __import__(f"hooks.steps.{step}")
        try:
            settings = load(self._env)
            if settings.redis.url:
                connect(settings, from_epoch(time.time())).close()  # noqa: TID251 - a door
            else:
                __import__("hooks.context.state_embedded")
        except HookError:  # the first event that asks says so
            pass
        return 0

    def _call(self, id_: object, params: Object) -> None:
        given = params.get("arguments")
        if params.get("name") != TOOL or not isinstance(given, dict):
            self._error(id_, _NO_TOOL, "no such tool")
            return
        now = time.time()  # noqa: TID251 - the clock of this door, read once an event
        name = str(given.get("event") or given.get("hook_event_name") or "-")[:40]
        answered: list[bytes] = []

        def write(answer: bytes) -> None:
            answered.append(answer)
            self._say(id_, answer)

        guarded(name, self._env, now, lambda: self._serve(name, given, now, write))
        if not answered:
            self._say(id_, b"")
        _reap()

    def _serve(self, name: str, given: Object, now: float, write: Callable[[bytes], None]) -> int:
        begun = False

        def read() -> Event:
            nonlocal begun
            begun = True  # nothing is to be written where no event is wanted
            if name not in SERVED:
                raise PayloadError(name, "not one of this door's events")
            return event_of(name, restored(given))

        code = serve(name, read, self._env, now, write)
        if begun:
            self._note_served()
        return code

    def _note_served(self) -> None:
        """Leave a trace that tells this door's events from a process's: their state differs."""
        try:
            path = served_note(resolve_home(self._env))
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
            os.utime(path)
        except (HookError, OSError):  # there is no home, or none that can be written
            return

    def _say(self, id_: object, answer: bytes) -> None:
        text = answer.decode("ascii").rstrip("\n") or "{}"
        self._result(id_, {"content": [{"type": "text", "text": text}]})

    def _result(self, id_: object, result: Object) -> None:
        self._send({"jsonrpc": "2.0", "id": id_, "result": result})

    def _error(self, id_: object, code: int, text: str) -> None:
        error = {"code": code, "message": text}
        self._send({"jsonrpc": "2.0", "id": id_, "error": error})

    def _send(self, message: Object) -> None:
        data = dumps(message).encode("ascii") + b"\n"
        try:
            while data:
                data = data[os.write(self._stdout, data) :]
        except OSError:  # the client is gone: there is nobody left to serve
            self._ending = True

    def _log(self, text: str) -> None:
        from hooks.dispatch import note

        note(self._env, "server", time.time(), text)  # noqa: TID251 - a door


def _version() -> str:
    """Return the plugin's version; "0" where the program is not a plugin's."""
    try:
        with open(os.path.join(_ROOT, ".claude-plugin", "plugin.json"), "rb") as file:
            return str((load_object(file.read()) or {}).get("version", "0"))
    except OSError:
        return "0"


def _reap() -> None:
    """Take leave of the workers that events have started and that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
