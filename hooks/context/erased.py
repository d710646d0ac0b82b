"""Take what scoped memory's own doors erased out of the rest of the home.

Whoever erases a document commits that first; the words are then still in caches, in the notes of
what sessions were told, in the search index and, of a marker's memory, in its receipt. This
reads the erasures out of the file itself, so that a kill in between, or a process that knows no
home, leaves the rest to the next run: the store's, else a worker's.
``<home>/brain/erased.json`` says how far each space was carried out.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import iso
from hooks.context.brain_adapter import LOCAL_DATABASE
from hooks.context.brains import local_words
from hooks.context.brains.local_file import open_file
from hooks.context.claims import drop_answers
from hooks.context.marks import LEDGER
from hooks.context.scrub import Doomed, drop_cached, scrub_notes
from hooks.errors import HookError
from hooks.log import log
from hooks.quick import read_note
from scripts.swarm_v2.keyspace import brain_identity, is_hex
from scripts.swarm_v2.memory.memories import DERIVED, INDEX, slug_of
from scripts.swarm_v2.scope_key import parse_scope_key
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.database import Database
    from hooks.context.ledger import Ledger
else:
    from hooks.record import NamedTuple

FILE = "erased.json"
OWN = (INDEX, "faults", *DERIVED)  # never told under their own names
KEY_DIGITS = 32  # of a marker's key
_ENDS = """
SELECT space, max(seq) FROM commit_log GROUP BY space
"""
_ERASED = """
SELECT DISTINCT id, scope_key FROM revision
WHERE space = ? AND seq > ? AND seq <= ? AND op = 'erase' AND branch = ''
"""


class Gone(NamedTuple):
    """A document that was erased: the name it was told under, and the one session if any."""

    id: str
    scope_key: str
    name: str
    session: str

    @property
    def is_marker(self) -> bool:
        return self.name != self.id and is_hex(self.name, KEY_DIGITS)


def attempt(home: str, at: datetime) -> None:
    """As ``finish``, for who empties the file's log after it; what fails is logged.

    The next worker does it then.
    """
    try:
        _finish(home, at)
    except (HookError, OSError, ValueError) as err:
        log(home, iso(at), "memory", "", f"the words of what was erased are left: {err}")


def finish(home: str, at: datetime) -> int:
    """Carry out what was erased since the last time; return how many documents that were.

    Raises:
        HookError: the file or the ledger cannot be used now; the next run goes on.
    """
    done = _finish(home, at)
    if done:
        db = open_file(os.path.join(home, LOCAL_DATABASE), create=False)
        try:
            db.rows("PRAGMA wal_checkpoint(TRUNCATE)")  # where a server keeps the file
        finally:
            db.close()
    return done


def _finish(home: str, at: datetime) -> int:
    path = os.path.join(home, LOCAL_DATABASE)
    if not os.path.exists(path):
        return 0
    db = open_file(path, create=False)
    try:
        reached, gone = _since(db, read_note(_note(home)))
        if gone:
            _scrub(home, gone, at)
            _forget_receipts(home, db, gone, at)
            _unindex(db, gone)
    finally:
        db.close()
    if gone or not os.path.exists(_note(home)):
        atomic.write(_note(home), dumps(reached).encode("ascii"))
    return len(gone)


def _since(db: Database, before: dict[str, object]) -> tuple[dict[str, object], list[Gone]]:
    """Return how far the spaces are now, and what was erased there since ``before``."""
    own = db.number("PRAGMA application_id")
    if before.get("file") != own:  # another file than it was noted of
        before = {}
    known = before.get("spaces")
    known = known if isinstance(known, dict) else {}
    found: dict[Gone, None] = {}
    ends = {str(space): int(str(end)) for space, end in db.rows(_ENDS)}
    for space, end in ends.items():
        start = known.get(space, 0)
        start = start if isinstance(start, int) and start <= end else 0
        for document_id, scope_key in db.rows(_ERASED, (space, start, end)):
            if document_id not in OWN:
                found[_gone(str(document_id), str(scope_key))] = None
    return {"file": own, "spaces": ends}, [one for one in found if not _went_elsewhere(db, one)]


def _gone(document_id: str, scope_key: str) -> Gone:
    parsed = parse_scope_key(scope_key)
    session = parsed.session_id if parsed is not None else None
    return Gone(document_id, scope_key, slug_of(document_id) or document_id, session or "")


def _went_elsewhere(db: Database, one: Gone) -> bool:
    """Say whether a marker's memory was only moved: to another project, or to every one."""
    sql = "SELECT 1 FROM place p JOIN live l ON l.space = p.space AND l.branch = '' "
    sql += "AND l.id = 'memory/' || p.id AND l.scope_key = p.scope_key "
    sql += "WHERE p.id = ? AND p.scope_key = ?"
    return one.is_marker and db.one(sql, (one.name, one.scope_key)) is not None


def _scrub(home: str, gone: Iterable[Gone], at: datetime) -> None:
    # A document has members; of a memory's name there are none: a/b is another one than a.
    doomed = [Doomed(one.name, one.session, one.name == one.id) for one in gone]
    drop_cached(home, *doomed)
    scrub_notes(home, *doomed)
    drop_answers(home, at)


def _forget_receipts(home: str, db: Database, gone: Iterable[Gone], at: datetime) -> None:
    """Forget the markers whose memories are nowhere any more, as a person's ``forget`` does.

    Only of what this very file has acknowledged: no other brain's, and nothing that waits.
    """
    from hooks.context import outbox
    from hooks.context.keep import tombstones
    from hooks.context.ledger import Ledger
    from hooks.context.ledger_notes import bury

    names = dict.fromkeys(one.name for one in gone if one.is_marker)
    keys = [name for name in names if not _is_anywhere(db, name)]
    if not keys or not os.path.exists(os.path.join(home, LEDGER)):
        return
    ledger = Ledger.open(home, at)
    try:
        doomed = [key for key in keys if _is_ours(ledger, home, key)]
        every = [one for key in doomed for one in (key, *ledger.folded_into(key))]
        if every:
            bury(home, *(grave for key in every for grave in tombstones(ledger, key, at)))
        for key in every:
            outbox.remove_key(home, key)
            left = {"state": "forgotten", "body": "", "reason": "", "lease_until": ""}
            ledger.change(key, at, **left)
    finally:
        ledger.close()


def _is_anywhere(db: Database, key: str) -> bool:
    sql = "SELECT 1 FROM place p JOIN head h ON h.space = p.space AND h.branch = '' "
    sql += "AND h.id = 'memory/' || p.id AND h.scope_key = p.scope_key "
    return db.one(sql + "WHERE p.id = ? AND h.op <> 'erase'", (key,)) is not None


def _is_ours(ledger: Ledger, home: str, key: str) -> bool:
    receipt = ledger.receipt(key)
    own = brain_identity(path=os.path.join(home, LOCAL_DATABASE))
    done = ("committed", "replayed")
    return receipt is not None and receipt.brain == own and receipt.state in done


def _unindex(db: Database, gone: Iterable[Gone]) -> None:
    """Make the search index again where it may hold a word of them."""
    names = dumps(list(dict.fromkeys(one.name for one in gone if slug_of(one.id))))
    sql = "SELECT 1 FROM place WHERE indexed <> 0 AND id IN (SELECT value FROM json_each(?))"
    if db.one(sql, (names,)) is not None:
        with db.writing():
            local_words.erase(db)


def _note(home: str) -> str:
    return os.path.join(home, "brain", FILE)
