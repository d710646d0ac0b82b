"""Lessons that an agent only proposes, and the week's that it made: what a person reviews.

A marker with the attribute ``proposal`` (the saved session it is drawn from) is *held*: a
receipt with its text, and nothing in the outbox. No brain and no session has it before the
person keeps it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.context.ledger import Receipt
    from hooks.settings import Settings

ATTRIBUTE = "proposal"
HELD = "a proposal: brainhooks review keeps or drops it"
DAYS = 7
MOST = 500  # receipts that one review looks at
MADE = ("held", "pending", "committed", "replayed")


def is_proposal(document: Mapping[str, object]) -> bool:
    attrs = document.get("attrs")
    return isinstance(attrs, dict) and bool(attrs.get(ATTRIBUTE))


def reviewed_path(home: str) -> str:
    return os.path.join(home, "brain", "reviewed.jsonl")


def to_review(home: str, at: datetime) -> list[Receipt]:
    """Return the proposals, then what the agent kept in a week, that no person judged yet."""
    from datetime import timedelta

    from hooks.clock import iso
    from hooks.context.ledger import Ledger

    ledger = Ledger.read_only(home)
    if ledger is None:
        return []
    try:
        found = ledger.receipts(limit=MOST)
        seen = {one.key for one in found}
        found += [one for one in ledger.held() if one.key not in seen]
    finally:
        ledger.close()
    since, judged = iso(at - timedelta(days=DAYS)), _judged(home)
    wanted = [
        one
        for one in reversed(found)
        if one.state in MADE
        and one.key not in judged
        and _by_agent(one)
        and (one.state == "held" or one.created_at >= since)
    ]
    return sorted(wanted, key=lambda one: (one.state != "held", one.created_at))


def _by_agent(receipt: Receipt) -> bool:
    attrs = receipt.document.get("attrs")
    return isinstance(attrs, dict) and attrs.get("class", "agent") == "agent"


def _judged(home: str) -> set[str]:
    from hooks.atomic import read
    from scripts.swarm_v2.wire_json import load_object

    rows = (load_object(line) for line in (read(reviewed_path(home)) or b"").split(b"\n") if line)
    return {str(row.get("key")) for row in rows if row is not None}


def keep(settings: Settings, at: datetime, receipt: Receipt) -> bool:
    """Keep what the agent made: a proposal goes its way to the brain, the rest stays there.

    False for a proposal that was dropped elsewhere since it was shown: it stays so.

    A proposal's outbox file comes first: a kill behind it leaves a file, which is delivered.
    """
    from hooks.atomic import append_line
    from hooks.clock import iso
    from hooks.context import outbox
    from hooks.context.ledger import Ledger
    from scripts.swarm_v2.wire_json import dumps

    if receipt.state == "held":
        ledger = Ledger.open(settings.home, at)
        try:
            with ledger.writing():
                now = ledger.receipt(receipt.key)
                if now is None or now.state == "forgotten":
                    return False
                if now.state == "held":  # else it is on its way already
                    outbox.write(settings.home, receipt.document)
                    ledger.change(receipt.key, at, state="pending", reason="")
        finally:
            ledger.close()
    row = {"key": receipt.key, "at": iso(at)}
    append_line(reviewed_path(settings.home), dumps(row).encode("ascii"), durable=True)
    return True
