"""What makes a marker's record: its key, its attribution, and the document that says it all.

Nothing here reads the agent's current folder: project and task are those of the scope log at
the marker's own time. A document is complete: row and sighting can be made again from it.
"""

from __future__ import annotations

from hooks.clock import iso
from hooks.context.brain_adapter import brain_id
from hooks.context.ledger import Sighting
from hooks.context.scope_log import attribute, grants, in_force_near, load
from hooks.context.thought import key_of
from hooks.errors import StateError
from scripts.swarm_v2.installation import installation
from scripts.swarm_v2.keyspace import Namespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.scope_log import Transition
    from hooks.context.thought import Thought
    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple

UNKNOWN = "unknown"
FALLBACK = "payload"  # the sighting of a marker that only the hook's payload had


class Origin(NamedTuple):
    """Where a marker stood. ``message_id`` is empty where no transcript showed it yet."""

    session: str
    at: datetime | None  # the marker's own time
    message_id: str = ""
    block: int = 0
    ordinal: int = 0
    path: str = ""
    at_byte: int = 0
    prompt_id: str = ""  # only of a marker that no transcript showed yet
    cls: str = "agent"  # who said it


class Keeper:
    """The facts that one collection keys and attributes by, each read once."""

    def __init__(self, settings: Settings, at: datetime) -> None:
        """Raises StateError: ``installation.json`` breaks its grammar; markers wait."""
        try:
            who = installation(settings.home, at)
        except ValueError as err:
            raise StateError("installation.json", str(err)) from None
        self.home, self.settings, self.at = settings.home, settings, at
        self.cutover = who.created_at
        self.principal = settings.principal or who.installation_id
        self._space = Namespace(who.installation_id, brain_id(settings))
        self._logs: dict[str, list[Transition]] = {}
        self._grants: dict[str, tuple[str, ...]] = {}

    def scope(self, session: str, at: datetime | None) -> Transition | None:
        """Return where ``session`` stood at ``at``; None without a log, a time, or the setting.

        The launch counts a little early, see ``in_force_near``.
        """
        if at is None or not self.settings.session_scope:
            return None
        if session not in self._logs:
            self._logs[session] = load(self.home, session)
        return in_force_near(self._logs[session], at)

    def home_of(self, origin: Origin, reader: str) -> Transition | None:
        """Return where the marker belongs; its key is made of ``scope`` alone.

        Before the session's first transition (a clock was set back) that one counts. A session
        without a log (a fork was read before its origin, which kept none) is taken to have
        stood where ``reader``, whose transcript it is, stood then.
        """
        found = self.scope(origin.session, origin.at)
        if found is not None or origin.at is None or not self.settings.session_scope:
            return found
        for session in (origin.session, reader):
            found = self.scope(session, origin.at)
            first = self._logs.get(session, [])[:1]
            if found is not None or first:
                return found or first[0]
        return None

    def forget_logs(self) -> None:
        """A transition was added: read the logs again."""
        self._logs.clear()

    def key(self, thought: Thought, origin: Origin, scope: Transition | None) -> str:
        project = "" if scope is None or scope.project_id == UNKNOWN else scope.project_id
        return key_of(
            thought,
            session=origin.session,
            task="" if scope is None else scope.task,
            space=self._space._replace(project=project),
            at=origin.at,
            cutover=self.cutover,
        )

    def document(
        self, thought: Thought, origin: Origin, scope: Transition | None, key: str
    ) -> dict[str, object]:
        """Return the outbox document: what a brain is sent, and what makes row and sighting."""
        if origin.session not in self._grants:
            self._grants[origin.session] = grants(self.home, origin.session)
        given = attribute(scope, thought.attrs, self._grants[origin.session])
        when = iso(origin.at) if origin.at else ""
        attrs = {
            **given.attrs,
            "session_id": origin.session,
            "source": origin.cls,
            "class": origin.cls,
            "scope": thought.scope,
            "message_id": origin.message_id,
            "ts": when,
        }
        document: dict[str, object] = {
            "type": thought.type,
            "content": thought.content,
            "attrs": {name: value for name, value in attrs.items() if value},
            "idempotency_key": key,
            "session_id": origin.session,
            "agent_name": "" if scope is None else scope.lane,
            "project": "" if scope is None else scope.cwd,
            "ts": when,
            "digest": thought.digest,
            "redacted": list(thought.redacted),
            "principal": self.principal,
        }
        if origin.message_id:
            seen = sighting(thought, origin, key)._asdict()
            document["sighting"] = {name: seen[name] for name in _OWN}
        else:
            document["prompt_id"] = origin.prompt_id
            document["unseen"] = origin.cls == "agent"
        return document


_OWN = ("message_id", "block", "ordinal", "path", "at_byte")  # not said elsewhere in a document


def sighting(thought: Thought, origin: Origin, key: str, reason: str = "") -> Sighting:
    return Sighting(
        origin.message_id,
        origin.block,
        origin.ordinal,
        thought.type,
        thought.digest,
        key,
        reason,
        origin.session,
        origin.path,
        origin.at_byte,
        iso(origin.at) if origin.at else "",
    )


def sighting_in(document: Mapping[str, object]) -> Sighting | None:
    """Return the sighting that a document tells of; None for one that no transcript showed."""
    own = document.get("sighting")
    if not isinstance(own, dict):
        return None
    numbers = [own.get(name) for name in ("block", "ordinal", "at_byte")]
    if not all(isinstance(number, int) for number in numbers):
        return None
    return Sighting(
        message_id=str(own.get("message_id", "")),
        block=own["block"],
        ordinal=own["ordinal"],
        type=str(document["type"]),
        digest=str(document.get("digest", "")),
        key=str(document["idempotency_key"]),
        reason="",
        session=str(document.get("session_id", "")),
        path=str(own.get("path", "")),
        at_byte=own["at_byte"],
        at=str(document.get("ts", "")),
    )
