"""The model's side of the wire: a scripted Messages API on loopback, in a thread of the test."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Blocks = list[str | dict[str, Any]]
    Turn = Blocks | Callable[["Request"], Blocks]

SUMMARY = "<analysis>short</analysis>\n<summary>A SUMMARY OF THE TALK</summary>"


class Request(NamedTuple):
    """One request for a message. ``kind``: main, subagent, compact, or aux (a title…)."""

    kind: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All text that the model would read in the conversation, tool results included."""
        return "\n".join(_texts(self.body.get("messages", [])))


def _texts(messages: list[dict[str, Any]]) -> Iterator[str]:
    for message in messages:
        content = message["content"]
        for block in [{"text": content}] if isinstance(content, str) else content:
            yield block.get("text") or json.dumps(block, ensure_ascii=False)


class FakeApi:
    """Answers from ``turns`` and ``subagent_turns``; when they are used up it says "done".

    A turn is a list of blocks: a text, or ``{"tool": name, "input": {...}}``; or a function that
    makes them of the request, where the model has to read it.
    """

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.subagent_turns: list[Turn] = []
        self.received: list[Request] = []
        self._count = 0
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        poll = {"poll_interval": 0.01}
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs=poll, daemon=True)

    def __enter__(self) -> FakeApi:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def says(self, *blocks: str | dict[str, Any]) -> None:
        """Queue the main conversation's next answer."""
        self.turns.append(list(blocks))

    def does(self, turn: Callable[[Request], Blocks]) -> None:
        """Queue an answer that is made of what the model is asked."""
        self.turns.append(turn)

    def requests(self, kind: str = "main") -> list[Request]:
        return [request for request in self.received if request.kind == kind]

    def answer(self, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        """Record the request and build the whole message that answers it."""
        with self._lock:
            self._count += 1
            kind = _kind(body, headers)
            self.received.append(request := Request(kind, body))
            turn = self._turn(request)
            return _message(turn, body, self._count)

    def _turn(self, request: Request) -> Blocks:
        if request.kind == "compact":
            return [SUMMARY]
        if request.kind == "aux":
            return ["ok"]
        turns = self.subagent_turns if request.kind == "subagent" else self.turns
        turn = turns.pop(0) if turns else ["done"]
        return turn(request) if callable(turn) else turn


def _kind(body: dict[str, Any], headers: dict[str, str]) -> str:
    users = [message for message in body.get("messages", []) if message["role"] == "user"]
    last = "\n".join(_texts(users[-1:]))
    if "detailed summary of" in last or "create a detailed summary" in last:
        return "compact"
    if not body.get("tools"):
        return "aux"
    system = json.dumps(body.get("system", ""))
    agent = headers.get("x-claude-code-agent-id") or "You are an agent for Claude Code" in system
    return "subagent" if agent else "main"


def _message(turn: Blocks, body: dict[str, Any], n: int) -> dict[str, Any]:
    content = [
        {"type": "text", "text": block}
        if isinstance(block, str)
        else {
            "type": "tool_use",
            "id": f"toolu_{n:04d}{index}",
            "name": block["tool"],
            "input": block["input"],
        }
        for index, block in enumerate(turn)
    ]
    tools = any(block["type"] == "tool_use" for block in content)
    return {
        "id": f"msg_e2e{n:06d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "claude-fake"),
        "content": content,
        "stop_reason": "tool_use" if tools else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100 + n, "output_tokens": 42},
    }


def _stream(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut ``message`` into the events of a streamed answer; a text comes in four deltas."""
    start = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, deltas = {"type": "text", "text": ""}, _text_deltas(block["text"])
        else:
            empty = {**block, "input": {}}
            part = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": part}]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _text_deltas(text: str) -> list[dict[str, str]]:
    size = len(text) // 4 + 1
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    return [{"type": "text_delta", "text": part} for part in parts]


class _Handler(BaseHTTPRequestHandler):
    api: FakeApi
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Keep the test's output quiet."""

    def do_GET(self) -> None:
        self._json({})

    do_HEAD = do_GET  # noqa: N815 - the name is http.server's

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            self._json({"input_tokens": max(1, len(data) // 4)})
        elif path != "/v1/messages":
            self._json({})
        else:
            body = json.loads(data)
            headers = {name.lower(): value for name, value in self.headers.items()}
            message = self.api.answer(body, headers)
            self._events(message) if body.get("stream") else self._json(message)

    def _json(self, document: dict[str, Any]) -> None:
        self._write(json.dumps(document).encode(), "application/json")

    def _events(self, message: dict[str, Any]) -> None:
        lines = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _stream(message)]
        self._write("".join(lines).encode(), "text/event-stream")

    def _write(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):  # the client gave up on this answer
            return
