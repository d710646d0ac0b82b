"""Tell a brain service of what a person forgot: the worker's part, after the tombstone."""

from __future__ import annotations

from hooks import atomic
from hooks.context.brain_adapter import brain_id, brain_kind
from hooks.context.brains import service_notes
from hooks.context.ledger_notes import tombstones_path
from scripts.swarm_v2.wire_json import load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Brain
    from hooks.settings import Settings

MAX_BYTES = 64 << 20


def tell(settings: Settings, brain: Brain) -> int:
    """Tell the configured service of each tombstone it was not told of; return how many.

    Only a hub can forget. For any other service this home's tombstones filter every feed, and
    they are told should it become one.

    Raises:
        BrainUnreachable: one was not acknowledged; it and those behind it are told next time.
    """
    if brain_kind(settings) != "http":
        return 0
    home, name = settings.home, brain_id(settings)
    data = atomic.read(tombstones_path(home), MAX_BYTES) or b""
    told = service_notes.read(home, name).told
    told = told if told <= len(data) else 0  # the file is another one than it was
    if told == len(data) or not brain.is_hub():  # type: ignore[attr-defined]  # an http brain
        return 0
    count = 0
    for line in data[told:].splitlines(keepends=True):
        row = load_object(line) or {}
        key = row.get("key")
        if isinstance(key, str) and key:
            brain.tell_forgotten(key)  # type: ignore[attr-defined]
            count += 1
        told += len(line)
        service_notes.note_told(home, name, told)
    return count
