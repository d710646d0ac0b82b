"""The rule of layers holds in the tree, and would say so if it did not."""

from __future__ import annotations

import pytest

from tools.layers import complaints, modules


def test_imports_point_down_only():
    found = [
        line
        for module, path in modules().items()
        for line in complaints(module, path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        pytest.param(
            "hooks.context.ledger",
            "from hooks.steps.collect_markers import run",
            id="an edge, a use",
        ),
        pytest.param("hooks.atomic", "def f():\n import hooks.dispatch", id="hidden in a function"),
        pytest.param("hooks.steps.x", "from scripts import cli", id="a use, a door"),
        pytest.param("hooks.reply", "from hooks.atomic import write", id="words, an edge"),
        pytest.param("hooks.context.markers", "import os", id="words, the system"),
    ],
)
def test_an_import_that_points_up_is_named(module, source):
    assert len(complaints(module, source)) >= 1


def test_an_import_for_the_type_checker_is_none():
    source = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from hooks.dispatch import Ctx\n"
    assert complaints("hooks.steps.collect_markers", source) == []
