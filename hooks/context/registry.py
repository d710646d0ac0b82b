"""``<home>/projects.json``: what was registered, aliased and observed, and its rules.

A document outside its grammar is refused as a whole and never rewritten: a person can mend it,
a guess of ours cannot. Keys that we do not know are kept.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.context.remote import as_id, is_local, valid_id, validate_aliases
from hooks.errors import HookError, StateError
from hooks.lock import held
from scripts.swarm_v2.wire_json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NamedTuple, TypeVar

    T = TypeVar("T")
    Entry = dict[str, Any]
else:
    from hooks.record import NamedTuple

FILE = "projects.json"
SCHEMA = "2.0"
WHICH = "the {} of the two is no project id"
IDS = "an id is host/owner/repo or local:<id>, as brainhooks whoami prints it"
WAIT_S = 2.0  # an edit takes milliseconds; longer means a stuck process, and we go on without
MAX_OBSERVED = 500  # then rows of repositories that are gone are dropped

# Who bound an id to its root. What the environment named holds only while it names it.
BY_RESOLVER, BY_PERSON, BY_ENVIRONMENT = "resolver", "person", "environment"
_TEXTS = ("common_dir", "folder", "root_commit", "registered_at", "by")


class ProjectRefused(HookError):
    """What a person asked of the registry cannot be; nothing was changed."""

    def __init__(self, subject: str, what: str, hint: str) -> None:
        self.subject, self.what, self.hint = subject, what, hint
        super().__init__(f"{subject!r} {what}" if subject else what)


class Registry(NamedTuple):
    """The document; the maps are parts of ``raw``, so that a change to one is a change to it."""

    raw: dict[str, object]
    aliases: dict[str, str]
    local: dict[str, Entry]  # id -> what it is bound to; "" as common_dir and folder: nothing
    observed: dict[str, str]  # common dir -> the remote's id seen last
    renamed: dict[str, list[str]]  # common dir -> ids it had before, oldest first


def path_of(home: str) -> str:
    return os.path.join(home, FILE)


def load(home: str) -> Registry:
    """Return the registry; an empty one where there is no file yet.

    Raises:
        StateError: the file is there and cannot be used. It is left as it is.
    """
    path = path_of(home)
    if not os.path.lexists(path):
        return parse({"schema_version": SCHEMA})
    try:
        data = atomic.read(path)
        if data is None:
            raise ValueError("it is no regular file, or larger than 4 MiB")
        return parse(loads(data))
    except (ValueError, OSError) as err:
        hint = f"mend {path} or move it away; nothing in it was changed"
        raise StateError(path, f"the project registry is unusable: {err}", hint=hint) from None


def parse(found: object) -> Registry:
    """Check a document's shape and fill in what it leaves out.

    Raises:
        ValueError: with a sentence about the first thing that is wrong.
    """
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")
    version = found.get("schema_version")
    if version != SCHEMA:
        msg = f"its schema_version is {version!r}, not {SCHEMA!r}"
        raise ValueError(msg)
    parts: dict[str, dict[str, Any]] = {}
    for name in ("aliases", "local", "observed", "renamed"):
        part = found.setdefault(name, {})
        if not isinstance(part, dict):
            msg = f"{name!r} is not an object"
            raise ValueError(msg)
        parts[name] = part
    validate_aliases(parts["aliases"])
    for project_id, entry in parts["local"].items():
        _check_entry(project_id, entry)
    for where, seen in [*parts["observed"].items(), *parts["renamed"].items()]:
        ids = seen if isinstance(seen, list) else [seen]
        if not all(isinstance(one, str) and valid_id(one) for one in ids):
            msg = f"what it observed at {where!r} is no project id"
            raise ValueError(msg)
    renamed = {where: v if isinstance(v, list) else [v] for where, v in parts["renamed"].items()}
    parts["renamed"].update(renamed)
    return Registry(found, **parts)


def _check_entry(project_id: str, entry: object) -> None:
    usable = isinstance(entry, dict) and is_local(project_id)
    if usable and isinstance(entry, dict):
        for name in _TEXTS:
            usable = usable and isinstance(entry.setdefault(name, ""), str)
        for name in ("device", "inode"):
            usable = usable and isinstance(entry.setdefault(name, 0), int)
    if not usable:
        msg = f"the local project {project_id!r} is not written as one"
        raise ValueError(msg)


def change(home: str, edit: Callable[[Registry], T]) -> T:
    """Load, edit and replace the document under its lock; written only if something changed.

    Raises:
        StateError: damaged, or locked for too long; whatever ``edit`` raises: nothing is written.
        OSError: it cannot be written.
    """
    with held(os.path.join(home, "locks", "registry"), wait_s=WAIT_S):
        registry = load(home)
        before = dumps(registry.raw)
        result = edit(registry)
        if dumps(registry.raw) != before:
            # a link into somebody's dotfiles stays a link
            atomic.write(os.path.realpath(path_of(home)), _readable(registry.raw))
        return result


def _readable(document: dict[str, object]) -> bytes:
    """Write JSON with a line for every entry of every map, for people and for diffs."""
    lines = []
    for name, part in document.items():
        text = dumps(part)
        if isinstance(part, dict) and part:
            rows = [f"  {dumps(key)}: {dumps(value)}" for key, value in part.items()]
            text = "{\n" + ",\n".join(rows) + "\n}"
        lines.append(f"{dumps(name)}: {text}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")


def observe(home: str, common_dir: str, project_id: str) -> None:
    """Remember the remote's id that was seen at ``common_dir``, and the one it replaces.

    Raises:
        StateError, OSError: as ``change``.
    """

    def edit(registry: Registry) -> None:
        before = registry.observed.get(common_dir)
        if before == project_id:
            return
        if before is not None:
            note_rename(registry, common_dir, before)
        registry.observed[common_dir] = project_id
        if len(registry.observed) > MAX_OBSERVED:
            for where in [where for where in registry.observed if not os.path.isdir(where)]:
                del registry.observed[where]

    change(home, edit)


def note_rename(registry: Registry, common_dir: str, project_id: str) -> None:
    """Record that ``common_dir`` had ``project_id`` until now."""
    ids = registry.renamed.setdefault(common_dir, [])
    registry.renamed[common_dir] = [one for one in ids if one != project_id] + [project_id]


def former_ids(registry: Registry, common_dir: str) -> list[str]:
    """Return every id that was bound to ``common_dir`` or seen there, latest first."""
    ids = [*reversed(registry.renamed.get(common_dir, []))]
    if common_dir in registry.observed:
        ids.insert(0, registry.observed[common_dir])
    ids += [
        project_id
        for project_id, entry in registry.local.items()
        if entry["common_dir"] == common_dir and entry["by"] != BY_ENVIRONMENT
    ]
    return ids


def add_alias(home: str, old: str, new: str) -> str:
    """Let ``old`` (an id or a remote's URL) be read as ``new``; return the id it ends at.

    Raises:
        ProjectRefused: one of them is no id, they are equal, or the chain would lead back.
    """
    from hooks.context.remote import apply_alias

    names = [as_id(old), as_id(new)]
    if names[0] is None or names[1] is None:
        # not the text itself: a URL may hold a secret
        which = "first" if names[0] is None else "second"
        raise ProjectRefused("", WHICH.format(which), IDS)
    before, after = names[0], names[1]

    def edit(registry: Registry) -> str:
        aliases = {**registry.aliases, before: after}
        try:
            validate_aliases(aliases)
        except ValueError as err:
            hint = "brainhooks project list shows every alias"
            raise ProjectRefused("", str(err), hint) from None
        registry.aliases[before] = after
        return apply_alias(before, aliases)

    return change(home, edit)


def remove_alias(home: str, old: str) -> str:
    """Read ``old`` (an id or a remote's URL) as itself again; return what it was read as.

    Raises:
        ProjectRefused: it is no alias.
    """
    name = as_id(old)

    hint = "brainhooks project list shows every alias"

    def edit(registry: Registry) -> str:
        if name is None or name not in registry.aliases:
            raise ProjectRefused("", "this is no alias", hint)
        return registry.aliases.pop(name)

    return change(home, edit)


def unregister(home: str, project_id: str) -> str:
    """Take a local project's bond away; return the folder it had, "" where it had lost it.

    Its memories stay under its id, and registering it anywhere brings them back.

    Raises:
        ProjectRefused: it is not registered.
    """

    def edit(registry: Registry) -> str:
        entry = registry.local.pop(project_id, None)
        if entry is None:
            hint = "brainhooks project list shows what is registered"
            raise ProjectRefused(project_id, "is not registered", hint)
        return str(entry["folder"] or entry["common_dir"])

    return change(home, edit)
