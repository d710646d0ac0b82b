"""The embedded brain's file as format 1 wrote it: memories are rows of a table."""

from __future__ import annotations

import json
import sqlite3

from hooks.context.thought import digest_of
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key, scope_of

SCHEMA = """
CREATE TABLE memory (
    seq INTEGER PRIMARY KEY, space TEXT NOT NULL, branch TEXT NOT NULL, id TEXT NOT NULL,
    scope_key TEXT NOT NULL, type TEXT NOT NULL, text TEXT NOT NULL, cls TEXT NOT NULL,
    severity TEXT NOT NULL, title TEXT NOT NULL, at TEXT NOT NULL, project TEXT NOT NULL,
    session TEXT NOT NULL, message_id TEXT NOT NULL, path TEXT NOT NULL,
    supersedes TEXT NOT NULL, attrs TEXT NOT NULL, digest TEXT NOT NULL,
    accepted INTEGER NOT NULL, superseded_by TEXT NOT NULL,
    UNIQUE (space, branch, id, scope_key)
);
CREATE INDEX memory_by_id ON memory (id);
CREATE INDEX memory_by_scope ON memory (scope_key);
CREATE INDEX memory_by_head ON memory (superseded_by) WHERE superseded_by <> '';
CREATE TABLE known (key TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE lineage (
    message_id TEXT NOT NULL, digest TEXT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (message_id, digest)
) WITHOUT ROWID;
CREATE TABLE grave (key TEXT PRIMARY KEY, session TEXT NOT NULL, digest TEXT NOT NULL)
    WITHOUT ROWID;
CREATE INDEX grave_by_thought ON grave (session, digest);
CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA application_id=7;
PRAGMA user_version=1
"""
WORDS = (
    "CREATE VIRTUAL TABLE words USING fts5(text, title, content='memory', content_rowid='seq', "
    "tokenize='unicode61 remove_diacritics 2')"
)
WEB, API = "git.example.org/shop/web", "git.example.org/shop/api"


class OlderBrain:
    """Rows are numbered as they are added; ``key(n)`` is the n-th one's."""

    def __init__(self, path, who="ann"):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self._who = path, who
        self._db = sqlite3.connect(path)
        self._db.executescript(SCHEMA)
        self._count = 0

    @staticmethod
    def key(number):
        return f"{number:032x}"

    def add(self, text, *, project=WEB, scope="space", **columns):
        self._count += 1
        key = self.key(self._count)
        session = columns.setdefault("session", "s1")
        row = {
            "seq": self._count * 3,  # with gaps, as what was forgotten leaves them
            "space": columns.pop("space", project or "unknown"),
            "branch": "main",
            "id": key,
            "scope_key": resolve_scope_key(scope, Identity(self._who, session)),
            "type": "lesson",
            "text": text,
            **dict.fromkeys(("severity", "title", "at", "message_id", "path", "supersedes"), ""),
            "cls": "agent",
            "project": project,
            "attrs": json.dumps({"project_id": project, "session_id": session}),
            "digest": digest_of("lesson", scope, text),
            "accepted": 0,
            "superseded_by": "",
            **columns,
        }
        assert scope_of(row["scope_key"]) == scope
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        self._db.execute(f"INSERT INTO memory ({names}) VALUES ({marks})", tuple(row.values()))
        self._db.execute("INSERT INTO known VALUES (?, ?)", (key, key))
        if row["message_id"]:
            lineage = (row["message_id"], row["digest"], key)
            self._db.execute("INSERT INTO lineage VALUES (?, ?, ?)", lineage)
        return key

    def bury(self, text):
        """What format 1 knew of a memory that a person forgot."""
        self._count += 1
        key = self.key(self._count)
        digest = digest_of("lesson", "space", text)
        self._db.execute("INSERT INTO known VALUES (?, ?)", (key, key))
        self._db.execute("INSERT INTO grave VALUES (?, 's1', ?)", (key, digest))
        return key

    def close(self, *, words=True):
        if words:
            self._db.execute(WORDS)
            self._db.execute("INSERT INTO words (words) VALUES ('rebuild')")
        self._db.commit()
        self._db.close()
