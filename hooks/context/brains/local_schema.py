"""The tables of the embedded brain: documents of scoped memory, and what only it knows of them.

A memory is the document ``memory/<key>``: in its project's space; in ``person`` or ``fleet`` once
it crosses projects, with its ``home`` in the value; on the ``SHELF`` where it has neither.
``place`` numbers memories as they came, whoever wrote them (``indexed``: see ``local_words``), and
``memory`` shows each as one row; its ``space`` is the home. ``known`` is every key that was ever
acknowledged, ``lineage`` every (message, digest over type, scope and content): both for ever.
``grave`` is what was forgotten, without its text.
"""

from __future__ import annotations

from hooks.context.brain_adapter import LOCAL_FORMAT
from scripts.swarm_v2.memory.memories import FLEET, PERSON, SHELF
from scripts.swarm_v2.memory.sqlite_schema import SCHEMA as DOCUMENTS

VERSION = LOCAL_FORMAT


def _text(name: str, otherwise: str = "''") -> str:
    return f"coalesce(json_extract(l.value, '$.{name}'), {otherwise}) AS {name}"


# The columns of a memory that its value may lack.
TEXTS = ("type", "severity", "title", "at", "session", "message_id", "path", "supersedes")
OTHERS = ("digest", "superseded_by", "priority", "until")
_SPACES = f"('{PERSON}', '{FLEET}', '{SHELF}')"
MEMORY = (
    """
CREATE TABLE place (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, space TEXT NOT NULL, scope_key TEXT NOT NULL,
    indexed INTEGER NOT NULL DEFAULT 0, UNIQUE (id, space, scope_key)
)""",
    """
CREATE TRIGGER place_of_memory AFTER INSERT ON head
WHEN substr(NEW.id, 1, 7) = 'memory/' AND NEW.branch = '' BEGIN
    INSERT INTO place (id, space, scope_key)
    SELECT substr(NEW.id, 8), NEW.space, NEW.scope_key WHERE NOT EXISTS (
        SELECT 1 FROM place WHERE id = substr(NEW.id, 8) AND space = NEW.space
            AND scope_key = NEW.scope_key
    );
END""",
    f"""
CREATE VIEW memory AS
    SELECT p.seq, p.id, p.scope_key, p.space AS kept_in, l.value,
        json_extract(l.value, '$.text') AS text,
        {_text("home", "p.space").replace("AS home", "AS space")},
        {_text("project", f"CASE WHEN p.space IN {_SPACES} THEN '' ELSE p.space END")},
        {_text("cls", "'agent'")}, {_text("attrs", "'{}'")}, {_text("accepted", "0")},
        {", ".join(map(_text, (*TEXTS, *OTHERS)))}
    FROM place p CROSS JOIN live l ON l.space = p.space AND l.branch = ''
        AND l.id = 'memory/' || p.id AND l.scope_key = p.scope_key
    WHERE json_type(l.value, '$.text') = 'text'
""",
)
# Texts of format 1 that are larger than a document may be; there is none in a file made since.
OVERSIZE = "CREATE TABLE IF NOT EXISTS oversize (key TEXT PRIMARY KEY, text TEXT NOT NULL)"
OWN = """
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
SCHEMA = ";".join((DOCUMENTS, *MEMORY, OWN))
