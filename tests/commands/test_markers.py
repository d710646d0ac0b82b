from __future__ import annotations

import json

from tests.support.run_cli import run_cli
from tests.support.session import TRANSCRIPTS

TEXT = """Intro
<!-- @lesson -->kept<!-- @/lesson -->
```
<!-- @lesson -->quoted<!-- @/lesson -->
```
<!-- @rumour -->who knows<!-- @/rumour -->
<!-- @decision -->
"""


def test_every_candidate_of_a_transcript_is_listed_with_its_line(home):
    done = run_cli("markers", "explain", str(TRANSCRIPTS / "plain.jsonl"), home=home)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "line 22  lesson     taken  always run the tests before a commit\n1 candidate, 1 taken\n"
    )
    assert not home.exists()


def test_what_is_ignored_in_a_text_comes_with_the_reason(home, tmp_path):
    (tmp_path / "note.md").write_text(TEXT, encoding="utf-8")
    done = run_cli("markers", "explain", "note.md", "--json", home=home, cwd=tmp_path)
    rows = [(row["line"], row["type"], row["reason"]) for row in json.loads(done.stdout)]
    assert rows == [
        (2, "lesson", ""),
        (4, "lesson", "in-code-fence"),
        (6, "rumour", "unknown-type"),
        (7, "decision", "unclosed"),
    ]


def test_a_file_that_is_not_there_is_an_error_with_a_hint(home):
    done = run_cli("markers", "explain", "nowhere.jsonl", home=home)
    assert done.returncode == 1
    assert "there is no such file\n  hint: " in done.stderr


def test_a_folder_is_an_error_without_a_traceback(home, tmp_path):
    done = run_cli("markers", "explain", str(tmp_path), home=home)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_no_secret_is_printed(home, tmp_path):
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    blanks = " " * 40
    whole = f"<!-- @lesson -->{blanks}the forge takes {token}<!-- @/lesson -->"
    text = f"{whole}\n<!-- @lesson -->{token}\n"
    (tmp_path / "note.md").write_text(text, encoding="utf-8")
    done = run_cli("markers", "explain", "note.md", home=home, cwd=tmp_path)
    assert "[redacted:" in done.stdout
    assert "ghp_" not in done.stdout


def test_what_was_said_while_memory_was_off_is_not_called_taken(home, session):
    one = session()
    one.start()
    one.prompt("/brainhooks:memory off")
    one.says("<!-- @lesson -->not for you<!-- @/lesson -->")
    one.stop()
    one.prompt("/brainhooks:memory on")
    one.says("<!-- @lesson -->for you<!-- @/lesson -->")
    one.stop()
    one.settle()
    said = run_cli("markers", "explain", str(one.transcript), home=home).stdout
    assert "lesson     memory-off  not for you" in said
    assert "lesson     taken  for you" in said
    assert said.endswith("2 candidates, 1 taken\n")
