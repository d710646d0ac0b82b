"""The status's pieces about receipts: how many of each outcome, and in how many sessions."""

from __future__ import annotations

from hooks.context.ledger import Ledger
from hooks.status_piece import Piece, Problem

LAST_SESSIONS = 20
_SETTLE = "brainhooks receipts shows them; then choose --resend or --assume-delivered"


def receipts(home: str) -> Piece:
    from hooks.context.ledger_notes import STEP, steps

    ledger = Ledger.read_only(home)
    if ledger is None:
        had_one = any(row.get("name") == STEP for row in steps(home))
        what = "the ledger is gone; the next event makes it again from outbox and transcripts"
        lost = Problem("yellow", what, "go on with a session, then look at brainhooks receipts")
        return Piece({}, (lost,) if had_one else ())
    try:
        counts = ledger.counts()
    finally:
        ledger.close()
    problems = []
    if counts.get("unknown"):
        what = f"of {counts['unknown']} markers nobody knows whether the brain has them"
        problems.append(Problem("yellow", what, _SETTLE))
    return Piece(counts, tuple(problems))


def sessions(home: str) -> Piece:
    from hooks.context.session_index import read

    last = [entry.session_id for entry in read(home)[-LAST_SESSIONS:]]
    ledger = Ledger.read_only(home) if last else None
    with_markers = 0
    if ledger is not None:
        try:
            with_markers = sum(bool(ledger.receipts(session, 1)) for session in last)
        finally:
            ledger.close()
    data = {"last": len(last), "with_markers": with_markers}
    if len(last) < LAST_SESSIONS or with_markers:
        return Piece(data)
    what = f"no marker in the last {LAST_SESSIONS} sessions"
    todo = "ask the agent to mark a lesson, then run brainhooks doctor"
    return Piece(data, (Problem("yellow", what, todo),))
