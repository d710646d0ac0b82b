"""Keeping a file of ours out of ``git status`` without touching the work tree.

The lines go into ``info/exclude`` of the repository, which is never committed. (The client itself
writes its own rule into the person's global ignore file, but only after a terminal session.)
"""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from hooks.atomic import read, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TIMEOUT_S = 10


def ignore(folder: str, names: Sequence[str], env: Mapping[str, str]) -> tuple[str, str]:
    """Exclude those of ``names`` (relative to ``folder``) that git would show as untracked.

    Returns the exclude file and the lines added; two empty texts where nothing was to be done:
    no repository, no git, or every name ignored or tracked already.
    """
    lines = ""
    place = _git(folder, env, "rev-parse", "--show-prefix", "--git-path", "info/exclude")
    if place is None:
        return "", ""
    prefix, _, exclude = place.removesuffix("\n").partition("\n")
    for name in names:
        listed = _git(folder, env, "ls-files", "--error-unmatch", "--", name)
        ignored = _git(folder, env, "check-ignore", "-q", "--", name)
        if listed is None and ignored is None:
            lines += "/" + _literal(prefix + name) + "\n"
    if not lines:
        return "", ""
    path = os.path.join(folder, exclude)
    old = read(path) or b""
    if old and not old.endswith(b"\n"):
        lines = "\n" + lines
    if b"\r\n" in old:  # its line ends stay as they are; git reads both
        lines = lines.replace("\n", "\r\n")
    _replace(path, old + os.fsencode(lines))
    return path, lines


def restore(path: str, lines: str) -> None:
    """Take ``lines`` out of the exclude file again; every other line stays."""
    old = read(path)
    if old is None:
        return
    added = os.fsencode(lines)
    rest = old.removesuffix(added)
    for line in added.splitlines() if rest == old else ():
        if line:
            whole = (
                rb"(?m)^" + re.escape(line) + rb"(\r?\n|\Z)"
            )  # an editor may have changed its end
            rest = re.sub(whole, b"", rest, count=1)
    if rest != old:
        _replace(path, rest)


def _replace(path: str, data: bytes) -> None:
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o644
    write(path, data)
    os.chmod(path, mode)


def _literal(path: str) -> str:
    """Write ``path`` so that a git pattern takes every character as itself."""
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)


def _git(folder: str, env: Mapping[str, str], *args: str) -> str | None:
    # GIT_DIR and its kin would answer for another repository than this folder's.
    clean = {name: value for name, value in env.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", folder, *args],
            env=clean,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None
