"""The ``memory`` commands: as processes, and by the same entry in this process."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

import scripts.app
from tests.support.memory_cli import Said, command, environment
from tests.support.memory_server import MemoryServer, short_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HERE, BESIDE = "in this process", "at a server"


@pytest.fixture
def runtime() -> Iterator[Path]:
    yield from short_folder()


@pytest.fixture(params=[HERE, BESIDE])
def either(request, home, runtime) -> Iterator[str]:
    """The same commands, without a server and with one."""
    if request.param == HERE:
        yield HERE
        return
    with MemoryServer(home, runtime):
        yield BESIDE


@pytest.fixture
def shell(home, project, runtime):
    """Run ``brainhooks memory …`` in the project, as a process of its own."""

    def run(*args: str, given: str | None = None, rc: int = 0) -> Said:
        done = subprocess.run(
            command(*args),
            cwd=project,
            env=environment(home, runtime),
            input=given,
            stdin=None if given is not None else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        said = Said(done.stdout, done.stderr)
        assert done.returncode == rc, said
        return said

    return run


@pytest.fixture
def cli(home, project, runtime, monkeypatch, capsys):
    """Run ``brainhooks memory …`` in the project, by the same entry and in this process."""

    def run(*args: str, session: str = "", rc: int = 0, **env: str) -> Said:
        with monkeypatch.context() as this:
            this.chdir(project)
            this.delenv("CLAUDECODE", raising=False)  # the suite's own shell may be an agent's
            here = {**environment(home, runtime), "CLAUDE_CODE_SESSION_ID": session, **env}
            for name, value in here.items():
                this.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                scripts.app.run(["memory", *args])
        said = Said(*capsys.readouterr())
        assert (ended.value.code or 0) == rc, said
        return said

    return run
