"""Where git keeps what branch a working copy is on."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.project import Project


def head_file(project: Project) -> str:
    """Return the path of the working copy's HEAD; "" outside a repository."""
    if not project.worktree:
        return ""
    from hooks.context.git_files import find

    repo = find(project.worktree)
    return os.path.join(repo.git_dir, "HEAD") if repo is not None and repo.git_dir else ""
