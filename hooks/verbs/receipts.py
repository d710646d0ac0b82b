"""``receipts [--session] [--json]``: what became of every marker, newest first."""

from __future__ import annotations

from hooks.context.attribution import HOMELESS
from hooks.context.ledger import Ledger
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.wording import count, day, one_line, plain, short
from scripts.swarm_v2.wire_json import clean, dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.ledger import Receipt, Sighting

TEXT_WIDTH = 80
# The states in a person's words, the same as in ``brain_status``; --json has them as they are.
STATES = {
    "committed": "delivered",
    "replayed": "delivered",
    "pending": "waiting",
    "held": "proposed",
    "quarantined": "refused",
    "unknown": "perhaps delivered",
}
MOST = 200


def run(args: str, ctx: VerbCtx) -> str:
    words = args.split()
    unknown = [word for word in words if word not in ("--session", "--json")]
    if unknown:
        raise VerbUsageError("receipts", f"{unknown[0]!r} is not understood here")
    session = ctx.session_id if "--session" in words else ""
    return report(ctx.settings.home, session, as_json="--json" in words)


def report(home: str, session: str, *, as_json: bool = False, limit: int = MOST) -> str:
    """Return the receipts of ``session`` ("" for all), at most ``limit``."""
    session = clean(session)  # bytes that are no text name no session
    ledger = Ledger.read_only(home)
    receipts: list[Receipt] = []
    ignored: list[Sighting] = []
    if ledger is not None:
        try:
            receipts, ignored = ledger.receipts(session, limit), ledger.ignored(session, limit)
        finally:
            ledger.close()
    return _as_json(receipts, ignored) if as_json else plain(_as_text(receipts, ignored))


def _as_json(receipts: list[Receipt], ignored: list[Sighting]) -> str:
    rows = [{**receipt._asdict(), "body": receipt.document or None} for receipt in receipts]
    return dumps({"receipts": rows, "ignored": [sighting._asdict() for sighting in ignored]})


def _as_text(receipts: list[Receipt], ignored: list[Sighting]) -> str:
    if not receipts and not ignored:
        return "No receipts yet: no marker was seen."
    lines = [_receipt(receipt) for receipt in receipts]
    if ignored:
        lines.append(f"{count(len(ignored), 'candidate')} ignored:")
        lines += [_ignored(sighting) for sighting in ignored]
    return "\n".join(lines)


def _receipt(receipt: Receipt) -> str:
    text = one_line(str(receipt.document.get("content", "")), TEXT_WIDTH)
    attrs = receipt.document.get("attrs")
    homeless = isinstance(attrs, dict) and attrs.get("attribution") in HOMELESS
    notes = [receipt.reason, "for no project" if homeless else ""]
    if receipt.redacted:
        notes.append("redacted: " + receipt.redacted)
    if receipt.record and receipt.record != receipt.key:
        notes.append(f"same as {short(receipt.record)}")
    said = "; ".join(note for note in notes if note)
    state = STATES.get(receipt.state, receipt.state)
    facts = f"{short(receipt.key)}  {day(receipt.at or receipt.created_at):<10}  {state:<17}"
    return f"{facts}  {receipt.type:<9}  {text}{f'  ({said})' if said else ''}".rstrip()


def _ignored(sighting: Sighting) -> str:
    return f"  {day(sighting.at):<10}  {sighting.type:<9}  {sighting.reason}  ({sighting.path})"
