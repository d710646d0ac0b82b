"""Each call that writes fails once, and then for good, inside real hooks and their workers.

Every hook exits 0, says nothing but its answer and logs the failure; nothing is left half
written. With a disk that works again, what was said is there once.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
from datetime import timedelta

import pytest

from hooks.context.brain_adapter import namespace
from hooks.context.flush import drain
from hooks.context.project_cache import defer_project_context
from hooks.settings import Settings
from hooks.status import collect_status
from tests.contracts.test_hard_conditions import assert_calm, heal, log_of, now, texts
from tests.support.faults import Fault, failures
from tests.support.keeping import lesson
from tests.support.session import Session

# What a disk may say to each: full, over the quota, read-only, not ours, not on one device.
ERRORS = {
    "write": ("ENOSPC", "EDQUOT", "EIO"),
    "fsync": ("ENOSPC", "EDQUOT", "EIO"),
    "rename": ("ENOSPC", "EDQUOT", "EROFS", "EACCES", "EXDEV"),
    "link": ("ENOSPC", "EDQUOT", "EROFS", "EACCES", "EXDEV"),
    "mkdir": ("ENOSPC", "EDQUOT", "EROFS", "EACCES"),
    "create": ("ENOSPC", "EDQUOT", "EROFS", "EACCES"),
}
BY_EVENTS = ("write", "rename", "link", "mkdir", "create")  # they leave syncing to SQLite


def assert_whole(home):
    """Nothing aside is left, every document is one, every list of lines has whole lines."""
    for path in home.rglob("*"):
        assert not path.name.endswith(".tmp"), path
        if path.suffix == ".json":
            assert isinstance(json.loads(path.read_bytes()), dict), path
        if path.suffix == ".jsonl":
            assert all(json.loads(row) for row in path.read_bytes().split(b"\n") if row), path


class Faulty:
    """A session whose events meet faults. ``wanted`` is what was marked in it."""

    def __init__(self, session, report):
        self.session, self.home, self.report = session, session.home, report
        self.wanted = []

    def say(self):
        self.wanted.append(f"said {len(self.wanted):02}")
        self.session.says(lesson(self.wanted[-1]))

    def say_and_stop(self):
        self.say()
        return self.session.stop()

    def say_and_end(self):
        self.say()
        return self.session.end()

    def run(self, fault, event):
        """Run ``event`` with ``fault``; return its run, and what was logged."""
        logged = len(log_of(self.home))
        self.session.flags = fault.flags(self.report)
        run = event()
        self.session.flags = ()
        self.session.settle()
        assert_calm(run)
        assert_whole(self.home)
        said = log_of(self.home)[logged:]
        assert "unforeseen" not in said
        return run, said

    def each_failure(self, event, kinds=BY_EVENTS, who="hook", step=1):
        """Let each call of these kinds in ``event`` fail in turn; yield what each run gave."""
        for kind in kinds:
            for first, name in zip(itertools.count(0, step), itertools.cycle(ERRORS[kind])):
                count = failures(self.report)
                given = self.run(Fault(kind, getattr(errno, name), first, who=who), event)
                if failures(self.report) == count:
                    break
                yield given

    def assert_healed(self):
        heal(self.session)
        assert texts(self.home) == self.wanted


@pytest.fixture
def faulty(session, tmp_path):
    one = Faulty(session(), tmp_path / "report")
    one.session.start()
    one.say_and_stop()
    one.session.settle()
    (one.home / "logs").mkdir(exist_ok=True)  # or a folder that cannot be made takes the log away
    (one.home / "logs" / "hooks.log").touch()
    return one


def test_a_call_that_fails_at_a_stop_is_logged_and_costs_no_marker(faulty):
    for _, said in faulty.each_failure(faulty.say_and_stop):
        assert "[Errno " in said
    assert failures(faulty.report) >= 8
    faulty.assert_healed()


def test_a_call_that_fails_at_the_end_is_logged_and_costs_no_marker(faulty):
    for _, said in faulty.each_failure(faulty.say_and_end, ("write", "link")):
        assert "[Errno " in said
    assert failures(faulty.report) >= 4
    faulty.assert_healed()


def test_a_call_that_fails_at_a_start_is_logged_and_the_memory_is_shown(faulty, session):
    def start():
        other = session()
        other.flags = faulty.session.flags
        return other.start()

    for run, said in faulty.each_failure(start, ("write", "mkdir", "create")):
        assert "[Errno " in said
        assert "said 00" in run.context
    assert failures(faulty.report) >= 8
    faulty.assert_healed()


def test_a_call_that_fails_at_a_prompt_that_brings_news_tells_them(faulty, session):
    other, number = session(), itertools.count()

    def news():
        other.says(lesson(f"news {next(number)}"))
        other.stop()
        other.settle()
        return faulty.session.prompt("go on")

    for run, said in faulty.each_failure(news, ("write", "rename", "create")):
        assert "[Errno " in said
        assert "news " in run.context
    assert failures(faulty.report) >= 4


def test_a_context_that_was_told_and_cannot_be_taken_away_is_logged(faulty):
    one, settings = faulty.session, Settings(str(faulty.home))
    waiting = {"text": "what waited", "sources": []}
    defer_project_context(settings.home, namespace(settings), one.id, waiting, at=now())
    fault = Fault("unlink", errno.EACCES, always=True)
    run, said = faulty.run(fault, lambda: one.prompt("go on"))
    assert "what waited" in run.context
    assert "after the answer: [Errno 13]" in said


def test_a_call_that_fails_in_the_worker_delivers_late_and_once(faulty):
    kinds = ("write", "rename", "create")
    for _ in faulty.each_failure(faulty.say_and_stop, kinds, who="worker"):
        heal(faulty.session)
        assert texts(faulty.home) == faulty.wanted
    assert failures(faulty.report) >= 4


@pytest.mark.parametrize("kind", ["write", "fsync", "rename", "link", "mkdir"])
def test_a_call_that_fails_at_the_very_first_start_makes_one_installation(
    session, tmp_path, project, kind
):
    for number in itertools.count():
        home = tmp_path / f"person {number}" / "agentihooks"
        one = Faulty(Session(home, project), tmp_path / f"report {number}")
        first = number * (4 if kind == "mkdir" else 2)
        fault = Fault(kind, getattr(errno, ERRORS[kind][number % 3]), first)
        _, said = one.run(fault, one.session.start)
        if not failures(one.report):
            break
        assert "[Errno " in said
        one.say_and_stop()
        one.session.settle()
        assert texts(home) == one.wanted
        assert_whole(home)


@pytest.mark.parametrize("kind", BY_EVENTS)
def test_a_disk_that_goes_on_failing_costs_nothing_once_it_works(faulty, kind):
    for name in ERRORS[kind]:
        fault = Fault(kind, getattr(errno, name), always=True)
        _, said = faulty.run(fault, faulty.say_and_stop)
        if kind in ("write", "create"):  # then there is no log either, and the next event says so
            logged = len(log_of(faulty.home))
            faulty.session.start("resume")
            faulty.session.settle()
            assert "could not be logged" in log_of(faulty.home)[logged:]
        else:
            assert said.count("\n") <= 3
            status = collect_status(Settings(str(faulty.home)), {}, now(), "/", "")
            assert f"[Errno {fault.errno}]" in status["log"]["last"]["what"]
    faulty.assert_healed()


@pytest.mark.parametrize("name", ["ENOLCK", "EOPNOTSUPP"])
def test_a_file_system_without_locks_is_said_and_what_was_marked_comes_later(faulty, name):
    """A network file system may have none: nothing is kept there that two could tear apart."""
    fault = Fault("flock", getattr(errno, name), always=True)
    for event in (faulty.say_and_stop, faulty.say_and_end):
        _, said = faulty.run(fault, event)
        assert f"[Errno {fault.errno}]" in said
    faulty.assert_healed()


@pytest.mark.parametrize("name", ["EPERM", "EOPNOTSUPP"])
def test_a_file_system_without_links_is_no_failure_at_all(session, tmp_path, name):
    """A rename under a lock takes the place of the link, from the first start on."""
    one = Faulty(session(), tmp_path / "report")
    fault = Fault("link", getattr(errno, name), always=True)
    for event in (one.session.start, one.say_and_stop, one.say_and_end):
        _, said = one.run(fault, event)
        assert said == ""
    assert failures(one.report) >= 4
    assert texts(one.home) == one.wanted


def test_a_call_that_fails_in_a_folder_of_markdown_makes_each_page_once(session, tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    where = {"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": str(pages)}
    one = Faulty(session(env=where), tmp_path / "report")
    one.session.start()
    one.session.settle()
    kinds = ("write", "fsync", "rename", "link")
    for _ in one.each_failure(one.say_and_stop, kinds, who="worker"):
        assert not [name for name in os.listdir(pages) if not name.endswith(".md")]
        settings = Settings(str(one.home), brain_source="file", brain_path=str(pages))
        drain(settings, {}, now() + timedelta(hours=1))  # a failed drainer's pause is over
    assert failures(one.report) >= 4
    drain(settings, {}, now() + timedelta(hours=1))
    said = [re.search(r"said \d\d", page.read_text())[0] for page in pages.glob("*.md")]
    assert sorted(said) == one.wanted
