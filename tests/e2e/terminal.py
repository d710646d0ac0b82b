"""The client's terminal face, in a pty of our own."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from typing import TYPE_CHECKING

from tests.e2e.client import DUMMY_KEY, VERSION, Client

if TYPE_CHECKING:
    from types import TracebackType

_FORWARD = re.compile(rb"\x1b\[(\d*)C")
_CODES = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[()][A-Z0-9]"
)


class Terminal:
    """An interactive run; leaving the block ends it with ``/exit``, at worst with a kill."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.painted = b""
        self._read_to = 0
        self._trust()

    def _trust(self) -> None:
        """Answer beforehand what a first start asks: theme, key, trust in the folder."""
        path = self.client.home / ".claude.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        known |= {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": VERSION,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
            "bypassPermissionsModeAccepted": True,
        }
        project = known.setdefault("projects", {}).setdefault(str(self.client.project), {})
        project |= {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        path.write_text(json.dumps(known), encoding="utf-8")

    def __enter__(self) -> Terminal:
        command = [str(self.client.binary), *self.client.plugin_args, "--permission-mode", "manual"]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(self.client.project)
            os.execve(command[0], command, self.client.env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.send("/exit")
        for end in (None, signal.SIGTERM, signal.SIGKILL):
            if end:
                os.kill(self.pid, end)
            if self._pump(5, until=lambda: os.waitpid(self.pid, os.WNOHANG)[0] != 0):
                break
        os.close(self.fd)
        self.client.settle()

    @property
    def screen(self) -> str:
        """All that was painted since the last ``send``, without colours and cursor jumps."""
        spaced = _FORWARD.sub(
            lambda match: b" " * int(match[1] or 1), self.painted[self._read_to :]
        )
        return _CODES.sub(b"", spaced).decode("utf-8", "replace")

    def shows(self, text: str) -> bool:
        """Whether ``text`` was painted; line breaks and blanks do not count."""
        return "".join(text.split()) in "".join(self.screen.split())

    def expect(self, text: str, within_s: float = 20) -> None:
        """Read until ``text`` is on the screen."""
        assert self._pump(within_s, until=lambda: self.shows(text)), (
            f"{text!r} is not on the screen:\n{self.screen[-3000:]}"
        )

    def send(self, text: str) -> None:
        """Type ``text``, let it be painted, and press return."""
        try:
            os.write(self.fd, text.encode())
            self._pump(0.5, until=lambda: False)
            self._read_to = len(self.painted)
            os.write(self.fd, b"\r")
        except OSError:  # it is gone already
            return

    def _pump(self, seconds: float, until) -> bool:
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() >= end:
                return False
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.painted += os.read(self.fd, 65536)
                except OSError:  # the other side is closed: only ``until`` can change now
                    select.select([], [], [], 0.05)
        return True
