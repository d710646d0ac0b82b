"""Receipts, sightings and positions: what became of every marker, and how far we have read."""

from __future__ import annotations

import os

from hooks.clock import iso
from hooks.context.database import Database
from hooks.context.marks import LEDGER
from hooks.errors import HookError
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from typing import Literal, NamedTuple

    from hooks.context.database import Transaction

    State = Literal[
        "pending", "held", "committed", "replayed", "quarantined", "unknown", "dropped", "forgotten"
    ]
else:
    from hooks.record import NamedTuple

VERSION = 1
SCHEMA = """
CREATE TABLE receipt (
    seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, type TEXT NOT NULL,
    body TEXT NOT NULL, digest TEXT NOT NULL, session TEXT NOT NULL, project TEXT NOT NULL,
    at TEXT NOT NULL, created_at TEXT NOT NULL, changed_at TEXT NOT NULL, brain TEXT NOT NULL,
    record TEXT NOT NULL, reason TEXT NOT NULL, redacted TEXT NOT NULL, attempts INTEGER NOT NULL,
    lease_until TEXT NOT NULL, prompt_id TEXT NOT NULL, unseen INTEGER NOT NULL
);
CREATE INDEX receipt_by_state ON receipt (state);
CREATE INDEX receipt_unseen ON receipt (session, type, digest) WHERE unseen;
CREATE TABLE sighting (
    message_id TEXT NOT NULL, block INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    type TEXT NOT NULL, digest TEXT NOT NULL, key TEXT NOT NULL, reason TEXT NOT NULL,
    session TEXT NOT NULL, path TEXT NOT NULL, at_byte INTEGER NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (message_id, block, ordinal, type, digest)
) WITHOUT ROWID;
CREATE INDEX sighting_by_key ON sighting (key);
CREATE INDEX sighting_by_thought ON sighting (session, type, digest);
CREATE TABLE position (
    transcript TEXT PRIMARY KEY, path TEXT NOT NULL, document TEXT NOT NULL,
    cwd TEXT NOT NULL, branch TEXT NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
"""
# The outbox file has done its duty. "dropped": a person took it out of the outbox.
DONE = ("committed", "replayed", "dropped", "forgotten")


class Receipt(NamedTuple):
    """What became of one marker key."""

    key: str
    state: State
    type: str
    body: str  # the outbox document as JSON text; "" once forgotten
    session: str
    project: str
    at: str  # the marker's own time, ISO; "" when it had none
    created_at: str
    changed_at: str
    brain: str  # identity of the brain that acknowledged it
    record: str  # the key of the brain's record: differs when it folded a second sighting
    reason: str  # why it is quarantined or unknown
    redacted: str  # kinds of secrets taken out, comma separated
    attempts: int
    lease_until: str  # a drainer claimed it and has until then
    prompt_id: str
    unseen: int  # 1: only the Stop payload had it, no transcript line yet

    @property
    def document(self) -> dict[str, object]:
        """Return the outbox document; {} once forgotten."""
        return load_object(self.body) or {}


class Sighting(NamedTuple):
    """One place where a marker, or what looks like one, stood."""

    message_id: str
    block: int
    ordinal: int
    type: str
    digest: str
    key: str  # "" when it was ignored for ``reason``
    reason: str
    session: str
    path: str
    at_byte: int  # where its line begins in ``path``
    at: str


class Read(NamedTuple):
    """How far a transcript was read, and where the session stood at that place."""

    document: dict[str, object]
    cwd: str
    branch: str


_RECEIPT = ", ".join(Receipt._fields)
_SIGHTING = ", ".join(Sighting._fields)


class Ledger:
    """An open ledger; ``close`` it. Every method may raise ``StateError``."""

    def __init__(self, home: str, db: Database) -> None:
        self.home, self._db = home, db

    @classmethod
    def open(cls, home: str, at: datetime) -> Ledger:
        """Open the home's ledger, making it where there is none, or none that is a database.

        Damage inside shows later, see ``ledger_damage.healing``.
        """
        from hooks.context.ledger_damage import healing

        return healing(home, lambda: cls._open(home, at))

    @classmethod
    def _open(cls, home: str, at: datetime) -> Ledger:
        ledger = cls(home, Database(os.path.join(home, LEDGER), SCHEMA, VERSION))
        try:
            if ledger.note("begun") == "":
                from hooks.context.ledger_notes import begin

                begin(ledger, at)
        except HookError:
            ledger.close()
            raise
        return ledger

    @classmethod
    def read_only(cls, home: str) -> Ledger | None:
        """Open without creating; None when there is none yet."""
        path = os.path.join(home, LEDGER)
        if not os.path.exists(path) or not os.path.getsize(path):
            return None
        return cls(home, Database(path, SCHEMA, VERSION, create=False))

    def writing(self) -> Transaction:
        return self._db.writing()

    def close(self) -> None:
        self._db.close()

    # What a reader asks.

    def receipt(self, key: str) -> Receipt | None:
        found = self._receipts("WHERE key = ?", (key,))
        return found[0] if found else None

    def receipts(self, session: str = "", limit: int = 200) -> list[Receipt]:
        """Return the newest receipts first, of one session or of all."""
        return self._receipts(
            "WHERE ? IN ('', session) ORDER BY seq DESC LIMIT ?", (session, limit)
        )

    def waiting(self) -> list[Receipt]:
        """Return what no brain has acknowledged, the first one first."""
        return self._receipts("WHERE state = 'pending' ORDER BY seq", ())

    def unknown(self, session: str = "") -> list[Receipt]:
        """Return those of which only a person can say whether the brain has them."""
        return self._receipts(
            "WHERE state = 'unknown' AND ? IN ('', session) ORDER BY seq", (session,)
        )

    def held(self) -> list[Receipt]:
        return self._receipts("WHERE state = 'held' ORDER BY seq", ())

    def delivered(self, brain: str) -> list[str]:
        """Return the keys that ``brain`` acknowledged and nobody forgot, the first one first."""
        where = "WHERE brain = ? AND state IN ('committed', 'replayed') ORDER BY seq"
        return [str(row[0]) for row in self._db.rows(f"SELECT key FROM receipt {where}", (brain,))]

    def without_receipt(self, keys: Iterable[str]) -> list[str]:
        """Return those of ``keys`` that have no receipt, in their order."""
        rows = self._db.rows(
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT key FROM receipt)",
            (dumps(list(keys)),),
        )
        return [str(row[0]) for row in rows]

    def order(self) -> dict[str, int]:
        """Return the place of each waiting key: 0 for the one that was kept first."""
        rows = self._db.rows("SELECT key FROM receipt WHERE state = 'pending' ORDER BY seq")
        return {str(row[0]): place for place, row in enumerate(rows)}

    def _receipts(self, where: str, values: tuple[object, ...]) -> list[Receipt]:
        rows = self._db.rows(f"SELECT {_RECEIPT} FROM receipt {where}", values)
        return [Receipt(*row) for row in rows]  # type: ignore[arg-type]

    def counts(self) -> dict[str, int]:
        """Return the number of receipts by state, and of ``ignored`` sightings."""
        rows = self._db.rows("SELECT state, count(*) FROM receipt GROUP BY state")
        ignored = self._db.number("SELECT count(*) FROM sighting WHERE reason <> ''")
        return {**{str(state): int(str(n)) for state, n in rows}, "ignored": ignored}

    def ignored(self, session: str = "", limit: int = 200) -> list[Sighting]:
        """Return what was seen and not kept, the newest first."""
        return self._sightings(
            "WHERE reason <> '' AND ? IN ('', session) ORDER BY at DESC LIMIT ?", (session, limit)
        )

    def folded_into(self, record: str) -> list[str]:
        """Return the keys of receipts that a brain took for a repetition of ``record``."""
        sql = "SELECT key FROM receipt WHERE record = ? AND key <> record"
        rows = self._db.rows(sql, (record,))
        return [str(row[0]) for row in rows]

    def sightings_of(self, key: str) -> list[Sighting]:
        """Return the places where the marker of ``key`` stood, the earliest one first."""
        return self._sightings("WHERE key = ? ORDER BY at, path, at_byte", (key,))

    def _sightings(self, where: str, values: tuple[object, ...]) -> list[Sighting]:
        rows = self._db.rows(f"SELECT {_SIGHTING} FROM sighting {where}", values)
        return [Sighting(*row) for row in rows]  # type: ignore[arg-type]

    # What collecting asks and tells.

    def sighting(self, at: tuple[str, int, int, str, str]) -> Sighting | None:
        """Return what is known of (message id, block, ordinal, type, digest)."""
        found = self._sightings(
            "WHERE message_id = ? AND block = ? AND ordinal = ? AND type = ? AND digest = ?", at
        )
        return found[0] if found else None

    def sightings_like(self, session: str, type_: str, digest: str) -> list[Sighting]:
        """Return where the thought stood in a session, also where it was not kept."""
        where = "WHERE session = ? AND type = ? AND digest = ?"
        return self._sightings(where, (session, type_, digest))

    def sightings_in(self, message_id: str, digest: str) -> list[Sighting]:
        """Return where one thought of one message stood."""
        where = "WHERE message_id = ? AND digest = ? AND key <> ''"
        return self._sightings(where, (message_id, digest))

    def unseen(self, type_: str, digest: str) -> list[Receipt]:
        """Return the receipts of this thought, of any session, that no line has shown yet."""
        where = "INDEXED BY receipt_unseen WHERE unseen AND type = ? AND digest = ? ORDER BY seq"
        return self._receipts(where, (type_, digest))

    def adopt(self, key: str) -> None:
        self._db.run("UPDATE receipt SET unseen = 0 WHERE key = ?", (key,))

    def add_receipt(
        self,
        document: Mapping[str, object],
        at: datetime,
        state: State = "pending",
        reason: str = "",
    ) -> bool:
        """Add the row of an outbox document unless its key has one; say whether we did."""
        attrs = document["attrs"]
        project = attrs.get("project_id", "") if isinstance(attrs, dict) else ""
        redacted = document.get("redacted")
        fields: dict[str, object] = {
            "key": document["idempotency_key"],
            "state": state,
            "type": document["type"],
            "body": dumps(document),
            "digest": document.get("digest", ""),
            "session": document.get("session_id", ""),
            "project": project,
            "at": document.get("ts", ""),
            "created_at": iso(at),
            "changed_at": iso(at),
            "redacted": ",".join(redacted) if isinstance(redacted, list) else "",
            "reason": reason,
            "prompt_id": document.get("prompt_id", ""),
            "unseen": int(bool(document.get("unseen"))),
            **dict.fromkeys(("brain", "record", "lease_until"), ""),
            "attempts": 0,
        }
        return self._insert("receipt", fields)

    def add_sighting(self, sighting: Sighting) -> bool:
        return self._insert("sighting", sighting._asdict())

    def _insert(self, table: str, fields: Mapping[str, object]) -> bool:
        marks = ", ".join("?" * len(fields))
        sql = f"INSERT OR IGNORE INTO {table} ({', '.join(fields)}) VALUES ({marks})"
        return self._db.run(sql, tuple(fields.values())) == 1

    def position(self, transcript: str) -> Read | None:
        row = self._db.one(
            "SELECT document, cwd, branch FROM position WHERE transcript = ?", (transcript,)
        )
        document = load_object(str(row[0])) if row else None
        return Read(document, str(row[1]), str(row[2])) if row and document else None

    def move(self, transcript: str, path: str, read: Read, at: datetime) -> None:
        self._db.run(
            "INSERT OR REPLACE INTO position VALUES (?, ?, ?, ?, ?, ?)",
            (transcript, path, dumps(read.document), read.cwd, read.branch, iso(at)),
        )

    # What the drainer tells.

    def change(self, key: str, at: datetime, **fields: object) -> None:
        """Set fields of a receipt. Forgetting is final: a forgotten row changes no more."""
        fields["changed_at"] = iso(at)
        names = ", ".join(f"{name} = ?" for name in fields)
        sql = f"UPDATE receipt SET {names} WHERE key = ? AND state <> 'forgotten'"
        self._db.run(sql, (*fields.values(), key))

    def find(self, prefix: str) -> list[Receipt]:
        """Return the receipts whose key begins with ``prefix``."""
        return self._receipts("WHERE substr(key, 1, ?) = ?", (len(prefix), prefix))

    def note(self, name: str) -> str:
        row = self._db.one("SELECT value FROM note WHERE name = ?", (name,))
        return str(row[0]) if row else ""

    def set_note(self, name: str, value: str) -> None:
        self._db.run("INSERT OR REPLACE INTO note VALUES (?, ?)", (name, value))

    def add_all(self, sightings: Iterable[Sighting]) -> None:
        for sighting in sightings:
            self.add_sighting(sighting)
