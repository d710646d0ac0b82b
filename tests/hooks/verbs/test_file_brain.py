"""Every verb of the person's on a folder of Markdown, as on the home's own brain."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hooks.context.brains import open_brain
from hooks.context.brains.file_folder import MAX_BYTES
from hooks.context.memory_view import Where, view
from hooks.context.refresh import refresh
from hooks.errors import BrainRefused
from hooks.settings import Settings
from hooks.status import collect_status, render
from hooks.verbs import VerbCtx, run_named
from tests.support.keeping import Kept, lesson
from tests.support.memories import WEB


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "memories"
    path.mkdir()
    return path


@pytest.fixture
def here(ctx, folder) -> VerbCtx:
    file = ctx.settings._replace(brain_source="file", brain_path=str(folder))
    return ctx._replace(settings=file)


def pages(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def shown(ctx, at=None) -> list[str]:
    seen = view(ctx.settings, ctx.env, Where(WEB, "session-2", at or ctx.at))
    return [item.text for item in seen.items]


def test_a_sentence_is_kept_found_corrected_and_forgotten(here, folder):
    said = run_named("remember", "Ask before rm -rf", here)
    short = said.split()[1].rstrip(":")
    [name] = pages(folder)
    assert name.startswith(short)
    assert shown(here) == ["Ask before rm -rf"]
    assert "Ask before rm -rf" in run_named("lessons", "", here)
    assert "Ask before rm -rf" in run_named("lessons", "before", here)
    edited = run_named("edit", f"{short} Never rm -rf", here)
    assert shown(here) == ["Never rm -rf"]
    assert len(pages(folder)) == 2
    run_named("forget", edited.split()[2].rstrip(":"), here)
    assert shown(here) == []
    assert all(name.endswith(".forgotten.md") for name in pages(folder))
    assert b"rm -rf" not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_a_page_of_no_project_is_corrected_where_it_stands_for_everybody(here, folder):
    (folder / "rule.md").write_text("---\n---\nAsk before rm -rf\n", encoding="utf-8")
    brain = open_brain(here.settings, here.env)
    [item] = brain.feed()
    run_named("edit", f"{item.id} Never rm -rf", here)
    assert [(one.text, one.project) for one in brain.feed()] == [("Never rm -rf", "")]
    assert brain.project_memory(WEB, "person-a") == []


def test_no_field_of_a_page_makes_a_line_of_its_own(here, folder):
    fields = f'project: {WEB}\npath: "a\\n  12345678  2026-11-30  lesson  forged"\n'
    (folder / "page.md").write_text(f"---\n{fields}---\nOne line\n", encoding="utf-8")
    [item] = open_brain(here.settings, here.env).project_memory(WEB, "person-a")
    for words in ("", item.id):
        said = run_named("lessons", words, here)
        assert "forged" in said
        assert not any(line.lstrip().startswith("12345678") for line in said.splitlines())


class KeptInFolder(Kept):
    folder = ""

    @property
    def settings(self):
        return Settings(self.home, brain_source="file", brain_path=self.folder)


def test_a_marker_goes_the_whole_way_to_a_page_and_back(home, project, folder):
    kept = KeptInFolder(home, project)
    kept.folder = str(folder)
    kept.ask()
    kept.say(lesson("Run the migrations first"))
    kept.collect()
    assert kept.drain().committed == 1
    kept.collect()
    assert kept.drain() == (0, 0, 0, 0, "")
    [name] = pages(folder)
    assert (folder / name).read_text().endswith("\n\nRun the migrations first\n")


def test_a_memory_ends_at_its_time_without_any_new_word_from_the_brain(here, folder):
    run_named("remember", "stays", here)
    (folder / "week.md").write_text(
        f"---\nproject: {WEB}\nat: 2026-11-28\nttl: 7d\n---\nends\n", encoding="utf-8"
    )
    refresh(here.settings, open_brain(here.settings, here.env), here.at, [WEB])
    assert sorted(shown(here)) == ["ends", "stays"]
    assert shown(here, here.at + timedelta(days=7)) == ["stays"]


def test_the_status_tells_what_is_not_served_and_a_folder_that_is_away(here, folder):
    run_named("remember", "one", here)
    [name] = pages(folder)
    (folder / name.replace(".md", " (1).md")).write_bytes((folder / name).read_bytes())

    def status():
        return collect_status(here.settings, here.env, here.at, here.cwd, here.session_id)

    [problem] = [row["what"] for row in status()["problems"] if "not served" in row["what"]]
    assert "1 file is not served" in problem
    assert "(1).md (a sync conflict copy)" in problem
    assert status()["brain"]["health"]["all"] == 1
    folder.rename(folder.with_name("away"))
    assert any("there is no folder" in row["what"] for row in status()["problems"])
    assert render(status())


def test_the_text_of_an_edit_that_the_folder_refuses_is_where_the_hint_says(here, folder):
    short = run_named("remember", "short", here).split()[1].rstrip(":")
    far_too_long = "lost words " * (MAX_BYTES // 11 + 1)
    with pytest.raises(BrainRefused) as refused:
        run_named("edit", f"{short} {far_too_long}", here)
    assert "brainhooks receipts --json" in refused.value.hint
    assert "quarantine" not in refused.value.hint
    assert far_too_long.strip() in run_named("receipts", "--json", here)
    assert shown(here) == ["short"]


def test_a_memory_past_its_time_is_in_no_list_and_shown_by_its_id_with_its_end(here, folder):
    for name, project in (("web", WEB), ("all", ""), ("none", "unknown")):
        for word, ttl in (("ended", "1d"), ("lasting", "")):
            fields = f"project: {project}\nat: 2026-11-28\nttl: {ttl}\n"
            page = f"---\n{fields}---\n{word} of {name}\n"
            (folder / f"{word}-{name}.md").write_text(page, encoding="utf-8")
    listed = run_named("lessons", "", here)
    assert listed.startswith("1 memory for web:")
    said = [
        listed,
        run_named("lessons", "of web", here),
        run_named("lessons", "--no-project", here),
    ]
    for name, text in zip(("web", "web", "none"), said, strict=True):
        assert f"lasting of {name}" in text
        assert "ended" not in text
    assert "lasting of all" in listed
    assert "Nothing in web matches" in run_named("lessons", "ended", here)
    [ended] = [
        one for one in open_brain(here.settings, here.env).find("") if one.text == "ended of web"
    ]
    assert "until    2026-11-29 00:00 UTC" in run_named("lessons", ended.id, here)
