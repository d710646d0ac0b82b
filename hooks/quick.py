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
# What a person may also type, alone, in place of a verb.
_WORDS = {"disable controls": "controls off", "enable controls": "controls on"}
_SPOKEN = 64  # characters of a prompt that may be such words
HINT = "!-- @"  # every marker's opener holds it, escaped in JSON or not
STEPS_KNOWN = 4  # how many upgrade steps this version has (hooks.context.migrations.STEPS)


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


def tools_note(home: str, session_id: str) -> str:
    """Path of what a session's tool events need not be looked at for (``tool_watch``)."""
    return os.path.join(home, "brain", "door", f"{session_id}.tools.json")


def reads_note(home: str, session_id: str) -> str:
    """Path of what is there while a session's reads are noted (``read_cache``)."""
    return os.path.join(home, "brain", "door", f"{session_id}.reads")


def migrated_note(home: str) -> str:
    """Path of what says that every upgrade step of this version ran here; may be deleted."""
    return os.path.join(home, "brain", f"migrated-{STEPS_KNOWN}")


def served_note(home: str) -> str:
    """Path of what is written last whenever the server door has served an event."""
    return os.path.join(home, "brain", "served")


def verb_line(prompt: str) -> str:
    """Return a prompt that is a person's verb as ``/brainhooks:<verb> …``; "" for any other."""
    if prompt.lstrip().startswith(VERB_PREFIX):
        return prompt.lstrip()
    return VERB_PREFIX + words if (words := _WORDS.get(_spoken(prompt))) else ""


def _spoken(prompt: str) -> str:
    """Return a short prompt in small letters, single blanks, without a full stop at its end."""
    said = prompt.strip().lower()
    if len(said) > _SPOKEN:
        return ""
    said = said[:-1] if said.endswith((".", "!")) else said
    return " ".join(word for word in said.split(" ") if word)


def _prompt(event: Event, home: str) -> bool:
    if verb_line(event.prompt) or not _plain(event.session_id):
        return False
    watch = read_note(door_note(home, event.session_id)).get("watch")
    return unchanged(watch) and _stands(event, read_note(tools_note(home, event.session_id)))


def _stop(event: Event, home: str) -> bool:
    if HINT in event.last_assistant_message or not event.transcript_path:
        return False
    from hooks.context.marks import nothing_new

    return nothing_new(home, event.transcript_path) and _outbox_is_empty(home)


def _compact(event: Event, home: str) -> bool:
    """As a stop, and no read is noted that has to be forgotten."""
    return _stop(event, home) and not os.path.lexists(reads_note(home, event.session_id))


def _display(event: Event, _home: str) -> bool:
    """A whole message without an opener; flushes of a longer one depend on each other."""
    return HINT not in event.delta and event.final and event.index == 0


def _tool(event: Event, home: str) -> bool:
    """Nothing that is watched moved, and no guard cares for this tool now."""
    if not _plain(event.session_id):
        return False
    note = read_note(tools_note(home, event.session_id))
    cares = note.get("cares")
    if not isinstance(cares, list) or not _stands(event, note):
        return False
    if f"{event.name}:{event.tool_name}" in cares or f"{event.name}:*" in cares:
        return False
    return event.name == "PreToolUse" or not _may_tell(event, note)


def _stands(event: Event, note: dict[str, object]) -> bool:
    """Say whether the event's folder is one that was looked at, and its branch what it was."""
    folders = note.get("folders")
    head = folders.get(event.cwd) if isinstance(folders, dict) else None
    if not isinstance(head, str) or not unchanged(note.get("watch")):
        return False
    was, _, path = head.partition(" ")
    return not head or signature(path) == was


def _may_tell(event: Event, note: dict[str, object]) -> bool:
    command = event.tool_input.get("command")
    uses_git = note.get("git") is True and isinstance(command, str) and "git" in command
    return uses_git or may_be_request(event)


def may_be_request(event: Event) -> bool:
    """Say whether the tool may have opened or merged a pull request."""
    if event.tool_name.endswith(("_pull_request", "_merge_request")):
        return True
    command = event.tool_input.get("command")
    if not isinstance(command, str) or not ("gh" in command or "glab" in command):
        return False
    return any(verb in command for verb in _TELLING)


# A command without one of these opens or merges no pull request.
_TELLING = ("create", "new", "merge", "accept")


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
    "PreCompact": _compact,
    "MessageDisplay": _display,
    "PreToolUse": _tool,
    "PostToolUse": _tool,
}
