"""Which project a folder belongs to: the one resolver for every call site.

Paths and folder names describe a project and never identify it. What cannot be proven is
``unknown``: markers are kept then, and no project's memory is shown.
"""

from __future__ import annotations

import os

from hooks.clock import iso
from hooks.context import binding, git_files, registry
from hooks.context.registry import add_alias
from hooks.context.remote import (
    LOCAL,
    UNKNOWN,
    apply_alias,
    canonical_remote,
    is_local,
    label,
    valid_id,
    validate_aliases,
)
from hooks.errors import StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.binding import Bound, Place
    from hooks.context.git_files import Repo
    from hooks.context.registry import Registry
    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple

__all__ = [
    "LOCAL",
    "UNKNOWN",
    "Project",
    "add_alias",
    "apply_alias",
    "canonical_remote",
    "is_local",
    "label",
    "launch_folder",
    "register_folder",
    "renamed_from",
    "resolve",
    "valid_id",
    "validate_aliases",
]


class Project(NamedTuple):
    """What a folder belongs to; ``id`` alone identifies, the rest describes."""

    id: str = UNKNOWN  # host/owner/repo, local:<id> or unknown; aliases applied
    label: str = ""  # short name for people
    worktree: str = ""  # the top folder, resolved; "" outside a worktree
    common_dir: str = ""  # "" without a repository
    remote: str = ""  # the canonical remote before aliases; never a URL
    branch: str = ""  # "" when detached or without a repository
    cwd: str = ""  # as it was given
    evidence: str = ""  # why, in a phrase that holds no URL


def launch_folder(event_cwd: str, env: Mapping[str, str]) -> str:
    """Return the folder whose project a session has: where it started, not where it went."""
    return env.get("CLAUDE_PROJECT_DIR", "") or event_cwd


class _Case(NamedTuple):
    """What one resolution stands on."""

    cwd: str
    folder: str  # the existing, resolved folder that stands for cwd
    home: str
    wanted: str  # the id that the environment names, if it is one
    note: str  # what is wrong with it otherwise
    env: Mapping[str, str]
    at: datetime
    register: bool
    known: Registry | None  # None: projects.json is damaged


def resolve(
    cwd: str, settings: Settings, env: Mapping[str, str], at: datetime, *, register: bool = True
) -> Project:
    """Say which project ``cwd`` belongs to; never raises for what it finds on the disk.

    A folder that is gone counts as its nearest existing parent: the agent removes its worktrees,
    which lie inside the repository, before we read what was written in them. A damaged
    ``projects.json`` leaves remotes as they are and everything else unknown.

    ``register=False`` writes nothing: neither a new local repository nor the remote seen.
    """
    try:
        folder = _existing(cwd)
        repo = git_files.find(folder) if folder else None
    except ValueError:  # a NUL, or a character that the filesystem's encoding lacks
        return Project(cwd=cwd, evidence="the path cannot be read")
    if not folder:
        return Project(cwd=cwd, evidence="no absolute path")
    named = settings.project_id
    wanted = named if is_local(named) else ""
    note = f"{binding.SETTING} ignored: it must be local:<id>" if named and not wanted else ""
    known = _registry(settings.home, at if register else None)
    case = _Case(cwd, folder, settings.home, wanted, note, env, at, register, known)
    return _of_folder(case) if repo is None else _of_repo(case, repo)


def _existing(cwd: str) -> str:
    """Resolve ``cwd`` or its nearest parent that is a folder; "" unless it is absolute."""
    if not os.path.isabs(cwd):
        return ""
    folder = os.path.realpath(cwd)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _registry(home: str, at: datetime | None) -> Registry | None:
    """Return what is registered; None where that cannot be read, which is logged ``at``."""
    try:
        return registry.load(home)
    except StateError as err:
        if at is not None:
            _log(home, at, str(err))
        return None


def _log(home: str, at: datetime, text: str) -> None:
    from hooks.log import log

    log(home, iso(at), "project", "", text)


def _of_folder(case: _Case) -> Project:
    try:
        place = binding.folder_place(case.folder)
    except OSError:
        return Project(cwd=case.cwd, evidence="the folder vanished")
    project_id, why = _local(case, place, None)
    if project_id:
        return _named(case, Project(cwd=case.cwd), project_id, why)
    why = ", ".join(part for part in ("no repository and no registered folder", why) if part)
    return Project(cwd=case.cwd, evidence=why)


def _of_repo(case: _Case, repo: Repo) -> Project:
    if not repo.common_dir:
        return Project(cwd=case.cwd, evidence="its .git file leads to no repository")
    gone = not os.path.isdir(case.cwd)
    found = Project(
        worktree=repo.worktree,
        common_dir=repo.common_dir,
        branch="" if gone else git_files.branch(repo.git_dir),
        cwd=case.cwd,
    )
    origin = git_files.origin(repo, case.env)
    remote = canonical_remote(origin.url)
    if remote:
        _observe(case, repo.common_dir, remote)
        found = found._replace(remote=remote)
        project_id, why = remote, "origin, as git rewrites it" if origin.rewritten else "origin"
        if case.wanted:
            why += f"; {binding.SETTING} does not override a remote"
    elif origin.unsure:
        project_id, why = UNKNOWN, "git does not answer what its origin is"
    else:
        kind = "an origin that names no server" if origin.url else "no origin"
        project_id, why = _local_repo(case, repo)
        why = f"{kind}; {why}"
    if gone:
        why += "; the folder is gone, this is its nearest parent"
    return _named(case, found, project_id or UNKNOWN, why)


def _local_repo(case: _Case, repo: Repo) -> Bound:
    try:
        place = binding.place_of(repo)
    except OSError:
        return binding.Bound("", "the repository vanished")
    return _local(case, place, repo)


def _local(case: _Case, place: Place, repo: Repo | None) -> Bound:
    """Find or make the registered id of a root; an empty id when there is none."""
    if case.known is None:
        return binding.Bound("", "projects.json is damaged")
    found = binding.known(case.known, place, case.wanted)
    late = found.project_id and case.known.local[found.project_id].get("unborn")
    if found.project_id and not (late and repo and git_files.has_commits(repo)):
        return _noted(case, found)
    if repo is None and not (case.wanted and os.path.isdir(case.cwd)):
        return _noted(case, found)
    if not case.register:
        return _noted(case, found if found.project_id else binding.Bound("", "not registered yet"))
    if repo is not None:
        born = git_files.has_commits(repo)
        roots = git_files.root_commits(repo, case.env) if born else ()
        place = place._replace(roots=roots, unborn=not born)
    try:
        at = iso(case.at)
        bound = registry.change(case.home, lambda now: binding.bind(now, place, at, case.wanted))
    except (StateError, OSError) as err:
        bound = binding.Bound("", f"it cannot be registered ({type(err).__name__})")
    return _noted(case, bound)


def _noted(case: _Case, found: Bound) -> Bound:
    why = "; ".join(part for part in (found.why, case.note) if part)
    return binding.Bound(found.project_id, why)


def _observe(case: _Case, common_dir: str, remote: str) -> None:
    """Keep what was seen, so that a later rename can be told; never at the price of the hook."""
    if not case.register or case.known is None or case.known.observed.get(common_dir) == remote:
        return
    try:
        registry.observe(case.home, common_dir, remote)
    except (StateError, OSError) as err:
        _log(case.home, case.at, f"the note of its remote: {err}")


def _named(case: _Case, found: Project, project_id: str, why: str) -> Project:
    final = apply_alias(project_id, case.known.aliases if case.known else {})
    if final != project_id:
        why += f"; alias of {project_id}"
    if case.known is None and found.remote:
        why += "; projects.json is damaged, aliases are not applied"
    name = binding.name_of(found.common_dir) if is_local(final) else ""
    return found._replace(id=final, label=name or label(final), evidence=why)


def renamed_from(home: str, project: Project) -> str:
    """Return the id that this repository had before and that no alias leads on; "" if none.

    Raises:
        StateError: projects.json is damaged.
    """
    if not project.common_dir:
        return ""
    known = registry.load(home)
    for former in registry.former_ids(known, project.common_dir):
        if apply_alias(former, known.aliases) != project.id:
            return former
    return ""


def register_folder(
    home: str,
    folder: str,
    project_id: str,
    *,
    env: Mapping[str, str] | None = None,
    at: datetime | None = None,
) -> str:
    """Bind ``local:<id>`` to a folder, or to the repository without a usable remote that it is in.

    Subfolders belong to it. Returns the path that was bound.

    Raises:
        StateError: no such folder, no such id, a repository with a remote, or a damaged registry.
        BoundElsewhere: the id has another root, and that still stands.
    """
    if not is_local(project_id):
        hint = "letters, digits, dot, dash and underscore after local:"
        raise registry.ProjectRefused(project_id, "is not local:<id>", hint)
    top = os.path.realpath(folder)
    if not os.path.isdir(top):
        raise StateError(top, "there is no such folder", hint="register a folder that exists")
    repo = git_files.find(top)
    place = binding.folder_place(top) if repo is None else _local_place(repo, env or {})
    stamp = "" if at is None else iso(at)
    registry.change(home, lambda now: binding.register(now, place, project_id, stamp))
    return place.folder or place.common_dir


def _local_place(repo: Repo, env: Mapping[str, str]) -> Place:
    if not repo.common_dir:
        raise StateError(repo.worktree, "its .git file leads to no repository")
    remote = canonical_remote(git_files.origin(repo, env).url)
    if remote:
        hint = f"it is {remote}; brainhooks project alias joins two projects"
        raise StateError(repo.worktree, "a remote is never overridden by a registration", hint=hint)
    roots = git_files.root_commits(repo, env)
    unborn = not git_files.has_commits(repo)
    return binding.place_of(repo)._replace(roots=roots, unborn=unborn)
