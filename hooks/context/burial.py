"""Carry out what was forgotten: one way for the verb, for its repeat, and for the worker.

The tombstones of a memory and of all that it replaced are one durable write, before anything is
erased. From there on whoever comes first does the rest: brain, caches and notes, and last the
receipts. ``<home>/brain/buried.json`` says for each brain how many bytes of the tombstones were
carried out, so a kill on the way costs a repeat of all that is behind it.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.context import outbox
from hooks.context.brain_adapter import LOCAL_DATABASE, brain_id, brain_kind
from hooks.context.brains import BRAINS, open_for_person
from hooks.context.claims import drop_answers
from hooks.context.ledger import Ledger
from hooks.context.ledger_notes import tombstones_path
from hooks.context.scrub import drop_cached, scrub_notes
from hooks.errors import BrainUnreachable
from hooks.quick import read_note
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hooks.settings import Settings

MAX_BYTES = 64 << 20


class Burial:
    """The tombstones that were not carried out yet, and what carries them out."""

    def __init__(self, settings: Settings, env: Mapping[str, str], at: datetime) -> None:
        self.settings, self.env, self.at, self.home = settings, env, at, settings.home
        data = atomic.read(tombstones_path(self.home), MAX_BYTES) or b""
        self.reached = data.rfind(b"\n") + 1
        done = read_note(_path(self.home)).get(brain_id(settings))
        start = done if isinstance(done, int) and 0 <= done <= self.reached else 0
        rows = [load_object(line) or {} for line in data[start : self.reached].splitlines()]
        self.keys = list(dict.fromkeys(str(row["key"]) for row in rows if row.get("key")))


def finish(settings: Settings, env: Mapping[str, str], at: datetime) -> int:
    """Carry out what waits; return how many memories that were.

    Raises:
        BrainUnreachable: the brain has them and cannot be asked; the next run goes on.
        StateError: the ledger cannot be written; the next run goes on.
    """
    if not os.path.exists(tombstones_path(settings.home)):
        return 0
    burial = Burial(settings, env, at)
    if burial.keys:
        for step in FINISH:
            step(burial)
    return len(burial.keys)


def erase_from_brain(burial: Burial) -> None:
    kind = BRAINS[brain_kind(burial.settings)]
    try:
        brain = open_for_person(burial.settings, burial.env, burial.at)
    except BrainUnreachable:
        if kind.module and not kind.library:
            raise
        return
    try:
        for key in burial.keys:
            brain.forget(key)
    finally:
        brain.close()


def erase_from_own(burial: Burial) -> None:
    """Erase from the home's own brain too where another one is configured: no file holds it.

    One that cannot be opened now is left to the first look at it once it is the configured one.
    """
    home = burial.home
    if brain_kind(burial.settings) == "local" or not os.path.exists(
        os.path.join(home, LOCAL_DATABASE)
    ):
        return
    settings = burial.settings._replace(brain_url="", brain_source="local", brain_path="")
    own = Burial(settings, burial.env, burial.at)
    try:
        erase_from_brain(own)
    except BrainUnreachable:
        return
    note_done(own)


def scrub(burial: Burial) -> None:
    drop_cached(burial.home, *burial.keys)
    scrub_notes(burial.home, *burial.keys)
    drop_answers(burial.home, burial.at)


def clear_receipts(burial: Burial) -> None:
    ledger = Ledger.open(burial.home, burial.at)
    try:
        for key in burial.keys:
            outbox.remove_key(burial.home, key)
            gone = {"state": "forgotten", "body": "", "reason": "", "lease_until": ""}
            ledger.change(key, burial.at, **gone)
    finally:
        ledger.close()


def note_done(burial: Burial) -> None:
    said = {**read_note(_path(burial.home)), brain_id(burial.settings): burial.reached}
    atomic.write(_path(burial.home), dumps(said).encode("ascii"))


def _path(home: str) -> str:
    return os.path.join(home, "brain", "buried.json")


FINISH: tuple[Callable[[Burial], None], ...] = (
    erase_from_brain,
    erase_from_own,
    scrub,
    clear_receipts,
    note_done,
)
