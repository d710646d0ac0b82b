"""What a person prefers, where it is stored so that nobody can read it: the defaults hold there."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

from hooks.settings import load
from scripts.doctor import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.doctor import Look

_WHERE = "SELECT space FROM head WHERE branch = '' AND id = ? AND scope_key = ?"


def can_be_read(look: Look) -> Iterator[Finding]:
    """Nothing is said where all of them can be read."""
    from scripts.swarm_v2.memory.errors import MemoryRefused
    from scripts.swarm_v2.memory.library import open_store
    from scripts.swarm_v2.memory.people import own_names
    from scripts.swarm_v2.memory.preferences import malformed
    from scripts.swarm_v2.memory.reserved import PREFERENCES
    from scripts.swarm_v2.memory.sessions import Credential
    from scripts.swarm_v2.scope_key import USER, Identity, resolve_scope_key

    settings = load(look.env)
    names = own_names(settings.home, Credential(settings.principal, ""))
    if not names:
        return
    key = resolve_scope_key(USER, Identity(names[0]))
    spaces = _spaces(os.path.join(settings.home, "brain", "local.db"), PREFERENCES, key)
    if not spaces:
        return
    try:
        opened = open_store(settings.home)
    except MemoryRefused:  # another check tells what ails the file
        return
    with closing(opened) as store:
        for space in spaces:
            try:
                found = store.read(space, key, PREFERENCES)
            except MemoryRefused as err:
                sentence = str(err)
            else:
                sentence = malformed(found.value) if found and not found.deleted else ""
            if sentence:
                todo = "in that project: brainhooks memory edit preferences"
                yield Finding("warn", f"{space}: {sentence}", todo)


def _spaces(path: str, document_id: str, scope_key: str) -> list[str]:
    """Return the projects that have such a document; looking makes no file and upgrades none."""
    if not os.path.exists(path):
        return []
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=5)) as db:
            return [str(row[0]) for row in db.execute(_WHERE, (document_id, scope_key))]
    except sqlite3.Error:  # another check tells what ails the file
        return []
