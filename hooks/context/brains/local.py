"""The embedded brain: one SQLite file in the home, no account, no network.

Idempotent for ever: on the key, and on (message id, digest over type, scope and content), so a
host and a container that read one transcript make one memory. What was forgotten stays away by
key, by lineage, and by (session, digest).
"""

from __future__ import annotations

import os

from hooks.context.brain_adapter import LOCAL_DATABASE, principal
from hooks.context.brains import Ack, Item, local_words
from hooks.context.brains.local_changes import Changes, stored
from hooks.context.brains.local_file import open_file
from hooks.context.brains.local_row import COLUMNS, NAME, UNKNOWN, item, item_of, row_of
from hooks.context.brains.replacing import may_replace
from hooks.context.remote import apply_alias
from hooks.errors import BrainConflict, BrainRefused, BrainUnreachable, HookError
from scripts.swarm_v2.memory.memories import FLEET
from scripts.swarm_v2.scope_key import (
    SESSION,
    Identity,
    can_resolve,
    resolve_scope_key,
    sessions_prefix,
)
from scripts.swarm_v2.scope_key import scope_of as instance_of
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hooks.settings import Settings

_LIVE = "superseded_by = ''"
# A project's own, this principal's personal ones written there, and its session ones; the
# prefix is a complete `session:<principal>:`, so that no principal is another's beginning.
_VISIBLE = """(
    (space IN (SELECT value FROM json_each(:spaces)) AND (scope_key IN ('space', :user)
        OR substr(scope_key, 1, length(:run)) = :run))
    OR (scope_key = :user AND accepted)
)"""
_OWN = "(scope_key IN ('space', :user) OR substr(scope_key, 1, length(:run)) = :run)"
# What was put under a name has no marker's key, is changed by that name, and stays in its project.
_MARKED = "length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*'"
_CROSSES = "(type = 'signal' OR space = 'fleet' OR scope_key <> 'space')"


def connect(settings: Settings, env: Mapping[str, str]) -> LocalBrain:  # noqa: ARG001 - one shape for all
    """Open the home's own brain, making it on first use.

    Raises:
        BrainUnreachable: it cannot be opened, or is damaged; nothing of it was changed.
    """
    path = os.path.join(settings.home, LOCAL_DATABASE)
    try:
        return LocalBrain(path, principal(settings), _aliases(settings.home))
    except BrainUnreachable:
        raise
    except (HookError, ValueError) as err:
        raise BrainUnreachable(NAME, str(err)) from None
    except OSError as err:
        raise BrainUnreachable(NAME, err.strerror or "it cannot be opened") from None


def _aliases(home: str) -> dict[str, str]:
    """Return the person's project aliases; a damaged registry joins nothing (status says so)."""
    from hooks.context import registry

    try:
        return dict(registry.load(home).aliases)
    except HookError:
        return {}


class LocalBrain:
    """See ``brains.Brain``. Every method is one transaction.

    Rows keep the project id they were written under; ``aliases`` (old id to new) joins what a
    person declared to be one project when it is read.
    """

    def __init__(self, path: str, who: str, aliases: Mapping[str, str] | None = None) -> None:
        self._db = open_file(path)
        self._who = who
        self._aliases = dict(aliases or {})

    def close(self) -> None:
        self._db.close()

    # Reading.

    def feed(self) -> list[Item]:
        return self._items(
            f"{_LIVE} AND accepted AND scope_key = 'space' AND {_CROSSES} ORDER BY seq", {}
        )

    def project_memory(self, project: str, principal: str) -> list[Item]:
        return self._items(f"{_LIVE} AND {_VISIBLE} ORDER BY seq", self._sight(project, principal))

    def search(self, query: str, project: str, limit: int = 20) -> list[Item]:
        """Return the live memories that this project shows and that match, the best first."""
        order = {seq: place for place, seq in enumerate(local_words.matches(self._db, query))}
        rows = self._db.rows(
            f"SELECT seq, {COLUMNS} FROM memory WHERE {_LIVE} AND {_VISIBLE}",
            self._sight(project, self._who),
        )
        hits = sorted((order[int(str(row[0]))], row) for row in rows if row[0] in order)
        return [item_of(row[1:]) for _, row in hits[:limit]]

    def find(self, prefix: str) -> list[Item]:
        """Return the memories, superseded ones too, whose id begins so and that we may see."""
        named = {"prefix": prefix.lower(), **self._sight("", self._who)}
        begins = "substr(id, 1, length(:prefix)) = :prefix"
        return self._items(f"{begins} AND {_MARKED} AND {_OWN} ORDER BY seq", named)

    def named(self, name: str, project: str) -> list[Item]:
        """Return the memories that were put under ``name``, and that this project shows."""
        seen = {"name": name, **self._sight(project, self._who)}
        where = f"id = :name AND NOT ({_MARKED}) AND {_LIVE} AND {_VISIBLE} ORDER BY seq"
        return self._items(where, seen)

    def waiting(self) -> list[Item]:
        """Return what a person has yet to accept before another project may see it."""
        return self._items(
            f"{_LIVE} AND NOT accepted AND {_CROSSES} AND scope_key IN ('space', :user) "
            f"AND {_MARKED} ORDER BY seq",
            self._sight("", self._who),
        )

    def unattributed(self) -> list[Item]:
        """Return what was kept for no project, and that this principal may see."""
        where = f"{_LIVE} AND space = '{UNKNOWN}' AND {_OWN} ORDER BY seq"
        return self._items(where, self._sight("", self._who))

    def history(self, key: str) -> list[Item]:
        """Return what a memory replaced, the latest first."""
        found: list[Item] = []
        wanted = [key]
        while wanted:
            older = self._items("superseded_by = :key ORDER BY seq DESC", {"key": wanted.pop()})
            found += older
            wanted += [item.id for item in older]
        return found

    def unknown_keys(self, keys: Sequence[str]) -> list[str]:
        """Return those of ``keys`` that were never acknowledged here, in their order."""
        rows = self._db.rows(
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT key FROM known)",
            (dumps(list(keys)),),
        )
        return [str(row[0]) for row in rows]

    def attrs_of(self, key: str) -> dict[str, str]:
        """Return the attributes a memory was posted with; {} when there is no such memory."""
        row = self._db.one("SELECT attrs FROM memory WHERE id = ?", (key,))
        found = load_object(str(row[0])) if row else None
        return {name: str(value) for name, value in (found or {}).items()}

    def counts(self, project: str) -> dict[str, int]:
        """Return the number of live memories; a session's own notes are not its project's."""
        seen = self.project_memory(project, self._who)
        return {
            "project": sum(instance_of(item.scope_key) != SESSION for item in seen),
            "no_project": len(self.unattributed()),
            "all": self._db.number(f"SELECT count(*) FROM memory WHERE {_LIVE}"),
            "waiting": len(self.waiting()),
            "forgotten": self._db.number("SELECT count(*) FROM grave"),
        }

    def health(self) -> dict[str, object]:
        search = "fts5" if local_words.available(self._db) else "plain"
        return {"kind": NAME, "ok": True, "search": search, "memories": self.counts("")["all"]}

    def _sight(self, project: str, who: str) -> dict[str, object]:
        """Return what ``_VISIBLE`` asks for. An unknown project shows nothing of its own."""
        mine = resolve_scope_key("user", Identity(who))
        run = sessions_prefix(who)
        return {"spaces": dumps(self._spaces(project)), "user": mine, "run": run}

    def _spaces(self, project: str) -> list[str]:
        """Return the project's id and every id that an alias leads to it."""
        if project in ("", UNKNOWN):
            return []
        former = [old for old in self._aliases if apply_alias(old, self._aliases) == project]
        return [project, *former]

    def _items(self, where: str, named: Mapping[str, object]) -> list[Item]:
        sql = f"SELECT {COLUMNS} FROM memory WHERE {where}"
        return [item_of(row) for row in self._db.rows(sql, named)]

    # Writing.

    def post_marker(self, body: Mapping[str, object], key: str) -> Ack:
        new = row_of(body, key, self._who)
        with self._db.writing():
            known = self._known(new)
            if known is not None:
                self._remember_key(key, known.key)
                return known
            self._insert(new)
        return Ack("committed", key)

    def edit(self, old_key: str, body: Mapping[str, object], new_key: str) -> Ack:
        """Replace the memory ``old_key`` by ``body``, only if nothing else replaced it yet.

        Raises:
            BrainConflict: something did; it says what.
            BrainRefused: there is no such memory.
        """
        attrs = body["attrs"]
        assert isinstance(attrs, dict)
        said = {**attrs, "supersedes": old_key, "class": "person"}
        return self.post_marker({**body, "attrs": said}, new_key)

    def accept(self, key: str) -> bool:
        """Let a memory cross projects; say whether there is such a memory."""
        with self._db.writing():
            changes = Changes(self._db)
            found = stored(self._db, key)
            for old in found:
                changes.change(old, accepted=1)
            changes.apply()
            changes = Changes(self._db)
            for one in self._items("id = :key AND cls <> 'person'", {"key": key}):
                self._supersede(one, self._space_of(key), changes)
            changes.apply()
        return bool(found)

    def move(self, key: str, project: str) -> bool:
        """Give a live memory, with its history, to a project; False where there is none.

        One that was shared with everybody has no project to leave.
        """
        where = f"id = ? AND {_LIVE} AND space <> '{FLEET}'"
        with self._db.writing():
            if self._db.one(f"SELECT 1 FROM memory WHERE {where}", (key,)) is None:
                return False
            from hooks.context.brains.local_move import move

            move(self._db, [key, *(item.id for item in self.history(key))], project)
        return True

    def forget(self, key: str) -> bool:
        """Erase a memory with all that it replaced, and keep it away for ever."""
        with self._db.writing():
            row = self._db.one("SELECT record FROM known WHERE key = ?", (key,))
            record = str(row[0]) if row else key
            changes = Changes(self._db)
            doomed = [record, *(item.id for item in self.history(record))]
            there = sum(self._bury(one, changes) for one in doomed)
            self._remember_key(key, record)
            if there:
                changes.erase_derived()
                changes.apply()
                local_words.erase(self._db)
        if there:
            self._db.rows("PRAGMA wal_checkpoint(TRUNCATE)")  # where a server keeps the file
        return there > 0

    def _bury(self, record: str, changes: Changes) -> int:
        found = stored(self._db, record)
        for old in found:
            said = (record, old.row.get("session", ""), old.row.get("digest", ""))
            self._db.run("INSERT OR IGNORE INTO grave VALUES (?, ?, ?)", said)
            changes.erase(old)
        self._db.run("INSERT OR IGNORE INTO grave VALUES (?, '', '')", (record,))
        self._db.run("DELETE FROM place WHERE id = ?", (record,))
        if self._db.one("SELECT 1 FROM sqlite_master WHERE name = 'oversize'"):
            self._db.run("DELETE FROM oversize WHERE key = ?", (record,))
        return len(found)

    def _known(self, new: dict[str, object]) -> Ack | None:
        found = self._db.one("SELECT record FROM known WHERE key = ?", (new["id"],))
        if not found and new["message_id"]:
            found = self._db.one(
                "SELECT record FROM lineage WHERE message_id = ? AND digest = ?",
                (new["message_id"], new["digest"]),
            )
        if not found and new["session"] and new["cls"] != "person":
            found = self._db.one(
                "SELECT key FROM grave WHERE session = ? AND digest = ?",
                (new["session"], new["digest"]),
            )
        if not found:
            return None
        record = str(found[0])
        buried = self._db.one("SELECT 1 FROM grave WHERE key = ?", (record,))
        return Ack("replayed", record, buried is not None)

    def _remember_key(self, key: object, record: str) -> None:
        self._db.run("INSERT OR IGNORE INTO known VALUES (?, ?)", (key, record))

    def _insert(self, new: dict[str, object]) -> None:
        changes = Changes(self._db, self._session_key(new), str(new["at"]))
        old = self._supersede(item(new, new), str(new["space"]), changes)
        if old is not None and new["cls"] == "person":
            # correcting a memory does not let it cross projects
            new["accepted"] = int(old.accepted)
        changes.put(new, is_new=True)
        changes.apply()
        self._remember_key(new["id"], str(new["id"]))
        if new["message_id"]:
            self._db.run(
                "INSERT OR IGNORE INTO lineage VALUES (?, ?, ?)",
                (new["message_id"], new["digest"], new["id"]),
            )

    def _session_key(self, new: Mapping[str, object]) -> str:
        who = Identity(self._who, str(new["session"]))
        return resolve_scope_key(SESSION, who) if can_resolve(SESSION, who) else ""

    def _supersede(self, new: Item, space: str, changes: Changes) -> Item | None:
        """Hide what ``new`` names, and return it; see ``may_replace``.

        The text of a hidden memory stays, as history.
        """
        wanted, person = new.supersedes, new.cls == "person"
        if not wanted:
            return None
        named = {"id": wanted, "scope": new.scope_key, "new": new.id}
        found = self._items(
            "substr(id, 1, length(:id)) = :id AND id <> :new AND scope_key = :scope "
            "AND space IN (SELECT value FROM json_each(:spaces))",
            {**named, "spaces": dumps(self._spaces(space) or [space])},
        )
        if person and len(found) != 1:
            raise BrainRefused(NAME, f"{len(found)} memories here have the id {wanted}")
        if len(found) != 1 or not may_replace(new, found[0], space):
            return None
        old = found[0]
        by = self._db.one("SELECT superseded_by FROM memory WHERE id = ?", (old.id,))
        if person and by and by[0]:
            raise BrainConflict(old.id, str(by[0]), self._text_of(by[0], old.text))
        if not (by and by[0]):
            for row in stored(self._db, old.id):
                changes.change(row, superseded_by=new.id)
        return old

    def _space_of(self, key: str) -> str:
        row = self._db.one("SELECT space FROM memory WHERE id = ?", (key,))
        return str(row[0]) if row else UNKNOWN

    def _text_of(self, key: object, otherwise: object) -> str:
        row = self._db.one("SELECT text FROM memory WHERE id = ?", (key,))
        return str(row[0] if row else otherwise)
