"""Prove that there is nothing to do, before loading anything.

Every answer is conservative: True only where the files on disk prove it. The full path uses
the same marks, so a wrong True here would be a wrong answer there too.
"""

from __future__ import annotations

import os

from scripts.swarm_v2.wire_json import load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.payload import Event

VERB_PREFIX = "/brainhooks:"
HINT = "!-- @"  # every marker's opener holds it, escaped in JSON or not
STEPS_KNOWN = 2  # how many upgrade steps this version has (hooks.context.migrations.STEPS)


def nothing_to_do(event: Event, home: str) -> bool:
    """Say whether ``event`` needs no work; also notes that the event ran."""
    try:
        os.utime(os.path.join(home, "brain", "last-run", event.name))
    except OSError:
        return False  # first run of this event here: let the full path make the folders
    check = _CHECKS.get(event.name)
    return check is not None and check(event, home)


def signature(path: str) -> str:
    """Return what changes when the file at ``path`` is replaced or grows; ``-`` if absent.

    A path that ends in a slash means the pages in a file brain's folder.
    """
    if path.endswith("/"):
        from hooks.context.brains.folder_print import folder_print

        return folder_print(path)
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return "-"
    return f"{info.st_dev}.{info.st_ino}.{info.st_size}.{info.st_mtime_ns}"


def read_note(path: str) -> dict[str, object]:
    """Return a small JSON object of ours, or {} where it is absent or damaged."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except (OSError, ValueError):
        return {}
    try:
        return load_object(os.read(fd, 65536)) or {}
    except OSError:
        return {}
    finally:
        os.close(fd)


def unchanged(watch: object) -> bool:
    """Say whether every file in ``{path: signature}`` is as it was."""
    return isinstance(watch, dict) and all(signature(path) == was for path, was in watch.items())


def door_note(home: str, session_id: str) -> str:
    """Path of what a session was last told; only for ids that are safe as a file name."""
    return os.path.join(home, "brain", "door", f"{session_id}.json")


def migrated_note(home: str) -> str:
    """Path of what says that every upgrade step of this version ran here; may be deleted."""
    return os.path.join(home, "brain", f"migrated-{STEPS_KNOWN}")


def _prompt(event: Event, home: str) -> bool:
    if event.prompt.lstrip().startswith(VERB_PREFIX) or not _plain(event.session_id):
        return False
    return unchanged(read_note(door_note(home, event.session_id)).get("watch"))


def _stop(event: Event, home: str) -> bool:
    if HINT in event.last_assistant_message or not event.transcript_path:
        return False
    from hooks.context.marks import nothing_new

    return nothing_new(home, event.transcript_path) and _outbox_is_empty(home)


def _display(event: Event, _home: str) -> bool:
    """A whole message without an opener; flushes of a longer one depend on each other."""
    return HINT not in event.delta and event.final and event.index == 0


def _outbox_is_empty(home: str) -> bool:
    try:
        return not any(name.endswith(".json") for name in os.listdir(f"{home}/brain-outbox"))
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _plain(session_id: str) -> bool:
    return session_id.replace("-", "").replace("_", "").isalnum() and session_id.isascii()


_CHECKS: dict[str, Callable[[Event, str], bool]] = {
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "PreCompact": _stop,
    "MessageDisplay": _display,
}
