"""What every test stands on: a home of its own, a fixed noon, and no way to the real home."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from hooks.home import resolve_home
from tests.support.git import make_repo
from tests.support.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
OURS = ("AGENTIHOOKS_", "BRAIN", "CLAUDE", "ANTHROPIC_", "GIT_", "XDG_", "REDIS_")

REAL_ENV = dict(os.environ)  # noqa: TID251 - the one place where tests see the real environment
REAL_HOMES = sorted({resolve_home(REAL_ENV), resolve_home({"HOME": REAL_ENV.get("HOME", "")})})


# As with the fuzzer: CI judges the change and not the luck; everywhere else the search goes on.
hypothesis.settings.register_profile("ci", derandomize=True)
# For who looks for more than the suite has time for: --hypothesis-profile=long
hypothesis.settings.register_profile("long", max_examples=200)
if REAL_ENV.get("CI"):
    hypothesis.settings.load_profile("ci")

SCRATCH = "/dev/shm"
ROOM = 4 << 30  # several times what the tests hold at once


def in_memory(folder: str) -> bool:
    """Say whether programs may lie there and there is plenty of room (a container has 64 MB)."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    room = found.f_bavail * found.f_frsize >= ROOM
    return room and not found.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK)


# A killed process leaves the same files on any file system, and here nobody waits for a disk.
if in_memory(SCRATCH):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", SCRATCH)  # noqa: TID251 - pytest's own setting

# A shell's background job has SIGINT ignored, and so would have every program that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def no_real_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point HOME at a file: whatever a test or its children look for below it fails.

    Mode bits would not stop root; "not a directory" does. Settings of a person who uses
    brainhooks (and CI's) are taken out of the environment. Afterwards an installation
    that was not there must still not be there.
    """
    guard = tmp_path_factory.mktemp("guard") / "home"
    guard.write_bytes(b"")
    absent = [home for home in REAL_HOMES if not os.path.lexists(home)]
    env = os.environ  # noqa: TID251 - the guard itself
    for name in [name for name in env if name.startswith(OURS) or name == "CI"]:
        del env[name]
    env["HOME"] = str(guard)
    yield guard
    appeared = [home for home in absent if os.path.lexists(home)]
    assert not appeared, f"a test made the real home {appeared}"
    assert guard.read_bytes() == b"", "a test wrote into HOME"


@pytest.fixture
def real_env() -> dict[str, str]:
    """The environment before the guard: for pip and npm, which need their configuration."""
    return dict(REAL_ENV)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An installation that does not exist yet, in the home of a person who has nothing else."""
    person = tmp_path / "person"
    person.mkdir()
    return person / "agentihooks"


@pytest.fixture
def noon() -> datetime:
    return NOON


@pytest.fixture
def repo(tmp_path: Path) -> Callable[..., Path]:
    """Make a repository: ``repo("web", remote="https://git.example.org/shop/web.git")``."""

    def make(name: str = "web", remote: str = "") -> Path:
        return make_repo(tmp_path / name, remote)

    return make


@pytest.fixture
def project(repo: Callable[..., Path]) -> Path:
    """A repository with a remote, so that it has the id ``git.example.org/shop/web``."""
    return repo("web", "https://git.example.org/shop/web.git")


@pytest.fixture
def session(home: Path, project: Path) -> Callable[..., Session]:
    """Open another session of one person in one project; see ``Session``."""

    def make(**named: object) -> Session:
        return Session(home, named.pop("project", project), **named)  # type: ignore[arg-type]

    return make
