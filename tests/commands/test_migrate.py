"""``brainhooks migrate``: the upgrade by hand, on a copy first, and an older home taken over."""

from __future__ import annotations

import os

import pytest

from hooks.context import ledger_notes, outbox
from hooks.context.migrations import STEPS
from scripts.commands.migrate import _copy_if_there
from tests.support.older_home import durable, older_home
from tests.support.run_cli import run_cli


@pytest.fixture
def older(home):
    return older_home(home)


def everything(home):
    return {str(path): path.is_file() and path.read_bytes() for path in home.rglob("*")}


def test_it_says_what_each_step_found_and_a_second_time_that_nothing_is_left(older):
    done = run_cli("migrate", home=older)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "installation: 1 made",
        "legacy-files: 3 legacy caches, 1 undelivered contexts, 1 legacy publish hash, "
        "3 outbox files, 1 outbox files without key, 1 session rows",
        "session-state: 1 sessions before",
        "scoped-memory: nothing to do",
    ]
    assert run_cli("migrate", home=older).stdout == f"Nothing to do in {older}.\n"
    assert [row["name"] for row in ledger_notes.steps(str(older))] == [s.name for s in STEPS]


def test_a_dry_run_says_the_same_and_changes_nothing(older):
    os.mkfifo(older / "brain-outbox" / "pipe.json")
    (older / "gone").symlink_to("nowhere")
    (older / "brain" / "up").symlink_to(older)
    (older / "circle").symlink_to("circle")
    before = everything(older)
    done = run_cli("migrate", "--dry-run", home=older)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "would run installation: 1 made\nwould run legacy-files: 3 legacy"
    )
    assert everything(older) == before


def test_a_file_that_goes_while_a_dry_run_copies_is_no_fault(tmp_path):
    _copy_if_there(str(tmp_path / "gone"), str(tmp_path / "copy"))
    assert os.listdir(tmp_path) == []


def test_a_dry_run_writes_through_no_link(older, tmp_path):
    (older / "brain").rename(tmp_path / "brain")
    (older / "brain").symlink_to(tmp_path / "brain")
    before = everything(tmp_path)
    assert run_cli("migrate", "--dry-run", home=older).returncode == 0
    assert everything(tmp_path) == before


def test_a_dry_run_without_a_home_makes_none(home):
    done = run_cli("migrate", "--dry-run", home=home)
    assert done.returncode == 0
    assert "would run installation: 1 made" in done.stdout
    assert not home.exists()


def test_a_record_that_breaks_its_grammar_is_said(older):
    (older / "installation.json").write_text("{}", encoding="utf-8")
    done = run_cli("migrate", home=older)
    assert done.returncode == 1
    assert "is not an installation record" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_older_home_is_taken_over(home, tmp_path):
    other = older_home(tmp_path / "other")
    before = durable(other)
    said = run_cli("migrate", "--dry-run", "--adopt", str(other), home=home).stdout
    assert f"would move 3 files from {other}" in said
    assert durable(other) == before
    assert not home.exists()
    done = run_cli("migrate", "--adopt", "../other", home=home, cwd=home.parent)
    assert done.returncode == 0
    assert f"3 files moved from {other}" in done.stdout
    assert len(outbox.names(str(home))) == 3
    assert outbox.is_empty(str(other))


def test_what_is_no_home_is_refused_in_one_sentence(home, tmp_path):
    done = run_cli("migrate", "--adopt", str(tmp_path / "nowhere"), home=home)
    assert done.returncode == 1
    assert "it is not a folder" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("flags", [[], ["--dry-run"]])
def test_adopting_a_folder_without_a_name_is_a_wrong_word_and_upgrades_nothing(older, flags):
    before = everything(older)
    done = run_cli("migrate", *flags, "--adopt", "", home=older)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--adopt" in done.stderr
    assert everything(older) == before
