"""Where an installation lives."""

from __future__ import annotations

import os
import sys

from hooks.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def resolve_home(env: Mapping[str, str]) -> str:
    """Return the absolute path of the agentihooks home; nothing is created.

    ``AGENTIHOOKS_HOME``; else ``<CLAUDE_CONFIG_DIR>/agentihooks`` (two profiles are two
    installations); else ``~/.agentihooks`` where it exists; else the platform's user data
    folder for ``agentihooks``, exactly as ``platformdirs`` names it.

    Raises:
        SettingsError: ``AGENTIHOOKS_HOME`` is not absolute, or nothing says where: no variable,
            and a user without a home folder.
    """
    explicit = env.get("AGENTIHOOKS_HOME", "")
    if explicit:
        path = _expand(explicit, env)
        if not os.path.isabs(path):  # it would be another folder in every project
            raise SettingsError("AGENTIHOOKS_HOME", explicit, wants="the absolute path of a folder")
        return os.path.abspath(path)
    profile = env.get("CLAUDE_CONFIG_DIR", "")
    if profile:
        return os.path.join(os.path.abspath(_expand(profile, env)), "agentihooks")
    user = user_home(env)
    older = os.path.join(user, ".agentihooks")
    return older if os.path.isdir(older) else _data_folder(user, env)


def older_home(env: Mapping[str, str], home: str) -> str:
    """Return ``~/.agentihooks`` where a profile's own ``home`` stands beside it, else "".

    It was the home before ``CLAUDE_CONFIG_DIR`` was set, or is another profile's; who names a
    home by ``AGENTIHOOKS_HOME`` knows which one they mean.
    """
    if env.get("AGENTIHOOKS_HOME") or not env.get("CLAUDE_CONFIG_DIR"):
        return ""
    try:
        older = os.path.join(user_home(env), ".agentihooks")
    except SettingsError:
        return ""
    other = os.path.isdir(older) and os.path.realpath(older) != os.path.realpath(home)
    return older if other else ""


def user_home(env: Mapping[str, str]) -> str:
    """Return HOME, or the password database's answer where HOME is unset, empty or relative.

    Raises:
        SettingsError: neither names an absolute folder. A relative one would put the
            installation into the project that the hook happens to run in.
    """
    home = env.get("HOME", "")
    if os.path.isabs(home):
        return home
    try:
        import pwd

        home = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):  # no such module (Windows) or a user without an entry
        home = env.get("USERPROFILE", "")
    if not os.path.isabs(home):
        raise SettingsError("HOME", home, wants="the absolute path of a folder")
    return home


def _expand(path: str, env: Mapping[str, str]) -> str:
    if path == "~" or path.startswith("~/"):
        return os.path.join(user_home(env), path[2:])
    return path


def _data_folder(user: str, env: Mapping[str, str]) -> str:
    if sys.platform == "win32":
        local = env.get("LOCALAPPDATA", "") or os.path.join(user, "AppData", "Local")
        return os.path.join(local, "agentihooks", "agentihooks")
    data = env.get("XDG_DATA_HOME", "")
    if os.path.isabs(data):
        return os.path.join(data, "agentihooks")
    if sys.platform == "darwin":
        return os.path.join(user, "Library", "Application Support", "agentihooks")
    return os.path.join(user, ".local", "share", "agentihooks")
