"""Checks of what the hooks run on: interpreters, SQLite, git, other packages of our names."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING

from scripts.doctor import Finding
from scripts.doctor.agent import our_entries, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.doctor import Look

DISTRIBUTION = "brainhooks"
REDIS_PY = "redis>=6.2"  # as pyproject.toml has it
PACKAGES = ("hooks", "scripts")
_TIMEOUT_S = 20
_PROOF = """
import os, sys
if sys.version_info < (3, 11): print("is older than Python 3.11"); sys.exit()
try:
    import sqlite3
    sqlite3.connect(":memory:").execute("create virtual table t using fts5(x)")
except ImportError: print("was built without sqlite3"); sys.exit()
except sqlite3.Error: print("has a SQLite without FTS5"); sys.exit()
base = getattr(sys, "_base_executable", "") or sys.executable
print(os.path.realpath(base))
"""
_PACKAGES_OF = """
import os, sys, sysconfig
if not os.access(sysconfig.get_path("purelib"), os.W_OK): print("not ours")
marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
if sys.prefix == sys.base_prefix and os.path.exists(marker): print("managed")
"""


def entries(look: Look) -> Iterator[Finding]:
    """Each installed entry names an interpreter and a script that must both be there."""
    reinstall = "brainhooks install, from the Python and the clone that shall be used"
    for path in look.settings_files:
        option = "" if path == look.settings_files[-1] else " --project"
        todo = reinstall.replace("install,", f"install{option},")
        for python, script in sorted(_started(path)):
            if not os.path.isfile(script):
                what = f"{path} starts {script}, which is gone"
                yield Finding("fail", what, f"{todo}; or brainhooks uninstall{option}")
            trouble = interpreter_trouble(python)
            if trouble:
                yield Finding("fail", f"{path} starts {python}, which {trouble}", todo)


def _started(path: str) -> set[tuple[str, str]]:
    pairs = set()
    for command in our_entries(read_settings(path)).values():
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            continue
        scripts = [word for word in words if word.endswith("/hooks/__main__.py")]
        if scripts:
            pairs.add((words[0], scripts[0]))
    return pairs


def remembered(look: Look) -> Iterator[Finding]:
    """The plugin's launcher keeps the interpreter that it found."""
    for path, python in _remembered(look):
        if python == "none":
            what = "the plugin found no Python 3.11 or newer with sqlite3"
            yield Finding("fail", what, "install one (apt install python3), start a new session")
        elif trouble := interpreter_trouble(python):
            what = f"the plugin's interpreter {python} {trouble}"
            yield Finding("warn", what, f"remove {path}; the next session looks for another")


def _remembered(look: Look) -> Iterator[tuple[str, str]]:
    """Yield where the launcher keeps an interpreter, and which: "none" where it found none."""
    data = os.path.join(look.profile, "plugins", "data")
    try:
        folders = sorted(name for name in os.listdir(data) if name.startswith(DISTRIBUTION))
    except OSError:
        return
    for folder in folders:
        path = os.path.join(data, folder, "python")
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                yield path, file.readline().rstrip("\n")
        except OSError:
            continue


def starters(look: Look) -> list[str]:
    """Return the interpreters that run the hooks, by settings and by the plugin's launcher."""
    found = {python for path in look.settings_files for python, _ in _started(path)}
    found |= {python for _, python in _remembered(look) if python != "none"}
    return sorted(one for one in found if not interpreter_trouble(one))


def has_package(python: str, name: str) -> bool:
    """Say whether ``python`` imports ``name`` as our processes do: with its own packages."""
    words = [python, "-I", "-c", f"import {name}"]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def install_command(python: str) -> str:
    """Return what installs redis-py for ``python`` where our processes look.

    They do not look in a user's own packages, where pip puts what it may put nowhere else; and
    where a system manages them, pip wants a word.
    """
    said = subprocess.run(
        [python, "-I", "-c", _PACKAGES_OF],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    sudo = "sudo " if b"not ours" in said.stdout else ""
    word = "--break-system-packages " if b"managed" in said.stdout else ""
    return f"{sudo}{shlex.quote(python)} -m pip install {word}'{REDIS_PY}'"


def interpreter_trouble(python: str) -> str:
    """Return what is wrong with ``python``, as the end of a sentence; "" when it serves."""
    if not os.path.isabs(python):
        return "is not an absolute path"
    if not os.path.isfile(python) or not os.access(python, os.X_OK):
        return "is gone"
    try:
        done = subprocess.run(
            [python, "-I", "-S", "-c", _PROOF],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        return f"does not start ({type(err).__name__})"
    said = os.fsdecode(done.stdout).strip()
    if done.returncode or not said:
        return "does not start"
    if not said.startswith(os.sep):
        return said
    with open(python, "rb") as file:
        script = file.read(2) == b"#!"
    return f"is a shim of {said} and slows down every event" if script else ""


def this_interpreter(_: Look) -> Iterator[Finding]:
    """The command line's own interpreter; the hooks may run on another."""
    from scripts.installer import InstallError, real_interpreter

    try:
        python = real_interpreter()
    except InstallError as err:
        yield Finding("fail", str(err), err.hint)
        return
    trouble = interpreter_trouble(python)
    if trouble:
        yield Finding("fail", f"{python} {trouble}", "use another Python 3.11 or newer")
    else:
        yield Finding("ok", f"{python} has what the hooks need")


def git(look: Look) -> Iterator[Finding]:
    """Most remotes are read from git's own files; rewritten URLs and root commits need git."""
    if shutil.which("git", path=look.env.get("PATH", os.defpath)) is None:
        todo = "install git, so that projects without a plain remote keep one identity"
        yield Finding("warn", "git is not on the PATH", todo)


def other_packages(_: Look) -> Iterator[Finding]:
    """``hooks`` and ``scripts`` are common names; another package may have overwritten ours."""
    owners = packages_distributions()
    for package in PACKAGES:
        others = {
            name
            for name in owners.get(package, ())
            if re.sub(r"[-_.]+", "-", name).lower() != DISTRIBUTION
        }
        if others:
            what = f"{', '.join(sorted(others))} also installs a package named {package!r}"
            todo = "install brainhooks by itself: pipx install brainhooks, or the plugin"
            yield Finding("warn", what, todo)
