"""As whose words a command writes a text: the person's, or the agent's in whose shell it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.claims import BY_AGENT, BY_PERSON, SAID_BY
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.reserved import PREFERENCES, SCOPES
from scripts.swarm_v2.scope_key import SPACE

if TYPE_CHECKING:
    from scripts.commands import Door

AGENT = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")  # set in every shell that an agent runs


def speaker(door: Door, scope: str) -> str:
    """Return who speaks: the person, in no agent's shell; for a project, in their own home."""
    if any(door.env.get(name) for name in AGENT):
        return BY_AGENT
    is_shared = scope == SPACE and bool(door.settings().memory_url)
    return BY_AGENT if is_shared else BY_PERSON


def check_claim(value: object, who: str) -> None:
    """Refuse an agent's text that says it is the person's.

    Raises:
        MemoryRefused: ``person-unproven``.
    """
    if who == BY_AGENT and isinstance(value, dict) and value.get(SAID_BY) == BY_PERSON:
        sentence = "what is written here is not told as the person's own words"
        hint = "leave cls out; or let the person say it, in a shell of their own"
        raise MemoryRefused("person-unproven", sentence, hint)


def check_usual(document_id: str, scope: str) -> None:
    """Refuse to write where nobody would read it.

    Raises:
        MemoryRefused: ``document-reserved``.
    """
    usual = SCOPES.get(document_id, (scope,))[0]
    if scope != usual:
        sentence = f"{document_id} of scope {scope} would have no effect"
        raise MemoryRefused("document-reserved", sentence, f"leave --scope out: it is {usual}")


def signed(document_id: str, value: object, who: str) -> object:
    """Return preferences with whose words their style is; any other value as it is."""
    if document_id != PREFERENCES or not isinstance(value, dict):
        return value
    check_claim(value, who)
    rest = {name: said for name, said in value.items() if name != SAID_BY}
    return {**rest, SAID_BY: BY_AGENT} if who == BY_AGENT and rest.get("style") else rest
