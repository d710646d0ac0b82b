"""A brain service as a process of its own, held by the test that scripts it."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

from tests.support.forked import Child, Runner

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "t0ken-of-the-test"
RUNNER = Runner("brain_service.py")


class BrainServer:
    """Start, script, look at what came, stop. Use it in a ``with`` block."""

    def __init__(
        self, folder: Path, *, hub: bool = False, token: str = TOKEN, tls: str = ""
    ) -> None:
        """``tls`` is a PEM file with certificate and key."""
        folder.mkdir(parents=True, exist_ok=True)
        self.token, self.port = token, 0
        self._config = {"store": str(folder / "entries.json"), "hub": hub, "token": token}
        self._config["tls"] = self._tls = tls
        self._process: Child | None = None

    def __enter__(self) -> BrainServer:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, on the same port as before if there was one."""
        self._process = RUNNER.start()
        config = {**self._config, "port": self.port}
        self._process.write(json.dumps(config).encode() + b"\n")
        self.port, self._control_port = map(int, self._process.readline().split())

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def restart(self) -> None:
        """What it keeps in memory is gone, its keys above all."""
        self.stop()
        self.start()

    def wait_until_dead(self) -> None:
        self._process.wait()

    def script(self, route: str, *ways: str) -> None:
        """Answer the next requests of ``route`` (``POST /marker``) so, one way each."""
        self._control("script", {"route": route, "ways": ways})

    def always(self, route: str, way: str) -> None:
        self._control("always", {"route": route, "way": way})

    def heal(self) -> None:
        """End every script."""
        self._control("heal", {})

    def seed(self, name: str, *rows: dict[str, Any]) -> None:
        """Put rows into a list of the feed (``hot_arcs``, ``inject_blocks``, ``entries``)."""
        self._control("seed", {"list": name, "rows": rows})

    def requests(self, route: str = "") -> list[dict[str, Any]]:
        """Every request so far since the last start: route, headers, body, connection."""
        found = self._control("log", {})
        return [row for row in found if not route or row["route"] == route]

    def entries(self) -> list[dict[str, Any]]:
        """What it has written down, doubles included."""
        return self._control("entries", {})

    def contents(self) -> list[str]:
        return [entry["content"] for entry in self.entries()]

    def _control(self, what: str, said: dict[str, Any]) -> Any:
        link = HTTPConnection("127.0.0.1", self._control_port, timeout=30)
        link.request("POST", f"/control/{what}", json.dumps(said))
        answer = json.loads(link.getresponse().read())
        link.close()
        return answer
