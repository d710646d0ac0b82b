"""A folder that is away or not to be written, several homes on it at once, and killed writers."""

from __future__ import annotations

import os
import subprocess
import uuid

import pytest

from hooks.context.brains import open_brain
from hooks.context.brains.file import FileBrain
from hooks.errors import BrainUnreachable
from hooks.settings import Settings
from tests.support.forked import Runner
from tests.support.processes import at_once, command

WEB = "git.example.org/shop/web"
ANN = "ann"


def key():
    return uuid.uuid4().hex


def body(text="Run the tests first", type_="lesson", **attrs):
    return {
        "type": type_,
        "content": text,
        "attrs": {"project_id": WEB, "session_id": "s", **attrs},
    }


def texts(items):
    return [item.text for item in items]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "memories"
    path.mkdir()
    return path


@pytest.fixture
def brain(folder):
    return FileBrain(str(folder), ANN)


def posted(brain, text="Run the tests first", **attrs):
    one = key()
    brain.post_marker(body(text, **attrs), one)
    return one


def page(folder, one):
    return folder / f"{one}.md"


def served(brain):
    return texts(brain.project_memory(WEB, ANN))


def reasons(brain):
    return {row["file"]: row["why"] for row in brain.health()["aside"]}


def settings(tmp_path, path):
    return Settings(str(tmp_path / "home"), brain_source="file", brain_path=str(path))


def test_a_configured_folder_is_opened(tmp_path, folder):
    brain = open_brain(settings(tmp_path, folder), {})
    assert brain.post_marker(body(), key()).kind == "committed"


def test_a_missing_folder_is_not_made_and_the_sentence_says_what_to_do(tmp_path, folder):
    with pytest.raises(BrainUnreachable, match="there is no folder"):
        open_brain(settings(tmp_path, tmp_path / "mount"), {})
    assert not (tmp_path / "mount").exists()
    with pytest.raises(BrainUnreachable, match="no whole path"):
        open_brain(settings(tmp_path, "memories"), {})
    (tmp_path / "file").write_text("x")
    with pytest.raises(BrainUnreachable, match="no folder"):
        open_brain(settings(tmp_path, tmp_path / "file"), {})


def test_a_folder_that_goes_away_is_unreachable_until_it_is_back(brain, folder):
    one = posted(brain)
    folder.rename(folder.with_name("away"))
    calls = (
        brain.feed,
        brain.health,
        lambda: brain.find(""),
        lambda: brain.post_marker(body(), key()),
        lambda: brain.accept(one),
        lambda: brain.forget(one),
    )
    for call in calls:
        with pytest.raises(BrainUnreachable):
            call()
    folder.with_name("away").rename(folder)
    assert served(brain) == ["Run the tests first"]


@pytest.mark.parametrize(("code", "says"), [("EROFS", "read-only"), ("EACCES", "no permission")])
def test_a_folder_that_cannot_be_written_says_so_and_serves_on(brain, monkeypatch, code, says):
    posted(brain)
    real = os.open

    def refuse(path, flags, *rest, **named):
        if flags & os.O_CREAT:
            number = getattr(__import__("errno"), code)
            raise OSError(number, os.strerror(number), path)
        return real(path, flags, *rest, **named)

    with monkeypatch.context() as broken:
        broken.setattr(os, "open", refuse)  # mode bits do not stop root
        with pytest.raises(BrainUnreachable, match=says):
            brain.post_marker(body("other"), key())
    assert served(brain) == ["Run the tests first"]


def test_without_hard_links_a_page_is_made_all_the_same(brain, folder, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    one = posted(brain)
    assert brain.post_marker(body(), one).kind == "replayed"
    assert [path.name for path in folder.iterdir()] == [f"{one}.md"]


# Several processes.

_OPEN = "from hooks.context.brains.file import FileBrain"


def test_two_homes_that_post_one_thought_at_once_make_one_page(folder):
    code = """
brain = FileBrain(sys.argv[1], sys.argv[-1])
attrs = {"project_id": "a/b/c", "message_id": "m", "session_id": sys.argv[-1]}
for n in range(5):
    said = {"type": "lesson", "content": f"thought {n}", "attrs": attrs}
    print(brain.post_marker(said, f"{int(sys.argv[-1]):016x}{n:016x}").kind)
"""
    kinds = "".join(at_once(8, _OPEN, code, folder)).split()
    assert kinds.count("committed") == 5
    assert kinds.count("replayed") == 35
    assert len(list(folder.iterdir())) == 5


def test_two_homes_on_one_folder_both_see_both(folder):
    code = """
body = {"type": "lesson", "content": sys.argv[-1], "attrs": {"project_id": "a/b/c"}}
FileBrain(sys.argv[1], sys.argv[-1]).post_marker(body, sys.argv[-1] * 32)
"""
    at_once(2, _OPEN, code, folder)
    for who in ("x", "y"):
        brain = FileBrain(str(folder), who)
        assert sorted(texts(brain.project_memory("a/b/c", who))) == ["0", "1"]


def test_of_two_edits_at_once_one_wins_and_the_other_learns_it(brain, folder):
    old = posted(brain, "v0")
    code = """
from hooks.errors import BrainConflict
body = {"type": "lesson", "content": "v" + sys.argv[-1], "attrs": {"project_id": sys.argv[3]}}
try:
    print(FileBrain(sys.argv[1], "x").edit(sys.argv[2], body, sys.argv[-1] * 32).kind)
except BrainConflict as err:
    print("lost", err.text)
"""
    said = sorted(at_once(2, _OPEN, code, folder, old, WEB))
    (now,) = served(brain)
    assert said == ["committed\n", f"lost {now}\n"]


RUNNER = Runner("file_crash.py")


@pytest.mark.parametrize("last", ["accept", "forget"])
def test_killed_before_any_step_a_second_run_finishes_and_doubles_nothing(tmp_path, last):
    for limit in range(200):
        folder = tmp_path / str(limit)
        folder.mkdir()
        ran = RUNNER.steps(limit, folder, last)
        pages = [path for path in folder.iterdir() if path.name[0] != "."]
        brain = FileBrain(str(folder), ANN)
        assert len(brain.project_memory("p/q/r", ANN)) <= 1
        assert reasons(brain) == {} or last == "forget"
        assert all(path.read_bytes().startswith(b"---\n") for path in pages)
        if ran is not None:
            break
        RUNNER.run(10_000, folder, last)
        brain.forget("b" * 32) if last == "forget" else None
        assert texts(brain.project_memory("p/q/r", ANN)) == ([] if last == "forget" else ["new"])
        assert not [path for path in folder.iterdir() if path.name[0] == "."]
        data = b"".join(path.read_bytes() for path in folder.iterdir())
        assert (b"\nnew\n" in data) is (last != "forget")
    assert 20 < limit < 199


def test_it_runs_where_hooks_run_without_site_packages(folder):
    code = f"{_OPEN}\nprint(FileBrain(sys.argv[1], 'x').health()['ok'])"
    done = subprocess.run(command(code, folder), capture_output=True, check=True)
    assert done.stdout.decode().strip() == "True"
