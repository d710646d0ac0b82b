"""The table of checks, and running them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.errors import HookError
from hooks.status_state import ASK
from scripts.doctor import (
    Finding,
    agent,
    door,
    folder,
    home,
    people,
    preferences,
    runtime,
    service,
    spelling,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripts.doctor import Level, Look

_STATUS_LEVELS: dict[str, Level] = {"red": "fail", "yellow": "warn"}


def settings(look: Look) -> Iterator[Finding]:
    """A setting outside what it allows stops every hook."""
    from hooks.settings import load

    load(look.env)
    yield Finding("ok", "the settings can be used")


def status(look: Look) -> Iterator[Finding]:
    """What ``brain_status`` counts, with its next steps."""
    from hooks.settings import load
    from hooks.status import collect_status

    session = look.env.get("CLAUDE_CODE_SESSION_ID", "")
    found = collect_status(load(look.env), look.env, look.at, look.cwd, session)
    for problem in found["problems"]:
        if problem["next"] == ASK:  # the check of the state, above, has asked
            continue
        yield Finding(_STATUS_LEVELS[problem["level"]], problem["what"], problem["next"])


# A row is a check, in the order its findings are shown.
CHECKS: dict[str, Callable[[Look], Iterator[Finding]]] = {
    "settings": settings,
    "spelling": spelling.of_settings,
    "home": home.access,
    "modes": home.modes,
    "filesystem": home.filesystem,
    "copied home": home.copied,
    "other home": home.other,
    "rebuilt home": home.rebuilt,
    "clock": home.clock,
    "databases": home.databases,
    "agent settings": agent.readable,
    "installation": agent.registered,
    "installed events": agent.complete,
    "plugin folder": agent.loaded,
    "menu": agent.menu,
    "switches": agent.switched_off,
    "server door": door.bears,
    "entries": runtime.entries,
    "plugin": runtime.remembered,
    "interpreter": runtime.this_interpreter,
    "git": runtime.git,
    "packages": runtime.other_packages,
    "events": agent.events,
    "transcripts": agent.retention,
    "archive": agent.unsaved,
    "native memory": agent.native_memory,
    "brain service": service.answers,
    "session state": state.kept,
    "brain folder": folder.pages,
    "memory people": people.let_in,
    "memory preferences": preferences.can_be_read,
    "status": status,
}


def examine(look: Look) -> list[tuple[str, Finding]]:
    """Run every check; one that itself fails says so and the rest goes on."""
    found: list[tuple[str, Finding]] = []
    for name, check in CHECKS.items():
        try:
            found += [(name, finding) for finding in check(look)]
        except HookError as err:
            found.append((name, Finding("fail", str(err), err.hint or "see brain_status")))
        except (OSError, ValueError) as err:
            found.append((name, Finding("fail", str(err), f"look at {look.home}")))
    return _once(found)


def _once(found: list[tuple[str, Finding]]) -> list[tuple[str, Finding]]:
    """Drop what was said before: a damaged file is met by several checks."""
    seen: set[str] = set()
    kept = []
    for name, finding in found:
        if finding.what not in seen:
            seen.add(finding.what)
            kept.append((name, finding))
    return kept
