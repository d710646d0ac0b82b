"""docs/scoped-memory.md says what the code does: its codes, its limits, its example."""

from __future__ import annotations

import re

from scripts.swarm_v2.memory import (
    document,
    outgoing,
    proposals,
    redirects,
    server,
    serving,
    subscriptions,
    wire,
)
from scripts.swarm_v2.memory.errors import CODES
from scripts.swarm_v2.memory.retention import KEPT_DAYS
from tests.support.run_hook import ROOT
from tools.codes_table import table

PAGE = (ROOT / "docs" / "scoped-memory.md").read_text(encoding="utf-8")


def test_the_table_of_codes_is_the_one_in_the_code():
    (written,) = re.findall(r"<!-- codes:[^\n]*-->\n(.*?)<!-- /codes -->", PAGE, re.DOTALL)
    assert written == table(), "run: python -m tools.codes_table"


def test_every_code_that_is_raised_stands_in_the_table_and_every_row_is_raised():
    raised = set()
    for path in [*(ROOT / "scripts").rglob("*.py"), *(ROOT / "hooks").rglob("*.py")]:
        if path.name != "errors.py":
            raised |= set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', path.read_text(encoding="utf-8")))
    assert set(CODES) - raised == set()


def test_the_limits_are_those_in_the_code():
    mib, kib = 1 << 20, 1 << 10
    said = [
        f"| {document.MAX_BYTES // mib} MiB of canonical JSON, nested {document.MAX_DEPTH} deep |",
        f"| {document.MAX_ID_BYTES} bytes |",
        f"| {document.MAX_NODES:,} values in values; an `index` {document.MAX_INDEX_NODES:,} |",
        f"| {proposals.MAX_WRITES} writes, {proposals.MAX_READS:,} reads, "
        f"{document.MAX_INDEX_NODES:,} values |",
        f"| {redirects.MAX_HOPS} |",
        f"| {wire.MAX_LINE // mib} MiB and {wire.MAX_VALUES:,} values; "
        f"the first one {wire.MAX_HELLO // kib} KiB, within {server.HELLO_S:g} s |",
        f"| {serving.MAX_FRAME // mib} MiB |",
        f"| {subscriptions.MAX_WATCHES} |",
        f"| {outgoing.MAX_QUEUED // mib} MiB, and {outgoing.STALL_S:g} s without progress; ",
        f"| {server.MAX_CLIENTS} |",
        f"connected for {server.IDLE_S / 60:g} minutes",
        f"gone {KEPT_DAYS} days after the session ended",
    ]
    assert [text for text in said if text not in PAGE] == []


def test_the_example_runs_as_it_stands(home):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {"home": str(home)}
    exec(compile(example, "docs/scoped-memory.md", "exec"), names)
    assert names["found"]["value"] == {"style": "dry"}
    assert names["context"]["id"] == "context"
    assert names["edit"].seq
    assert any(row["node"] == "context" for row in names["graph"]["rows"])
    assert names["page"] == {"documents": [], "next": ""}
    assert names["news"] == []
