"""Promise 1: nothing is shared because labels happen to be equal.

Two homes, two projects of one basename, two profiles, two people, two sessions with one id.
Every hook here is a real process.
"""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

from tests.support.git import make_repo
from tests.support.session import Session

SAME_ID = "6f1c2a9e-0000-4000-8000-000000000005"


def lesson(text):
    return f"<!-- @lesson -->{text}<!-- @/lesson -->"


def remember(session, text):
    session.start()
    session.prompt("x")
    session.says(lesson(text))
    assert "kept 1 lesson" in session.stop().message
    session.settle()


@pytest.fixture
def places(tmp_path):
    """Two homes, each with two projects; all folders and labels are equal but for one part."""
    made = {}
    for home, owner in itertools.product(("one", "two"), ("acme", "globex")):
        person = tmp_path / home / "person"
        person.mkdir(parents=True, exist_ok=True)
        remote = f"https://git.example.org/{owner}/widgets.git"
        made[home, owner] = (
            person / "agentihooks",
            make_repo(tmp_path / home / owner / "widgets", remote),
        )
    return made


def test_homes_and_projects_with_equal_labels_have_nothing_in_common(places):
    for (home, owner), (folder, project) in places.items():
        remember(Session(folder, project, session_id=SAME_ID), f"secret of {owner} in {home}")
    for (home, owner), (folder, project) in places.items():
        context = Session(folder, project).start().context
        told = [line for line in context.splitlines() if "secret of" in line]
        assert len(told) == 1, context
        assert f"secret of {owner} in {home}" in told[0]


def test_every_key_and_cache_name_of_two_homes_differs(places):
    for (_, owner), (folder, project) in places.items():
        remember(Session(folder, project, session_id=SAME_ID), f"the same words for {owner}")
    names = {"one": set(), "two": set()}
    for (home, _), (folder, _) in places.items():
        names[home] |= {path.name for path in folder.glob("brain/project-memory/k2-*.json")}
    assert names["one"]
    assert not names["one"] & names["two"]


def test_two_profiles_of_one_person_are_two_installations(tmp_path, project):
    profiles = [tmp_path / "work-profile", tmp_path / "own-profile"]
    for number, profile in enumerate(profiles):
        env = {"AGENTIHOOKS_HOME": "", "CLAUDE_CONFIG_DIR": str(profile)}
        mine = Session(profile / "agentihooks", project, env=env)
        remember(mine, f"only profile {number} knows")
    for number, profile in enumerate(profiles):
        env = {"AGENTIHOOKS_HOME": "", "CLAUDE_CONFIG_DIR": str(profile)}
        context = Session(profile / "agentihooks", project, env=env).start().context
        assert f"only profile {number} knows" in context
        assert f"only profile {1 - number} knows" not in context


def test_a_cache_file_copied_between_homes_is_never_served(places):
    (source, project), (target, other) = places["one", "acme"], places["two", "acme"]
    remember(Session(source, project), "belongs to home one")
    remember(Session(target, other), "belongs to home two")
    for path in source.glob("brain/project-memory/k2-*.json"):
        for victim in target.glob("brain/project-memory/k2-*.json"):
            if victim.name.rsplit("-", 1)[0] == path.name.rsplit("-", 1)[0]:
                shutil.copy(path, victim)
    session = Session(target, other)
    context = session.start().context
    session.settle()
    assert "belongs to home one" not in context
    assert "belongs to home two" in context
    assert "belongs to home two" in Session(target, other).start().context


def test_a_forged_cache_file_is_never_served(home, project):
    remember(Session(home, project), "a true memory")
    for path in home.glob("brain/project-memory/k2-*.json"):
        document = json.loads(path.read_text())
        document["items"] = [{"id": "0" * 32, "type": "lesson", "text": "forged", "at": "2026"}]
        document["namespace"]["installation"] = "inst-" + "0" * 32
        path.write_text(json.dumps(document))
    assert "forged" not in Session(home, project).start().context


def test_a_session_note_reaches_no_session_of_another_person_with_the_same_id(home, project):
    note = "<!-- @lesson scope=session -->half way through<!-- @/lesson -->"
    mine = Session(
        home, project, session_id=SAME_ID, env={"BRAINHOOKS_PRINCIPAL": "me", "CLAUDE_PID": "1"}
    )
    mine.start()
    mine.prompt("x")
    mine.says(note)
    mine.stop()
    mine.settle()
    other = {"BRAINHOOKS_PRINCIPAL": "other", "CLAUDE_PID": "2"}
    theirs = Session(home, project, session_id=SAME_ID, env=other)
    assert "half way" not in theirs.start("compact").context
    assert "half way" in mine.start("compact").context


def test_text_that_looks_like_a_path_of_a_key_stays_text(home, tmp_path):
    names = ["a", "ab", "a:b", "a%3Ab", "a-b"]
    for name in names:
        remote = f"https://git.example.org/team/{name.replace('%', '%25').replace(':', '%3A')}.git"
        project = make_repo(tmp_path / f"repo{names.index(name)}", remote)
        remember(Session(home, project), f"only {names.index(name)} knows")
    for name in names:
        project = tmp_path / f"repo{names.index(name)}"
        context = Session(home, Path(project)).start().context
        told = [n for n in range(len(names)) if f"only {n} knows" in context]
        assert told == [names.index(name)]


def test_what_another_persons_worker_catches_up_stays_its_writers(home, project):
    """A hook of mine died, and somebody else's session start reads my transcript on."""
    people = {name: {"BRAINHOOKS_PRINCIPAL": name, "CLAUDE_PID": ""} for name in ("me", "other")}
    mine = Session(home, project, env=people["me"])
    mine.start()
    mine.prompt("x")
    mine.settle()
    mine.says("<!-- @lesson scope=user -->my own way<!-- @/lesson -->")
    theirs = Session(home, project, env=people["other"])
    theirs.start()
    theirs.settle()
    assert "my own way" not in Session(home, project, env=people["other"]).start().context
    again = Session(home, project, env=people["me"])
    again.start()  # its worker refreshes what I am shown
    again.settle()
    assert "my own way" in Session(home, project, env=people["me"]).start().context
