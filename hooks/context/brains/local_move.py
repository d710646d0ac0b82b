"""Give memories of the embedded brain to another project."""

from __future__ import annotations

from hooks.context.attribution import moved
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.context.database import Database


def move(db: Database, keys: Iterable[str], project: str) -> None:
    """Rewrite where the rows ``keys`` belong; inside the caller's transaction.

    Key, text, speaker and time stay: a replay of the marker finds the row where it is now.
    """
    for key in keys:
        row = db.one("SELECT attrs FROM memory WHERE id = ?", (key,))
        attrs = load_object(str(row[0])) if row else None
        if attrs is not None:
            said = moved({name: str(value) for name, value in attrs.items()}, project)
            values = (project, project, dumps(said, sort_keys=True), key)
            db.run("UPDATE memory SET space = ?, project = ?, attrs = ? WHERE id = ?", values)
