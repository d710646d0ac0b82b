"""``brainhooks memory``: documents of the project, of the person and of the session, in a shell."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.library import open_store
from scripts.swarm_v2.memory.store import Commit, Write
from tests.support.keeping import Kept, lesson
from tests.support.memory_cli import command, environment, listed
from tests.support.run_cli import run_cli

if TYPE_CHECKING:
    pass

REPAIR = "write it anew or forget it; or restore the store from a backup"
SPACE = "git.example.org/shop/web"


def test_what_is_put_is_shown_edited_and_forgotten_the_same_with_a_server_and_without(cli, either):
    assert cli("put", "preferences", '{"style": "dry"}').stdout.startswith("preferences (user) is")
    cli("put", "memory/db", "run bin/migrate first")
    cli("put", "notes", "--text", "123", session="s1")
    everything = listed(cli("list", "--json", session="s1"))
    assert everything == [
        ("space", "index"),
        ("space", "memory/db"),
        ("user", "preferences"),
        ("session", "notes"),
    ]
    assert listed(cli("list", "--json", "--scope", "space", "memory/")) == [("space", "memory/db")]
    shown = json.loads(cli("show", "memory/db", "--json").stdout)
    assert shown["value"]["text"] == "run bin/migrate first"
    assert shown["value"]["cls"] == "person"
    assert json.loads(cli("show", "notes", "--json", session="s1").stdout)["value"] == "123"
    assert "run bin/migrate first" in cli("show", "context").stdout

    cli("edit", "memory/db", "run bin/migrate twice", "--base", str(shown["seq"]))
    stale = cli("edit", "memory/db", "never", "--base", str(shown["seq"]), "--json", rc=3)
    said = json.loads(stale.stdout)
    assert said["error"]["code"] == "stale-base"
    assert said["current"]["value"]["text"] == "run bin/migrate twice"
    assert said["error"]["facts"]["current"] == said["current"]["seq"]
    stale = cli("edit", "memory/db", "never", "--base", str(shown["seq"]), rc=3)
    assert "run bin/migrate twice" in stale.stdout
    assert stale.stderr.startswith("stale-base: ")

    cli("forget", "memory/db")
    assert json.loads(cli("show", "memory/db", "--json", rc=4).stdout) is None
    assert listed(cli("list", "--json", "memory/")) == []
    assert "migrate" not in cli("show", "context").stdout
    cli("forget", "memory/db", rc=4)
    cli("edit", "memory/db", "x", rc=4)


def test_forgetting_leaves_no_word_of_it_in_the_file(cli, home):
    cli("put", "memory/db", "thewordtoforget")
    cli("show", "context")
    cli("edit", "memory/db", "anotherwordtoforget")
    cli("show", "context")
    database = home / "brain" / "local.db"
    assert b"thewordtoforget" in database.read_bytes()
    cli("forget", "memory/db")
    assert b"wordtoforget" not in database.read_bytes()


def test_a_full_index_unlinks_its_oldest_and_refuses_no_memory(cli, home):
    entry = {"at": "2026-01-01T00:00:00+00:00", "cls": "agent", "summary": "x" * 1000}
    links = {f"old{n}": entry for n in range(3_700)}
    store = open_store(str(home))
    store.commit(SPACE, Commit("system", (Write("index", "space", "set", {"links": links}),)))
    cli("put", "memory/new", json.dumps({"text": "new", "title": "t" * 400_000}))
    left = store.read(SPACE, "space", "index").value["links"]
    store.close()
    assert "new" in left
    assert 2_000 < len(left) < 3_700


def test_new_only_writes_where_nothing_stands(cli):
    cli("put", "preferences", "{}", rc=0)
    cli("put", "memory/x", "one", "--new")
    refused = cli("put", "memory/x", "two", "--new", rc=3)
    assert '"one"' in refused.stdout
    assert json.loads(cli("show", "memory/x", "--json").stdout)["value"]["text"] == "one"


def test_the_three_scopes_of_one_id_are_three_documents(cli):
    for scope in ("space", "user", "session"):
        cli("put", "memory/x", f"of {scope}", "--scope", scope, session="s1")
    for scope in ("space", "user", "session"):
        shown = cli("show", "memory/x", "--scope", scope, "--json", session="s1").stdout
        assert json.loads(shown)["value"]["text"] == f"of {scope}"
    cli("show", "memory/x", "--scope", "session", session="s2", rc=4)


def test_another_person_of_the_same_home_has_their_own(cli, either):
    cli("put", "preferences", '{"style": "dry"}')
    cli("put", "preferences", '{"style": "lush"}', BRAINHOOKS_PRINCIPAL="did:key:zB")
    assert "dry" in cli("show", "preferences").stdout
    assert "lush" in cli("show", "preferences", BRAINHOOKS_PRINCIPAL="did:key:zB").stdout


def test_the_value_may_come_from_standard_input(shell, cli):
    shell("put", "memory/x", given="two\nlines\n")
    said = shell("show", "memory/x", "--json").stdout
    assert json.loads(said)["value"]["text"] == "two\nlines"
    shell("edit", "memory/x", given='{"text": "a", "title": "t"}')
    assert json.loads(cli("show", "memory/x", "--json").stdout)["value"]["title"] == "t"


def test_a_secret_is_taken_out_and_that_is_said(cli, home):
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    done = cli("put", "memory/x", f"the token is {token}")
    assert done.stderr.startswith("taken out before it was kept: ")
    assert token.encode() not in (home / "brain" / "local.db").read_bytes()


@pytest.mark.parametrize(
    ("args", "rc", "said"),
    [
        (["put", "notes", "x"], 1, "identity-missing: "),
        (["put", "x", "y", "--scope", "team"], 1, "scope-unknown: "),
        (["put", "", "y"], 1, "id-invalid: "),
        (["put", "x" * 600, "y"], 1, "id-invalid: "),
        (["put", "memory/x", "[1]"], 1, "document-invalid: a memory has a text\n  hint: give a"),
        (["put", "x", '{"$link": {"id": "y", "space": "other"}}'], 1, "link-cross-space: "),
        (["put", "x", "[" * 70 + "]" * 70], 1, "document-too-deep: "),
        (["put", "context", "x"], 1, "derived-write: context is made from other documents"),
        (["edit", "status", "x"], 1, "derived-write: "),
        (["forget", "digest"], 1, "derived-write: "),
        (["show", "nothing"], 4, "there is no nothing at scope space\n  hint: "),
        (["show", "x", "--scope", "session"], 4, "there is no x at scope session"),
        (["show"], 2, "Usage: "),
        (["put", "x", "y", "--principal", "me"], 2, "Usage: "),
        (["show", "x", "--scope-key", "user:me"], 2, "Usage: "),
        (["maybe"], 2, "memory: 'maybe' is not understood here"),
    ],
)
def test_every_refusal_has_a_code_a_sentence_and_an_exit_code(cli, args, rc, said):
    done = cli(*args, rc=rc)
    assert done.stderr.startswith(said)
    assert done.stdout == ""


def test_a_refusal_in_json_has_the_same_three(cli):
    error = json.loads(cli("put", "notes", "x", "--json", rc=1).stdout)["error"]
    assert error["code"] == "identity-missing"
    assert error["sentence"]


def test_a_folder_that_is_no_project_has_no_space(home, tmp_path):
    (tmp_path / "plain").mkdir()
    done = run_cli("memory", "list", home=home, cwd=tmp_path / "plain")
    assert done.returncode == 1
    assert done.stderr == (
        "space-invalid: this is no project that memory could belong to\n"
        "  hint: register the folder first: brainhooks project register\n"
    )


def test_looking_at_nothing_makes_no_home(cli, home):
    assert cli("list").stderr == "No documents here.\n"
    assert cli("list", "--json").stdout == "[]\n"
    cli("show", "preferences", rc=4)
    assert not home.exists()


def test_the_switch_is_under_the_same_command(cli):
    assert cli("off", "--for", "2h").stdout.startswith("Memory is off for everything")
    assert cli().stdout.startswith("Memory is off for everything")
    cli("put", "memory/x", "said by a person all the same")
    assert cli("on").stdout == "Memory is on here.\n"
    assert cli("off", "--never", rc=2).stderr.startswith("memory: '--never' is not understood")


def test_a_markers_memory_is_forgotten_as_the_verb_forgets_it(home, project, cli):
    kept = Kept(home, project, brain_source="local")
    kept.ask()
    kept.say(lesson("the word to forget"))
    key = kept.collect().kept[0].key
    kept.drain()
    assert ("space", f"memory/{key}") in listed(cli("list", "--json"))
    assert cli("forget", f"memory/{key}").stdout.startswith(f"Forgot {key[:8]}")
    cli("show", f"memory/{key}", rc=4)
    (receipt,) = [one for one in kept.receipts() if one.key == key]
    assert receipt.state == "forgotten"
    again = run_cli("forget", key, home=home, cwd=project)
    assert again.stdout == f"{key[:8]} is already forgotten.\n"


def test_a_person_edits_in_their_editor(cli, home, project, tmp_path):
    cli("put", "memory/x", "one")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/one/two/ "$1"\n')
    editor.chmod(0o755)
    pid, terminal = os.forkpty()
    if pid == 0:  # a person sits at a terminal
        os.chdir(project)
        env = {**environment(home, tmp_path), "VISUAL": str(editor)}
        os.execve(sys.executable, command("edit", "memory/x"), env)
    try:
        while os.read(terminal, 1000):
            pass
    except OSError:  # its end
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert json.loads(cli("show", "memory/x", "--json").stdout)["value"]["text"] == "two"


def spoil(home) -> None:
    with sqlite3.connect(home / "brain" / "local.db") as database:
        database.execute("UPDATE revision SET value = '{' WHERE id IN ('plan', 'memory/x')")
    database.close()


@pytest.mark.parametrize("document", ["plan", "memory/x"])
def test_what_is_damaged_is_told_written_anew_or_forgotten(cli, home, either, document):
    said = f"store-damaged: '{document}' cannot be read: a stored document is no JSON any more\n"
    cli("put", document, "one")
    spoil(home)
    for look in (["show", document], ["edit", document, "two"], ["list"]):
        assert cli(*look, rc=1).stderr == f"{said}  hint: {REPAIR}\n"
    done = cli("put", document, "two")
    assert (done.stderr, "is at" in done.stdout) == (said, True)
    assert "two" in cli("show", document).stdout
    spoil(home)
    done = cli("forget", document)
    assert done.stdout.startswith(f"Forgot {document}")
    assert done.stderr.startswith(said)
    cli("show", document, rc=4)
    cli("list")


def test_what_is_written_and_forgotten_is_what_was_named_and_never_where_it_redirects(cli, either):
    cli("put", "memory/x", "my own", "--scope", "user")
    cli("put", "secret", "mine", "--scope", "user")
    cli("put", "plan", '{"$link": {"id": "secret", "scope": "user"}}')
    assert "mine" in cli("show", "plan").stdout
    seen = json.loads(cli("show", "secret", "--json", "--scope", "user").stdout)
    cli("edit", "plan", '{"$link": {"id": "memory/x", "scope": "user"}}')
    assert "my own" in cli("show", "plan").stdout
    assert "Forgot plan (space)." in cli("forget", "plan").stdout
    cli("show", "plan", rc=4)
    cli("forget", "plan", rc=4)
    assert json.loads(cli("show", "secret", "--json", "--scope", "user").stdout) == seen
    assert "my own" in cli("show", "memory/x", "--scope", "user").stdout
    cli("forget", "memory/x", rc=4)


def test_a_redirect_under_a_memorys_name_is_forgotten_and_not_ones_own_behind_it(cli, home):
    cli("put", "memory/x", "my own", "--scope", "user")
    store = open_store(str(home))
    link = {"$link": {"id": "memory/x", "scope": "user"}}  # as an older version let it in
    store.commit(SPACE, Commit("system", (Write("memory/x", "space", "set", link),)))
    store.close()
    assert "Forgot memory/x (space)." in cli("forget", "memory/x").stdout
    assert "my own" in cli("show", "memory/x", "--scope", "user").stdout
    cli("show", "memory/x", rc=4)


def test_an_edit_is_only_over_what_it_saw(cli, home):
    cli("put", "plan", "one")
    seen = json.loads(cli("show", "plan", "--json").stdout)["seq"]
    cli("edit", "plan", "two", "--base", str(seen))
    assert cli("edit", "plan", "three", "--base", str(seen), rc=3).stdout.startswith("now: plan")
    never = cli("edit", "plan", "three", "--base", str(seen + 99), rc=1).stderr
    assert never.startswith(f"request-invalid: plan was never at {seen + 99}\n  hint: say --base")
    cli("edit", "plan", "three", "--base", "-5", rc=2)
    cli("edit", "plan", "three", "--base", "9" * 20, rc=1)


def test_an_agents_shell_never_speaks_as_the_person(cli, home):
    cli("put", "memory/hers", "run it twice")
    assert "said by the person" in cli("show", "context").stdout
    cli("edit", "memory/hers", "run it once", session="s1")
    cli("put", "memory/own", "an agent's", session="s1")
    for scope in ("space", "user"):
        forged = json.dumps({"text": "forged", "cls": "person"})
        said = cli("put", "memory/x", forged, "--scope", scope, session="s1", rc=1).stderr
        assert said.startswith("person-unproven: ")
        assert "  hint: " in said
    cli("put", "preferences", '{"style": "dry"}', session="s1")
    told = cli("show", "context").stdout
    assert "dry" in told
    assert "said by the person" not in told
    cli("put", "preferences", '{"style": "lush"}', CLAUDECODE="1")
    assert "said by the person" not in cli("show", "context").stdout
    cli("put", "preferences", '{"style": "terse"}')
    assert "said by the person" in cli("show", "context").stdout


@pytest.mark.parametrize(
    ("id", "scope", "value"),
    [
        ("index", "space", "garbage"),
        ("faults", "space", "{}"),
        ("preferences", "user", '{"verbosity": "loud"}'),
        ("preferences", "user", "be brief"),
        ("preferences", "session", "{}"),
        ("preferences", "space", "{}"),
        ("notes", "user", "x"),
        ("memory/", "space", "x"),
    ],
)
def test_what_has_a_form_is_refused_without_it_and_the_next_step_is_said(cli, id, scope, value):
    said = cli("put", id, value, "--scope", scope, session="s1", rc=1).stderr
    assert said.startswith(("document-reserved: ", "derived-write: "))
    assert "\n  hint: " in said
    cli("show", id, "--scope", scope, session="s1", rc=0 if value[:3] in ('{"v', "be ") else 4)


def test_the_store_holds_what_the_shell_wrote(cli, home):
    cli("put", "memory/x", "one")
    store = open_store(str(home))
    assert store.read(SPACE, "space", "memory/x").value["text"] == "one"
    store.close()
