"""Which calls are aimed at the same, and which only look alike."""

from __future__ import annotations

import pytest

from hooks.context.target import target

SAME = {
    "a file, another part": ("Read", {"file_path": "/a", "offset": 1}, {"file_path": "/a"}),
    "an address, another query": (
        "WebFetch",
        {"url": "https://x.example/a?b=1#c", "prompt": "p"},
        {"url": "https://x.example/a"},
    ),
    "a server's tool, given alike": ("mcp__x__y", {"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    "options": ("Bash", {"command": "npm test -- --bail"}, {"command": "npm test"}),
    "a filter behind it": ("Bash", {"command": "ls a 2>&1"}, {"command": "ls a", "timeout": 5}),
    "the folder it is in": ("Bash", {"command": "cd /work && ls a"}, {"command": "ls a"}),
}


@pytest.mark.parametrize(("tool", "one", "other"), SAME.values(), ids=SAME)
def test_what_differs_beside_the_target_makes_no_other(tool, one, other):
    assert target(tool, one, "/work") == target(tool, other, "/work")


OTHERS = [
    ("npm test a", "npm test b"),
    ("cd a && npm test", "cd b && npm test"),
    ("A=1 make", "A=2 make"),
    ("python - <<'E'\na\nE", "python - <<'E'\nb\nE"),
    ("for f in a; do ls $f; done", "for f in b; do ls $f; done"),
    ("./a/run.sh", "./b/run.sh"),
    ("cat a | jq .x", "cat b | jq .x"),
    ("python -c 'a'", "python -c 'b'"),
    ("run1.sh", "run2.sh"),
    ("$(a) x", "$(b) x"),
    ("x " * 40_000 + "a", "x " * 40_000 + "b"),
]


@pytest.mark.parametrize(("one", "other"), OTHERS, ids=[one[:20] for one, _ in OTHERS])
def test_a_command_that_may_do_something_else_has_another_target(one, other):
    assert target("Bash", {"command": one}) != target("Bash", {"command": other})
    assert target("Bash", {"command": one}) == target("Bash", {"command": one})


def test_the_same_words_in_another_folder_have_another_target():
    given = {"command": "npm test"}
    assert target("Bash", given, "/a") != target("Bash", given, "/b")


@pytest.mark.parametrize(
    ("tool", "given"),
    [("Read", {}), ("Read", {"file_path": 1}), ("Bash", {}), ("WebFetch", {"url": None})],
)
def test_an_input_of_another_form_has_a_target_too(tool, given):
    assert len(target(tool, given)) == 32


def test_text_that_is_no_unicode_has_a_target():
    assert target("Read", {"file_path": "/\udcff"}) != target("Read", {"file_path": "/"})
