"""Installing into one settings file and taking it back: files, in an order that survives a kill."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from hooks.atomic import read, write
from hooks.errors import HookError
from hooks.home import resolve_home, user_home
from hooks.lock import held
from scripts import git_exclude, menu
from scripts.install_plan import (
    Record,
    before,
    encode_record,
    installed,
    is_current,
    original,
    parse_record,
    stanza,
)
from scripts.settings_edit import UnusableSettingsError
from scripts.settings_file import SettingsFileError, look, update
from scripts.swarm_v2.digest import sha256_hex, short_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BACKUP = ".brainhooks-backup"
WAIT_S = 10.0  # for another install or uninstall
LOCAL_SETTINGS = os.path.join(".claude", "settings.local.json")
_PROOF = "import sys, sqlite3; sys.exit(sys.version_info < (3, 11))"


class InstallError(HookError):
    def __init__(self, what: str, hint: str) -> None:
        self.what, self.hint = what, hint
        super().__init__(what)


class Target(NamedTuple):
    """One settings file and where we remember what we did to it."""

    path: str
    home: str
    project: str = ""  # the project's folder where the file belongs to one

    @property
    def record_path(self) -> str:
        name = short_digest(os.fsencode(self.path))
        return os.path.join(self.home, "installs", f"{name}.json")

    @property
    def menu_folder(self) -> str:
        return os.path.join(os.path.dirname(self.path), menu.FOLDER)

    @property
    def lock(self) -> str:
        return os.path.join(self.home, "locks", "installs")

    def record(self) -> Record | None:
        return parse_record(read(self.record_path))


class Change(NamedTuple):
    """What became of the file; ``old`` and ``new`` are None where there is no file."""

    old: bytes | None
    new: bytes | None
    backup: str = ""
    excluded: str = ""
    menu: menu.Step = menu.Step({})


def profile_folder(env: Mapping[str, str]) -> str:
    """Return the folder of the agent's profile: ``CLAUDE_CONFIG_DIR``, else ``~/.claude``."""
    named = env.get("CLAUDE_CONFIG_DIR", "")
    return os.path.abspath(named) if named else os.path.join(user_home(env), ".claude")


def user_target(env: Mapping[str, str]) -> Target:
    return Target(os.path.join(profile_folder(env), "settings.json"), resolve_home(env))


def project_target(env: Mapping[str, str], cwd: str) -> Target:
    """Return the target of the project that ``cwd`` lies in.

    That is ``CLAUDE_PROJECT_DIR``, else the nearest folder upwards with ``.git`` or ``.claude``,
    else ``cwd``: the agent reads local settings from the folder that it was started in.
    """
    folder = env.get("CLAUDE_PROJECT_DIR", "") or _project_folder(cwd, user_home(env))
    return Target(os.path.join(folder, LOCAL_SETTINGS), resolve_home(env), folder)


def _project_folder(cwd: str, home: str) -> str:
    folder = cwd
    while os.path.dirname(folder) != folder and folder != home:  # ~/.claude is no project's
        if any(os.path.lexists(os.path.join(folder, name)) for name in (".git", ".claude")):
            return folder
        folder = os.path.dirname(folder)
    return cwd


def real_interpreter() -> str:
    """Return the path of the interpreter behind this process: no shim, no virtual environment.

    Raises:
        InstallError: it does not start by itself, or its path is not text.
    """
    path = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
    try:
        path.encode("utf-8")
        subprocess.run([path, "-I", "-S", "-c", _PROOF], check=True, capture_output=True)
    except (OSError, ValueError, subprocess.CalledProcessError):
        what = f"the interpreter {path!r} does not start by itself, or lacks sqlite3"
        raise InstallError(what, "run this command with another Python 3.11 or newer") from None
    return path


def groups_for(target: Target, root: str) -> dict[str, Any]:
    """Return the hook groups that this clone or environment installs."""
    try:
        root.encode("utf-8")
    except UnicodeEncodeError:
        what = f"the folder {root!r} has a name that is not UTF-8, which JSON cannot hold"
        raise InstallError(what, "move the clone to a folder with another name") from None
    package = os.path.join(root, "hooks")
    bare = not os.path.isdir(os.path.join(package, "__pycache__"))
    pyc = os.path.join(target.home, "pyc") if bare and not os.access(package, os.W_OK) else ""
    return stanza(real_interpreter(), root, pyc)


def menu_for(target: Target, root: str) -> menu.Menu:
    """Return the slash commands that go with the hooks of this clone or environment."""
    record = f"{target.record_path.removesuffix('.json')}.menu.json"
    return menu.Menu(target.menu_folder, menu.texts(root, real_interpreter()), record)


def preview(target: Target, groups: dict[str, Any] | None, verbs: menu.Menu) -> Change:
    """Return what ``install`` (or, with None, ``uninstall``) would do now; nothing is touched.

    Raises:
        SettingsFileError: the file is one that we leave alone.
    """
    old = look(target.path).data
    step = menu.taking(verbs) if groups is None else menu.putting(verbs)
    try:
        return Change(old, _plan(target, groups)(old), menu=step)
    except UnusableSettingsError as err:
        hint = "repair it (the agent cannot read it either), then run this again"
        raise SettingsFileError(target.path, str(err), hint) from None


def _plan(target: Target, groups: dict[str, Any] | None) -> Callable[[bytes | None], bytes | None]:
    record = target.record()
    backup = read(record.backup) if record and record.backup else None

    def plan(old: bytes | None) -> bytes | None:
        if groups is None:
            return original(old, record, backup)
        if is_current(old, groups):
            return old
        return installed(original(old, record, backup), groups)

    return plan


def install(
    target: Target,
    groups: dict[str, Any],
    env: Mapping[str, str],
    verbs: menu.Menu | None = None,
) -> Change:
    """Put ``groups`` into the target's file and ``verbs`` into the menu; again is no change.

    A copy of what stood there, then the record, then the file: killed between any two, uninstall
    still knows what is ours.

    Raises:
        SettingsFileError: the file is one that we leave alone, or it never came to rest.
    """
    with held(target.lock, wait_s=WAIT_S):
        change = _install(target, groups, env)
        if verbs is None:
            return change
        step = menu.put(verbs, lambda paths: _hide(target, paths, env))
        return change._replace(menu=step)


def _hide(target: Target, paths: list[str], env: Mapping[str, str]) -> tuple[str, str]:
    if not target.project:
        return "", ""
    names = [os.path.relpath(path, target.project) for path in paths]
    return git_exclude.ignore(target.project, names, env)


def _install(target: Target, groups: dict[str, Any], env: Mapping[str, str]) -> Change:
    record = target.record()
    base_of = _plan(target, None)
    saved = ["", ""]

    def keep(old: bytes | None, new: bytes | None) -> None:
        base = base_of(old)
        backup = _back_up(target.path, base, record)
        made = record.made_folder if record else not os.path.isdir(os.path.dirname(target.path))
        os.makedirs(os.path.dirname(target.path), exist_ok=True)
        exclude = _exclude(target, backup, env, record)
        saved[:] = [backup, exclude[0]]
        digest = "" if base is None else sha256_hex(base)
        known = Record(
            target.path, sha256_hex(new or b""), digest, backup, before(base), made, *exclude
        )
        write(target.record_path, encode_record(known))

    old, new = update(target.path, _plan(target, groups), keep)
    backup, excluded = saved
    return Change(old, new, backup, excluded)


def _back_up(path: str, base: bytes | None, record: Record | None) -> str:
    """Copy ``base`` beside the file and return the copy's path; a copy of others is kept."""
    mine = record.backup if record else ""
    if base is None:
        return ""
    backup, number = path + BACKUP, 1
    while backup != mine and os.path.lexists(backup) and read(backup) != base:
        number += 1
        backup = f"{path}{BACKUP}-{number}"
    write(backup, base)
    return backup


def _exclude(
    target: Target, backup: str, env: Mapping[str, str], record: Record | None
) -> tuple[str, str]:
    if not target.project:
        return "", ""
    names = [LOCAL_SETTINGS, *([os.path.relpath(backup, target.project)] if backup else [])]
    path, lines = git_exclude.ignore(target.project, names, env)
    if record is not None and record.exclude_path:
        return record.exclude_path, record.exclude_lines + lines
    return path, lines


def uninstall(target: Target, verbs: menu.Menu | None = None) -> Change:
    """Take our entries out again: byte for byte what was there, where nobody edited since.

    Of the menu goes what is as we wrote it.

    Raises:
        SettingsFileError: as ``install``; then the copy and the record stay, too.
    """
    with held(target.lock, wait_s=WAIT_S):
        return _uninstall(target, verbs)


def _uninstall(target: Target, verbs: menu.Menu | None) -> Change:
    record = target.record()
    old, new = update(target.path, _plan(target, None))
    step = menu.Step({}) if verbs is None else menu.take(verbs, git_exclude.restore)
    if record is None:
        _remove_empty(os.path.dirname(target.record_path))
        return Change(old, new, menu=step)
    if record.backup:
        _remove(record.backup)
    if record.exclude_path:
        git_exclude.restore(record.exclude_path, record.exclude_lines)
    if record.made_folder:
        _remove_empty(os.path.dirname(target.path))
    _remove(target.record_path)
    _remove_empty(os.path.dirname(target.record_path))
    return Change(old, new, menu=step)


def _remove(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:  # somebody keeps something in it
        return
