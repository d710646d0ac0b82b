"""The tables of the embedded brain.

``memory`` is keyed (space, branch, id, scope_key): space = project, ``fleet`` or ``unknown``, id
= marker key. ``known`` is every key that was ever acknowledged, ``lineage`` every (message, digest
over type, scope and content): both for ever. ``grave`` is what was forgotten, without its text.
"""

from __future__ import annotations

VERSION = 1
BRANCH = "main"
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
CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
"""
