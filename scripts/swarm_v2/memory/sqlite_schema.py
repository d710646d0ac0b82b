"""The tables of scoped memory in a SQLite file; a file may hold others beside them.

``head`` says where an instance stands and how its value is put together: the whole value at
(``base_seq``, ``base_index``), in ``snapshot`` where ``snap`` is 1 and in ``revision`` otherwise,
with the patches of later revisions merged into it. ``patch_bytes`` is 0 where there are none: then
``live`` shows the value as it is. It always is for documents of up to ``SMALL`` characters and
for those whose id begins with ``WHOLE``, of any size.
``revision`` by commit is the change feed; nothing is ever deleted from it, ``gone`` revisions have
lost their values. ``basis`` has one row with an empty ``entity`` for each recorded instance.
"""

from __future__ import annotations

VERSION = 1
SMALL = 2048  # a patched document of up to so many characters gets a new snapshot each time
WHOLE = "memory/"  # other tables' views read these from ``live``
SCHEMA = """
CREATE TABLE head (
    space TEXT NOT NULL, branch TEXT NOT NULL, id TEXT NOT NULL, scope_key TEXT NOT NULL,
    seq INTEGER NOT NULL, op_index INTEGER NOT NULL, op TEXT NOT NULL,
    base_seq INTEGER NOT NULL, base_index INTEGER NOT NULL, snap INTEGER NOT NULL,
    base_bytes INTEGER NOT NULL, patch_bytes INTEGER NOT NULL,
    PRIMARY KEY (space, branch, id, scope_key)
) WITHOUT ROWID;
CREATE INDEX head_by_key ON head (space, scope_key, branch, id);
CREATE TABLE revision (
    space TEXT NOT NULL, branch TEXT NOT NULL, id TEXT NOT NULL, scope_key TEXT NOT NULL,
    seq INTEGER NOT NULL, op_index INTEGER NOT NULL, op TEXT NOT NULL, value TEXT,
    gone INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, branch, id, scope_key, seq, op_index)
);
CREATE INDEX revision_by_commit ON revision (space, seq, op_index);
CREATE TABLE snapshot (
    space TEXT NOT NULL, branch TEXT NOT NULL, id TEXT NOT NULL, scope_key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (space, branch, id, scope_key)
);
CREATE TABLE commit_log (
    space TEXT NOT NULL, seq INTEGER NOT NULL, class TEXT NOT NULL, session_key TEXT NOT NULL,
    holder TEXT NOT NULL, annotations TEXT, at TEXT NOT NULL,
    PRIMARY KEY (space, seq)
) WITHOUT ROWID;
CREATE TABLE basis (
    space TEXT NOT NULL, branch TEXT NOT NULL, action TEXT NOT NULL,
    action_scope_key TEXT NOT NULL, entity_space TEXT NOT NULL, entity TEXT NOT NULL,
    entity_scope_key TEXT NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (space, branch, action, action_scope_key, entity_space, entity, entity_scope_key)
) WITHOUT ROWID;
CREATE TABLE lease (
    space TEXT PRIMARY KEY, holder TEXT NOT NULL, expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE retired (
    space TEXT NOT NULL, session_key TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (space, session_key)
) WITHOUT ROWID;
CREATE VIEW live AS
    SELECT h.space, h.branch, h.id, h.scope_key, h.seq, h.op_index, h.op, h.patch_bytes,
        CASE h.snap WHEN 1 THEN s.value ELSE r.value END AS value
    FROM head h
    LEFT JOIN snapshot s ON h.snap = 1 AND s.space = h.space AND s.branch = h.branch
        AND s.id = h.id AND s.scope_key = h.scope_key
    LEFT JOIN revision r ON h.snap = 0 AND r.space = h.space AND r.branch = h.branch
        AND r.id = h.id AND r.scope_key = h.scope_key
        AND r.seq = h.base_seq AND r.op_index = h.base_index
    WHERE h.op NOT IN ('delete', 'erase')
"""
