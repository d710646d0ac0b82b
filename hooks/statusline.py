"""The status line: one line about the session, from the JSON that the agent gives on stdin.

It runs after every message, so it is a door of its own that loads little; it never fails and
never asks anything that could wait. ``--segment`` is for a line of the person's own.
"""

from __future__ import annotations

import os

from hooks.context.columns import clean, fit, width
from hooks.errors import HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hooks.context.line_facts import Facts
    from hooks.settings import Settings

COLUMNS = 160  # of the whole line; terminals cut what is longer
SEGMENT = 24
BROKEN = "brainhooks: run doctor"
_NAME = 40  # columns for a project or a branch
_MOST_STDIN = 1 << 20


def main(
    argv: Sequence[str], *, env: Mapping[str, str], stdin: int, stdout: int, now: float
) -> int:
    """Print the line, or with ``--segment`` the short one. Returns 0; 1 for other words."""
    if [word for word in argv if word != "--segment"]:
        os.write(2, b"usage: statusline [--segment] < the agent's JSON\n")
        return 1
    said = _read(stdin)
    line = _line(said, env, now, segment=bool(argv))
    os.write(stdout, (line + "\n").encode("utf-8", "replace"))
    return 0


def _read(fd: int) -> bytes:
    parts, total = [], 0
    while not os.isatty(fd) and total <= _MOST_STDIN and (part := os.read(fd, 1 << 16)):
        parts.append(part)
        total += len(part)
    return b"".join(parts)


def _line(said: bytes, env: Mapping[str, str], now: float, *, segment: bool) -> str:
    from hooks.clock import from_epoch
    from hooks.context.line_facts import client_of, gather
    from hooks.settings import load
    from scripts.swarm_v2.wire_json import load_object

    try:
        settings: Settings = load(env)
    except HookError:
        return BROKEN
    facts = gather(client_of(load_object(said) or {}), settings, env, from_epoch(now))
    return short(facts) if segment else whole(facts)


def whole(facts: Facts) -> str:
    """Write ``web main | ctx 34% of 200k | in 12k out 3k … | 3 memories | 2 waiting``."""
    names = (fit(clean(name), _NAME) for name in (facts.project, facts.branch))
    parts = [" ".join(name for name in names if name), *_filled(facts, of=True)]
    if any(facts.used):
        words = zip(("in", "out", "read", "write"), facts.used, strict=True)
        parts.append(" ".join(f"{word} {amount(number)}" for word, number in words if number))
    if facts.memories:
        parts.append("1 memory" if facts.memories == 1 else f"{facts.memories} memories")
    parts += _waiting(facts)
    parts += ["memory off"] if facts.memory_off else []
    parts += ["controls off"] if facts.controls_off else []
    return fit(" | ".join(part for part in parts if part), COLUMNS) or "brainhooks"


def short(facts: Facts) -> str:
    """Write what fits into ``SEGMENT`` columns, what needs the person before what is nice."""
    wanted = [
        *(["mem off"] if facts.memory_off else []),
        *(["ctl off"] if facts.controls_off else []),
        *_filled(facts, of=False),
        *_waiting(facts, "wait"),
        *([f"{amount(facts.memories)} mem"] if facts.memories else []),
        *([f"out {amount(facts.used.output)}"] if facts.used.output else []),
    ]
    return _joined(wanted) or "brainhooks"


def _joined(parts: Iterable[str]) -> str:
    line = ""
    for part in parts:
        longer = f"{line} {part}" if line else part
        if width(longer) <= SEGMENT:
            line = longer
    return line


def _filled(facts: Facts, *, of: bool) -> list[str]:
    if not facts.context:
        return []
    percent = min(100 * facts.context // max(facts.window, 1), 999)
    return [f"ctx {percent}%" + (f" of {amount(facts.window)}" if of else "")]


def _waiting(facts: Facts, word: str = "waiting") -> list[str]:
    return [f"{amount(facts.waiting)} {word}"] if facts.waiting else []


def amount(number: int) -> str:
    """Write a count in at most five characters: ``950``, ``12.3k``, ``200k``, ``1.2M``."""
    for unit, size in (("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000)):
        if number >= size:
            tenths = number * 10 // size
            whole, rest = divmod(tenths, 10)
            return f"{whole}.{rest}{unit}" if rest and whole < 100 else f"{min(whole, 9999)}{unit}"
    return str(max(number, 0))
