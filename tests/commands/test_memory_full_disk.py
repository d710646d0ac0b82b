"""Looking at scoped memory where nothing can be written: what is derived is computed."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from tests.support.memory_cli import command, environment


@pytest.fixture
def full(home, project, runtime):
    """Run ``brainhooks memory …`` where no file can grow, for root neither."""

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        script = f"ulimit -f 0; exec {shlex.join(command(*args))}"
        return subprocess.run(
            ["sh", "-c", script],
            cwd=project,
            env={**environment(home, runtime), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_what_is_derived_is_shown_on_a_full_disk_as_on_any_other(cli, full):
    cli("put", "memory/a", "theword")
    assert full("put", "memory/b", "more").stderr.startswith("store-busy: ")
    found = {}
    for name in ("context", "digest", "status"):
        done = full("show", name)
        assert (done.returncode, done.stderr) == (0, "")
        found[name] = done.stdout
    assert "theword" in found["context"]
    assert "theword" in found["digest"]
    assert found == {name: cli("show", name).stdout for name in found}
