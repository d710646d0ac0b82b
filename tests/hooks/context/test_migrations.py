"""The steps of an upgrade: each once, written down, and harmless when it is run again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hooks import quick
from hooks.context import ledger_notes, migrations
from hooks.context.ledger import Ledger
from hooks.context.migrations import STEPS, Step, migrate, pending
from hooks.lock import try_lock
from scripts.swarm_v2.installation import installation, read
from tests.support.older_home import durable, older_home
from tests.support.processes import at_once


@pytest.fixture
def older(home):
    return older_home(home)


def test_each_step_runs_once_and_is_written_down_with_its_time_and_counts(older, noon):
    rows = migrate(str(older), noon)
    assert [row["name"] for row in rows] == [step.name for step in STEPS]
    assert rows == ledger_notes.steps(str(older))
    assert {row["at"] for row in rows} == {"2026-11-30T12:00:00.000000+00:00"}
    assert rows[0]["counts"] == {"made": 1}
    assert rows[1]["counts"] == {
        "legacy_caches": 3,
        "undelivered_contexts": 1,
        "legacy_publish_hash": 1,
        "outbox_files": 3,
        "outbox_files_without_key": 1,
        "backlog_files": 0,
        "session_rows": 1,
    }
    assert rows[2]["counts"] == {"sessions_before": 1}
    assert migrate(str(older), noon) == []
    assert pending(str(older)) == []


def test_the_first_hook_after_the_upgrade_sets_the_cutover(older, noon):
    migrate(str(older), noon)
    assert read(older).created_at == noon


def test_what_was_there_is_there_afterwards_byte_for_byte(older, noon):
    before = durable(older)
    migrate(str(older), noon)
    assert {name: data for name, data in durable(older).items() if name in before} == before


def test_a_fresh_home_has_nothing_to_count(home, noon):
    rows = migrate(str(home), noon)
    assert rows[0]["counts"] == {"made": 1}
    assert set(rows[1]["counts"].values()) == {0}


def test_sixteen_first_hooks_at_once_write_each_step_once(older):
    at_once(
        16,
        "import sys; from hooks.clock import from_epoch; from hooks.context import migrations",
        "migrations.migrate(sys.argv[1], from_epoch(1764504000 + int(sys.argv[2])))",
        older,
    )
    assert [row["name"] for row in ledger_notes.steps(str(older))] == [s.name for s in STEPS]


def test_a_hook_that_finds_another_at_it_says_so_and_changes_nothing(older, noon, monkeypatch):
    monkeypatch.setattr(migrations, "LOCK_WAIT_S", 0)
    before = durable(older)
    with (
        try_lock(str(older / "locks" / "migrations")),
        pytest.raises(migrations.StateError, match="locked by another process"),
    ):
        migrate(str(older), noon)
    assert durable(older) == before
    assert migrate(str(older), noon)


def test_the_door_knows_how_many_steps_there_are():
    assert len(STEPS) == quick.STEPS_KNOWN
    assert len({step.name for step in STEPS}) == len(STEPS)


def test_without_the_doors_note_nothing_is_done_twice(older, noon):
    migrate(str(older), noon)
    note = Path(quick.migrated_note(str(older)))
    note.unlink()
    assert migrate(str(older), noon) == []
    assert note.exists()


def test_a_step_of_a_later_version_that_ran_here_is_kept(older, noon):
    rows = [{"name": "of-version-9", "at": "x", "counts": {"n": 3}}]
    (older / "migrations.json").write_text(json.dumps({"steps": rows}), encoding="utf-8")
    migrate(str(older), noon)
    assert ledger_notes.steps(str(older))[0] == rows[0]
    assert len(ledger_notes.steps(str(older))) == 1 + len(STEPS)


@pytest.mark.parametrize(
    "damage", [b'{"steps": [{"na', b'{"steps": "x"}', b"{}", b'{"steps": [{"name": ["a"]}, 1]}']
)
def test_a_damaged_list_is_put_aside_and_still_knows_of_the_ledger(home, noon, damage):
    Ledger.open(str(home), noon).close()
    (home / "migrations.json").write_bytes(damage)
    migrate(str(home), noon)
    assert [row["name"] for row in ledger_notes.steps(str(home))] == ["ledger", *_names()]
    (aside,) = home.glob("migrations.json.damaged-*")
    assert aside.read_bytes() == damage
    os.unlink(home / "ledger.db")
    ledger = Ledger.open(str(home), noon)
    assert ledger.note("lost")
    ledger.close()


def test_a_first_ledger_does_not_write_over_a_damaged_list(home, noon):
    home.mkdir(parents=True)
    (home / "migrations.json").write_bytes(b'{"steps": 1}')
    Ledger.open(str(home), noon).close()
    (aside,) = home.glob("migrations.json.damaged-*")
    assert aside.read_bytes() == b'{"steps": 1}'


def _names():
    return [step.name for step in STEPS]


def test_a_record_that_breaks_its_grammar_stops_the_upgrade_and_stays(older, noon):
    (older / "installation.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="installation record"):
        migrate(str(older), noon)
    assert (older / "installation.json").read_text(encoding="utf-8") == "{}"
    assert ledger_notes.steps(str(older)) == []


def test_what_a_step_rewrites_is_copied_first_and_only_once(older, noon, monkeypatch):
    """A later format change: rows without the new field come out as many as they went in."""
    index = older / "brain" / "project-sessions.jsonl"
    rows = [{"session_id": f"s{n}", "project_id": None} for n in range(3)]
    index.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    was = index.read_bytes()
    deaths = iter((True, False))

    def rewrite(home, _at):
        lines = Path(home, "brain", "project-sessions.jsonl").read_text().splitlines()
        done = [json.dumps({**json.loads(line), "new": 1}) for line in lines]
        index.write_text("\n".join(done) + "\n", encoding="utf-8")
        if next(deaths):
            raise OSError(5, "died")
        return {"before": len(lines), "after": len(done)}

    step = Step("fill-in", rewrite, ("brain/project-sessions.jsonl",))
    monkeypatch.setattr(migrations, "STEPS", (step,))
    with pytest.raises(OSError, match="died"):
        migrate(str(older), noon)
    assert ledger_notes.steps(str(older)) == []
    (row,) = migrate(str(older), noon)
    assert row["counts"] == {"before": 3, "after": 3}
    copy = older / "backups" / "fill-in" / "brain" / "project-sessions.jsonl"
    assert copy.read_bytes() == was


def test_a_home_that_is_an_installation_already_keeps_its_cutover(home, noon):
    made = installation(home, noon)
    rows = migrate(str(home), noon.replace(hour=13))
    assert rows[0]["counts"] == {"made": 0}
    assert read(home) == made


BAD_ROW = b'{"steps": [{"name": "ledger", "at": "x"}, {"name": "of-version-9"}, {"nam": 1}]}'


def test_a_bad_row_among_good_ones_is_put_aside_by_the_first_who_may_write(home, noon):
    Ledger.open(str(home), noon).close()
    migrate(str(home), noon)
    (home / "migrations.json").write_bytes(BAD_ROW)
    rows = [{"name": name} for name in _names()]
    good = json.loads(BAD_ROW)["steps"][:2]
    (home / "migrations.json").write_text(json.dumps({"steps": [*good, *rows, 7]}))
    assert migrate(str(home), noon) == []
    assert json.loads((home / "migrations.json").read_bytes())["steps"] == [*good, *rows]
    (aside,) = home.glob("migrations.json.damaged-*")
    assert json.loads(aside.read_bytes())["steps"][-1] == 7


def test_a_new_ledger_in_the_place_of_a_lost_one_puts_a_damaged_list_aside_too(home, noon):
    Ledger.open(str(home), noon).close()
    os.unlink(home / "ledger.db")
    (home / "migrations.json").write_bytes(BAD_ROW)
    ledger = Ledger.open(str(home), noon)
    assert ledger.note("lost")
    ledger.close()
    good = json.loads(BAD_ROW)["steps"][:2]
    assert json.loads((home / "migrations.json").read_bytes())["steps"] == good
    assert len(list(home.glob("migrations.json.damaged-*"))) == 1
