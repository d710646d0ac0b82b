"""Which registered id belongs to a root on this machine.

A root is a repository's common dir or a folder without one. The bond is its path together with
its inode; the evidence that survives a move is the root commit. One id is never bound to two
roots, and a root that merely looks like another (same name, same path later) is a new project.
"""

from __future__ import annotations

import os

from hooks.context import git_files
from hooks.context.registry import (
    BY_ENVIRONMENT,
    BY_PERSON,
    BY_RESOLVER,
    Registry,
    note_rename,
)
from hooks.context.remote import LOCAL
from hooks.errors import HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NamedTuple

    from hooks.context.registry import Entry
else:
    from hooks.record import NamedTuple

SETTING = "AGENTIHOOKS_PROJECT_ID"
_MAX_SLUG = 40


class Place(NamedTuple):
    """One root, as it is found now."""

    common_dir: str  # "" for a folder without a repository
    folder: str  # the worktree's top, or the folder
    device: int
    inode: int
    roots: tuple[str, ...] = ()  # root commits, oldest first; () not asked, none, or git silent
    unborn: bool = False  # no commit yet, so the evidence is to be added later


class Bound(NamedTuple):
    """The id that holds, "" when none does, and why in a phrase."""

    project_id: str
    why: str


class BoundElsewhere(HookError):
    """A person asked for an id that another root has."""

    def __init__(self, project_id: str, root: str) -> None:
        self.project_id, self.root = project_id, root
        self.hint = "choose another id; two projects become one with brainhooks project alias"
        super().__init__(f"{project_id} belongs to {root}")


def place_of(repo: git_files.Repo) -> Place:
    """Find the root of a repository.

    Raises:
        OSError: it vanished meanwhile.
    """
    info = os.stat(repo.common_dir)
    return Place(repo.common_dir, repo.worktree, info.st_dev, info.st_ino)


def folder_place(folder: str) -> Place:
    """Find the root that a folder without a repository is.

    Raises:
        OSError: it vanished meanwhile.
    """
    info = os.stat(folder)
    return Place("", folder, info.st_dev, info.st_ino)


def known(registry: Registry, place: Place, wanted: str = "") -> Bound:
    """Answer from what is registered, without git and without a change.

    ``wanted`` is the id that the environment names. An empty id means: ``bind`` must decide.
    """
    note = ""
    if wanted:
        entry = registry.local.get(wanted)
        if entry is not None and _is_here(entry, place):
            return Bound(wanted, SETTING)
        if entry is None or _is_gone(entry) or _grew_here(entry, place):
            return Bound("", "")
        note = _refusal(wanted, entry)
    if not place.common_dir:
        return _known_folder(registry, place, note)
    for project_id, entry in _lasting(registry):
        if _is_here(entry, place):
            return Bound(project_id, note or "registered local repository")
    return Bound("", note)


def _known_folder(registry: Registry, place: Place, note: str) -> Bound:
    inside = [
        (len(entry["folder"]), project_id)
        for project_id, entry in _lasting(registry)
        if _is_here(entry, place)
    ]
    if inside:
        return Bound(max(inside)[1], note or "registered folder")
    return Bound("", note)


def _refusal(wanted: str, entry: Entry) -> str:
    return f"{SETTING} refused: {wanted} is bound to {root_of(entry)}"


def root_of(entry: Entry) -> str:
    return str(entry["folder"] or entry["common_dir"])


def _lasting(registry: Registry) -> Iterator[tuple[str, Entry]]:
    return ((i, entry) for i, entry in registry.local.items() if entry["by"] != BY_ENVIRONMENT)


def _is_here(entry: Entry, place: Place) -> bool:
    """Say whether ``entry`` is bound to ``place``, or to a folder around a plain folder.

    Path and inode together: after ``rm -rf`` and ``git init`` the path is the same and the inode
    often too, so the root commit must not be provably absent. The device is not compared, it
    changes with a reboot. An equal inode under another spelling of the path is one folder on a
    filesystem that ignores case.
    """
    if not place.common_dir:
        return not entry["common_dir"] and _is_around(entry["folder"], place.folder)
    if not entry["common_dir"] or entry["inode"] != place.inode:
        return False
    if entry["common_dir"] != place.common_dir and not _same(entry["common_dir"], place.common_dir):
        return False
    root = entry["root_commit"]
    return not root or git_files.may_hold(place.common_dir, root)


def _is_around(folder: str, inner: str) -> bool:
    if not folder:
        return False
    if inner == folder or inner.startswith(folder.rstrip("/") + "/"):
        return True
    part = inner[: len(folder)]
    return (
        part.casefold() == folder.casefold()
        and inner[len(folder) :][:1] in {"", "/"}
        and (_same(part, folder))
    )


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _is_gone(entry: Entry) -> bool:
    """Say whether nothing of the entry's own stands at its path any more.

    Another repository that took the path over since does not count: it has another inode.
    """
    try:
        info = os.stat(entry["common_dir"] or entry["folder"])
    except (OSError, ValueError):  # absent, or "" for an entry that lost its path
        return True
    return bool(info.st_ino != entry["inode"])


def bind(registry: Registry, place: Place, at: str, wanted: str = "") -> Bound:
    """Decide on the id of ``place`` with its root commits at hand, and write it into ``registry``.

    The id that the environment names if it is free or was this root's; else the one bound here;
    else, for a repository, the only one with this root commit whose own root is gone (it was
    moved; where the original still stands this is a copy); else a new one. A folder without a
    repository gets no new one.
    """
    note = ""
    if wanted:
        entry = registry.local.get(wanted)
        if entry is None:
            registry.local[wanted] = _write({"by": BY_ENVIRONMENT}, place, at)
            return Bound(wanted, SETTING)
        if any(test(entry, place) for test in (_is_here, _grew_here, _moved_here)):
            _write(entry, place, at)
            return Bound(wanted, SETTING)
        note = _refusal(wanted, entry)
    if not place.common_dir:
        return _known_folder(registry, place, note)
    found, why = _settle(registry, place)
    if found:
        _write(registry.local[found], place, at)
    return Bound(found, note or why)


def _settle(registry: Registry, place: Place) -> Bound:
    found = _bound_here(registry, place)
    if found:
        return Bound(found, "registered local repository")
    if not place.roots and not place.unborn and _stood_here(registry, place):
        return Bound("", "another repository was registered here, and git does not answer")
    moved = [project_id for project_id, e in _lasting(registry) if _moved_here(e, place)]
    for _, entry in _stood_here(registry, place):
        entry["common_dir"] = entry["folder"] = ""
    if len(moved) == 1:
        return Bound(moved[0], "moved repository, known by its root commit")
    project_id = _new_id(registry, place)
    registry.local[project_id] = {"by": BY_RESOLVER}
    return Bound(project_id, "local repository, registered now")


def _stood_here(registry: Registry, place: Place) -> list[tuple[str, Entry]]:
    """Return what is bound to this path though it is no longer this repository."""
    return [
        (project_id, entry)
        for project_id, entry in _lasting(registry)
        if entry["common_dir"] == place.common_dir and not _is_here(entry, place)
    ]


def _bound_here(registry: Registry, place: Place) -> str:
    for project_id, entry in _lasting(registry):
        restored = entry["common_dir"] == place.common_dir and _has_root(entry, place)
        if restored or _is_here(entry, place) or _grew_here(entry, place):
            return project_id
    return ""


def _grew_here(entry: Entry, place: Place) -> bool:
    """Say whether a registered plain folder has become this repository."""
    grown = place.common_dir and not entry["common_dir"] and entry["folder"]
    return bool(grown) and entry["folder"] == place.folder


def _has_root(entry: Entry, place: Place) -> bool:
    return bool(entry["root_commit"]) and entry["root_commit"] in place.roots


def _moved_here(entry: Entry, place: Place) -> bool:
    """Without commits nothing proves a move: inodes are used again."""
    if not place.common_dir:
        gone = not entry["common_dir"] and entry["folder"] and _is_gone(entry)
        return bool(gone) and entry["inode"] == place.inode and entry["device"] == place.device
    return _has_root(entry, place) and _is_gone(entry)


def _write(entry: Entry, place: Place, at: str) -> Entry:
    """Bind ``entry`` to ``place``; evidence once written is kept."""
    around = not place.common_dir and _is_around(entry.get("folder", ""), place.folder)
    if not around:
        entry["common_dir"] = place.common_dir
        entry["folder"] = place.folder or place.common_dir
        entry["device"], entry["inode"] = place.device, place.inode
    if not entry.get("root_commit"):
        entry["root_commit"] = place.roots[0] if place.roots else ""
        entry["unborn"] = place.unborn
    entry["registered_at"] = entry.get("registered_at") or at
    return entry


def _new_id(registry: Registry, place: Place) -> str:
    slug = slug_of(name_of(place.common_dir))
    while True:
        project_id = f"{LOCAL}{slug}-{os.urandom(4).hex()}"
        if project_id not in registry.local:
            return project_id


def name_of(common_dir: str) -> str:
    """Return the repository's own name: its main folder's, not a worktree's."""
    name = os.path.basename(common_dir)
    name = os.path.basename(os.path.dirname(common_dir)) if name == ".git" else name
    return name.removesuffix(".git")


def slug_of(name: str) -> str:
    """Reduce a name to ``[a-z0-9]`` words joined by ``-``; ``project`` when nothing is left."""
    plain = "".join(c if c.isascii() and c.isalnum() else " " for c in name.lower())
    return "-".join(plain.split())[:_MAX_SLUG].strip("-") or "project"


def register(registry: Registry, place: Place, project_id: str, at: str) -> None:
    """Bind ``project_id`` to ``place`` because a person said so.

    An id that the resolver had given to this root stays known as its former one.

    Raises:
        BoundElsewhere: its root still stands, and is another.
    """
    entry = registry.local.get(project_id)
    if entry is not None and not _is_bound_exactly(entry, place) and not _is_gone(entry):
        raise BoundElsewhere(project_id, root_of(entry))
    for other, bound in _lasting(registry):
        if other != project_id and _is_bound_exactly(bound, place):
            bound["common_dir"] = bound["folder"] = ""
            note_rename(registry, place.common_dir or place.folder, other)
    fresh = {} if entry is None else {"registered_at": entry["registered_at"]}
    registry.local[project_id] = _write({**fresh, "by": BY_PERSON}, place, at)


def _is_bound_exactly(entry: Entry, place: Place) -> bool:
    if place.common_dir:
        return _grew_here(entry, place) or _is_here(entry, place)
    return _is_here(entry, place) and len(entry["folder"]) == len(place.folder)
