"""The design page names a test for each invariant; each must exist under that name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| (must|should) \| (.+?) \| `(.+?)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("number", "kind", "what", "test"), ROWS, ids=lambda value: value[:40])
def test_an_invariant_is_held_by_a_test_that_exists(number, kind, what, test):
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    assert path.exists(), f"invariant {number}: {what}"
    if name:
        assert f"\ndef {name}(" in path.read_text(encoding="utf-8"), f"invariant {number}: {what}"


def test_the_invariants_are_numbered_without_gaps():
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(ROWS) > 30
