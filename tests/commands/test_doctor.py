"""``brainhooks doctor``: every fault with its next step, and the exit code of brain_status."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from scripts.doctor import Look
from scripts.doctor.checks import CHECKS, examine
from scripts.swarm_v2.memory.library import open_store
from scripts.swarm_v2.memory.store import Commit, Write
from tests.support.run_cli import run_cli
from tests.support.run_hook import ROOT


def rows(home, **env: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
    done = run_cli("doctor", "--json", home=home, env=env)
    assert done.stderr == ""
    found: dict[str, list[dict[str, str]]] = {}
    for row in json.loads(done.stdout):
        found.setdefault(row["check"], []).append(row)
    return done.returncode, found


def test_a_machine_without_our_hooks_is_told_how_to_get_them(home):
    done = run_cli("doctor", home=home)
    assert done.returncode == 1
    assert "next: brainhooks install, or install the plugin" in done.stdout
    assert not home.exists()  # looking makes nothing


def test_after_install_and_a_first_session_nothing_needs_a_person(home, noon):
    assert run_cli("install", home=home).returncode == 0
    runs = home / "brain" / "last-run"
    runs.mkdir(parents=True, mode=0o700)
    (runs / "SessionStart").write_bytes(b"")
    code, found = rows(home)
    trouble = [row for each in found.values() for row in each if row["level"] in ("warn", "fail")]
    assert (code, trouble) == (0, [])


def test_a_setting_that_cannot_be_used_is_said_once_and_the_rest_goes_on(home):
    code, found = rows(home, BRAIN_CONTEXT_BUDGET="lots")
    assert code == 1
    (row,) = found["settings"]
    assert row["level"] == "fail"
    assert "BRAIN_CONTEXT_BUDGET is 'lots'" in row["what"]
    assert row["next"].startswith("set BRAIN_CONTEXT_BUDGET to")
    assert "status" not in found
    assert found["installation"]


def test_what_brain_status_counts_is_explained_here(home):
    home.mkdir(mode=0o700)
    (home / "installation.json").write_text("{}", encoding="utf-8")
    code, found = rows(home)
    assert code == 1
    assert any("installation.json" in row["what"] and row["next"] for row in found["status"])


def test_mistyped_preferences_of_an_older_version_are_told_with_the_project(home):
    assert "memory preferences" not in rows(home)[1]
    named = {"BRAINHOOKS_PRINCIPAL": "ann"}
    with closing(open_store(str(home))) as store:
        for space, value in (("shop", {"verbosity": "loud"}), ("good", {"verbosity": "full"})):
            write = Write("preferences", "user:ann", "set", value)
            store.commit(space, Commit("system", (write,)))
    (row,) = rows(home, **named)[1]["memory preferences"]
    assert row["level"] == "warn"
    assert row["what"].startswith("shop: the preferences are malformed: verbosity is none of")
    assert "brainhooks memory edit preferences" in row["next"]


def test_people_of_one_name_are_told_by_their_lines(home):
    people = home / "memory" / "people"
    people.parent.mkdir(parents=True, mode=0o700)
    line = '{"principal":"ann","sha256":"%s"}\n'
    people.write_text(line % ("a" * 64) + line % ("b" * 64))
    code, found = rows(home)
    assert code == 1
    (row,) = found["memory people"]
    assert (row["level"], "lines 1, 2 name one person" in row["what"]) == ("warn", True)
    people.write_text(line % ("a" * 64))
    assert rows(home)[1]["memory people"][0]["level"] == "ok"


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_fails_on_nothing_at_all(name, noon, tmp_path):
    look = Look({"HOME": str(tmp_path)}, noon, str(tmp_path), str(ROOT))
    for finding in CHECKS[name](look):
        assert finding.what
        assert finding.next or finding.level == "ok"


def test_a_check_that_cannot_look_says_so_and_the_rest_goes_on(noon, tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    look = Look({"HOME": "/", "AGENTIHOOKS_HOME": str(loop)}, noon, str(tmp_path), str(ROOT))
    found = examine(look)
    assert "fail" in {finding.level for _, finding in found}
    assert {"settings", "interpreter"} <= {name for name, _ in found}
