"""``brainhooks review``: one key each in a terminal, lines in a pipe, JSON for programs."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys

import pytest

from tests.support.keeping import Kept, lesson
from tests.support.run_cli import ENTRY, run_cli
from tests.support.run_hook import ROOT, agent_env

# The command's clock is the real one; the markers are made in its week.
TEXTS = ["first lesson", "second lesson", "third lesson"]


@pytest.fixture
def kept(home, project):
    from datetime import UTC, datetime, timedelta

    one = Kept(home, project)
    one.at = datetime.now(UTC) - timedelta(hours=1)  # noqa: TID251 - the command's own clock
    one.ask()
    one.say(*[lesson(text, proposal="0ab96787") for text in TEXTS])
    one.collect()
    return one


def listed(home):
    return [row["text"] for row in json.loads(run_cli("review", "--json", home=home).stdout)]


class Keys:
    """The command in a terminal of its own."""

    def __init__(self, home):
        self.shown = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            code = ENTRY.format(before="", function="main")
            env = {**agent_env(home), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
            os.execve(sys.executable, [sys.executable, "-P", "-c", code, "review"], env)

    def wait_for(self, text):
        while text not in self.shown:
            ready = select.select([self.fd], [], [], 30)[0]
            assert ready, f"{text!r} is not in {self.shown!r}"
            self.shown += os.read(self.fd, 4096).decode()

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        try:
            while select.select([self.fd], [], [], 30)[0] and (more := os.read(self.fd, 4096)):
                self.shown += more.decode()
        except OSError:  # the other side is closed
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_in_a_terminal_one_key_decides_each(home, kept):
    keys = Keys(home)
    keys.wait_for("1/3")
    keys.press("k")  # no return behind it
    keys.wait_for("2/3")
    keys.press("d")
    keys.wait_for("3/3")
    keys.press("x")
    keys.wait_for("(git.example.org/shop/web)\r\nk keep  d drop")  # no such key: asked again
    keys.press("s")
    assert keys.end() == 0, keys.shown
    assert kept.texts() == ["first lesson"]
    assert listed(home) == ["third lesson"]


def test_quit_leaves_the_rest_and_keeps_what_was_decided(home, kept):
    keys = Keys(home)
    keys.wait_for("1/3")
    keys.press("d")
    keys.wait_for("2/3")
    keys.press("q")
    assert keys.end() == 0
    assert listed(home) == TEXTS[1:]


def test_edit_takes_the_person_s_words(home, kept):
    keys = Keys(home)
    keys.wait_for("1/3")
    keys.press("e")
    keys.wait_for("your words: ")
    keys.press("the first lesson, in my words\n")
    keys.wait_for("2/3")
    keys.press("q")
    assert keys.end() == 0, keys.shown
    assert kept.texts() == ["the first lesson, in my words"]


def piped(home, data):
    code = ENTRY.format(before="", function="main")
    return subprocess.run(
        [sys.executable, "-P", "-c", code, "review"],
        input=data,
        env={**agent_env(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_in_a_pipe_each_line_decides(home, kept):
    done = piped(home, "k\ns\nd\n")
    assert done.returncode == 0, done.stderr
    assert kept.texts() == ["first lesson"]
    assert listed(home) == ["second lesson"]


def test_the_end_of_the_input_behind_an_answer_is_quit(home, kept):
    assert piped(home, "s\n").returncode == 0
    assert listed(home) == TEXTS


def test_list_only_shows_and_words_decide_one(home, kept):
    said = run_cli("review", "--list", home=home).stdout
    assert "3 memories to review" in said
    key = json.loads(run_cli("review", "--json", home=home).stdout)[2]["key"]
    assert run_cli("review", "drop", key[:8], home=home).stdout.startswith("Dropped ")
    assert listed(home) == TEXTS[:2]
    assert run_cli("review", "keep", key[:8], home=home).returncode == 1


def test_nothing_to_review_makes_nothing(home):
    assert "Nothing to review" in run_cli("review", home=home).stdout
    assert not home.exists()


@pytest.fixture
def long(kept):
    kept.say(lesson(f"{'word ' * 100}\nand its\x9b31m end", proposal="0ab96787", severity="high"))
    kept.collect()


def test_all_of_a_text_is_shown_before_it_is_kept(home, kept, long):
    done = piped(home, "s\ns\ns\n")
    assert done.stdout.endswith("and its\ufffd31m end  (high, git.example.org/shop/web)\n")


def test_the_list_is_short_and_an_id_shows_one_whole(home, kept, long):
    listing = run_cli("review", "--list", home=home).stdout
    assert "and its" not in listing
    (found,) = [line for line in listing.splitlines() if "word word" in line]
    said = run_cli("review", found.split()[0], home=home).stdout
    assert "(high, git.example.org/shop/web)\nproposed from session 0ab96787\n\nword word" in said
    assert "word \nand its\ufffd31m end\n" in said
    assert len(listed(home)) == 4  # reading decides nothing


def test_without_a_terminal_and_an_answer_it_lists_and_says_that_nothing_was_decided(kept, home):
    done = run_cli("review", home=home)
    assert done.returncode == 1
    assert "3 memories to review:" in done.stdout
    assert "k keep" not in done.stdout
    assert done.stderr == "nothing was decided: this is no terminal\n"
    assert len(listed(home)) == 3


def test_an_id_that_was_judged_is_said_to_be_judged(kept, home):
    key = json.loads(run_cli("review", "--json", home=home).stdout)[0]["key"][:8]
    run_cli("review", "keep", key, home=home)
    assert f"nothing to review has the id '{key}'" in run_cli("review", key, home=home).stderr
