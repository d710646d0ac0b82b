"""Full text search over the embedded brain: FTS5, or plain matching where SQLite lacks it.

The index has no text of its own (external content), so erasing a memory and rebuilding the
index leaves no word of it. A search brings it up to what was written since the last one: a hook
that keeps a marker does not pay for it. ``place.indexed`` is the number under which a memory was
indexed. An interpreter without FTS5 that forgets empties the index and notes that, and the next
one with FTS5 makes it anew.
"""

from __future__ import annotations

from hooks.errors import HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.database import Database

_MAKE = (
    "CREATE VIRTUAL TABLE words USING fts5(text, title, content='memory', content_rowid='seq', "
    "tokenize='unicode61 remove_diacritics 2')"
)
_REBUILD = "INSERT INTO words (words) VALUES ('rebuild')"
_STALE = "words-stale"
_WORDS = "SELECT seq, text, coalesce(title, '') FROM memory"
_HEAD = """(h.space = p.space AND h.branch = '' AND h.id = 'memory/' || p.id
    AND h.scope_key = p.scope_key)"""
_SHADOWS = ("words_data", "words_idx", "words_docsize")
MAX_WORDS = 16  # of one query; more words only cost time


def available(db: Database) -> bool:
    return db.one("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'") is not None


def erase(db: Database) -> None:
    """Make the index again from what is left, inside a transaction: it keeps no erased word."""
    if not _is_made(db):
        return
    if available(db):
        _make(db)
    else:
        _empty(db)


def _bring_up(db: Database) -> bool:
    """Index what came since; say whether the index may be asked."""
    if not available(db):
        return False
    behind = f"SELECT {{}} FROM place p JOIN head h ON {_HEAD} WHERE p.indexed {{}}"
    changed = behind.format("1", "NOT IN (0, h.seq) LIMIT 1")
    came = behind.format("p.seq", "= 0")
    try:
        if is_current(db) and not db.rows(changed) and not db.rows(came + " LIMIT 1"):
            return True
        with db.writing():
            if not is_current(db) or db.rows(changed):
                _make(db)
            else:
                db.run(f"INSERT INTO words (rowid, text, title) {_WORDS} WHERE seq IN ({came})")
                mark(db)
    except HookError:  # another process writes, or it may only be read: the text itself is there
        return False
    return True


def matches(db: Database, query: str) -> list[int]:
    """Return the rows that hold every word of ``query``, the best first.

    A word matches the words that it begins. Where that finds nothing (scripts without blanks
    between words, no FTS5) any place in the text counts.
    """
    words = query.split()[:MAX_WORDS]
    if not words:
        return []
    found: list[tuple[object, ...]] = []
    if _bring_up(db):
        terms = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
        found = db.rows("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank", (terms,))
    if not found:
        each = " AND ".join("instr(lower(text || ' ' || title), ?)" for _ in words)
        lowered = [word.lower() for word in words]
        found = db.rows(f"SELECT seq FROM memory WHERE {each} ORDER BY seq DESC", lowered)
    return [int(str(row[0])) for row in found]


def _is_made(db: Database) -> bool:
    return db.one("SELECT 1 FROM sqlite_master WHERE name = 'words'") is not None


def is_current(db: Database) -> bool:
    return _is_made(db) and db.one("SELECT 1 FROM note WHERE name = ?", (_STALE,)) is None


def _make(db: Database) -> None:
    db.run("DROP TABLE IF EXISTS words")
    db.run(_MAKE)
    db.run(_REBUILD)
    db.run("DELETE FROM note WHERE name = ?", (_STALE,))
    mark(db)


def mark(db: Database) -> None:
    """Note that every memory is in the index as it is now; inside a transaction."""
    now = f"SELECT h.seq FROM head h WHERE {_HEAD}"
    db.run(f"UPDATE place AS p SET indexed = coalesce(({now}), 0)")


def _empty(db: Database) -> None:
    for table in _SHADOWS:
        db.run(f"DELETE FROM {table}")
    db.run("INSERT OR REPLACE INTO note VALUES (?, '1')", (_STALE,))
