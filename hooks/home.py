"""Where an installation lives."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def resolve_home(env: Mapping[str, str]) -> str:
    """Return the absolute path of the agentihooks home; nothing is created.

    ``AGENTIHOOKS_HOME``; else ``<CLAUDE_CONFIG_DIR>/agentihooks`` (two profiles are two
    installations); else ``~/.agentihooks`` where it exists; else the platform's user data
    folder for ``agentihooks``, exactly as ``platformdirs`` names it.
    """
    explicit = env.get("AGENTIHOOKS_HOME", "")
    if explicit:
        return os.path.abspath(_expand(explicit, env))
    profile = env.get("CLAUDE_CONFIG_DIR", "")
    if profile:
        return os.path.join(os.path.abspath(_expand(profile, env)), "agentihooks")
    user = user_home(env)
    older = os.path.join(user, ".agentihooks")
    return older if os.path.isdir(older) else _data_folder(user, env)


def user_home(env: Mapping[str, str]) -> str:
    """Return HOME, or the password database's answer where HOME is unset, empty or relative."""
    home = env.get("HOME", "")
    if os.path.isabs(home):
        return home
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):  # no such module (Windows) or a user without an entry
        return os.path.abspath(os.path.expanduser("~"))


def _expand(path: str, env: Mapping[str, str]) -> str:
    if path == "~" or path.startswith("~/"):
        return user_home(env) + path[1:]
    return path


def _data_folder(user: str, env: Mapping[str, str]) -> str:
    if sys.platform == "darwin":
        return os.path.join(user, "Library", "Application Support", "agentihooks")
    if sys.platform == "win32":
        local = env.get("LOCALAPPDATA", "") or os.path.join(user, "AppData", "Local")
        return os.path.join(local, "agentihooks", "agentihooks")
    data = env.get("XDG_DATA_HOME", "").strip()
    base = data if os.path.isabs(data) else os.path.join(user, ".local", "share")
    return os.path.join(base, "agentihooks")
