"""The status as a person reads it: what needs them first, then one line a piece."""

from __future__ import annotations

from hooks.verbs.memory import describe
from hooks.verbs.wording import count, minute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Data = Mapping[str, Any]


def render(status: Data) -> str:
    problems = status["problems"]
    needs = "thing needs" if len(problems) == 1 else "things need"
    head = f"brainhooks: {len(problems)} {needs} you" if problems else "brainhooks: all is well"
    lines = [f"{head} ({status['level']})"]
    for problem in problems:
        lines += ["", f"{problem['level']}: {problem['what']}", f"  next: {problem['next']}"]
    lines.append("")
    for name, label, write in LINES:
        data = status[name]
        lines.append(f"{label:<13} {'not readable' if 'error' in data else write(data)}")
    return "\n".join(lines)


def age(seconds: int) -> str:
    """Write an age in its largest whole unit: ``40 s``, ``12 min``, ``3 h``, ``5 d``."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _installation(data: Data) -> str:
    other = f"; another home is {data['older_home']}" if "older_home" in data else ""
    if not data["id"]:
        return f"none yet; the first hook makes it in {data['home']}{other}"
    return f"{data['id']} since {minute(data['cutover'])}, in {data['home']}{other}"


def _brain(data: Data) -> str:
    health = data.get("health")
    if health and "all" in health:
        said = f"{count(health['all'], 'memory', 'memories')}, {health['project']} here"
        waiting = f", {health['waiting']} to accept" if health["waiting"] else ""
        said += waiting
    else:
        said = "nothing in it yet" if data.get("exists") is False else ""
    return "  ".join(part for part in (data["kind"], data["hash"], said) if part)


def _project(data: Data) -> str:
    return f"{data['id']} ({data['evidence']})"


def _memory(data: Data) -> str:
    from hooks.context.switch import Off

    if data["on"]:
        return "on"
    return "off " + describe(Off(**data["off"])) if data["off"] else "off"


def _outbox(data: Data) -> str:
    if not data["count"]:
        said = "empty"
    else:
        oldest = f"the oldest since {minute(data['oldest'])} ({age(data['oldest_age_s'])})"
        said = f"{count(data['count'], 'marker')} waiting, {oldest}"
        said += f"; stopped: {data['stopped']}" if data["stopped"] else ""
    return said + (f"; {data['quarantined']} in quarantine" if data["quarantined"] else "")


def _counted(data: Data) -> str:
    return ", ".join(f"{number} {name}" for name, number in data.items() if number) or "none yet"


def _caches(data: Data) -> str:
    said = (f"{kind} {age(row['age_s'])} ({row['count']})" for kind, row in data.items())
    return ", ".join(said) or "none yet"


def _mismatches(data: Data) -> str:
    kinds = ", ".join(f"{number} {kind}" for kind, number in data.items())
    return f"{sum(data.values())} reads of another namespace's caches" + (
        f": {kinds}" if kinds else ""
    )


def _events(data: Data) -> str:
    return ", ".join(f"{name} {minute(at)}" for name, at in data.items()) or "no hook has run yet"


def _sessions(data: Data) -> str:
    if not data["last"]:
        return "no session yet"
    return f"in {data['with_markers']} of the last {count(data['last'], 'session')}"


def _archive(data: Data) -> str:
    from hooks.status_archive import describe

    return describe(data)


def _migration(data: Data) -> str:
    steps = [f"{row.get('name')} {minute(str(row.get('at')))}" for row in data["steps"]]
    return ", ".join(steps) or "no step was needed yet"


LINES: tuple[tuple[str, str, Callable[[Data], str]], ...] = (
    ("installation", "installation", _installation),
    ("brain", "brain", _brain),
    ("project", "project", _project),
    ("memory", "memory", _memory),
    ("outbox", "outbox", _outbox),
    ("receipts", "receipts", _counted),
    ("caches", "caches", _caches),
    ("cache_scope_mismatches", "refused", _mismatches),
    ("events", "last runs", _events),
    ("sessions", "markers", _sessions),
    ("archive", "archive", _archive),
    ("migration", "migration", _migration),
)
