"""The archive's piece of the status: what is saved, and what the agent still has to lose."""

from __future__ import annotations

import os

from hooks.status_piece import Piece, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hooks.settings import Settings


def archive(settings: Settings, env: Mapping[str, str]) -> Piece:
    """Count by names and ``stat`` alone: no transcript and no manifest is opened."""
    from hooks.clock import from_epoch, iso
    from hooks.context.archiving import FOLDER, census, still_damaged

    there = census(env)
    damaged = still_damaged(settings.home)
    data = {
        "saved": _saved(os.path.join(settings.home, FOLDER)),
        "automatic": settings.archive,
        "transcripts": there.number,
        "bytes": there.size,
        "oldest": iso(from_epoch(there.oldest)) if there.number else None,
        "more": there.more,
        "damaged": damaged,
    }
    if not damaged:
        return Piece(data)
    are = "file of the archive is" if len(damaged) == 1 else "files of the archive are"
    more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
    what = f"{len(damaged)} {are} damaged or missing: {damaged[0]}{more}"
    todo = "brainhooks archive verify names each and says what to do"
    return Piece(data, (Problem("yellow", what, todo),))


def _saved(folder: str) -> int:
    try:
        return sum(name.endswith(".json") for name in os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return 0


def describe(data: Mapping[str, Any]) -> str:
    """Write the line; where nothing is saved yet it is an offer. "" where there is nothing."""
    from hooks.context.archiving import RETENTION_D
    from hooks.verbs.wording import count, day, size

    if data["saved"]:
        kept = f"{count(data['saved'], 'session')} saved"
        return kept + (
            ", each as it stops" if data["automatic"] else "; later ones: `archive --all`"
        )
    if not data["transcripts"]:
        return ""
    more = "more than " if data["more"] else ""
    there = f"{more}{count(data['transcripts'], 'transcript')}, {size(data['bytes'])}"
    return (
        f"none saved; the agent has {there}, the oldest of {day(data['oldest'])}, and deletes them"
        f" after {RETENTION_D} days: `archive --all` saves them"
    )
