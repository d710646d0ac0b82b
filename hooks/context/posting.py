"""One marker to one brain: whole, in numbered parts where the brain takes no longer text, or cut.

The outbox file notes which parts which brain has (``"parts": {brain id: ["1/3", …]}``), so a
kill or a failure in between goes on behind the last one, and another brain gets all of them.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import parse_iso
from hooks.context import outbox, parts
from hooks.context.brain_adapter import brain_kind
from hooks.context.brains import BRAINS, Ack
from hooks.context.thought import LEGACY_CHARS
from scripts.swarm_v2.keyspace import legacy_marker_key
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Brain
    from hooks.context.delivery import Run
    from hooks.context.parts import Part

NOTE = "parts"
CUT = f"cut to its first {LEGACY_CHARS} characters, which is what its older key stands for"
_SENDERS = ("key", "part", "gap")  # attributes that say which piece of what it is


class Post:
    """One document, its key, and whether an earlier run may have posted it unheard."""

    def __init__(
        self, run: Run, name: str, document: dict[str, object], key: str, *, again: bool
    ) -> None:
        self.run, self.name, self.document, self.key, self.again = run, name, document, key, again
        self.note = ""  # for the receipt

    def send(self, brain: Brain) -> Ack:
        """Post what the brain lacks and return what it came to.

        Raises:
            BrainError: as ``post_marker``; the parts before it are noted.
        """
        limit = BRAINS[brain_kind(self.run.settings)].max_chars
        if not limit:
            return brain.post_marker(outbox.body(self.document), self.key)
        acks = [self._piece(brain, part) for part in self._lacking(limit)]
        if len(acks) == 1 and acks[0].key != self.key:
            return acks[0]  # folded into an earlier record
        kinds = {ack.kind for ack in acks}
        forgotten = any(ack.forgotten for ack in acks)
        return Ack("committed" if "committed" in kinds else "replayed", self.key, forgotten)

    def _lacking(self, limit: int) -> list[Part]:
        text = str(self.document["content"]).strip()
        if len(text) > limit and is_legacy(self.document, self.key, self.run):
            self.note = CUT
            text = text[:LEGACY_CHARS].strip()
        noted = self._noted()
        return [p for p in parts.split(text, self.key, limit) if not p.name or p.name not in noted]

    def _piece(self, brain: Brain, part: Part) -> Ack:
        # A post whose answer never came may have been stored. The service knows its keys for an
        # hour and not across a restart; where its feed shows the marker, it is not sent again.
        if self.again and hasattr(brain, "holds") and brain.holds(self.key, part.name):
            ack = Ack("replayed", part.key)
        else:
            ack = brain.post_marker(self._body(part), part.key)
        if not part.name:
            return ack
        self._note_part(part.name)
        return ack._replace(key=self.key)

    def _body(self, part: Part) -> dict[str, object]:
        attrs = self.document["attrs"]
        assert isinstance(attrs, dict)
        kept = {name: value for name, value in attrs.items() if name not in _SENDERS}
        if part.name:
            own = {"key": self.key, "part": part.name, "gap": part.gap}
            kept |= {name: value for name, value in own.items() if value}
        return {**outbox.body(self.document), "content": part.text, "attrs": kept}

    def _noted(self) -> list[str]:
        by_brain = self.document.get(NOTE)
        found = by_brain.get(self.run.brain_id) if isinstance(by_brain, dict) else None
        return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []

    def _note_part(self, name: str) -> None:
        by_brain = self.document.get(NOTE)
        others = by_brain if isinstance(by_brain, dict) else {}
        mine = [*self._noted(), name]
        self.document[NOTE] = {**others, self.run.brain_id: mine}
        path = os.path.join(outbox.folder(self.run.home), self.name)
        atomic.write(path, outbox.encode(self.document))
        # The row too: where another program loses the file, it is made again from the row.
        self.run.ledger.change(self.key, self.run.at, body=dumps(self.document))


def is_legacy(document: dict[str, object], key: str, run: Run) -> bool:
    """Say whether ``key`` is one of the older format: such a marker goes as it always did.

    By its key; where redaction changed the text that the key was made of, by its time.
    """
    text = str(document["content"]).strip()[:LEGACY_CHARS]
    session = str(document.get("session_id", ""))
    if key == legacy_marker_key(session, str(document["type"]), text):
        return True
    from scripts.swarm_v2.installation import installation

    at = parse_iso(document.get("ts"))
    redacted = bool(document.get("redacted"))
    return redacted and (at is None or at < installation(run.home).created_at)
