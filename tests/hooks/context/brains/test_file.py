"""A folder of Markdown as the brain: edited, synced, merged, copied, cut off and killed."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from hooks.context.brains import file_folder
from hooks.context.brains.file import FileBrain
from hooks.errors import BrainRefused

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


# Pages as people treat them.


def test_a_marker_is_one_page_named_by_its_key_and_nothing_else_is_left(brain, folder):
    one = posted(brain, severity="high", cwd="/home/ann/web", worktree="/home/ann/web")
    assert [path.name for path in folder.iterdir()] == [f"{one}.md"]
    said = page(folder, one).read_text()
    assert said.endswith("---\n\nRun the tests first\n")
    assert f"project: {WEB}\n" in said
    assert "/home/ann" not in said


def test_who_may_read_the_folder_may_read_its_pages(brain, folder):
    for mode, expected in ((0o700, 0o600), (0o750, 0o640), (0o2770, 0o660)):
        folder.chmod(mode)
        assert page(folder, posted(brain, str(mode))).stat().st_mode & 0o777 == expected


def test_an_edited_page_is_served_as_it_is_now_and_its_marker_still_known(brain, folder):
    one = posted(brain, "teh tests", message_id="m")
    path = page(folder, one)
    data = path.read_bytes().replace(b"teh", b"the").replace(b"\n", b"\r\n").rstrip()
    path.write_bytes(b"\xef\xbb\xbf" + data)
    assert served(brain) == ["the tests"]
    assert brain.post_marker(body("teh tests", message_id="m"), key()) == ("replayed", one, False)
    assert brain.post_marker(body("teh tests", message_id="m"), one).kind == "replayed"
    assert brain.accept(one)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf---\r\n")
    assert b"accepted: true\r\n" in path.read_bytes()
    assert served(brain) == ["the tests"]


def test_a_page_may_be_renamed_and_moved(brain, folder):
    one = posted(brain)
    (folder / "tips").mkdir()
    page(folder, one).rename(folder / "tips" / "run tests.md")
    assert [item.id for item in brain.project_memory(WEB, ANN)] == [one]
    assert brain.post_marker(body(), one).kind == "replayed"
    assert brain.forget(one)
    assert not (folder / "tips" / "run tests.md").exists()


def test_a_page_written_by_hand_is_a_persons_memory(brain, folder):
    (folder / "staging.md").write_text(HAND)
    (folder / "all.md").write_text("---\nid: for all\nseverity: High\n---\nEverybody's\n")
    (item,) = brain.project_memory(WEB, ANN)
    assert (item.text, item.title, item.cls, item.type) == (
        "Use the staging key.",
        "By hand",
        "person",
        "lesson",
    )
    assert brain.find(item.id[:8]) == [item]
    (shared,) = brain.feed()
    assert (shared.text, shared.severity, shared.accepted) == ("Everybody's", "high", True)
    (folder / "all.md").rename(folder / "other.md")
    assert brain.feed() == [shared]


def test_correcting_a_page_by_hand_pins_its_id_so_that_it_may_be_moved(brain, folder):
    (folder / "staging.md").write_text(HAND)
    (old,) = brain.project_memory(WEB, ANN)
    new = key()
    brain.edit(old.id, body("Use no key."), new)
    (folder / "staging.md").rename(folder / "old.md")
    assert served(brain) == ["Use no key."]
    assert texts(brain.history(new)) == ["Use the staging key."]


def test_a_readme_is_no_memory_and_no_fault(brain, folder):
    (folder / "README.md").write_text("# What this folder is\n")
    (folder / "notes.txt").write_text("x")
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "x.md").write_text(HAND)
    assert brain.find("") == []
    assert brain.health()["set_aside"] == 0
    assert brain.health()["without_front_matter"] == 1


def test_a_page_that_cannot_be_read_is_told_left_alone_and_still_its_keys_only_one(brain, folder):
    one = posted(brain)
    path = page(folder, one)
    path.write_bytes(b"---\nid: x\n")
    assert served(brain) == []
    assert reasons(brain) == {path.name: "its front matter has no end"}
    assert brain.post_marker(body(), one).kind == "replayed"
    assert path.read_bytes() == b"---\nid: x\n"


def test_personal_pages_need_their_person(brain, folder):
    (folder / "mine.md").write_text(f"---\nscope: user\nproject: {WEB}\n---\nMine\n")
    assert served(brain) == []
    assert "principal" in reasons(brain)["mine.md"]
    (folder / "mine.md").write_text(f"---\nscope: user\nprincipal: ann\nproject: {WEB}\n---\nMine")
    assert served(brain) == ["Mine"]
    assert FileBrain(str(folder), "bob").find("") == []


def test_a_page_can_end_and_can_come_first(brain, folder):
    head = f"---\nproject: {WEB}\nat: 2026-11-01\nttl: 7d\npriority: 5\n---\n"
    (folder / "a.md").write_text(head + "A week")
    (item,) = brain.project_memory(WEB, ANN)
    assert (item.until, item.priority) == ("2026-11-08T00:00:00.000000+00:00", "5")
    assert item.at == "2026-11-01T00:00:00.000000+00:00"


def test_pages_that_replace_each_other_in_a_circle_do_not_all_vanish(brain, folder):
    ids = ["a" * 32, "b" * 32, "c" * 32]
    for one, other in zip(ids, [*ids[1:], ids[0]], strict=True):
        (folder / f"{one}.md").write_text(
            f"---\nid: {one}\nproject: {WEB}\nsupersedes: {other}\n---\n{one}\n"
        )
    assert len(served(brain)) == 1
    assert len(brain.history(brain.project_memory(WEB, ANN)[0].id)) == 2


# What else lies in a folder.


def test_links_pipes_and_huge_files_are_told_and_nothing_hangs(brain, folder, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text(HAND)
    (folder / "link.md").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.md")
    with (folder / "huge.md").open("wb") as file:
        file.truncate(file_folder.MAX_BYTES + 1)
    (folder / ".far.md.icloud").write_bytes(b"bplist")
    posted(brain)
    assert served(brain) == ["Run the tests first"]
    assert reasons(brain) == {
        "link.md": "a symbolic link",
        "loop": "a symbolic link",
        "pipe.md": "no regular file",
        "huge.md": f"larger than {file_folder.MAX_BYTES} bytes",
        ".far.md.icloud": "not on this disk yet",
    }


def test_what_lies_in_the_way_of_a_page_refuses_that_marker_only(brain, folder):
    one = key()
    page(folder, one).symlink_to("nowhere")
    with pytest.raises(BrainRefused):
        brain.post_marker(body(), one)
    posted(brain, "another")
    assert served(brain) == ["another"]


def test_a_marker_too_large_for_a_page_is_refused(brain):
    with pytest.raises(BrainRefused):
        brain.post_marker(body("x" * file_folder.MAX_BYTES), key())


def test_names_of_any_bytes_and_scripts_are_read_and_told(brain, folder):
    raw = os.fsencode(folder) + b"/bad \xff.md"
    Path(os.fsdecode(raw)).write_text(HAND)
    (folder / "名前 😀.md").write_text(HAND)
    assert len(served(brain)) == 2
    Path(os.fsdecode(raw)).write_text("---\n")
    assert list(reasons(brain)) == ["bad \ufffd.md"]


@pytest.mark.parametrize("text", ["a\ud83d", "\udc88"])
def test_a_lone_surrogate_is_stored_as_the_replacement_character(brain, text):
    one = posted(brain, text, title=text)
    (item,) = brain.project_memory(WEB, ANN)
    assert item.text == item.title == text[:-1] + "\ufffd"
    assert brain.post_marker(body(text), one).kind == "replayed"


@pytest.mark.parametrize("said", ["null", "Null", "NULL", "~", "", "null # nothing yet"])
def test_a_page_whose_project_is_yamls_word_for_nothing_is_for_everybody(brain, folder, said):
    (folder / "rule.md").write_text(f"---\nproject: {said}\nttl: {said}\n---\nFor all\n")
    [item] = brain.feed()
    assert (item.text, item.project, item.until) == ("For all", "", "")


def test_a_project_that_is_really_called_null_is_one_in_quotes(brain, folder):
    (folder / "rule.md").write_text('---\nproject: "null"\n---\nOf null\n')
    assert brain.feed() == []
    assert texts(brain.project_memory("null", ANN)) == ["Of null"]


def test_names_with_capitals_are_the_ones_meant_and_are_changed_where_they_stand(brain, folder):
    path = folder / "rule.md"
    path.write_text(f"---\nTitle: By hand\nPROJECT: {WEB}\nMine: kept\n---\nOf web\n")
    assert brain.feed() == []
    [item] = brain.project_memory(WEB, ANN)
    assert (item.text, item.title) == ("Of web", "By hand")
    assert brain.move(item.id, "git.example.org/shop/api")
    lines = path.read_text().splitlines()
    assert lines[1:4] == ["Title: By hand", "project: git.example.org/shop/api", "Mine: kept"]
    assert served(brain) == []


def test_one_name_in_two_spellings_is_set_aside_with_the_reason(brain, folder):
    (folder / "rule.md").write_text(f"---\nProject: {WEB}\nproject: other\n---\nWhose?\n")
    assert reasons(brain) == {"rule.md": "project stands there twice"}
    (folder / "rule.md").write_text(f"---\nProject: [{WEB}]\n---\nWhose?\n")
    assert reasons(brain) == {"rule.md": "project is not one text"}


def test_an_attribute_that_only_looks_like_a_field_of_ours_comes_back_as_it_was(brain):
    one = posted(brain, Title="another program's", title="ours")
    found = brain.attrs_of(one)
    assert (found["Title"], found["title"]) == ("another program's", "ours")


def test_an_unchanged_folder_is_not_gone_through_again_and_any_change_is_seen(brain, folder):
    one = posted(brain)
    first = brain._look()
    assert brain._look() is first
    same_size = page(folder, one).read_bytes().replace(b"tests first", b"tests later")
    page(folder, one).write_bytes(same_size)
    assert served(brain) == ["Run the tests later"]
    (folder / "other.md").write_text(f"---\nproject: {WEB}\n---\nAnother\n")
    assert sorted(served(brain)) == ["Another", "Run the tests later"]
    page(folder, one).rename(folder / "moved.md")
    assert brain.find(one)[0].text == "Run the tests later"
    (folder / "other.md.orig").write_text("x")
    assert "other.md.orig" in reasons(brain)
    (folder / "other.md").unlink()
    assert served(brain) == ["Run the tests later"]
