"""What ``brainhooks memory`` says to a person: in words, and with a next step."""

from __future__ import annotations

import json

import pytest

from scripts.commands.memory_next import NEXT_STEPS, next_step
from scripts.swarm_v2.memory.errors import CODES, MemoryRefused


def test_every_refusal_has_a_next_step(cli):
    assert set(NEXT_STEPS) == set(CODES)
    assert all(next_step(MemoryRefused(code, "no")) for code in (*CODES, "one-of-tomorrow"))
    cli("put", "memory/x", "one")
    for args in (
        ["put", "notes", "x"],
        ["show", "notes"],
        ["put", "", "y"],
        ["put", "x", "y", "--scope", "team"],
        ["edit", "memory/x", "y", "--scope", "session"],
    ):
        assert "\n  hint: " in cli(*args, rc=1).stderr
        assert json.loads(cli(*args, "--json", rc=1).stdout)["error"]["hint"]
    assert "CLAUDE_CODE_SESSION_ID" in cli("put", "notes", "x", rc=1).stderr


@pytest.mark.parametrize("given", ["", " \n"])
def test_nothing_on_standard_input_empties_no_document(shell, given):
    shell("put", "memory/x", "kept")
    for args in (["edit", "memory/x"], ["put", "memory/x"], ["put", "plan"]):
        done = shell(*args, given=given, rc=2)
        assert "nothing to write" in done.stderr
    assert "kept" in shell("show", "memory/x").stdout
    shell("show", "plan", rc=4)


@pytest.mark.parametrize("value", ["", "  ", '{"text": ""}', '{"text": " "}', '{"title": "t"}'])
def test_a_memory_without_a_text_is_refused(cli, value):
    cli("put", "memory/x", "kept")
    for verb in ("put", "edit"):
        done = cli(verb, "memory/x", value, rc=1)
        assert done.stderr.startswith("document-invalid: ")
        assert "\n  hint: " in done.stderr
    assert "kept" in cli("show", "memory/x").stdout


def test_json_with_a_mistake_is_no_text_unless_that_is_said(cli):
    assert "--text" in cli("put", "plan", '{"a": 1,}', rc=2).stderr
    cli("put", "plan", "--text", '{"a": 1,}')
    assert json.loads(cli("show", "plan", "--json").stdout)["value"] == '{"a": 1,}'
    cli("put", "plan", "null")
    assert json.loads(cli("show", "plan", "--json").stdout)["value"] is None


def test_new_where_something_stands_names_what_the_command_has(cli):
    cli("put", "memory/x", "one")
    said = cli("put", "memory/x", "two", "--new", rc=3).stderr
    assert "--base" not in said
    assert "brainhooks memory edit" in said
    assert "--base" in cli("edit", "memory/x", "two", "--base", "0", rc=3).stderr


def test_a_context_is_shown_as_a_session_is_told_it(cli):
    assert cli("put", "plan", "one")
    assert cli("show", "context").stdout == (
        "A session that starts here is told nothing of what is remembered.\n"
    )
    cli("put", "memory/x", "migrate first")
    said = cli("show", "context").stdout
    assert said.startswith('<brainhooks-memory project="git.example.org/shop/web">\n')
    assert said.splitlines()[-2].endswith("] migrate first")
    whole = json.loads(cli("show", "context", "--json").stdout)
    assert whole["value"]["text"] + "\n" == said


def test_a_digest_and_a_status_are_shown_in_words(cli):
    cli("put", "memory/x", '{"text": "migrate first", "severity": "high", "title": "Ports"}')
    cli("put", "memory/y", "mine", "--scope", "user")
    cli("put", "preferences", '{"style": "dry"}')
    digest = cli("show", "digest").stdout.splitlines()
    assert digest[0] == "1 memory of the project: 1 lesson, 1 high."
    assert digest[1].endswith("  lesson     x  Ports")
    assert cli("show", "status").stdout.splitlines() == [
        "1 memory of the project: 1 lesson, 1 high.",
        "1 memory of your own.",
        "You prefer: style dry; verbosity normal; sections project, person, brain, session.",
    ]


def test_what_is_made_from_memories_is_not_between_them_in_the_list(cli):
    cli("put", "memory/x", "one")
    cli("show", "context"), cli("show", "digest"), cli("show", "status")
    ids = [line.split()[2] for line in cli("list").stdout.splitlines()]
    assert ids == ["memory/x", "preferences"]
    assert {"index", "context", "digest"} < {
        line.split()[2] for line in cli("list", "--all").stdout.splitlines()
    }
    assert "digest" in cli("list", "dig").stdout
    assert "digest" in cli("list", "--json").stdout
