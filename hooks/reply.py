"""What a hook says to the agent, as values. ``dispatch`` alone writes them."""

from __future__ import annotations

from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

# The client keeps 10,000 UTF-16 units of a hook's output and cuts more to a 2,000-unit preview.
MAX_UNITS = 9_900


class Silent(NamedTuple):
    """Nothing to say; the agent goes on."""


class Say(NamedTuple):
    """Context for the model."""

    text: str


class Tell(NamedTuple):
    """One line for the person; it never reaches the model."""

    text: str


class Block(NamedTuple):
    """The prompt was for us: answered here, never sent to the model."""

    answer: str


class Show(NamedTuple):
    """What the screen shows in place of this flush of the assistant's message."""

    text: str


class Deny(NamedTuple):
    """The tool does not run; the model reads why."""

    reason: str


Reply = Silent | Say | Tell | Block | Show | Deny
SILENT = Silent()


def units(text: str) -> int:
    """Count UTF-16 code units, the client's measure: an emoji is two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(character > "\uffff" for character in text)


def merge(replies: Iterable[Reply]) -> list[Reply]:
    """Fold the replies: the first Block, Show or Deny wins and ends the run, the rest join."""
    said: list[str] = []
    told: list[str] = []
    for reply in replies:
        match reply:
            case Block() | Show() | Deny():
                return [reply]
            case Say(text) if text:
                said.append(text)
            case Tell(text) if text:
                told.append(text)
    out: list[Reply] = []
    if said:
        out.append(Say("\n\n".join(said)))
    if told:
        out.append(Tell("\n".join(told)))
    return out


def encode(replies: Iterable[Reply], event: str) -> bytes:
    """Return stdout for ``event``: one JSON object in ASCII and a newline, or nothing at all."""
    document: dict[str, object] = {}
    specific: dict[str, object] = {}
    for reply in replies:
        match reply:
            case Say(text):
                specific["additionalContext"] = text
            case Tell(text):
                document["systemMessage"] = text
            case Show(text):
                specific["displayContent"] = text
            case Deny(reason):
                specific["permissionDecision"] = "deny"
                specific["permissionDecisionReason"] = reason
            case Block(answer):
                document["decision"] = "block"
                document["reason"] = answer
                specific["suppressOriginalPrompt"] = True
    if specific:
        document["hookSpecificOutput"] = {"hookEventName": event, **specific}
    return dumps(document).encode("ascii") + b"\n" if document else b""
