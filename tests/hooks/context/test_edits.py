"""What counts as an edit: after it, what failed may succeed."""

from __future__ import annotations

import pytest

from hooks.context.edits import edits, edits_first
from hooks.context.operation import EDITORS
from tests.support.run_hook import recorded

WRITES = (
    *("sed -i s/a/b/ x", "sed --in-place=.bak s/a/b/ x", "perl -pi -e s/a/b/ x", "patch -p1 < d"),
    *("cat > x <<'E'\na\nE", "echo a >> x", "ls | tee out", "touch x", "rm -rf build", "mv a b"),
    *(
        "git apply d",
        "git -C x checkout -- a",
        "git stash pop",
        "git pull",
        "npm ci",
        "pip install x",
    ),
    *("python3.11 -m pip install x", "uv sync", "cargo fix", "ruff format .", "ruff check --fix"),
    *("python - <<'E'\nopen('x', 'w').write('a')\nE", "node -e 'fs.writeFileSync(a, b)'"),
    *("npx prettier --write .", "npx eslint src --fix", "yarn prettier -w a", "npm run format"),
    *("npm run lint:fix", "uv run ruff format", "poetry run black .", "python3 -m isort ."),
    *("make fmt", "cargo clippy --fix", "go generate ./...", "./fix.sh", "bash bin/fix-all.sh"),
    *("pre-commit run -a", "gsed -i s/a/b/ x", "awk -i inplace 1 x", "wget u"),
    *("find . -name x -delete", "python manage.py makemigrations", "pytest --snapshot-update"),
    *("cd x && sudo cp a b", "bash -c 'echo a > b'", "find . -exec sed -i s/a/b/ {} +"),
)
WRITES_NOT = (
    *(
        "ls",
        "echo 'sed -i x'",
        "sed s/a/b/ x",
        "git status",
        "git log --format='%h > %s'",
        "npm test",
    ),
    *(
        "pytest > /dev/null 2>&1",
        "cat x | grep y",
        "python x.py",
        "python -c 'print(1)'",
        "git push",
    ),
    *("grep -r fix src", "cat format.md", "ls fix", "git log --grep=fix", "git show fix", "rg fmt"),
    *(
        "pytest tests/fix/test_edit.py",
        "curl -sS -o /dev/null u",
        "npm run build",
        "make",
        "pytest -k prefix",
    ),
    *("npm test -- --format=json", "find . -name fix", "gh pr view --json fix", "node server.js"),
    *("awk '$1 > 2' x", "ruff check .", "cargo test", "grep -r write .", "", "cat <<'E'\n> x\nE"),
)


@pytest.mark.parametrize("command", WRITES)
def test_a_command_that_writes_is_an_edit(command: str) -> None:
    assert edits("Bash", {"command": command})


@pytest.mark.parametrize("command", WRITES_NOT)
def test_a_command_that_only_looks_is_none(command: str) -> None:
    assert not edits("Bash", {"command": command})


@pytest.mark.parametrize("tool", EDITORS)
def test_the_tools_that_edit_are_edits(tool: str) -> None:
    assert edits(tool, {})


def test_the_recorded_calls_are_told_apart() -> None:
    names = ("Edit", "Write", "Read", "mcp", "Agent", "TaskCreate", "TaskUpdate")
    calls = [recorded(f"PostToolUse.{name}") for name in names]
    found = [edits(call["tool_name"], call["tool_input"]) for call in calls]
    assert found == [True, True, False, False, False, False, False]


def test_an_mcp_tool_says_it_by_its_name() -> None:
    assert edits("mcp__files__write_file", {})
    assert edits("mcp__files__edit", {})
    assert not edits("mcp__writer__read_file", {})


@pytest.mark.parametrize(
    ("command", "first"),
    {
        "sed -i s/a/b/ x && make": True,
        "cat > x.py <<'E'\na\nE\npython x.py": True,
        "git apply d; npm test": True,
        "ruff check --fix . && pytest": True,
        "make": False,
        "make > log 2>&1": False,
        "npm test | tee log": False,
        "rm -rf build && make": False,
        "sed -i s/a/b/ x": False,  # that itself is what failed
        "cat > /no/x <<'E'\na\nE": False,
    }.items(),
)
def test_a_failed_command_edited_only_where_something_else_can_have_failed(
    command: str, first: bool
) -> None:
    assert edits_first("Bash", {"command": command}) is first
    assert not edits_first("Edit", {"command": command})
