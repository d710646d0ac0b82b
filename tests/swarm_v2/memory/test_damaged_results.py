from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from tests.support.memory_server import PROJ, A, written

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.swarm_v2.memory.store import DocumentStore

AT = "2026-11-30T12:00:00.000000+00:00"


def test_a_damaged_result_keeps_nothing_from_being_forgotten(
    sqlite_store: DocumentStore, tmp_path: Path
) -> None:
    runtime = MemoryRuntime(sqlite_store, now=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
    session = runtime.open_session(PROJ, Credential(A, "test"), "1")
    runtime.commit(session, written("memory/x", {"text": "theword"}), AT)
    for name in ("digest", "context"):
        runtime.read(session, name, "space")
    with sqlite3.connect(tmp_path / "memory.db") as db:
        db.execute("UPDATE revision SET value = '{\"' WHERE id = 'digest'")
    db.close()
    erase = {"writes": [{"id": "memory/x", "scope": "space", "op": "erase"}]}
    assert runtime.commit(session, erase, AT)
    runtime.close()
    sqlite_store.close()
    assert b"theword" not in (tmp_path / "memory.db").read_bytes()
