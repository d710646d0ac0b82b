"""The status as a person reads it: what needs them first, then one line a piece.

Every number is in the JSON and in the long form (``--verbose``); the short one has what a person
can use, in plain words.
"""

from __future__ import annotations

from hooks.verbs.memory import describe
from hooks.verbs.wording import count, day, minute, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Data = Mapping[str, Any]
    Rows = tuple[tuple[str, str, Callable[[Data], str]], ...]


def render(status: Data, *, verbose: bool = False) -> str:
    problems = status["problems"]
    said = []
    if problems:
        needs = "thing needs" if len(problems) == 1 else "things need"
        said.append(f"{len(problems)} {needs} you")
    if status["memory"].get("off"):
        said.append(f"memory is {_memory(status['memory'])}")
    if status["controls"].get("on") is False:
        said.append(f"controls are {_controls(status['controls'])}")
    lines = [f"brainhooks: {'; '.join(said) or 'all is well'} ({status['level']})"]
    for problem in problems:
        lines += ["", f"{problem['level']}: {problem['what']}", f"  next: {problem['next']}"]
    lines.append("")
    for name, label, write in LINES if verbose else SHORT:
        data = status[name]
        text = "not readable" if "error" in data else write(data)
        if text:
            lines.append(f"{label:<13} {text}")
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
    place = str(data.get("place", ""))
    return "  ".join(part for part in (data["kind"], data["hash"], place, _held(data)) if part)


def _held(data: Data) -> str:
    """Say how much the brain holds; "" for one that does not count."""
    health = data.get("health") or {}
    if "all" not in health:
        return "none yet" if data.get("exists") is False else ""
    said = [f"{health['project']} here, {health['all']} in all"]
    if health.get("no_project"):
        said.append(f"{health['no_project']} for no project (`lessons --no-project`)")
    if health["waiting"]:
        said.append(f"{health['waiting']} to accept (`accept`)")
    return "; ".join(said)


def _project(data: Data) -> str:
    return f"{data['id']} ({data['evidence']})"


def _memory(data: Data) -> str:
    from hooks.context.switch import Off

    if data["on"]:
        return "on"
    return "off " + describe(Off(**data["off"])) if data["off"] else "off"


def _outbox(data: Data) -> str:
    if not data["count"]:
        said = "nothing"
    else:
        oldest = f"the oldest since {minute(data['oldest'])} ({age(data['oldest_age_s'])})"
        said = f"{count(data['count'], 'marker')}, {oldest}"
    return said + (f"; {data['quarantined']} refused" if data["quarantined"] else "")


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


def _log(data: Data) -> str:
    from hooks.status_log import describe

    return describe(data)


def _short_log(data: Data) -> str:
    return _log(data) if data else ""


def _state(data: Data) -> str:
    from hooks.status_state import describe

    return describe(data)


def _short_state(data: Data) -> str:
    wanted = data["failed"] or data["began"] or data["kept_in"] == "redis"
    return _state(data) if wanted else ""


def _controls(data: Data) -> str:
    from hooks.status_state import describe_controls

    return describe_controls(data)


def _short_controls(data: Data) -> str:
    return "" if data["on"] else _controls(data)


_GUARDS = {
    "breaker_deny": "denials",
    "read_cache": "read cache",
    "transcript_log": "transcript log",
}


def _guards(data: Data) -> str:
    return ", ".join(f"{word} {'on' if data[name] else 'off'}" for name, word in _GUARDS.items())


def _sessions(data: Data) -> str:
    if not data["last"]:
        return "no session yet"
    if data["last"] == 1:
        return (
            "in the one session so far" if data["with_markers"] else "not in the one session so far"
        )
    return f"in {data['with_markers']} of the last {data['last']} sessions"


def _transcripts(data: Data) -> str:
    from hooks.status_transcripts import describe

    return describe(data)


def _short_transcripts(data: Data) -> str:
    return _transcripts(data) if data else ""


def _archive(data: Data) -> str:
    from hooks.status_archive import describe

    return describe(data)


def _migration(data: Data) -> str:
    steps = [f"{row.get('name')} {minute(str(row.get('at')))}" for row in data["steps"]]
    return ", ".join(steps) or "no step was needed yet"


def _short_installation(data: Data) -> str:
    if not data["id"]:
        return _installation(data)
    other = f"; another home is {data['older_home']}" if "older_home" in data else ""
    name = short(data["id"].removeprefix("inst-"))
    return f"{name} since {day(data['cutover'])}, in {data['home']}{other}"


_KINDS = {
    "local": "local, on this machine",
    "file": "a folder of Markdown",
    "none": "none: what is marked waits in the outbox",
    "http": "a service",
}


def _short_brain(data: Data) -> str:
    kind = _KINDS.get(data["kind"], str(data["kind"]))
    return f"{kind}, {data['place']}" if data.get("place") else kind


def _short_project(data: Data) -> str:
    return str(data["id"]) if data["id"] != "unknown" else "none: this folder belongs to no project"


_OUTCOMES = {
    "committed": "delivered",
    "replayed": "delivered",
    "pending": "waiting",
    "held": "proposed (`review`)",
    "quarantined": "refused",
    "unknown": "perhaps delivered",
    "forgotten": "forgotten",
    "ignored": "not kept (`receipts` says why)",
}


def _short_receipts(data: Data) -> str:
    sums: dict[str, int] = {}
    for name, number in data.items():
        word = _OUTCOMES.get(name, name)
        sums[word] = sums.get(word, 0) + number
    return _counted(sums)


def _last_event(data: Data) -> str:
    if not data:
        return _events(data)
    name = max(data, key=lambda one: str(data[one]))
    return f"{name}, {minute(data[name])}"


def _some_mismatches(data: Data) -> str:
    return _mismatches(data) if data else ""


LINES: Rows = (
    ("installation", "installation", _installation),
    ("brain", "brain", _brain),
    ("project", "project", _project),
    ("memory", "memory", _memory),
    ("state", "state", _state),
    ("controls", "controls", _controls),
    ("guards", "guards", _guards),
    ("outbox", "waiting", _outbox),
    ("receipts", "receipts", _counted),
    ("caches", "caches", _caches),
    ("cache_scope_mismatches", "refused", _mismatches),
    ("events", "last runs", _events),
    ("log", "logged", _log),
    ("sessions", "markers", _sessions),
    ("transcripts", "transcripts", _transcripts),
    ("archive", "archive", _archive),
    ("migration", "migration", _migration),
)
SHORT: Rows = (
    ("project", "project", _short_project),
    ("memory", "memory", _memory),
    ("controls", "controls", _short_controls),
    ("brain", "memories", _held),
    ("brain", "brain", _short_brain),
    ("outbox", "waiting", _outbox),
    ("receipts", "markers", _short_receipts),
    ("sessions", "marked", _sessions),
    ("transcripts", "transcripts", _short_transcripts),
    ("state", "state", _short_state),
    ("archive", "archive", _archive),
    ("events", "last hook", _last_event),
    ("log", "logged", _short_log),
    ("cache_scope_mismatches", "refused", _some_mismatches),
    ("installation", "installation", _short_installation),
)
