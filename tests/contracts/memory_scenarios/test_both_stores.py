"""Scenario 36: the same answers on both stores, with two writing processes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def scenarios():
    """Return the number and the definition of every scenario's test."""
    bodies = [ast.parse(path.read_bytes()).body for path in sorted(HERE.glob("test_*.py"))]
    return [
        (int(node.name.split("_")[2]), node)
        for body in bodies
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_scenario_")
    ]


def fixture(request, name):
    (*_, nearest) = request.session._fixturemanager.getfixturedefs(name, request.node)
    return nearest


FIRST_TWELVE = [pytest.param(one, id=one.name) for number, one in scenarios() if number <= 12]


@pytest.mark.parametrize("test", FIRST_TWELVE)
def test_scenario_36_the_first_twelve_run_on_both_stores_with_two_writers(request, test):
    assert set(fixture(request, "world").params) == {"sqlite", "redis"}
    assert {"world", "beside"} <= set(fixture(request, "scene").argnames)
    assert "scene" in [one.arg for one in test.args.args]
    body = ast.unparse(test)
    assert "scene.apart(" in body or "scene.beside.ask(" in body or "'apart'" in body


def test_every_scenario_has_a_test_of_its_number():
    assert {number for number, _ in scenarios()} == set(range(1, 37))
    assert len(FIRST_TWELVE) >= 12
