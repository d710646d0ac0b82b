"""What the last ``archive verify`` found damaged, so that a status can tell without reading all.

The note lies beside the archive's files and goes with them. A file that changed since, or that
was saved again, no longer counts; what is missing counts as long as a session names it.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.quick import read_note, signature
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from scripts.swarm_v2.store.archive.read import Damage
    from scripts.swarm_v2.store.archive.save import Place

NOTE = "damage.note"
MOST = 100  # files that the note names: it is read at once, and what is wrong is seen by then


def remember(where: Place, damage: Iterable[Damage]) -> None:
    """Note what ``verify`` found; finding nothing ends the note.

    Raises:
        OSError: the archive's folder cannot be written.
    """
    path = os.path.join(where.folder, NOTE)
    rows: dict[str, list[str]] = {}
    for one in damage:
        manifest = where.manifest(one.session) if one.session else ""
        rows.setdefault(one.path, [signature(one.path), manifest])
    if rows:
        atomic.write(path, dumps(dict(list(rows.items())[:MOST])).encode("ascii"))
    elif os.path.lexists(path):
        os.unlink(path)


def known(folder: str) -> list[str]:
    """Return the files that are still damaged or missing, as far as one can tell by a look."""
    rows = read_note(os.path.join(folder, NOTE))
    return [
        path
        for path, row in rows.items()
        if isinstance(row, list) and len(row) == 2 and _still(path, str(row[0]), str(row[1]))
    ]


def _still(path: str, was: str, manifest: str) -> bool:
    now = signature(path)
    if now == "-":
        return bool(manifest) and manifest != path and os.path.exists(manifest)
    return now == was
