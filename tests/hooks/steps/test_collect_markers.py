from __future__ import annotations

from hooks.context.collect import Kept
from hooks.reply import units
from hooks.steps.collect_markers import receipt

ONE = Kept("a1" * 16, "lesson", "Run  the\ntests first")
SECRET = Kept("b2" * 16, "decision", "the key is [redacted:secret]", ("secret",))
NOWHERE = Kept("c3" * 16, "lesson", "nowhere", (), homeless=True)

LINES = {
    'brainhooks kept 1 lesson: "Run the tests first" (a1a1a1a1)': [ONE],
    'brainhooks kept 1 decision: "the key is [redacted:secret]" '
    "(b2b2b2b2, a secret in it was left out)": [SECRET],
    'brainhooks kept 1 lesson for no project: "nowhere" (c3c3c3c3)': [NOWHERE],
    'brainhooks kept 3 memories, 1 of them for no project: "Run the tests first" '
    "(a1a1a1a1, b2b2b2b2, c3c3c3c3, a secret in 1 of them was left out)": [ONE, SECRET, NOWHERE],
    'brainhooks kept 2 memories for no project: "nowhere" (c3c3c3c3, c3c3c3c3)': [NOWHERE] * 2,
}


def test_one_line_says_what_was_kept_for_whom_and_what_was_left_out():
    assert [receipt(kept) for kept in LINES.values()] == list(LINES)


def test_many_and_long_ones_stay_one_short_line():
    said = receipt([ONE._replace(text="😀\n" * 500)] * 40)
    assert "\n" not in said
    assert "…" in said
    assert units(said) < 300


def test_a_marker_in_a_folder_without_a_project_says_so_in_the_agent(session, tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    mine = session(project=folder)
    mine.start()
    mine.says("<!-- @lesson -->nobody will hear this<!-- @/lesson -->")
    assert mine.stop().message.startswith("brainhooks kept 1 lesson for no project: ")
    mine.settle()
