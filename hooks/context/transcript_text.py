"""A transcript as a person reads it: who said what, secrets taken out. For reading, not exact."""

from __future__ import annotations

from hooks.context.redact import redact
from hooks.context.transcript_lines import parse
from scripts.swarm_v2.wire_json import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TOOL_WIDTH = 200  # characters of a tool's input or result: what it was about, not all of it
_NOTICE = ("<command-name>", "<local-command-stdout>", "<system-reminder>")


def readable(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield a paragraph for each thing that was said or done. Damaged lines are passed over."""
    for piece in pieces:
        for line in parse(piece.rstrip(b"\n")).objects:
            yield from _paragraphs(line)


def _paragraphs(line: dict[str, object]) -> Iterator[str]:
    kind, message = line.get("type"), line.get("message")
    if kind not in ("user", "assistant") or not isinstance(message, dict) or line.get("isMeta"):
        return
    when = str(line.get("timestamp") or "")[:16].replace("T", " ")
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        said = _block(str(kind), block) if isinstance(block, dict) else ""
        if said:
            yield f"[{when}] {said}"


def _block(kind: str, block: dict[str, object]) -> str:
    name = block.get("type")
    if name == "text":
        text = _safe(block.get("text"))
        return f"{kind}: {text}" if text and not text.startswith(_NOTICE) else ""
    if name == "tool_use":
        return f"tool {_safe(block.get('name'))}: {_short(block.get('input'))}"
    if name == "tool_result":
        return f"result: {_short(block.get('content'))}"
    return ""


def _short(value: object) -> str:
    text = " ".join(_flat(value).split())
    text = _safe(text)
    return text if len(text) <= TOOL_WIDTH else text[: TOOL_WIDTH - 1] + "…"


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_flat(one)}" for name, one in value.items())
    if isinstance(value, list):
        return " ".join(_flat(one) for one in value)
    return value if isinstance(value, str) else str(value)


def _safe(value: object) -> str:
    """Return a text without secrets and without what would steer a terminal."""
    text = redact(clean(value if isinstance(value, str) else "").strip())[0]
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
