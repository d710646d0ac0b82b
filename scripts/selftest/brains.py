"""The brains that the self-test runs against, each with a folder of its own, and what they keep."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

from hooks.context.brains import open_brain
from hooks.errors import HookError
from hooks.settings import Http, Settings
from scripts.selftest import service
from scripts.selftest.player import Stage
from scripts.selftest.trouble import LEDGER_TROUBLES, TROUBLES, end_pause

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from hooks.context.brains import Item

    Trouble = Callable[[str, random.Random], None]

PEOPLE = ("ann", "bob")
PROJECTS = ("git.example.org/shop/web", "git.example.org/bank/web")  # of one folder name
TIMEOUT_S = 1
DOWN = "down"  # killed, and nobody listens


class Local:
    """The brain inside the home."""

    name = "local"
    troubles: tuple[Trouble, ...] = TROUBLES
    way = ""  # how it fails now; "" for not at all

    def __init__(self, folder: str, root: str, path: str) -> None:
        self.stage = Stage(folder, root, path)
        os.makedirs(os.path.dirname(self.stage.home))

    def settings(self, person: str) -> Settings:
        return Settings(self.stage.home, principal=person)

    def fail(self, number: int, chance: random.Random) -> None:
        """Get into trouble of its own for round ``number``."""

    def heal(self) -> None:
        """Be well from now on."""

    def failures(self) -> int:
        """Return how often it failed by itself."""
        return 0

    def close(self) -> None:
        """End what was started."""

    def items(self, project: str, person: str) -> list[Item]:
        """Return what ``person`` is shown in ``project``; nothing where it cannot be read."""
        try:
            brain = open_brain(self.settings(person), {})
            try:
                return brain.project_memory(project, person)
            finally:
                brain.close()
        except (HookError, OSError, sqlite3.Error):
            return []

    def stored(self) -> list[str]:
        """Return every text once for each record of it; a personal one is its owner's."""
        found: dict[str, str] = {}
        for project in PROJECTS:
            for person in PEOPLE:
                found.update((item.id, item.text) for item in self.items(project, person))
        return list(found.values())


class File(Local):
    """A folder of pages beside the home."""

    name = "file"

    def __init__(self, folder: str, root: str, path: str) -> None:
        super().__init__(folder, root, path)
        self.pages = os.path.join(folder, "pages")
        os.mkdir(self.pages)
        said = {"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": self.pages}
        self.stage = self.stage._replace(more=tuple(said.items()))

    def settings(self, person: str) -> Settings:
        return super().settings(person)._replace(brain_source="file", brain_path=self.pages)

    def stored(self) -> list[str]:
        """Read the pages themselves: the brain serves one of two that say the same."""
        found = []
        for name in os.listdir(self.pages):
            with open(os.path.join(self.pages, name), encoding="utf-8") as file:
                found.append(file.read().rpartition("\n---\n")[2].strip())
        return found


class Service(Local):
    """A service in a process of its own; every other round it fails, and it may be killed.

    It is a plain one, which forgets its keys when it ends: after a lost ledger nothing could
    tell what it has, so the ledger stays.
    """

    name = "http"
    troubles = tuple(one for one in TROUBLES if one not in LEDGER_TROUBLES)

    def __init__(self, folder: str, root: str, path: str) -> None:
        super().__init__(folder, root, path)
        self.folder = os.path.join(folder, "service")
        os.mkdir(self.folder)
        self.token = os.urandom(16).hex()
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._ways: list[str] = []
        self._downs = 0
        self._start()
        said = {
            "BRAIN_URL": self.url,
            "BRAIN_HTTP_TOKEN": self.token,
            "BRAIN_HTTP_TIMEOUT": str(TIMEOUT_S),
        }
        self.stage = self.stage._replace(more=tuple(said.items()))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings(self, person: str) -> Settings:
        http = Http(token=self.token, timeout_s=TIMEOUT_S)
        return super().settings(person)._replace(brain_url=self.url, http=http)

    def fail(self, number: int, chance: random.Random) -> None:
        end_pause(self.stage.home)
        if number % 2:
            self.heal()
            return
        if not self._ways:
            self._ways = [DOWN, *service.REFUSING, *service.STORING]
            chance.shuffle(self._ways)
        self.heal()
        self.way = self._ways.pop()
        if self.way == DOWN:
            self._downs += 1
            self.close()
        else:
            self._tell(self.way)

    def heal(self) -> None:
        end_pause(self.stage.home)
        self.way = ""
        self._tell(self.way)
        if self._process is None:
            self._start()

    def failures(self) -> int:
        return len(self._read(service.FAILURES)) + self._downs

    def stored(self) -> list[str]:
        """Read what it wrote down: a feed would show two entries of one key as one."""
        return [json.loads(line)["content"] for line in self._read(service.ENTRIES).splitlines()]

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> None:
        """Start it at the port that it had: another address would be another brain."""
        pipe, program = subprocess.PIPE, service.__file__
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", program],
            stdin=pipe,
            stdout=pipe,
            start_new_session=True,  # the terminal's Ctrl-C is ours to act on
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        said = {"folder": self.folder, "port": self.port, "token": self.token}
        self._process.stdin.write(json.dumps(said).encode() + b"\n")
        self._process.stdin.flush()
        self.port = int(self._process.stdout.readline())

    def _tell(self, way: str) -> None:
        path = os.path.join(self.folder, service.WAY)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(way)
        os.replace(path + ".new", path)

    def _read(self, name: str) -> bytes:
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return b""
        with open(path, "rb") as file:
            return file.read()


BRAINS: tuple[type[Local], ...] = (Local, File, Service)
