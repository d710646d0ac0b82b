"""A profile's own home and the one of before: both are named, nothing is merged unasked."""

from __future__ import annotations

import json
import os

import pytest

from hooks.context import outbox
from tests.support.older_home import older_home
from tests.support.run_cli import run_cli


@pytest.fixture
def older(home):
    return older_home(home.parent / ".agentihooks")


def ask(home, *args):
    """Run a command as one with CLAUDE_CONFIG_DIR set does, and without AGENTIHOOKS_HOME."""
    profile = str(home.parent / "profile")
    env = {"AGENTIHOOKS_HOME": "", "CLAUDE_CONFIG_DIR": profile, "HOME": str(home.parent)}
    return run_cli(*args, home=home, env=env)


def test_brain_status_names_both_and_says_how_to_take_over_what_waits(home, older):
    said = json.loads(ask(home, "brain_status", "--json").stdout)
    here = str(home.parent / "profile" / "agentihooks")
    assert said["installation"]["home"] == here
    assert said["installation"]["older_home"] == str(older)
    (problem,) = said["problems"]
    assert problem["level"] == "yellow"
    assert problem["next"] == f"brainhooks migrate --adopt {older}"
    text = ask(home, "brain_status", "--verbose").stdout
    assert f"in {here}; another home is {older}" in text


def test_doctor_names_both(home, older):
    rows = json.loads(ask(home, "doctor", "--json").stdout)
    (row,) = [row for row in rows if row["check"] == "other home"]
    assert row["level"] == "note"
    assert str(older) in row["what"]
    assert str(home.parent / "profile" / "agentihooks") in row["what"]
    assert f"brainhooks migrate --adopt {older}" in row["next"]


def test_after_the_adoption_both_are_named_and_nobody_is_needed(home, older):
    assert ask(home, "migrate", "--adopt", str(older)).returncode == 0
    assert outbox.is_empty(str(older))
    said = json.loads(ask(home, "brain_status", "--json").stdout)
    assert said["installation"]["older_home"] == str(older)
    assert [row for row in said["problems"] if str(older) in row["what"]] == []
    rows = json.loads(ask(home, "doctor", "--json").stdout)
    (row,) = [row for row in rows if row["check"] == "other home"]
    assert "nothing waits there" in row["next"]


def test_one_home_is_not_called_two(home):
    said = json.loads(run_cli("brain_status", "--json", home=home).stdout)
    assert "older_home" not in said["installation"]
    assert not os.path.exists(home)
