"""What keeps failing in the same way: ``Key("breaker", session)``.

``{"failures": [{"op", "error", "count", "of", "since"}]}``, the newest last; ``count`` is of the
session, ``since`` of the time after the last edit, for each target. Failures are counted per
operation and error, whatever succeeds or fails between them; a success of the operation forgets
its failures. Told is what an operation failed, whatever it was aimed at (a path that changes must
not hide a repetition); denied is only what failed with this very target.

It falls open. Without state, or where the document is lost, nothing was counted; whatever may have
been an edit was one; a tool runs unless the document proves that it must not. Telling is always
on, denying only where it was asked for.

A call that another hook or the client refused is counted where the client reports it as a failure
of the tool; where it reports it to no event, it cannot be.
"""

from __future__ import annotations

from hooks.context.operation import EDITORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import NamedTuple

    from hooks.context.operation import Operation
    from hooks.context.session_state import Document
else:
    from hooks.record import NamedTuple

TELL_AT = 5  # and at twice as many, and so on
DENY_AT = 10
_MOST = 64  # failures that are remembered
_MOST_TARGETS = 16  # of each, the newest


class Failure(NamedTuple):
    op: tuple[str, ...]  # the tool, and what of it
    error: str
    times: int = 0
    of: str = ""  # the target, while all of them had one
    # target -> times without an edit in between; counted only where denials are on
    since: Mapping[str, int] = {}

    @property
    def is_open(self) -> bool:
        """Say whether one target of it is denied."""
        return any(number >= DENY_AT for number in self.since.values())


def failures(document: Document) -> list[Failure]:
    """Return what a document holds, oldest first; what is damaged in it is left out."""
    rows = document.get("failures")
    found = [_read(row) for row in rows] if isinstance(rows, list) else []
    return [one for one in found if one is not None]


def _read(row: object) -> Failure | None:
    if not isinstance(row, dict):
        return None
    op, error, times, of, since = (row.get(name) for name in _FIELDS)
    if not isinstance(op, list) or not op or not all(isinstance(part, str) for part in op):
        return None
    if not isinstance(error, str) or not isinstance(times, int) or not isinstance(of, str):
        return None
    if not isinstance(since, dict) or not all(isinstance(one, int) for one in since.values()):
        return None
    return Failure(tuple(op), error, times, of, since)


_FIELDS = ("op", "error", "count", "of", "since")


def _write(some: list[Failure]) -> Document:
    kept = some[-_MOST:]
    rows = [dict(zip(_FIELDS, (list(one.op), *one[1:]), strict=True)) for one in kept]
    return {"failures": rows} if rows else {}


def count(
    document: Document,
    operation: Operation,
    error: str,
    *,
    target: str,
    edited: bool,
    denies: bool,
) -> tuple[Document, Failure]:
    """Count one more failure; return the document after it, and what was counted.

    ``target``: what the call was aimed at; ``edited``: it changed something before it failed.
    """
    op = (operation.tool, *operation.parts)
    known = failures(document)
    was = next((one for one in known if (one.op, one.error) == (op, error)), None)
    if edited:
        known = [one._replace(since={}) for one in known]
    since = {} if was is None or edited else dict(was.since)
    if denies:  # the newest last
        since[target] = since.pop(target, 0) + 1
        since = dict(list(since.items())[-_MOST_TARGETS:])
    of = target if was is None or was.of == target else ""
    now = Failure(op, error, (was.times if was else 0) + 1, of, since)
    rest = [one for one in known if (one.op, one.error) != (op, error)]
    return _write([*rest, now]), now


def is_told(times: int) -> bool:
    """Say whether the agent is told at this count: at 5, 10, 20, 40 and so on."""
    at = TELL_AT
    while at < times:
        at *= 2
    return at == times


def succeeded(document: Document, tool: str, parts: Collection[str], *, edited: bool) -> Document:
    """Return the document after a success of ``tool``.

    ``parts`` are what of a shell script has run and succeeded for certain.
    """

    def ended(one: Failure) -> bool:
        return one.op[0] == tool and (len(one.op) > 1 or tool != "Bash") and _all(one.op[1:], parts)

    left = [one for one in failures(document) if not ended(one)]
    if edited:
        left = [one._replace(since={}) for one in left]
    return _write(left)


def _all(some: tuple[str, ...], parts: Collection[str]) -> bool:
    return all(part in parts for part in some)


def denied(document: Document, operation: Operation, target: str) -> Failure | None:
    """Return the failure for which ``operation`` must not be aimed there again before an edit.

    The tools that edit always run: an edit is the way out.
    """
    if operation.tool in EDITORS:
        return None
    op = (operation.tool, *operation.parts)
    known = failures(document)
    found = [one for one in known if one.op == op and one.since.get(target, 0) >= DENY_AT]
    return found[-1] if found else None


def cares(document: Document, *, denies: bool) -> list[str]:
    """Return which tools' events must be looked at now, as ``Event:Tool``; ``*`` is every tool."""
    found = failures(document)
    if not found:
        return []
    if not denies:  # only a success of what failed can change anything
        return [f"PostToolUse:{tool}" for tool in dict.fromkeys(one.op[0] for one in found)]
    open_for = dict.fromkeys(one.op[0] for one in found if one.is_open)
    tools = [tool for tool in open_for if tool not in EDITORS]
    return ["PostToolUse:*", *(f"PreToolUse:{tool}" for tool in tools)]


def warning(operation: Operation, failure: Failure) -> str:
    """Tell the agent to stop and think."""
    others = "" if failure.of else ", with other arguments, too"
    return (
        f"brainhooks: {operation.label} has now failed {failure.times} times in this session with "
        f"the same error, paths, numbers and times aside{others}. Stop repeating it and "
        "investigate: read the whole error, check what the call takes for granted, look at what "
        "changed since it last worked, try one different thing at a time, or ask the person."
    )


def denial(operation: Operation, failure: Failure, target: str) -> str:
    """Say why the tool does not run, and how to go on."""
    return (
        f"{operation.label} was not run: it has failed {failure.since[target]} times with the "
        "same error and the same target, and nothing was edited in between. Find the cause and "
        "fix it; after any edit of a file it runs again. If it must run as it is, the person can "
        "type `/brainhooks:controls off`."
    )
