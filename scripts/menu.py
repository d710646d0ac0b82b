"""The agent's menu: a file per verb in ``commands/brainhooks``, which makes ``/brainhooks:<verb>``.

The agent knows no slash command without a file and runs no hook for one that it does not know.
The plugin brings its own files; an installation in the settings has to write them.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from hooks.atomic import read, write
from scripts.install_plan import shell_word
from scripts.swarm_v2.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = os.path.join("commands", "brainhooks")
_PLUGIN_START = 'python3 -I -S "${CLAUDE_PLUGIN_ROOT}/hooks/__main__.py"'
_PLUGIN_TOOL = "Bash(python3:*)"


class Menu(NamedTuple):
    """Where the files belong, what they say, and where we remember that they are ours."""

    folder: str
    texts: dict[str, bytes]
    record_path: str


class Step(NamedTuple):
    """What is to be done; ``kept`` are files that somebody else wrote or edited."""

    write: dict[str, bytes]
    remove: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class Record(NamedTuple):
    files: dict[str, list[str]]  # path -> SHA-256 of what we wrote there, latest last
    made: list[str]  # folders that were not there before, the inner one first
    exclude_path: str = ""
    exclude_lines: str = ""


def texts(root: str, python: str) -> dict[str, bytes]:
    """Return the menu's files by name: the plugin's, naming this interpreter and this folder."""
    folder = next(
        path
        for path in (os.path.join(root, "commands"), os.path.join(root, "hooks", "commands"))
        if os.path.isdir(path)  # the clone's, else the wheel's
    )
    word = shell_word(python)
    start = f"{word} -I -S {shell_word(os.path.join(root, 'hooks', '__main__.py'))}"
    tool = f"Bash({word}:*)" if re.fullmatch(r"[\w./+-]+", word) else "Bash"
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read().replace(_PLUGIN_START, start).replace(_PLUGIN_TOOL, tool)
        found[name] = text.encode()
    return found


def putting(menu: Menu) -> Step:
    """Plan to write what is missing or older; what we did not write is kept."""
    record = load(menu.record_path)
    new, kept = {}, []
    for name, text in menu.texts.items():
        path = os.path.join(menu.folder, name)
        there = read(path)
        if there is None or (there != text and _is_ours(record, path, there)):
            new[path] = text
        elif there != text:
            kept.append(path)
    return Step(new, _gone(menu, record), tuple(kept))


def _gone(menu: Menu, record: Record) -> tuple[str, ...]:
    """Return what an older version wrote and this one has no verb for."""
    wanted = {os.path.join(menu.folder, name) for name in menu.texts}
    old = [path for path in record.files if path not in wanted]
    return tuple(path for path in old if _is_ours(record, path, read(path)))


def taking(menu: Menu) -> Step:
    """Plan to remove every file that is as we wrote it."""
    record = load(menu.record_path)
    mine = {os.path.join(menu.folder, name): text for name, text in menu.texts.items()}
    found = {path: read(path) for path in {**record.files, **mine}}
    there = {path: data for path, data in found.items() if data is not None}
    ours = [p for p, data in there.items() if _is_ours(record, p, data) or data == mine.get(p)]
    kept = [path for path in there if path not in ours and path in record.files]
    return Step({}, tuple(sorted(ours)), tuple(sorted(kept)))


def _is_ours(record: Record, path: str, data: bytes | None) -> bool:
    return data is not None and sha256_hex(data) in record.files.get(path, ())


def put(menu: Menu, exclude: Callable[[list[str]], tuple[str, str]]) -> Step:
    """Write the files, the record of them first; ``exclude`` hides paths from git.

    Killed between the two, the record names what may be there: nothing of ours is left over.
    """
    step, record = putting(menu), load(menu.record_path)
    if not step.write and not step.remove:
        return step
    fresh = not os.path.isdir(menu.folder)
    made = [path for path in (menu.folder, os.path.dirname(menu.folder)) if not os.path.isdir(path)]
    where, lines = exclude([menu.folder] if fresh else sorted(step.write))
    files = {path: shas for path, shas in record.files.items() if path not in step.remove}
    for path, text in step.write.items():
        files[path] = [*files.get(path, ())[-1:], sha256_hex(text)]
    known = Record(
        files,
        record.made + [path for path in made if path not in record.made],
        record.exclude_path or where,
        record.exclude_lines + lines,
    )
    write(menu.record_path, json.dumps({"schema_version": "1", **known._asdict()}).encode())
    os.makedirs(menu.folder, exist_ok=True)
    for path, text in step.write.items():
        write(path, text)
    _unlink(step.remove)
    return step


def take(menu: Menu, restore: Callable[[str, str], None]) -> Step:
    """Remove what is as we wrote it, the folders that we made if they are empty, and the record."""
    step, record = taking(menu), load(menu.record_path)
    _unlink(step.remove)
    for folder in record.made or [menu.folder]:
        _remove_empty(folder)
    if record.exclude_path:
        restore(record.exclude_path, record.exclude_lines)
    _unlink((menu.record_path,))
    return step


def load(path: str) -> Record:
    """Read the record; an empty one for an absent or damaged one."""
    try:
        raw = json.loads(read(path) or b"")
        files = {str(name): [str(sha) for sha in shas] for name, shas in raw["files"].items()}
        made = [str(folder) for folder in raw["made"]]
        return Record(files, made, str(raw["exclude_path"]), str(raw["exclude_lines"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Record({}, [])


def _unlink(paths: tuple[str, ...]) -> None:
    for path in paths:
        if os.path.lexists(path):
            os.unlink(path)


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:  # somebody keeps something in it, or it is gone
        return
