"""What ``install`` writes into the agent's settings, and what ``uninstall`` gives back.

No I/O but reading ``hooks/hooks.json``: the events and timeouts stand there and nowhere else.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from scripts.settings_edit import (
    add_groups,
    containers,
    decode,
    our_groups,
    read_root,
    remove_ours,
)
from scripts.swarm_v2.digest import sha256_hex

# Ends every command of ours. The shell ignores it; it names the owner to a reader of the file,
# and ``uninstall`` knows our entries by it whatever clone or interpreter they name.
MARK = "# brainhooks"


class Record(NamedTuple):
    """What an install remembers beside the home, so that uninstall can be exact."""

    path: str  # the settings file, as it was named
    written: str  # SHA-256 of what we wrote
    base: str  # SHA-256 of what stood there, "" where no file did
    backup: str  # path of the copy of what stood there, "" where no file did
    containers: dict[str, str | None]  # settings_edit.containers of what stood there
    made_folder: bool = False
    exclude_path: str = ""  # git's exclude file, where lines were added to it
    exclude_lines: str = ""


_TEXTS = ("path", "written", "base", "backup", "exclude_path", "exclude_lines")


def encode_record(record: Record) -> bytes:
    document = {"schema_version": "1", **record._asdict()}
    return json.dumps(document, indent=2).encode("ascii") + b"\n"


def parse_record(data: bytes | None) -> Record | None:
    """Read a record; None for an absent or damaged one (then only our own entries are removed)."""
    try:
        raw = json.loads(data or b"")
        texts = {name: raw[name] for name in _TEXTS}
        record = Record(
            **texts,
            containers=dict(raw["containers"]),
            made_folder=raw["made_folder"] is True,
        )
    except (ValueError, KeyError, TypeError):
        return None
    return record if all(isinstance(text, str) for text in texts.values()) else None


def is_ours(command: str) -> bool:
    return command.rstrip().endswith(MARK)


def shell_word(path: str) -> str:
    """Quote ``path`` for /bin/sh; backslashes of a Windows path, which it would eat, are turned."""
    if re.match(r"[A-Za-z]:\\|\\\\", path):
        path = path.replace("\\", "/")
    return shlex.quote(path)


def command(python: str, root: str, event: str, pyc: str = "") -> str:
    """Return the start command for ``event``.

    ``|| exit 1``: Python exits 2 when the script is gone and the shell 127 when Python is; the
    agent reads 2 as a refusal and would block every prompt because of a removed clone.
    """
    prefix = f"-X {shell_word('pycache_prefix=' + pyc)} " if pyc else ""
    entry = shell_word(f"{root}/hooks/__main__.py")
    return f"{shell_word(python)} -I -S {prefix}{entry} {event} || exit 1 {MARK}"


def stanza(python: str, root: str, pyc: str = "") -> dict[str, Any]:
    """Return one hook group per event, events and timeouts as in ``hooks/hooks.json``."""
    text = Path(root, "hooks", "hooks.json").read_text(encoding="utf-8")
    groups = {}
    for event, [group] in json.loads(text)["hooks"].items():
        entry = {**group["hooks"][0], "command": command(python, root, event, pyc)}
        groups[event] = {**group, "hooks": [entry]}
    return groups


def original(data: bytes | None, record: Record | None, backup: bytes | None) -> bytes | None:
    """Return what the settings are without us: byte for byte, or without our entries.

    The bytes of before come back where nobody edited since. None: there would be no file.

    Raises:
        UnusableSettingsError: the text cannot be edited.
    """
    if data is None:
        return None
    if record is not None and sha256_hex(data) == record.written:
        if not record.base:
            return None
        if backup is not None and sha256_hex(backup) == record.base:
            return backup
    text = decode(data)
    rest = remove_ours(text, is_ours, record.containers if record else None)
    if record is not None and not record.base and not read_root(rest).members:
        return None
    return rest.encode()


def installed(base: bytes | None, groups: dict[str, Any]) -> bytes:
    """Return ``base`` with our groups added."""
    text = decode(base) if base is not None else "{}\n"
    return add_groups(text, groups).encode()


def is_current(data: bytes | None, groups: dict[str, Any]) -> bool:
    """Say whether the settings hold exactly these entries of ours already, each for these tools."""
    if data is None:
        return False
    return our_groups(decode(data), is_ours) == {event: [group] for event, group in groups.items()}


def before(base: bytes | None) -> dict[str, str | None]:
    return containers(decode(base)) if base is not None else {"/": ""}
