"""What is one operation, and what is one error, however paths, numbers and times differ."""

from __future__ import annotations

import time
from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.operation import Operation, fingerprint, masked, operation, signature
from tests.support.run_hook import recorded


def of(command: str) -> tuple[str, ...]:
    return operation("Bash", {"command": command}).parts


SAME = {
    "a folder and a filter": ("cd /a && npm test 2>&1 | tail -20", "npm test | head -3"),
    "arguments": ("pytest -x tests/a.py", "pytest tests/b.py::test_b -k x"),
    "options before the subcommand": ("git -C /x push origin a", "git push --force origin b"),
    "assignments and wrappers": ("CI=1 timeout 30 make test", "sudo env A=b make -j8 test"),
    "a version in the name": ("python3.11 -m pytest a", "/usr/bin/python -m pytest b"),
    "scripts with a number": ("./step-12.sh", "/tmp/step-7.sh a"),
    "temporary scripts": ("bash -c './tmp8f3k2a'", "/tmp/tmpzzqqxx"),
    "a runner": ("uv run --frozen pytest a", "uv run pytest b"),
    "a script of another path": ("python /tmp/a.py", "python3 b.py --now"),
    "quotes": ("git 'push' a", 'g=push; git "$g" b'),
}
OTHER = {
    "subcommands": ("git push", "git pull"),
    "scripts of a package": ("npm run lint", "npm run test:unit"),
    "modules": ("python -m pytest", "python -m mypy"),
    "a module and a script": ("python -m pytest", "python pytest"),
    "what is run by a runner": ("uv run pytest", "uv run mypy"),
    "two words of gh": ("gh pr create", "gh pr merge"),
    "programs": ("ls /a", "cat /a"),
    "one and two commands": ("make", "make && npm test"),
    "compose": ("docker compose up", "docker compose down"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME.keys())
def test_one_operation_is_told_by_program_and_subcommand(one: str, other: str) -> None:
    assert of(one) == of(other) != ()


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER.keys())
def test_different_operations_stay_apart(one: str, other: str) -> None:
    assert of(one) != of(other)


LABELS = {
    "npm test": "`npm test`",
    "cd x && make && npm run build": "`make + npm run build`",
    "echo oops >&2; exit 3": "`echo + exit`",
    "$tool push": "`?`",
    "'a`b' x": "`a?b`",
    "uv run python -m pytest": "`uv run python pytest`",
}


@pytest.mark.parametrize(("command", "label"), LABELS.items(), ids=LABELS.keys())
def test_an_operation_is_named_for_the_reader(command: str, label: str) -> None:
    assert operation("Bash", {"command": command}).label == label


def test_another_tool_is_one_operation_whatever_it_is_given() -> None:
    assert operation("Read", {"file_path": "/a"}) == operation("Read", {"file_path": "/b"})
    assert operation("Read", {}).label == "the tool Read"
    assert operation("mcp__el__ask", {"command": "x"}) == Operation("mcp__el__ask")


def test_the_recorded_failures_have_an_operation_and_an_error() -> None:
    bash, read = recorded("PostToolUseFailure"), recorded("PostToolUseFailure.Read")
    assert operation("Bash", bash["tool_input"]).parts == ("echo", "exit")
    assert signature("Bash", bash["tool_input"], bash["error"]) == ["Exit code 3", "oops"]
    assert signature("Read", read["tool_input"], read["error"]) == [
        "File does not exist. Note: your current working directory is <path>"
    ]


ONE_ERROR = {
    "paths": ("cat: /a/b.txt: No such file", "cat: ../c: No such file"),
    "files without a folder": ("cat: a.txt: No such file", "cat: b2.yaml: No such file"),
    "a path with blanks in quotes": (
        "denied: '/home/a b/c d.txt'",
        "denied: '/x'",
    ),
    "URLs": ("cannot reach https://a.example/x?y=1", "cannot reach http://b.example:80/"),
    "numbers": ("3 failed, 12 passed in 0.31s", "11 failed, 4 passed in 12s"),
    "hashes": ("fatal: bad object 3f2a9c1d", "fatal: bad object deadbeefcafe"),
    "uuids": (
        "no job 3e55e564-f4b0-4cd3-a6aa-f94fd676bdd1",
        "no job aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
    ),
    "times": ("error at 2026-11-30T10:08:50.726Z", "error at 10:09"),
    "temporary names": ("cannot open tmpabcdef", "cannot open tmp8sd_91kx"),
    "places": ("a.py:12:3: error: x", "b.py:9: error: x"),
    "addresses": ("<x object at 0x7f3a11> is invalid", "<x object at 0xdeadbeef00> is invalid"),
    "Windows paths": ("cannot find C:\\a\\b", "cannot find D:\\c"),
    "colors": ("\x1b[31merror\x1b[0m: x", "error: x"),
    "lines that tell nothing": ("start\nerror: x\nbye", "begin\nstill\nerror: x\nend"),
}
TWO_ERRORS = {
    "names": ("NameError: name 'foo' is not defined", "NameError: name 'bar' is not defined"),
    "kinds": ("error: permission denied", "error: no such file"),
    "the last of them": ("error: a\nerror: b", "error: a\nerror: c"),
    "where nothing tells": ("one\ntwo", "one\nthree"),
}


def key(error: str, tool: str = "Bash", **given: object) -> str:
    return fingerprint(tool, given, f"Exit code 1\n{error}" if tool == "Bash" else error)


@pytest.mark.parametrize(("one", "other"), ONE_ERROR.values(), ids=ONE_ERROR.keys())
def test_what_differs_from_call_to_call_does_not_hide_a_repetition(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(("one", "other"), TWO_ERRORS.values(), ids=TWO_ERRORS.keys())
def test_different_errors_stay_apart(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_another_exit_code_is_another_error() -> None:
    assert fingerprint("Bash", {}, "Exit code 1\nx") != fingerprint("Bash", {}, "Exit code 127\nx")


def test_a_path_with_blanks_that_the_call_itself_named_does_not_hide_a_repetition() -> None:
    paths = ("/srv/My Files/one two.txt", "/srv/b", "C:\\Own Files\\c")
    keys = {key(f"Access to {path} is denied by policy.", "Edit", file_path=path) for path in paths}
    assert len(keys) == 1


def test_a_text_that_an_edit_quotes_does_not_hide_a_repetition() -> None:
    error = "String to replace not found in file.\nString: {}\nerror {}"
    assert key(error.format("a", "b"), "Edit") == key(error.format("c\nd", "e"), "Edit")


def test_384_denials_that_differ_in_their_path_are_one_error() -> None:
    said = "PreToolUse:Write hook error: [guard] writing to {} is not allowed here"
    paths = [f"/srv/app/{name}/{number}.py" for name in "abcdefgh" for number in range(48)]
    assert len({key(said.format(path), "Write", file_path=path) for path in paths}) == 1


texts = st.text("aZ09/.\\-_:'\"` \n\t\x1b[(é😀tmperorfa", max_size=200)


@settings(deadline=None, max_examples=100)
@given(texts, texts)
def test_any_text_is_an_operation_and_an_error(command: str, error: str) -> None:
    found = operation("Bash", {"command": command})
    assert all(len(part) <= 48 for part in found.parts)
    assert found.label.isprintable()
    assert len(fingerprint("Bash", {"command": command}, error)) == 32


@settings(deadline=None, max_examples=100)
@given(
    st.integers(0, 10**12),
    st.uuids(),
    st.datetimes(timezones=st.just(UTC)),
    st.text("abcdefghij/", min_size=1, max_size=30),
)
def test_every_number_uuid_time_and_path_is_masked_alike(number, uuid, at, path) -> None:  # type: ignore[no-untyped-def]
    line = f"job {uuid} at {at.isoformat()} failed {number} times in /{path}: timeout"
    assert masked(line) == "job # at # failed # times in <path>: timeout"


@settings(deadline=None, max_examples=100)
@given(texts)
def test_masking_twice_changes_nothing_more_in_plain_words(text: str) -> None:
    words = "".join(char for char in text if char.isalpha() or char == " ")
    once = masked(words)
    assert masked(once) == once


HUGE = {
    "quotes": "'\"`" * 700_000,
    "one quote and words": "'" + "a " * 1_000_000,
    "paths": "/a b" * 500_000,
    "lines": "error: x\n" * 200_000,
    "colors": "\x1b[1" * 500_000,
    "digits": "1-" * 1_000_000,
    "letters": "a" * 2_000_000,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_a_huge_error_and_a_huge_line_cost_little(text: str) -> None:
    began = time.process_time()
    fingerprint("Bash", {"command": text}, "Exit code 1\n" + text)
    fingerprint("Edit", {"old_string": text}, text)
    assert time.process_time() - began < 1
    began = time.process_time()
    masked(text[:200_000])
    assert time.process_time() - began < 2
