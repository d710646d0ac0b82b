"""``brainhooks outbox``: what waits or was refused, and what a person does about it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hooks.context import outbox, waiting
from hooks.errors import OutboxError
from scripts.swarm_v2.keyspace import legacy_marker_key
from tests.support.keeping import Kept, lesson
from tests.support.older_home import OLD, put
from tests.support.run_cli import run_cli

REFUSED = {**OLD, "content": "refused", "attrs": {"scope": "session"}, "session_id": ""}


@pytest.fixture
def kept(home, project):
    return Kept(home, project, brain_source="none")


def say(kept, text):
    kept.ask()
    kept.say(lesson(text))
    return kept.collect().kept[0].key


def refuse(kept):
    """Have the brain refuse one marker (its session is not known); return its key."""
    put(Path(outbox.folder(kept.home)), "x.json", REFUSED)
    kept.brain_source = "local"
    kept.drain()
    kept.brain_source = "none"
    (receipt,) = [r for r in kept.receipts() if r.state == "quarantined"]
    return receipt.key


def cli(kept, *args):
    done = run_cli("outbox", *args, home=Path(kept.home), env={"BRAIN_SOURCE_TYPE": "none"})
    assert "Traceback" not in done.stderr
    return done


def quarantined(kept):
    try:
        return sorted(os.listdir(outbox.quarantine_folder(kept.home)))
    except FileNotFoundError:
        return []


def test_an_empty_outbox_says_so_and_makes_no_home(home):
    done = run_cli("outbox", "list", home=home)
    assert (done.returncode, done.stdout) == (0, "Nothing waits, nothing was refused.\n")
    assert not home.exists()


def test_the_list_has_what_waits_in_the_order_of_delivery_then_what_was_refused(kept):
    refused = refuse(kept)
    first = say(kept, "first")
    put(Path(outbox.backlog_folder(kept.home)), "old.json", {**OLD, "content": "from before"})
    (Path(outbox.quarantine_folder(kept.home)) / "torn.json").write_bytes(b'{"type": "les')
    said = cli(kept, "list").stdout.splitlines()
    assert [line.split()[0] for line in said] == ["old.json", first[:8], refused[:8], "torn.json"]
    assert "  backlog     lesson     from before" in said[0]
    assert "  waiting     lesson     first" in said[1]
    assert "  quarantine  lesson     refused  (the brain" in said[2]
    assert said[3].endswith("(no marker)  (not a marker in JSON)")
    rows = json.loads(cli(kept, "list", "--json").stdout)
    assert [row["place"] for row in rows] == ["backlog", "waiting", "quarantine", "quarantine"]
    assert [row["id"] for row in rows] == ["old.json", first, refused, "torn.json"]


def test_show_says_all_of_one(kept):
    text = "first line\nsecond line"
    key = say(kept, text)
    said = cli(kept, "show", key[:8]).stdout
    assert f"key     {key}" in said
    assert said.endswith(f"\n\n{text}\n")


@pytest.mark.parametrize("wanted", ["ffffffff", "", "../x", "ambiguous"])
def test_what_names_no_one_file_is_refused_and_changes_nothing(kept, wanted):
    if wanted == "ambiguous":
        put(Path(outbox.folder(kept.home)), "ambiguous-1.json", OLD)
        put(Path(outbox.folder(kept.home)), "ambiguous-2.json", OLD)
    key = say(kept, "X")
    for verb in ("show", "drop"):
        done = cli(kept, verb, wanted)
        assert done.returncode == 1
        assert "brainhooks outbox list" in done.stderr
    assert kept.receipts()[0].key == key
    assert kept.states() == ["pending"]


def test_retry_puts_it_back_and_forgets_the_reason(kept):
    key = refuse(kept)
    done = cli(kept, "retry", key[:8])
    assert done.stdout == "1 file waits again; brainhooks flush delivers now\n"
    assert quarantined(kept) == []
    (receipt,) = kept.receipts()
    assert (receipt.state, receipt.reason) == ("pending", "")
    path = Path(outbox.folder(kept.home)) / kept.waiting()[0]
    document = json.loads(path.read_bytes())
    document["attrs"].pop("scope")  # the person mended it
    path.write_text(json.dumps(document), encoding="utf-8")
    kept.brain_source = "local"
    assert kept.drain().committed == 1
    assert kept.states() == ["committed"]


def test_retry_of_all_that_is_still_refused_comes_back_with_its_reason(kept):
    key = refuse(kept)
    (Path(outbox.quarantine_folder(kept.home)) / "torn.json").write_bytes(b"{")
    assert cli(kept, "retry").stdout.startswith("2 files wait again")
    kept.brain_source = "local"
    assert kept.drain().quarantined == 2
    assert [one.id for one in waiting.entries(kept.home)] == [key, "torn.json"]
    assert all(one.reason for one in waiting.entries(kept.home))
    assert cli(kept, "retry").returncode == 0


def test_retry_where_nothing_was_refused_says_so(kept):
    say(kept, "X")
    assert cli(kept, "retry").stdout == "Nothing of it was refused.\n"
    assert len(kept.waiting()) == 1


def test_a_retry_that_was_killed_after_the_file_loses_nothing(kept):
    key = refuse(kept)
    (entry,) = waiting.entries(kept.home)
    os.rename(entry.path, os.path.join(outbox.folder(kept.home), entry.name))
    kept.brain_source = "local"
    kept.drain()
    assert [one.key for one in waiting.entries(kept.home)] == [key]
    assert waiting.entries(kept.home)[0].place == "quarantine"


def test_drop_takes_it_out_for_good_and_leaves_a_receipt(kept):
    key = say(kept, "not this one")
    assert cli(kept, "drop", key[:8]).stdout == f"dropped {key}; its receipt is {key[:8]}\n"
    assert kept.waiting() == []
    kept.brain_source = "local"
    kept.drain()
    kept.collect()
    assert kept.collect(last_assistant_message=lesson("not this one")).kept == ()
    kept.drain()
    assert kept.texts() == []
    (receipt,) = kept.receipts()
    assert (receipt.key, receipt.state, receipt.reason) == (key, "dropped", "dropped by hand")
    assert " dropped " in run_cli("receipts", home=Path(kept.home)).stdout


def test_drop_of_a_refused_one_takes_its_reason_along_into_the_receipt(kept):
    key = refuse(kept)
    assert cli(kept, "drop", key).returncode == 0
    assert quarantined(kept) == []
    assert kept.receipts()[0].reason.startswith("dropped by hand; the brain local refused")


def test_drop_of_an_older_file_leaves_the_receipt_of_its_legacy_key(kept):
    put(Path(outbox.folder(kept.home)), "x.json", {**OLD, "content": "said"})
    cli(kept, "drop", "x.json")
    assert [r.key for r in kept.receipts()] == [legacy_marker_key("s5", "lesson", "said")]
    assert kept.states() == ["dropped"]


def test_drop_of_what_is_no_marker_leaves_a_receipt_with_its_name(kept):
    place = Path(outbox.quarantine_folder(kept.home))
    place.mkdir(parents=True)
    (place / "torn.json").write_bytes(b"{")
    os.mkfifo(place / "pipe.json")
    for name in ("torn.json", "pipe.json"):
        assert cli(kept, "drop", name).returncode == 0
    assert quarantined(kept) == []
    assert [r.document["content"] for r in kept.receipts()] == [
        "the file torn.json",
        "the file pipe.json",
    ]
    assert kept.states() == ["dropped", "dropped"]


def test_a_folder_is_not_emptied_for_anybody(kept):
    folder = Path(outbox.quarantine_folder(kept.home)) / "x.json"
    folder.mkdir(parents=True)
    (folder / "precious").write_bytes(b"1")
    done = cli(kept, "drop", "x.json")
    assert done.returncode == 1
    assert "it is a folder" in done.stderr
    assert (folder / "precious").exists()


def test_a_file_name_cannot_write_to_the_terminal(kept):
    Path(outbox.folder(kept.home)).mkdir()
    name = os.fsdecode(b"\x1b]0;x\x07 \xff.json")
    (Path(outbox.folder(kept.home)) / name).write_bytes(b"{")
    for args in (("list",), ("show", name)):
        done = cli(kept, *args)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout


def test_a_drop_beside_a_working_drainer_waits_for_it(kept, monkeypatch):
    from hooks.errors import StateError
    from hooks.lock import try_lock

    say(kept, "X")
    monkeypatch.setattr(waiting, "LOCK_WAIT_S", 0)
    (entry,) = waiting.entries(kept.home)
    with try_lock(os.path.join(kept.home, "locks", "drainer")), pytest.raises(StateError):
        waiting.drop(kept.settings, kept.at, entry)
    assert len(kept.waiting()) == 1


def test_of_two_files_of_one_name_the_place_before_it_tells_which(kept):
    key = say(kept, "waits")
    (name,) = outbox.names(kept.home)
    place = Path(outbox.quarantine_folder(kept.home))
    put(place, name, {**OLD, "idempotency_key": key, "content": "refused"})
    assert "quarantine/ID" in cli(kept, "show", name).stderr
    assert "refused" in cli(kept, "show", f"quarantine/{key[:8]}").stdout
    assert cli(kept, "drop", f"quarantine/{name}").returncode == 0
    assert quarantined(kept) == []
    assert outbox.names(kept.home) == [name]


def test_retry_never_sends_again_what_a_brain_has(kept):
    key = say(kept, "once")
    (name,) = outbox.names(kept.home)
    kept.brain_source = "local"
    kept.drain()
    put(Path(outbox.quarantine_folder(kept.home)), name, {**OLD, "idempotency_key": key})
    assert "1 file waits again" in cli(kept, "retry").stdout
    assert kept.states() == ["committed"]
    assert kept.drain().committed == 0
    assert kept.waiting() == []


def test_what_was_delivered_meanwhile_is_not_said_to_be_dropped(kept):
    say(kept, "once")
    (entry,) = waiting.entries(kept.home)
    kept.brain_source = "local"
    kept.drain()
    with pytest.raises(OutboxError, match="delivered or put aside meanwhile"):
        waiting.drop(kept.settings, kept.tick(), entry)


def test_nothing_that_a_file_says_acts_on_the_terminal(kept):
    put(Path(outbox.folder(kept.home)), "x.json", {**OLD, "content": "c\x9bd"})
    said = cli(kept, "show", "x.json").stdout
    assert "c\ufffdd" in said
    assert "\x9b" not in said


def test_the_backlog_of_an_older_version_is_in_every_count(home, project, noon):
    nobody = {"BRAIN_SOURCE_TYPE": "none"}
    kept = Kept(home, project, brain_source="none")
    kept.ask()
    kept.say(lesson("in the outbox"), lesson("in both"))
    keys = [one.key for one in kept.collect().kept]
    waiting, backlog = home / "brain-outbox", home / "brain-outbox-backlog"
    backlog.mkdir()
    [one, both] = (outbox.files_of(str(home), key)[0] for key in keys)
    (backlog / both).write_bytes((waiting / both).read_bytes())  # an older version was killed
    older = {"content": "in the backlog", "idempotency_key": "b" * 32}
    put(backlog, f"x-{'b' * 32}.json", {**json.loads((waiting / one).read_bytes()), **older})
    for place in (waiting, backlog):
        (place / ".x.json").write_bytes(b"")  # a sync program's own

    def said(*words):
        return run_cli(*words, home=home, cwd=project, env=nobody)

    status = json.loads(said("brain_status", "--json").stdout)
    listed = json.loads(said("outbox", "list", "--json").stdout)
    assert status["outbox"]["count"] == len(listed) == 4
    assert "4 markers wait and cannot be delivered" in status["problems"][0]["what"]
    assert "4 markers still waiting" in said("flush").stderr
    elsewhere = run_cli("migrate", "--dry-run", "--adopt", str(home), home=home.parent / "new")
    assert "would move 4 files" in elsewhere.stdout
    lessons = said("lessons").stdout
    assert all(f"in the {word}" in lessons for word in ("outbox", "backlog"))
