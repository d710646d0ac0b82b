"""Whose a marker is: by where it was written, what it asks for and what was granted. Pure."""

from __future__ import annotations

from hooks.context.remote import UNKNOWN, label
from hooks.context.scope import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Literal, NamedTuple

    from hooks.context.scope import Transition

    Kind = Literal["scoped", "explicit", "fleet", "unknown", "refused"]
else:
    from hooks.record import NamedTuple

HOMELESS = ("unknown", "refused")  # kinds of what goes to no project
_WORK = ("swarm", "task", "task_revision", "lane")


class Attribution(NamedTuple):
    """Where a marker goes. It never enters the marker's key."""

    kind: Kind
    project_id: str  # "" when it goes to no project
    attrs: dict[str, str]  # the marker's, with the scope fields that hold and ``attribution``


def attribute(
    scope: Transition | None, attrs: Mapping[str, str], grants: Collection[str]
) -> Attribution:
    """Decide on a marker that was written under ``scope`` with ``attrs``.

    - ``fleet``: it has ``share=fleet``; every scope field is dropped.
    - ``explicit``: it names a project that was granted; what describes the folder is dropped.
    - ``refused``: it names another project without a grant. It goes to no project: neither to
      the one it names nor, against its own words, to the one it was written in.
    - ``scoped``: the project in force. ``unknown``: none was.

    Scope fields that the agent wrote itself never hold; it cannot sign for another folder.
    """
    kept = {name: value for name, value in attrs.items() if name not in Scope._fields}
    current = "" if scope is None or scope.project_id == UNKNOWN else scope.project_id
    named = attrs.get("project_id", "").strip()
    if attrs.get("share") == "fleet":
        return _made("fleet", "", kept, {})
    fields = _fields(scope)
    if named and named != current:
        work = {name: value for name, value in fields.items() if name in _WORK}
        if named not in grants:
            return _made("refused", "", kept, work)
        return _made("explicit", named, kept, {**work, "project": label(named)})
    return _made("scoped" if current else "unknown", current, kept, fields)


def moved(attrs: Mapping[str, str], project_id: str) -> dict[str, str]:
    """Return the attributes of a memory that a person gave to ``project_id``.

    What describes the folder that it was written in goes, as where an agent names a project.
    """
    kept = {name: value for name, value in attrs.items() if name not in Scope._fields}
    work = {name: attrs[name] for name in _WORK if name in attrs}
    return _made("explicit", project_id, kept, {**work, "project": label(project_id)}).attrs


def _fields(scope: Transition | None) -> dict[str, str]:
    if scope is None:
        return {}
    return {name: value for name in Scope._fields if (value := str(getattr(scope, name)))}


def _made(kind: Kind, project_id: str, kept: dict[str, str], fields: dict[str, str]) -> Attribution:
    attrs = {**kept, **fields, "attribution": kind}
    attrs.pop("project_id", None)
    if project_id:
        attrs["project_id"] = project_id
    return Attribution(kind, project_id, attrs)
