"""Whose a marker is. What the agent writes about itself never decides."""

from __future__ import annotations

import pytest

from hooks.context.scope_log import Scope, Transition, attribute

IN_FORCE = Transition(
    "session", 1, "2026-11-30T12:00:00.000000+00:00", "id",
    "h/shop/web", "web", "web", "/src/web", "/src/web/docs", "h/shop/web", "main",
    "s", "t", "1", "l",
)  # fmt: skip
NOWHERE = Transition("session", 1, IN_FORCE.at, "id", project_id="unknown", cwd="/tmp/x", task="t")
WORK = {"swarm": "s", "task": "t", "task_revision": "1", "lane": "l"}


def test_a_marker_belongs_to_the_project_in_force():
    found = attribute(IN_FORCE, {"severity": "high"}, ())
    assert (found.kind, found.project_id) == ("scoped", "h/shop/web")
    assert found.attrs == {
        "severity": "high",
        "attribution": "scoped",
        **{name: getattr(IN_FORCE, name) for name in Scope._fields},
    }


def test_naming_the_project_in_force_needs_no_grant():
    assert attribute(IN_FORCE, {"project_id": "h/shop/web"}, ()).kind == "scoped"


@pytest.mark.parametrize("scope", [None, NOWHERE], ids=["no log", "no project"])
def test_without_a_project_in_force_a_marker_is_unattributed(scope):
    found = attribute(scope, {"severity": "low"}, ())
    assert (found.kind, found.project_id) == ("unknown", "")
    assert "project_id" not in found.attrs
    assert found.attrs.get("task", "") == ("t" if scope else "")


@pytest.mark.parametrize("scope", [None, NOWHERE, IN_FORCE])
def test_a_granted_project_may_be_named(scope):
    found = attribute(scope, {"project_id": "h/shop/docs"}, ("h/shop/docs",))
    assert (found.kind, found.project_id) == ("explicit", "h/shop/docs")
    assert found.attrs["project"] == "docs"
    assert not {"worktree", "cwd", "branch", "remote", "repo"} & found.attrs.keys()


@pytest.mark.parametrize("scope", [None, NOWHERE, IN_FORCE])
@pytest.mark.parametrize("grants", [(), ("h/shop/do",), ("h/shop/docs/x",), ("*",)])
def test_a_project_that_was_not_granted_is_refused(scope, grants):
    found = attribute(scope, {"project_id": "h/shop/docs", "severity": "low"}, grants)
    assert (found.kind, found.project_id) == ("refused", "")
    assert found.attrs["severity"] == "low"
    assert not {"project_id", "project", "worktree", "cwd"} & found.attrs.keys()


def test_the_group_s_work_stays_with_a_marker_for_another_project():
    for grants in ((), ("h/shop/docs",)):
        attrs = attribute(IN_FORCE, {"project_id": "h/shop/docs"}, grants).attrs
        assert {name: attrs[name] for name in WORK} == WORK


def test_what_is_shared_with_the_fleet_says_nothing_of_where_it_was_written():
    asked = {"share": "fleet", "project_id": "h/shop/docs", "cwd": "/secret", "severity": "low"}
    found = attribute(IN_FORCE, asked, ("h/shop/docs",))
    assert (found.kind, found.project_id) == ("fleet", "")
    assert found.attrs == {"share": "fleet", "severity": "low", "attribution": "fleet"}


@pytest.mark.parametrize("share", ["", "Fleet", "all", "project"])
def test_no_other_word_shares(share):
    assert attribute(IN_FORCE, {"share": share}, ()).kind == "scoped"


def test_an_agent_cannot_sign_for_another_folder():
    forged = {name: "forged" for name in Scope._fields if name != "project_id"}
    forged["attribution"] = "explicit"
    assert "forged" not in attribute(IN_FORCE, forged, ()).attrs.values()
    found = attribute(None, forged, ())
    assert found.attrs == {"attribution": "unknown"}


def test_the_marker_s_own_attributes_are_not_changed():
    attrs = {"project_id": "h/shop/docs", "severity": "low"}
    attribute(IN_FORCE, attrs, ())
    assert attrs == {"project_id": "h/shop/docs", "severity": "low"}
