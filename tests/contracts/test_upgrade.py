"""A home as the older version leaves it, met by this version's real hooks; and the way back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import timedelta

import pytest

from hooks.clock import iso, parse_iso
from hooks.context import ledger_notes, outbox
from hooks.context.ledger import Ledger
from hooks.settings import Settings
from hooks.status import collect_status
from scripts.swarm_v2.installation import read
from scripts.swarm_v2.keyspace import legacy_marker_key
from tests.support.keeping import lesson
from tests.support.older_home import KEYED, SESSION, durable, older_home
from tests.support.redis_servers import Server, binary
from tests.support.run_cli import run_cli
from tests.support.run_hook import ROOT, run_verb

LEGACY_TEXT = "Run the migration on a copy first."


@pytest.fixture
def older(home):
    return older_home(home)


def receipts(home):
    ledger = Ledger.read_only(str(home))
    try:
        return {receipt.key: receipt for receipt in ledger.receipts()}
    finally:
        ledger.close()


def caches(home):
    return sorted(os.listdir(home / "brain" / "project-memory"))


def test_the_first_session_upgrades_the_home_and_delivers_what_waited(older, session):
    current = session()
    first = current.start()
    current.settle()
    assert first.rc == 0
    assert "stale" not in first.context
    assert [row["name"] for row in ledger_notes.steps(str(older))] == [
        "installation",
        "legacy-files",
        "session-state",
        "scoped-memory",
        "ledger",
    ]
    legacy = legacy_marker_key(SESSION, "lesson", LEGACY_TEXT)
    assert {key: one.state for key, one in receipts(older).items()} == {
        legacy: "committed",
        KEYED: "committed",
    }
    assert outbox.names(str(older)) == []
    aside = os.listdir(outbox.quarantine_folder(str(older)))
    assert sorted(aside) == [
        "20261008T123100-lesson-9c0d1e2f.json",
        "20261008T123100-lesson-9c0d1e2f.json.reason.txt",
    ]


def test_the_first_feed_sweeps_the_legacy_caches_and_stamps_the_publish_hash(older, session):
    current = session()
    current.start()
    current.settle()
    assert [name for name in caches(older) if not name.startswith("k2-")] == []
    published = json.loads((older / "brain_adapter_hash.json").read_bytes())
    assert published["namespace"]["installation"] == read(older).installation_id


def test_each_feed_sweeps_thirty_two_of_them(older, session):
    shutil.rmtree(older / "brain-outbox")  # a delivery would store the feed once more
    folder = older / "brain" / "project-memory"
    for number in range(100, 170):
        (folder / f"pending-{number:024x}.json").write_text("{}", encoding="utf-8")
    current = session()
    left = []
    for source in ("startup", "clear", "clear"):
        current.start(source)
        current.settle()
        left.append(len([name for name in caches(older) if not name.startswith("k2-")]))
    assert left == [73 - 32, 73 - 64, 0]


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit", "SessionStart", "MessageDisplay"])
def test_whichever_event_comes_first_makes_the_cutover(older, session, event):
    current = session()
    current.says("nothing to keep")
    assert current.fire(event).rc == 0
    current.settle()
    names = [row["name"] for row in ledger_notes.steps(str(older))]
    assert names[:3] == ["installation", "legacy-files", "session-state"]
    assert ledger_notes.steps(str(older))[0]["at"] == iso(read(older).created_at)


def test_a_live_session_keeps_legacy_keys_for_what_it_said_before_the_upgrade(older, session):
    current = session(session_id=SESSION)
    current.prompt("go on")
    current.settle()
    cutover = read(older).created_at
    current.says(lesson("said before"), at=cutover - timedelta(seconds=1))
    current.says(lesson(LEGACY_TEXT), at=cutover - timedelta(days=90))  # waits in the outbox too
    current.says(lesson("said after"), at=cutover + timedelta(seconds=1))
    current.stop()
    current.settle()
    found = receipts(older)
    texts = sorted(one.document["content"] for one in found.values())
    keyed = "Equal labels never share a cache entry."
    assert texts == [keyed, LEGACY_TEXT, "said after", "said before"]
    assert found[legacy_marker_key(SESSION, "lesson", "said before")].state == "committed"
    assert found[legacy_marker_key(SESSION, "lesson", LEGACY_TEXT)].state == "committed"
    assert legacy_marker_key(SESSION, "lesson", "said after") not in found


def drop(home):
    folder = str(home / "brain" / "project-memory")
    done = subprocess.run(
        [sys.executable, "-m", "scripts.swarm_v2.keyspace", "drop", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_rollback_drops_caches_and_everything_durable_stays(older, session):
    current = session()
    current.start()
    current.says(lesson("posted under our key"))
    current.stop()
    current.settle()
    before = durable(older)
    assert any(name.startswith("k2-feed-") for name in caches(older))
    kept = [n for n in caches(older) if not n.startswith(("k2-feed-", "k2-project-memory-"))]
    code, out, err = drop(older)
    assert (code, err) == (0, "")
    assert int(out) >= 2
    assert caches(older) == kept
    assert durable(older) == before
    assert drop(older) == (0, "0\n", "")


def test_after_a_rollback_and_a_second_upgrade_nothing_is_posted_again(older, session):
    current = session()
    current.start()
    current.says(lesson("posted under our key"))
    current.stop()
    current.settle()
    drop(older)
    before = receipts(older)
    record = (older / "installation.json").read_bytes()
    again = session(session_id=current.id)
    again.transcript = current.transcript
    again.start("resume")
    again.stop()
    again.settle()
    assert receipts(older) == before
    assert (older / "installation.json").read_bytes() == record
    assert "posted under our key" in session().start().context


def test_a_deleted_record_moves_the_markers_between_the_two_times_to_legacy_keys(older, session):
    current = session()
    current.start()
    current.settle()
    first = read(older)
    (older / "installation.json").unlink()
    current.prompt("hello")
    current.start("compact")
    current.settle()
    second = read(older)
    assert second.installation_id != first.installation_id
    between = first.created_at + (second.created_at - first.created_at) / 2
    current.says(lesson("between"), at=between)
    current.says(lesson("later"), at=second.created_at + timedelta(seconds=1))
    current.stop()
    current.settle()
    found = receipts(older)
    assert found[legacy_marker_key(current.id, "lesson", "between")].state == "committed"
    assert legacy_marker_key(current.id, "lesson", "later") not in found


def test_a_live_session_begins_again_from_empty_state_once_and_brain_status_says_so_for_a_day(
    older, session, project
):
    with Server(older.parent / "redis", binary("wheel")) as server:
        theirs = {"agentihooks:controls": "off", f"agentihooks:breaker:{SESSION}": "9"}
        for key, value in theirs.items():
            server.ask("SET", key, value, "EX", "3600")
        env = {"REDIS_URL": server.url}
        current = session(session_id=SESSION, env=env)
        told = [current.fire("PostToolUseFailure").context for _ in range(5)]
        assert ["has now failed" in text for text in told] == [False] * 4 + [True]
        found = run_verb("brain_status", older, env=env).stdout.decode()
        assert "a session that lived through it began again from there, once" in found
        assert "controls are off" not in found
        assert {key: server.ask("GET", key) for key in theirs} == {
            key: value.encode() for key, value in theirs.items()
        }
        assert all(0 < server.ask("TTL", key) <= 3600 for key in theirs)

    began = parse_iso(ledger_notes.steps(str(older))[2]["at"])
    settings = Settings(str(older))
    for after, wanted in ((timedelta(hours=23), iso(began)), (timedelta(hours=25), "")):
        status = collect_status(settings, {}, began + after, str(project), SESSION)
        assert status["state"]["began"] == wanted


def test_in_a_new_home_no_session_lived_through_anything(home, session, project):
    session().start()
    now = parse_iso(ledger_notes.steps(str(home))[2]["at"])
    session().start()
    assert collect_status(Settings(str(home)), {}, now, str(project), "")["state"]["began"] == ""


def test_what_older_versions_left_that_we_do_not_know_stays_unread_and_undeleted(older, session):
    """The switch that lifted every gate for everybody was one file; it switches nothing now."""
    strange = [older / "controls-disabled", older / "controls.json", older / "brain" / "controls"]
    for path in strange:
        path.write_bytes(b"1")
        os.utime(path, (1, 1))
        path.chmod(0)
    was = [(path.stat().st_atime, path.stat().st_mtime) for path in strange]
    current = session()
    assert current.start().context
    current.says(lesson("kept all the same"))
    assert "kept 1 lesson" in current.stop().message
    current.settle()
    drop(older)
    assert run_cli("migrate", home=older).returncode == 0
    assert [(path.stat().st_atime, path.stat().st_mtime) for path in strange] == was
