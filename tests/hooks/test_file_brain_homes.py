"""Two homes on one folder of pages: what one person changes, the other one's sessions hear."""

from __future__ import annotations

import os

import pytest

from hooks.context.brains.folder_print import MOST_ENTRIES
from tests.support.memories import WEB

TAKEN_BACK = "told before and no longer remembered"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "notes"
    path.mkdir()
    write(path, "one", "Use the staging key")
    write(path, "two", "Ask before rm -rf")
    return path


@pytest.fixture
def in_home(session, tmp_path, folder):
    """Open a session of the person ``name``, who has a home of her own."""

    def make(name="here"):
        env = {"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": str(folder)}
        one = session(env=env)
        one.home = tmp_path / name / "agentihooks"
        one.home.parent.mkdir(exist_ok=True)
        return one

    return make


def write(folder, name, text):
    page = f"---\nid: {name}\nproject: {WEB}\n---\n{text}\n"
    (folder / f"{name}.md").write_text(page, encoding="utf-8")


def make_large(folder):
    for number in range(MOST_ENTRIES):
        (folder / f"{number}.txt").touch()


def told(opened):
    """Start a session and go on until nothing is news; return what it heard."""
    start = opened.start().context
    opened.settle()
    later = opened.prompt("x").context
    opened.settle()
    assert opened.prompt("x").context == ""
    return start + later


def forget(other, text):
    """Let the other home forget the memory that holds ``text``."""
    listed = other.prompt("/brainhooks:lessons").answer
    [line] = [line for line in listed.split("\n") if text in line]
    short = line.split()[0]
    assert "Forgot" in other.prompt(f"/brainhooks:forget {short}").answer
    other.settle()
    return short


def words_in(home):
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_what_another_home_forgot_is_not_told_taken_back_and_in_no_file_of_this_one(in_home):
    running = in_home()
    assert "Use the staging key" in told(running)
    assert b"Use the staging key" in words_in(running.home)
    short = forget(in_home("there"), "staging")
    later = in_home()
    start = later.start().context
    assert "staging" not in start
    assert "Ask before rm -rf" in start
    news = running.prompt("go on").context
    assert f"[{short}] {TAKEN_BACK}" in news
    assert "staging" not in news
    assert running.prompt("go on").context == ""
    later.settle()
    assert b"Use the staging key" not in words_in(running.home)
    assert "staging" not in running.prompt("/brainhooks:explain").answer


def test_a_running_session_alone_sees_that_another_home_forgot(in_home):
    running = in_home()
    told(running)
    forget(in_home("there"), "staging")
    assert TAKEN_BACK in running.prompt("go on").context
    running.settle()
    assert b"Use the staging key" not in words_in(running.home)
    assert running.prompt("go on").context == ""


def test_a_marker_of_this_home_that_another_one_forgot_leaves_its_receipt_too(in_home):
    ours = in_home()
    ours.start()
    ours.prompt("x")
    ours.says("<!-- @lesson -->The gateway is flaky on Mondays<!-- @/lesson -->")
    ours.stop()
    ours.settle()
    assert b"flaky on Mondays" in (ours.home / "ledger.db").read_bytes()
    forget(in_home("there"), "flaky")
    later = in_home()
    assert "flaky" not in later.start().context
    later.settle()
    assert b"flaky on Mondays" not in words_in(ours.home)


@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "by another file"])
def test_what_was_edited_by_hand_is_told_as_it_is_now_and_once(in_home, folder, in_place):
    running = in_home()
    assert "Use the staging key" in told(running)
    if in_place:
        write(folder, "one", "Use the testing key")
    else:
        write(folder.parent, "one", "Use the testing key")
        os.replace(folder.parent / "one.md", folder / "one.md")
    start = in_home().start().context
    assert "Use the testing key" in start
    assert "staging" not in start
    news = running.prompt("go on").context
    assert "Use the testing key" in news
    assert "rm -rf" not in news
    assert running.prompt("go on").context == ""


def test_a_resumed_session_is_told_the_page_as_it_is_now(in_home, folder):
    resumed = in_home()
    told(resumed)
    write(folder, "one", "Use the testing key")
    again = resumed.start("resume").context
    assert "Use the testing key" in again
    assert "staging" not in again


def test_a_page_that_was_deleted_by_hand_is_taken_back_and_told_again_when_it_returns(
    in_home, folder
):
    running = in_home()
    told(running)
    kept = (folder / "one.md").read_bytes()
    (folder / "one.md").unlink()
    assert TAKEN_BACK in running.prompt("go on").context
    assert running.prompt("go on").context == ""
    (folder / "one.md").write_bytes(kept)
    assert "Use the staging key" in running.prompt("go on").context


def test_a_tombstone_in_a_large_folder_holds_at_once(in_home, folder):
    make_large(folder)
    running = in_home()
    assert "Use the staging key" in told(running)
    forget(in_home("there"), "staging")
    later = in_home()
    assert "staging" not in later.start().context
    assert TAKEN_BACK in running.prompt("go on").context
    later.settle()
    running.settle()
    assert b"Use the staging key" not in words_in(running.home)


def test_a_tombstone_that_was_moved_below_a_large_folder_holds_too(in_home, folder):
    make_large(folder)
    told(in_home())
    forget(in_home("there"), "staging")
    [grave] = folder.glob("*.forgotten.md")
    (folder / "old").mkdir()
    grave.rename(folder / "old" / grave.name)
    assert "staging" not in in_home().start().context


def test_a_new_page_of_a_large_folder_comes_with_the_next_but_one_prompt(in_home, folder):
    make_large(folder)
    running = in_home()
    told(running)
    write(folder, "three", "Never deploy on Fridays")
    assert "Fridays" not in running.prompt("go on").context
    running.settle()
    assert "Never deploy on Fridays" in running.prompt("go on").context
    assert running.prompt("go on").context == ""


def test_a_page_of_a_large_folder_that_was_edited_before_the_start_is_told_right_with_the_prompt(
    in_home, folder
):
    make_large(folder)
    told(in_home())
    write(folder, "one", "Use the testing key")
    one = in_home()
    one.start()
    one.settle()
    news = one.prompt("go on").context
    assert "Use the testing key" in news
    assert "staging" not in news
    assert one.prompt("go on").context == ""


def test_what_waited_is_told_in_one_frame_and_nothing_in_it_twice(in_home, folder):
    make_large(folder)
    one = in_home()
    one.start()
    one.settle()
    [waiting] = one.home.rglob("k2-pending-*.json")
    late = waiting.read_bytes()  # as a worker leaves it that began before the prompt below
    waiting.unlink()
    assert "Use the staging key" in one.prompt("x").context
    write(folder, "three", "Never deploy on Fridays")
    one.prompt("x")
    one.settle()
    waiting.write_bytes(late)
    said = one.prompt("x").context
    assert said.count("<brainhooks-memory") == 1
    assert "Never deploy on Fridays" in said
    assert "staging" not in said


def test_a_hook_that_was_killed_before_it_said_what_waited_says_it_the_next_time(in_home, folder):
    make_large(folder)
    one = in_home()
    one.start()
    one.settle()
    [waiting] = one.home.rglob("k2-pending-*.json")
    late = waiting.read_bytes()
    said = one.prompt("x").context
    assert "Use the staging key" in said
    waiting.with_name(waiting.name + ".taken").write_bytes(late)
    next((one.home / "brain" / "door").iterdir()).write_bytes(b"{}")
    assert "Use the staging key" in one.prompt("x").context


def test_an_accepted_signal_is_told_once_in_its_own_project(in_home):
    one = in_home()
    one.start()
    one.prompt("x")
    one.says("<!-- @signal -->The registry moved<!-- @/signal -->")
    one.stop()
    one.settle()
    listed = one.prompt("/brainhooks:lessons").answer
    short = next(line for line in listed.split("\n") if "registry" in line).split()[0]
    assert "Accepted" in one.prompt(f"/brainhooks:accept {short}").answer
    one.settle()
    assert in_home().start().context.count("The registry moved") == 1
