"""What is worked on where, as a value. Pure."""

from __future__ import annotations

from hooks.payload import clean
from scripts.swarm_v2.digest import sha256_hex
from scripts.swarm_v2.wire_json import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from hooks.context.project import Project
    from hooks.settings import Swarm
else:
    from hooks.record import NamedTuple


class Scope(NamedTuple):
    """Where work is done; every part may be empty."""

    project_id: str = ""
    project: str = ""  # short name for people
    repo: str = ""
    worktree: str = ""
    cwd: str = ""
    remote: str = ""
    branch: str = ""
    swarm: str = ""
    task: str = ""
    task_revision: str = ""
    lane: str = ""


class Transition(NamedTuple):
    """From ``at`` on, until the next one, the session worked on this."""

    session_id: str
    sequence: int  # 1, 2, … without a gap or a double among writers that hold the lock
    at: str  # ISO 8601 with offset and microseconds, UTC
    transition_id: str
    project_id: str = ""
    project: str = ""
    repo: str = ""
    worktree: str = ""
    cwd: str = ""
    remote: str = ""
    branch: str = ""
    swarm: str = ""
    task: str = ""
    task_revision: str = ""
    lane: str = ""


def valid_session(session_id: str) -> bool:
    """Say whether it is ``[A-Za-z0-9][A-Za-z0-9._-]{0,127}``, so that it can name a file."""
    plain = session_id.replace("-", "0").replace("_", "0").replace(".", "0")
    return (
        0 < len(session_id) <= 128
        and session_id.isascii()
        and plain.isalnum()
        and session_id[0].isalnum()
    )


def scope_from(project: Project, swarm: Swarm) -> Scope:
    """Join what the folder says and what the environment says; every text can be hashed."""
    parts = (
        project.id,
        project.label,
        _repo_name(project),
        project.worktree,
        project.cwd,
        project.remote,
        project.branch,
        swarm.swarm,
        swarm.task,
        swarm.task_revision,
        swarm.lane,
    )
    return Scope(*map(clean, parts))


def _repo_name(project: Project) -> str:
    if project.remote:
        return project.remote.rpartition("/")[2]
    return project.label if project.common_dir else ""


def transition_id(session_id: str, at: str, scope: Scope) -> str:
    return sha256_hex(canonical([session_id, at, scope._asdict()]))
