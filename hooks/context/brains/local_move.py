"""Give memories of the embedded brain to another project."""

from __future__ import annotations

from hooks.context.attribution import moved
from hooks.context.brains.local_changes import Changes, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.context.database import Database


def move(db: Database, keys: Iterable[str], project: str) -> None:
    """Rewrite where the memories ``keys`` belong; inside the caller's transaction.

    Key, text, speaker and time stay: a replay of the marker finds the row where it is now.
    """
    changes = Changes(db)
    for key in keys:
        for old in stored(db, key):
            attrs = old.row.get("attrs")
            said = (
                {name: str(value) for name, value in attrs.items()}
                if isinstance(attrs, dict)
                else {}
            )
            changes.change(old, space=project, project=project, attrs=moved(said, project))
    changes.apply()
