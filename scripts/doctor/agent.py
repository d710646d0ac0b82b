"""Checks of the agent's side: that the hooks are started, once, and can read what they need."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING, Any

from hooks.clock import from_epoch, iso
from hooks.settings import is_on
from scripts.doctor import Finding
from scripts.doctor.home import last_runs
from scripts.install_plan import is_ours
from scripts.menu import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.doctor import Look

PLUGIN = "brainhooks"
SERVED_PLUGIN = "brainhooks-server"  # the same, with the server door
DEFAULT_RETENTION_D = 30  # the client's own default for cleanupPeriodDays
MADE = (".venv", ".cache", ".demo", ".e2e")  # by this clone's make
_RECENT_S = 7 * 86_400
_OFF = ("", "0", "false", "no", "off")


def read_settings(path: str) -> dict[str, Any]:
    """Return a settings file of the agent's; {} for an absent or unusable one (see readable)."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def readable(look: Look) -> Iterator[Finding]:
    """The agent ignores a settings file that it cannot parse, and our entries with it."""
    for path in look.settings_files:
        if os.path.exists(path) and not read_settings(path) and not _is_empty_object(path):
            todo = f"repair {path}: until then the agent ignores it"
            yield Finding("fail", f"{path} cannot be read as a JSON object", todo)


def _is_empty_object(path: str) -> bool:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read().split() in (["{}"], ["{", "}"])
    except (OSError, ValueError):
        return False


def our_entries(settings: dict[str, Any]) -> dict[str, str]:
    """Return event and command of each hook entry that install wrote."""
    hooks = settings.get("hooks")
    found = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            inner = group.get("hooks") if isinstance(group, dict) else None
            for entry in inner if isinstance(inner, list) else ():
                command = entry.get("command") if isinstance(entry, dict) else None
                if isinstance(command, str) and is_ours(command):
                    found[event] = command
    return found


def plugins(look: Look) -> list[str]:
    """Return the enabled copies of the plugin, as ``name@marketplace``."""
    switches: dict[str, bool] = {}
    for path in reversed(look.settings_files):
        enabled = read_settings(path).get("enabledPlugins")
        if isinstance(enabled, dict):
            switches |= {name: value is True for name, value in enabled.items()}
    ours = (PLUGIN, SERVED_PLUGIN)
    return sorted(n for n, on in switches.items() if on and n.partition("@")[0] in ours)


def loaded(look: Look) -> Iterator[Finding]:
    """The agent reads a plugin where its marketplace lies, and says nothing when that is gone."""
    for copy in plugins(look):
        trouble = unloadable(look, copy)
        if trouble:
            yield Finding("fail", *trouble)
    yield from _ballast(look)


def unloadable(look: Look, copy: str) -> tuple[str, str] | None:
    """Return why the agent cannot load ``copy`` (``name@marketplace``) and the next step."""
    market = copy.partition("@")[2]
    declared = [read_settings(path).get("extraKnownMarketplaces") for path in look.settings_files]
    known = next(
        (
            row
            for row in [_plugins_file(look, "known_marketplaces.json"), *declared]
            if market in (row or {})
        ),
        None,
    )
    add = "claude plugin marketplace add /path/to/the/clone"
    if known is None:
        what = f"the plugin {copy} is enabled, but the agent knows no marketplace {market}"
        return f"{what}: no hook of it runs", f"{add}, then claude plugin install {copy}"
    entry = known[market] if isinstance(known[market], dict) else {}
    source = entry.get("source")
    place = source.get("path") if isinstance(source, dict) else None
    if isinstance(place, str) and not os.path.isfile(os.path.join(place, "hooks", "hooks.json")):
        what = f"the plugin {copy} is read from {place}, which is gone: nothing is remembered"
        return what, f"put the clone back there, or tell where it is now: {add}"
    return None


def _ballast(look: Look) -> Iterator[Finding]:
    """The agent copies a plugin's folder when it is installed, with all that make put there."""
    rows = _plugins_file(look, "installed_plugins.json").get("plugins")
    for copy, installs in rows.items() if isinstance(rows, dict) else ():
        for one in (
            installs
            if copy.partition("@")[0] in (PLUGIN, SERVED_PLUGIN) and isinstance(installs, list)
            else ()
        ):
            path = str(one.get("installPath", "")) if isinstance(one, dict) else ""
            extra = [p for p in (os.path.join(path, name) for name in MADE) if os.path.isdir(p)]
            if path and extra:
                what = f"the agent's copy of the plugin in {path} holds what make made there"
                todo = f"it is not used, so it may go: rm -rf {' '.join(map(shlex.quote, extra))}"
                yield Finding("note", what, todo)


def _plugins_file(look: Look, name: str) -> dict[str, Any]:
    return read_settings(os.path.join(look.profile, "plugins", name))


def registered(look: Look) -> Iterator[Finding]:
    """The hooks must be started by somebody, and best by one only."""
    files = [path for path in look.settings_files if our_entries(read_settings(path))]
    copies = plugins(look)
    if len(copies) > 1:
        todo = f"keep one: claude plugin uninstall {copies[-1]}"
        yield Finding("warn", f"the plugin is enabled twice: {', '.join(copies)}", todo)
    if files and copies:
        what = f"the hooks are in {files[0]} and in the plugin {copies[0]}"
        where = " --project" if files[0] != look.settings_files[-1] else ""
        todo = f"each event is handled once, but starts two processes: brainhooks uninstall{where}"
        yield Finding("warn", what, todo)
    elif len(files) > 1:
        todo = "one is enough: brainhooks uninstall --project"
        yield Finding("warn", f"the hooks are in {' and in '.join(files)}", todo)
    elif files or any(not unloadable(look, copy) for copy in copies):
        yield Finding("ok", f"the hooks are started by {[*files, *copies][0]}")
    elif not copies:  # a plugin that cannot be loaded has a finding of its own
        yield _unregistered(look)


def menu(look: Look) -> Iterator[Finding]:
    """Without a file of its own the agent knows no ``/brainhooks:<verb>`` and asks no hook."""
    if plugins(look):
        return
    for path in (look.settings_files[0], look.settings_files[-1]):
        folder = os.path.join(os.path.dirname(path), FOLDER)
        if our_entries(read_settings(path)) and not os.path.isdir(folder):
            option = "" if path == look.settings_files[-1] else " --project"
            what = f"the agent's menu has no /brainhooks:<verb>: {folder} is missing"
            yield Finding("warn", what, f"brainhooks install{option}")


def complete(look: Look) -> Iterator[Finding]:
    """An older version's install starts nothing at events that came later."""
    with open(os.path.join(look.root, "hooks", "hooks.json"), encoding="utf-8") as file:
        wanted = json.load(file)["hooks"]
    for path in look.settings_files:
        found = our_entries(read_settings(path))
        missing = [event for event in wanted if event not in found]
        if found and missing:
            option = "" if path == look.settings_files[-1] else " --project"
            what = f"{path} is of an older install: nothing is started at {', '.join(missing)}"
            yield Finding("warn", what, f"brainhooks install{option}")


def _unregistered(look: Look) -> Finding:
    what = f"no settings of the agent start a hook of ours (profile {look.profile})"
    todo = "brainhooks install, or install the plugin"
    ran = max(last_runs(look.home).values(), default=0.0)
    if look.at.timestamp() - ran < _RECENT_S:  # claude --plugin-dir leaves no trace in settings
        day = f"{from_epoch(ran):%Y-%m-%d}"
        return Finding("note", f"{what}; they ran on {day}, perhaps by --plugin-dir", todo)
    return Finding("warn", what, todo)


def switched_off(look: Look) -> Iterator[Finding]:
    """Settings and variables under which no hook of anybody runs, or ours do nothing."""
    for path in look.settings_files:
        if read_settings(path).get("disableAllHooks") is True:
            todo = f"take disableAllHooks out of {path}"
            yield Finding("fail", f"{path} switches all hooks off", todo)
    if look.env.get("CI") and not is_on("BRAINHOOKS_CI", look.env.get("BRAINHOOKS_CI", "")):
        todo = "set BRAINHOOKS_CI=1 to keep memory working there"
        yield Finding("note", "CI is set, so the hooks do nothing in this environment", todo)


def events(look: Look) -> Iterator[Finding]:
    """Registered is not the same as run."""
    seen = last_runs(look.home)
    if not seen:
        todo = "start a new session, then look again; in an untrusted folder no hook runs"
        yield Finding("note", "no hook has run yet", todo)
    elif "SessionStart" not in seen:
        what = f"SessionStart never ran, though {', '.join(sorted(seen))} did"
        todo = "look at the agent's own /hooks list; memories come with the next prompt instead"
        yield Finding("warn", what, todo)
    else:
        yield Finding("ok", f"hooks have run: {', '.join(sorted(seen))}")


def unsaved(look: Look) -> Iterator[Finding]:
    """What the agent will delete and nobody saved: an offer, not a fault."""
    from hooks.context.archiving import FOLDER, RETENTION_D, census
    from hooks.verbs.wording import count, day, size

    there = census(look.env)
    if there.number and not os.path.isdir(os.path.join(look.home, FOLDER)):
        what = f"{count(there.number, 'transcript')} ({size(there.size)}), the oldest of "
        what += f"{day(iso(from_epoch(there.oldest)))}, are deleted by the agent after "
        what += f"{RETENTION_D} days"
        yield Finding("note", what, "brainhooks archive --all saves them")


def retention(look: Look) -> Iterator[Finding]:
    """Sessions that never ended, and a lost ledger, are read again from the transcripts."""
    for path in look.settings_files:
        days = read_settings(path).get("cleanupPeriodDays")
        if isinstance(days, int) and not isinstance(days, bool):
            if days < DEFAULT_RETENTION_D:
                what = f"the agent deletes transcripts after {days} days ({path})"
                todo = f"set cleanupPeriodDays there to {DEFAULT_RETENTION_D} or more"
                yield Finding("warn", what, todo)
            return


def native_memory(look: Look) -> Iterator[Finding]:
    """Two memories beside each other both cost context and may disagree."""
    if look.env.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "").lower() not in _OFF:
        return
    for path in look.settings_files:
        on = read_settings(path).get("autoMemoryEnabled")
        if on is False:
            return
        if on is True:
            break
    what = "the agent's own automatic memory is on as well"
    todo = 'to have one memory only, set "autoMemoryEnabled": false in its settings'
    yield Finding("note", what, todo)
