"""``brainhooks archive`` as a person uses it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hooks.context import archiving
from hooks.context.archiving import all_lock
from hooks.lock import held
from scripts.swarm_v2.store.archive import manifest
from scripts.swarm_v2.store.archive.save import load
from tests.support.archive import as_bytes, conversation, fork_of
from tests.support.run_cli import ENTRY, run_cli
from tests.support.run_hook import ROOT, agent_env, run_verb, wait_for_workers

SECRET = "password=hunter2hunter2"
ONE = "0ab96787-666b-4423-b983-6a30353e01f6"
OTHER = "1ab96787-666b-4423-b983-6a30353e01f6"


@pytest.fixture
def transcript(home):
    """A session of the default profile, with a secret in it."""
    path = home.parent / ".claude" / "projects" / "web" / f"{ONE}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(as_bytes(conversation(3, 20, ONE)))
    block = {"type": "text", "text": f"log in with {SECRET}\x1b[2J"}
    said = {"role": "assistant", "content": [block]}
    line = {"uuid": "u", "type": "assistant", "timestamp": "2026-11-30T10:00:01Z", "message": said}
    path.write_bytes(path.read_bytes() + json.dumps(line).encode() + b"\n")
    return path


def archived(home):
    done = run_cli("archive", "--all", home=home)
    assert done.returncode == 0, done.stderr
    return done


def test_status_offers_it_first_and_says_later_what_is_saved(home, transcript):
    said = run_cli("brain_status", home=home).stdout
    assert "none saved; the agent has 1 transcript" in said
    assert "archive --all" in said
    assert not home.exists()
    assert "1 session looked at, " in (said := archived(home).stdout)
    assert "`brainhooks archive list` shows them" in said
    assert archived(home).stdout == "1 session looked at, nothing new to save.\n"
    said = run_cli("brain_status", home=home).stdout
    assert "1 session saved; later ones: `archive --all`" in said
    said = run_cli("brain_status", home=home, env={"BRAINHOOKS_ARCHIVE": "1"}).stdout
    assert "1 session saved, each as it stops" in said


def test_list_has_date_project_size_and_stored_size(home, transcript):
    archived(home)
    said = run_cli("archive", "list", home=home).stdout
    assert f"{ONE[:8]}  2026-11-30" in said
    assert "/home/dev/p" in said
    (row,) = json.loads(run_cli("archive", "list", "--json", home=home).stdout)
    assert row["size"] == transcript.stat().st_size
    assert 0 < row["stored"] < row["size"]
    assert row["session"] == ONE


def test_export_is_exact_after_the_transcript_is_gone(home, transcript, tmp_path):
    archived(home)
    data = transcript.read_bytes()
    transcript.unlink()
    code = ENTRY.format(before="", function="main")
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "archive", "export", ONE[:8]],
        env={**agent_env(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    assert done.stdout == data
    assert run_cli("archive", "export", ONE, "--to", "out", home=home, cwd=tmp_path).returncode == 0
    assert (tmp_path / "out" / f"{ONE}.jsonl").read_bytes() == data
    again = run_cli("archive", "export", ONE, "--to", "out", home=home, cwd=tmp_path)
    assert again.returncode == 1
    assert "there already" in again.stderr


def test_show_says_who_said_what_without_secrets_and_escapes(home, transcript):
    archived(home)
    said = run_cli("archive", "show", ONE[:8], home=home).stdout
    assert "user: user " in said
    assert "assistant: log in with" in said
    assert "hunter2" not in said
    assert "\x1b" not in said


def test_verify_exits_1_and_names_the_damaged_file(home, transcript):
    archived(home)
    assert "Undamaged: 1 session" in run_cli("archive", "verify", home=home).stdout
    chunk = next((home / "archive" / "chunks").iterdir())
    chunk.write_bytes(b"rot")
    done = run_cli("archive", "verify", home=home)
    assert done.returncode == 1
    assert str(chunk) in done.stdout
    assert chunk.read_bytes() == b"rot"


def chunk_of(home):
    return next((home / "archive" / "chunks").iterdir())


def test_what_was_moved_away_is_saved_again_from_what_the_agent_still_has(home, transcript):
    archived(home)
    for path in [*(home / "archive" / "chunks").iterdir(), *(home / "archive" / "tails").iterdir()]:
        path.rename(home / path.name)
    assert run_cli("archive", "verify", home=home).returncode == 1
    assert "saved again." in archived(home).stdout
    assert "Undamaged: 1 session" in run_cli("archive", "verify", home=home).stdout
    exported = run_cli("archive", "export", ONE, home=home)
    assert exported.stdout.encode() == transcript.read_bytes()


def test_known_damage_is_told_until_it_is_mended(home, transcript):
    archived(home)
    chunk = chunk_of(home)
    chunk.write_bytes(b"rot")
    run_cli("archive", "verify", home=home)
    status = run_cli("brain_status", home=home)
    assert status.returncode == 1
    assert f"1 file of the archive is damaged or missing: {chunk}" in status.stdout
    assert f"damaged or missing: {chunk}" in run_cli("doctor", home=home).stdout
    done = run_cli("archive", "--all", home=home)
    assert done.returncode == 1
    assert "1 file of the archive still damaged or missing" in done.stderr
    assert chunk.read_bytes() == b"rot"
    chunk.rename(home / "rotten")
    assert "damaged or missing" in run_cli("brain_status", home=home).stdout
    assert "; 1 missing file saved again." in archived(home).stdout
    assert "damaged or missing" not in run_cli("brain_status", home=home).stdout


def test_damage_of_a_session_that_was_dropped_is_told_no_more(home, transcript):
    archived(home)
    transcript.unlink()
    chunk_of(home).unlink()
    said = run_cli("archive", "verify", home=home).stdout
    (manifest,) = (home / "archive").glob("*.json")
    assert f"move away\n  {manifest} (session {ONE[:8]})" in said
    manifest.rename(home / "dropped")
    assert "damaged or missing" not in run_cli("brain_status", home=home).stdout


def test_a_chunk_that_sessions_share_is_one_damaged_file(home, transcript):
    lines = conversation(3, 200, ONE)
    transcript.write_bytes(as_bytes(lines))
    transcript.with_name(f"{OTHER}.jsonl").write_bytes(as_bytes(fork_of(lines, OTHER)))
    archived(home)
    for chunk in sorted((home / "archive" / "chunks").iterdir()):
        was = chunk.read_bytes()
        chunk.unlink()
        said = run_cli("archive", "verify", home=home).stdout
        both = {f"(sessions {a[:8]}, {b[:8]})" for a, b in ((ONE, OTHER), (OTHER, ONE))}
        if any(one in said for one in both):
            assert said.startswith("Damaged: 1 file of 2 sessions")
            return
        chunk.write_bytes(was)
    pytest.fail("the fork shares nothing")


def test_a_session_in_the_folders_of_two_projects_is_exported_whole(home, transcript, tmp_path):
    other = transcript.parent.parent / "wiki" / transcript.name
    other.parent.mkdir()
    other.write_bytes(as_bytes(conversation(2, 20, ONE)))
    archived(home)
    done = run_cli("archive", "export", ONE, "--to", "out", home=home, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {path.read_bytes() for path in (tmp_path / "out").rglob("*.jsonl")}
    assert found == {transcript.read_bytes(), other.read_bytes()}


def test_what_list_cannot_read_is_told_and_no_name_acts_on_the_terminal(home, transcript):
    transcript.rename(transcript.with_name("\x9b31m.jsonl"))
    archived(home)
    (saved,) = (home / "archive").glob("k2-*.json")
    (home / "archive" / "evil\x9b.json").write_bytes(b"{")
    (home / "archive" / "chunks" / "\udcff\x9b").write_bytes(b"")
    said = [run_cli("archive", word, home=home).stdout for word in ("list", "verify")]
    assert "1 file left out" in said[0]
    assert not any("\x9b" in text or "\udcff" in text for text in said)
    saved.write_bytes(b"rot")
    assert run_cli("archive", "list", home=home).stdout.startswith("2 files left out")


@pytest.mark.parametrize("wanted", ["0ab", "ffffffff", ""])
def test_a_session_that_is_not_there_is_said(home, transcript, wanted):
    archived(home)
    done = run_cli("archive", "show", wanted, home=home)
    assert done.returncode == 1
    assert "no saved session" in done.stderr


def test_without_anything_saved_each_says_so_and_makes_nothing(home):
    for words in ([], ["list"], ["verify"]):
        assert "Nothing is saved yet" in run_cli("archive", *words, home=home).stdout
    assert not home.exists()


def test_without_pip_it_is_a_verb(home, transcript):
    done = run_verb("archive --all", home)
    assert b"in the background" in done.stdout
    wait_for_workers(home)
    assert ONE[:8].encode() in run_verb("archive list", home).stdout
    assert b"assistant:" in run_verb(f"archive show {ONE}", home).stdout
    assert run_verb("archive frobnicate", home).rc == 2


def test_backfill_is_a_request_and_calls_nothing(home, transcript):
    said = run_verb("backfill", home).stdout.decode()
    assert "archive list --here" in said
    assert "proposal=ID" in said
    assert "${" not in said
    assert not home.exists()


def test_the_hook_lets_the_model_have_backfill(home, session):
    one = session()
    one.start()
    run = one.prompt("/brainhooks:backfill")
    assert run.rc == 0
    assert run.answer == ""
    one.settle()


def forged(home, old, **changed):
    """Put a manifest with a right stamp and sum, but these names, in the place of ``old``."""
    where = archiving.place(str(home))
    whole = load(where, old)
    one = whole.transcripts[0]._replace(**{n: v for n, v in changed.items() if n == "name"})
    new = whole._replace(session=changed.get("session", old), transcripts=(one,))
    (home / "archive" / manifest.name_of(where.space, old)).unlink()
    path = home / "archive" / manifest.name_of(where.space, new.session)
    path.write_bytes(manifest.encode(new, where.space))


@pytest.mark.parametrize(
    ("session", "name"),
    [
        ("../../outside", "web/x.jsonl"),
        ("/elsewhere", "web/x.jsonl"),
        ("aaaa/b", "web/x.jsonl"),
        ("\0zero", "web/x.jsonl"),
        (ONE, f"web/{ONE}/subagents/../../../outside.jsonl"),
        (ONE, f"web/{ONE}//subagents/outside.jsonl"),
        (ONE, f"web/{ONE}/./subagents/outside.jsonl"),
        (ONE, f"web/{ONE}/subagents/"),
    ],
)
def test_no_name_in_a_forged_manifest_leads_out_of_the_folder_of_an_export(
    home, transcript, tmp_path, session, name
):
    archived(home)
    forged(home, ONE, session=session, name=name)
    to = tmp_path / "deep" / "er" / "out"
    before = sorted(path for path in tmp_path.rglob("*") if home not in path.parents)
    done = run_cli("archive", "export", session, "--to", str(to), home=home, cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    assert "is no name for a file" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path for path in tmp_path.rglob("*") if home not in path.parents) == before


def test_list_says_that_more_is_being_saved(home, transcript):
    archived(home)
    assert "being saved now" not in run_cli("archive", "list", home=home).stdout
    with held(all_lock(str(home)), wait_s=0):
        assert "More is being saved now" in run_cli("archive", "list", home=home).stdout
