"""Our lines in a repository's own exclude file: git heeds them, and they alone go again."""

from __future__ import annotations

import pytest

from scripts.git_exclude import ignore, restore
from tests.support.git import git
from tests.support.run_hook import PATH

NAME = ".claude/settings.local.json"
OURS = b"/" + NAME.encode()


@pytest.mark.parametrize(
    ("written", "edited", "left"),
    [
        (b"# mine\r\n*.swp\r\n", lambda data: data, b"# mine\r\n*.swp\r\n"),
        (b"# mine\r\n*.swp", lambda data: data, b"# mine\r\n*.swp"),
        (
            b"# mine\n*.swp\n",
            lambda data: data.replace(b"\n", b"\r\n") + b"*.log\r\n",
            b"# mine\r\n*.swp\r\n*.log\r\n",
        ),
        (b"# mine\r\n", lambda data: data.replace(b"\r\n", b"\n"), b"# mine\n"),
        (b"*.swp\n", lambda data: b"*.log\n" + data.rstrip(), b"*.log\n*.swp\n"),
    ],
    ids=["CRLF", "CRLF without an end", "made CRLF", "made LF", "the end cut"],
)
def test_whatever_its_line_ends_only_our_lines_leave_gits_exclude_file(
    project, written, edited, left
):
    exclude = project / ".git" / "info" / "exclude"
    exclude.write_bytes(written)
    (project / ".claude").mkdir()
    (project / NAME).write_bytes(b"{}")
    path, lines = ignore(str(project), [NAME], {"PATH": PATH})
    data = exclude.read_bytes()
    assert OURS in data
    assert b"\r\n" not in written or b"\n" not in data.replace(b"\r\n", b"")
    assert git(project, "status", "--porcelain", "--untracked-files=all") == ""
    exclude.write_bytes(edited(data))
    restore(path, lines)
    assert exclude.read_bytes() == left
