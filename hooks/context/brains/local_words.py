"""Full text search over the embedded brain: FTS5, or plain matching where SQLite lacks it.

The index has no text of its own (external content), so erasing a memory and rebuilding the
index leaves no word of it. An interpreter without FTS5 may write to a file that has an index;
it empties the index and notes that, and the next one with FTS5 makes it anew.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.database import Database

_MAKE = (
    "CREATE VIRTUAL TABLE words USING fts5(text, title, content='memory', content_rowid='seq', "
    "tokenize='unicode61 remove_diacritics 2')"
)
_REBUILD = "INSERT INTO words (words) VALUES ('rebuild')"
_STALE = "words-stale"
_SHADOWS = ("words_data", "words_idx", "words_docsize")
MAX_WORDS = 16  # of one query; more words only cost time


def available(db: Database) -> bool:
    return db.one("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'") is not None


def add(db: Database, seq: int, text: str, title: str) -> None:
    """Index one row that was just added; inside the same transaction."""
    if not available(db):
        _empty(db)
    elif _is_current(db):
        db.run("INSERT INTO words (rowid, text, title) VALUES (?, ?, ?)", (seq, text, title))
    else:
        _make(db)


def erase(db: Database) -> None:
    """Make the index again from the rows that are left: no segment keeps an erased word."""
    if not available(db):
        _empty(db)
    elif _is_current(db):
        db.run(_REBUILD)
    else:
        _make(db)


def matches(db: Database, query: str) -> list[int]:
    """Return the rows that hold every word of ``query``, the best first.

    A word matches the words that it begins. Where that finds nothing (scripts without blanks
    between words, no FTS5) any place in the text counts.
    """
    words = query.split()[:MAX_WORDS]
    if not words:
        return []
    found: list[tuple[object, ...]] = []
    if available(db) and _is_current(db):
        terms = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
        found = db.rows("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank", (terms,))
    if not found:
        each = " AND ".join("instr(lower(text || ' ' || title), ?)" for _ in words)
        lowered = [word.lower() for word in words]
        found = db.rows(f"SELECT seq FROM memory WHERE {each} ORDER BY seq DESC", lowered)
    return [int(str(row[0])) for row in found]


def _is_current(db: Database) -> bool:
    made = db.one("SELECT 1 FROM sqlite_master WHERE name = 'words'")
    return made is not None and db.one("SELECT 1 FROM note WHERE name = ?", (_STALE,)) is None


def _make(db: Database) -> None:
    db.run("DROP TABLE IF EXISTS words")
    db.run(_MAKE)
    db.run(_REBUILD)
    db.run("DELETE FROM note WHERE name = ?", (_STALE,))


def _empty(db: Database) -> None:
    if db.one("SELECT 1 FROM sqlite_master WHERE name = 'words'") is None:
        return
    for table in _SHADOWS:
        db.run(f"DELETE FROM {table}")
    db.run("INSERT OR REPLACE INTO note VALUES (?, '1')", (_STALE,))
