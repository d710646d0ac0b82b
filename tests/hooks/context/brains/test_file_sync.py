"""What sync tools, merges and other machines do to a folder of Markdown."""

from __future__ import annotations

import shutil
import uuid

import pytest

from hooks.context.brains.file import FileBrain

WEB = "git.example.org/shop/web"
ANN = "ann"
HAND = "---\ntitle: By hand\nproject: git.example.org/shop/web\n---\n\nUse the staging key.\n"


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


COPIES = [
    "{} (Ann's conflicted copy 2026-11-30).md",
    "{} (conflicted copy 2026-11-30 101010).md",
    "{}.sync-conflict-20261130-101010-ABCDEFG.md",
    "{}_conflict-20261130-101010.md",
    "{} (1).md",
    "{} 2.md",
    "{}-ANNS-LAPTOP.md",
    "{}_BACKUP_4711.md",
    "{}.md.orig",
    "{}.md~",
    "#{}.md#",
    "copy of {}.md",
]


@pytest.mark.parametrize("name", COPIES)
def test_what_sync_and_merge_leave_is_set_aside_told_and_never_changed(brain, folder, name):
    one = posted(brain)
    copy = folder / name.format(one)
    data = page(folder, one).read_bytes().replace(b"first", b"last")
    copy.write_bytes(data)
    assert served(brain) == ["Run the tests first"]
    assert list(reasons(brain)) == [copy.name]
    assert copy.read_bytes() == data
    assert brain.post_marker(body(), one).kind == "replayed"


@pytest.mark.parametrize("name", ["{} (1).md", "{} (conflicted copy 2026-11-30).md"])
def test_a_copy_of_a_page_without_an_id_is_known_by_its_name(brain, folder, name):
    (folder / "staging.md").write_text(HAND)
    (folder / name.format("staging")).write_text(HAND)
    assert served(brain) == ["Use the staging key."]
    assert list(reasons(brain)) == [name.format("staging")]


def test_a_number_in_a_name_alone_makes_no_copy(brain, folder):
    (folder / "Chapter 2.md").write_text(HAND)
    (folder / "Part (1).md").write_text(HAND)
    assert len(served(brain)) == 2


def test_a_page_with_conflict_marks_is_set_aside_and_comes_back_when_merged(brain, folder):
    one = posted(brain)
    path = page(folder, one)
    whole = path.read_bytes()
    path.write_bytes(whole + b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")
    assert served(brain) == []
    assert reasons(brain) == {path.name: "git conflict marks in it"}
    assert brain.post_marker(body(), one).kind == "replayed"
    path.write_bytes(whole)
    assert served(brain) == ["Run the tests first"]


def test_two_machines_that_made_one_page_each_of_one_thought_serve_the_same_one(tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for number, folder in enumerate(folders):
        folder.mkdir()
        said = body(message_id="m", session_id=str(number))
        FileBrain(str(folder), str(number)).post_marker(said, str(number) * 32)
    for source, target in (folders, folders[::-1]):
        for path in list(source.iterdir()):
            (target / path.name).write_bytes(path.read_bytes())
    for folder in folders:
        brain = FileBrain(str(folder), ANN)
        assert [item.id for item in brain.project_memory(WEB, ANN)] == ["0" * 32]
        assert "the same thought" in reasons(brain)["1" * 32 + ".md"]


def test_a_forgotten_page_that_a_sync_brings_back_is_not_served(brain, folder):
    one = posted(brain, message_id="m")
    path = page(folder, one)
    data = path.read_bytes()
    assert brain.forget(one)
    names = [found.name for found in folder.iterdir()]
    assert names == [f"{one}.forgotten.md"]
    path.write_bytes(data)
    (folder / "under another name.md").write_bytes(data.replace(one.encode(), key().encode()))
    assert brain.find("") == []
    assert set(reasons(brain).values()) == {"forgotten: its tombstone wins"}
    assert not brain.forget(one)
    assert not path.exists()


def test_a_tombstone_counts_by_its_name_alone(brain, folder):
    one = posted(brain)
    (folder / f"{one}.forgotten (1).md").write_bytes(b"\xff\xfe torn")
    assert brain.find("") == []
    assert brain.post_marker(body(), one).forgotten


def test_forgetting_takes_the_copies_that_were_set_aside_too(brain, folder):
    one = posted(brain)
    data = page(folder, one).read_bytes()
    (folder / f"{one} (1).md").write_bytes(data)
    (folder / f"{one} (conflicted copy 2026-11-30).md").write_bytes(data)
    brain.forget(one)
    assert b"Run the tests" not in b"".join(path.read_bytes() for path in folder.iterdir())


def exported(brain):
    """What another machine must have too: every memory with its text, its id and its fields."""
    found = brain.project_memory(WEB, ANN)
    return {item.id: item._asdict() for item in found}


def test_a_copied_folder_has_edits_relations_and_what_was_forgotten(brain, folder, tmp_path):
    first, gone, said = posted(brain, "Use the staging key"), posted(brain, "Old"), key()
    lint = posted(brain, "Run the linter", severity="high", path="a/b.py")
    brain.edit(first, body("Use the production key"), said)
    posted(brain, "Run the linter twice", supersedes=lint)
    brain.forget(gone)
    copied = tmp_path / "another machine"
    shutil.copytree(folder, copied)
    other = FileBrain(str(copied), ANN)
    assert exported(other) == exported(brain)
    assert sorted(served(other)) == ["Run the linter twice", "Use the production key"]
    assert other.post_marker(body("Old"), gone).kind == brain.post_marker(body("Old"), gone).kind
    assert exported(other) == exported(brain)
    assert {one.name: one.read_bytes() for one in copied.glob("*.md")} == {
        one.name: one.read_bytes() for one in folder.glob("*.md")
    }
