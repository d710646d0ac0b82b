"""A client, its model and a bare clone of the plugin for each test."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import REAL_ENV
from tests.e2e.client import Client, find_client
from tests.e2e.fake_api import FakeApi
from tests.support.run_hook import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

FETCHING_S = 900  # the first test may have to fetch the client, 400 MB unpacked
NOT_IN_A_PLUGIN = ("tests", "bench", "demo")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(FETCHING_S))


@pytest.fixture(scope="session")
def client_binary() -> Path:
    return find_client(REAL_ENV)


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a clone and nothing that make, pip or a test put beside them."""
    target = tmp_path_factory.mktemp("clone") / "brainhooks"
    listed = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        if name.split("/")[0] not in NOT_IN_A_PLUGIN and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi() as api:
        yield api


@pytest.fixture
def client(client_binary: Path, api: FakeApi, tmp_path: Path, plugin: Path) -> Iterator[Client]:
    """A person whose client has the plugin by ``--plugin-dir``; no hook of it may fail."""
    client = Client(client_binary, api.url, tmp_path, plugin)
    yield client
    client.settle()
    assert client.hook_errors() == []
