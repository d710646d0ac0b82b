"""Doctor's look at the server door: the versions of the client that bear it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.doctor import Look
from scripts.doctor.agent import registered
from scripts.doctor.door import SERVER, bears
from tests.support.run_hook import ROOT

SERVED = {"brainhooks-server@brainhooks": True}
PLAIN = {"brainhooks@brainhooks": True}


@pytest.fixture
def look(tmp_path, noon) -> Look:
    (tmp_path / "p" / ".git").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    env = {"HOME": str(tmp_path), "AGENTIHOOKS_HOME": str(tmp_path / "agentihooks")}
    return Look({**env, "PATH": str(tmp_path / "bin")}, noon, str(tmp_path / "p"), str(ROOT))


def client(look: Look, says: str, rc: int = 0) -> None:
    path = Path(look.env["PATH"], "claude")
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {rc}\n")
    path.chmod(0o755)


def person(look: Look, **settings: object) -> None:
    path = Path(look.env["HOME"], ".claude", "settings.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings))


def said(look: Look) -> list[tuple[str, str]]:
    return [(finding.level, finding.what) for finding in bears(look)]


@pytest.mark.parametrize("version", ["2.1.332", "2.1.333", "2.2.0", "3.0.0"])
@pytest.mark.parametrize("enabled", [{}, PLAIN, SERVED])
def test_a_client_that_waits_for_the_server_bears_it(look, version, enabled):
    client(look, f"{version} (Claude Code)")
    person(look, enabledPlugins=enabled)
    assert said(look) == [("ok", f"the client {version} bears the server door")]


@pytest.mark.parametrize("version", ["2.1.120", "2.1.200", "2.1.331"])
def test_one_that_does_not_wait_is_worth_a_note(look, version):
    client(look, f"{version} (Claude Code)")
    ((level, what),) = said(look)
    assert level == "note"
    assert "does not wait" in what


@pytest.mark.parametrize("version", ["2.1.117", "2.1.119", "2.0.999", "1.9.500"])
def test_before_opting_in_one_that_is_too_old_is_a_note_and_afterwards_a_failure(look, version):
    client(look, f"{version} (Claude Code)")
    person(look, enabledPlugins=PLAIN)
    ((level, what),) = said(look)
    assert (level, version in what) == ("note", True)
    person(look, enabledPlugins=SERVED)
    (finding,) = bears(look)
    assert finding.level == "fail"
    assert "runs no hook at all" in finding.what
    assert "claude plugin install brainhooks@brainhooks" in finding.next


@pytest.mark.parametrize("answer", ["", "x.y.z", "Claude Code", "2.1", "v2.1.332"])
def test_a_client_that_does_not_say_its_version_matters_to_who_has_the_door(look, answer):
    client(look, answer)
    assert said(look) == []
    person(look, enabledPlugins=SERVED)
    ((level, what),) = said(look)
    assert level == "note"
    assert "could not be asked" in what


def test_without_a_client_in_the_path_nothing_is_said_to_who_did_not_ask(look):
    assert said(look) == []


def test_a_server_that_the_settings_deny_is_a_failure(look):
    client(look, "2.1.332 (Claude Code)")
    denied = [{"serverName": "other"}, 7, {"serverName": SERVER}]
    person(look, enabledPlugins=SERVED, deniedMcpServers=denied)
    assert [level for level, _ in said(look)] == ["ok", "fail"]
    person(look, enabledPlugins=PLAIN, deniedMcpServers=denied)
    assert [level for level, _ in said(look)] == ["ok"]


def test_both_plugins_at_once_are_told_and_the_one_without_the_server_is_to_go(look):
    person(look, enabledPlugins={**PLAIN, **SERVED})
    (finding, *_) = registered(look)
    assert finding.level == "warn"
    assert "enabled twice" in finding.what
    assert finding.next == "keep one: claude plugin uninstall brainhooks@brainhooks"


def test_the_server_has_the_name_that_the_plugin_gives_it():
    from tools.server_plugin import SERVER as GIVEN

    assert SERVER == GIVEN
