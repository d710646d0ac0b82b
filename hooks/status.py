"""What ``brain_status`` knows: one function per piece, each allowed to fail alone.

Nothing is created, not even the home; a piece that cannot be read says so and the rest goes on.
"""

from __future__ import annotations

import os

from hooks.errors import HookError, StateError
from hooks.status_piece import Look, Piece, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from hooks.settings import Settings


def collect_status(
    settings: Settings, env: Mapping[str, str], at: datetime, cwd: str, session: str
) -> dict[str, Any]:
    """Return every piece by its name, with ``level`` and ``problems``; JSON can hold it all."""
    look = Look(settings, env, at, cwd, session)
    status: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, look_at in PIECES:
        piece = _piece(name, look_at, look)
        status[name] = dict(piece.data)
        problems += piece.problems
    levels = {problem.level for problem in problems}
    level = "red" if "red" in levels else "yellow" if levels else "green"
    said = [
        problem._asdict()
        for problem in sorted(dict.fromkeys(problems), key=lambda p: p.level != "red")
    ]
    refused = status["cache_scope_mismatches"].values()
    total = sum(number for number in refused if isinstance(number, int))
    return {"level": level, "problems": said, "cache_scope_mismatch_total": total, **status}


def _piece(name: str, look_at: Callable[[Look], Piece], look: Look) -> Piece:
    try:
        return look_at(look)
    except HookError as err:
        what, hint = str(err), err.hint
    except (OSError, ValueError) as err:
        what, hint = f"{name}: {err}", ""
    return Piece({"error": what}, (Problem("red", what, hint or "brainhooks doctor"),))


def exit_code(status: Mapping[str, Any]) -> int:
    """Return 0 for green, 1 when something needs a person."""
    return 0 if status["level"] == "green" else 1


def _installation(look: Look) -> Piece:
    from hooks.clock import iso
    from hooks.home import older_home
    from scripts.swarm_v2.installation import read

    home = look.settings.home
    older = older_home(look.env, home)
    data: dict[str, Any] = {"home": home, "id": None, "cutover": None}
    if older:
        data["older_home"] = older
    try:
        found = read(home)
    except ValueError as err:
        problem = Problem(
            "red",
            f"installation.json cannot be used, so nothing is kept or shown: {err}",
            f"put the file back from a backup of {home}; it is never replaced by itself",
        )
        return Piece(data, (problem, *_left_behind(older)))
    if found is not None:
        data |= {"id": found.installation_id, "cutover": iso(found.created_at)}
    return Piece(data, _left_behind(older))


def _left_behind(older: str) -> tuple[Problem, ...]:
    """Two homes are no fault; markers that wait where no hook looks any more are."""
    if not older:
        return ()
    from hooks.context.adopt import waiting

    number = waiting(older)
    if not number:
        return ()
    what = f"{number} undelivered files lie in another home, {older}, which is not this one's"
    return (Problem("yellow", what, f"brainhooks migrate --adopt {older}"),)


def _brain(look: Look) -> Piece:
    from hooks.context.brain_adapter import LOCAL_DATABASE, brain_id, brain_kind, place

    kind = brain_kind(look.settings)
    data: dict[str, Any] = {"kind": kind, "hash": brain_id(look.settings)}
    if kind in ("file", "http"):
        data["place"] = place(look.settings)
    if kind == "invalid":
        from hooks.status_folder import misplaced

        return Piece(data, (misplaced(look.settings, look.env),))
    if kind == "file" and _is_installed(look.settings.home):
        from hooks.status_folder import folder

        return folder(look, data, _health)
    if kind == "http":
        from hooks.status_service import service

        return service(look, data, str(_project(look).data["id"]))
    if kind == "local":
        path = os.path.join(look.settings.home, LOCAL_DATABASE)
        data["exists"] = os.path.exists(path)
        if data["exists"] and _is_installed(look.settings.home):
            data["health"] = _health(look)
        return _lost(look, data)
    return Piece(data)


def _lost(look: Look, data: Mapping[str, Any]) -> Piece:
    """Tell of memories that were delivered and that the brain's file does not hold."""
    from hooks.context.lost_records import count

    number = count(look.settings, look.env) if _is_installed(look.settings.home) else 0
    if not number:
        return Piece(data)
    what = f"the brain's file has lost {number} memories that it once had"
    todo = "brainhooks flush sends them again, as the next session does"
    return Piece({**data, "lost": number}, (Problem("yellow", what, todo),))


def _is_installed(home: str) -> bool:
    """Opening a brain needs the installation, and a status must not make one."""
    from scripts.swarm_v2.installation import read

    try:
        return read(home) is not None
    except ValueError:  # told by its own piece
        return False


def _health(look: Look) -> dict[str, object]:
    from hooks.context.brains import open_brain

    brain = open_brain(look.settings, look.env)
    try:
        health = dict(brain.health())
        if hasattr(brain, "counts"):
            health.update(brain.counts(str(_project(look).data["id"])))
        return health
    finally:
        brain.close()


def _project(look: Look) -> Piece:
    from hooks.context import registry
    from hooks.context.project import launch_folder, resolve

    folder = launch_folder(look.cwd, look.env)
    found = resolve(folder, look.settings, look.env, look.at, register=False)
    data = {"id": found.id, "label": found.label, "evidence": found.evidence}
    try:
        registry.load(look.settings.home)
    except StateError as err:
        return Piece(data, (Problem("yellow", str(err), err.hint),))
    return Piece(data)


def _memory(look: Look) -> Piece:
    from hooks.context import switch

    switches = switch.load(look.settings.home)
    if switches.damaged:
        path = switch.path(look.settings.home)
        what = f"{path} cannot be read ({switches.damaged}), so memory is off for everything"
        problem = Problem("red", what, "repair or remove the file")
        return Piece({"on": False, "off": None, "damaged": switches.damaged}, (problem,))
    stretch = switches.off(look.at, str(_project(look).data["id"]), look.session)
    return Piece({"on": stretch is None, "off": stretch._asdict() if stretch else None})


def _state(look: Look) -> Piece:
    from hooks.status_state import state

    return state(look)


def _controls(look: Look) -> Piece:
    from hooks.status_state import controls

    return controls(look)


def _guards(look: Look) -> Piece:
    return Piece(look.settings.guards._asdict())


def _outbox(look: Look) -> Piece:
    from hooks.status_outbox import outbox

    return outbox(look)


def _receipts(look: Look) -> Piece:
    from hooks.status_receipts import receipts

    return receipts(look.settings.home)


def _caches(look: Look) -> Piece:
    from hooks.clock import from_epoch, iso
    from hooks.context.project_cache import FOLDER
    from hooks.status_outbox import files

    newest: dict[str, dict[str, Any]] = {}
    for name, written in sorted(files(os.path.join(look.settings.home, FOLDER)).items()):
        if not name.startswith("k2-"):
            continue
        row = newest.setdefault(name[3:].rpartition("-")[0], {"count": 0, "newest": 0.0})
        row["count"] += 1
        row["newest"] = max(row["newest"], written)
    for row in newest.values():
        row["age_s"] = max(0, int(look.at.timestamp() - row["newest"]))
        row["newest"] = iso(from_epoch(row["newest"]))
    return Piece(newest)


def _mismatches(look: Look) -> Piece:
    from hooks.context.project_cache import cache_scope_mismatches

    kinds = cache_scope_mismatches(look.settings.home)
    return Piece(kinds)


def _events(look: Look) -> Piece:
    from hooks.status_log import last_runs

    return Piece(last_runs(look.settings.home))


def _log(look: Look) -> Piece:
    from hooks.status_log import logged

    return Piece(logged(look.settings.home, look.at))


def _sessions(look: Look) -> Piece:
    from hooks.status_receipts import sessions

    return sessions(look.settings.home)


def _transcripts(look: Look) -> Piece:
    from hooks.status_transcripts import transcripts

    return Piece(transcripts(look.settings.home))


def _archive(look: Look) -> Piece:
    from hooks.status_archive import archive

    return archive(look.settings, look.env)


def _migration(look: Look) -> Piece:
    from hooks.context.ledger_notes import damaged, migrations_path, steps

    home = look.settings.home
    problems: tuple[Problem, ...] = ()
    if damaged(home) is not None:
        what = f"{migrations_path(home)} is damaged; what can be read of it still counts"
        todo = "brainhooks migrate puts it aside and writes a whole one"
        problems = (Problem("yellow", what, todo),)
    return Piece({"steps": steps(home)}, problems)


# A row is a piece of the status, in the order it is shown.
PIECES: tuple[tuple[str, Callable[[Look], Piece]], ...] = (
    ("installation", _installation),
    ("brain", _brain),
    ("project", _project),
    ("memory", _memory),
    ("state", _state),
    ("controls", _controls),
    ("guards", _guards),
    ("outbox", _outbox),
    ("receipts", _receipts),
    ("caches", _caches),
    ("cache_scope_mismatches", _mismatches),
    ("events", _events),
    ("log", _log),
    ("sessions", _sessions),
    ("transcripts", _transcripts),
    ("archive", _archive),
    ("migration", _migration),
)


def render(status: Mapping[str, Any], *, verbose: bool = False) -> str:
    """Write the status for a person; see ``hooks.status_text``."""
    from hooks.status_text import render as text

    return text(status, verbose=verbose)
