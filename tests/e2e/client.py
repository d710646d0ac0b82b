"""The real client, driven from outside: found or fetched once, a home of its own, no account."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.git import make_repo
from tests.support.run_hook import ROOT, wait_for_ended

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = "2.1.332"
DUMMY_KEY = "sk-ant-dummy"  # the client talks to loopback only
MODEL = "claude-opus-5-5"
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def find_client(env: Mapping[str, str]) -> Path:
    """Return the client's native binary; npm puts it into ``.cache`` of the clone at first.

    ``BRAINHOOKS_E2E_CLIENT`` names another one. ``env`` is the developer's, whose npm
    configuration holds.
    """
    given = env.get("BRAINHOOKS_E2E_CLIENT")
    if given:
        return Path(given)
    prefix = ROOT / ".cache" / "claude-code" / VERSION
    kind = f"{platform.system().lower()}-{_MACHINES.get(platform.machine().lower(), '?')}"
    pattern = f"node_modules/@anthropic-ai/claude-code-{kind}*/claude"
    if not list(prefix.glob(pattern)):
        prefix.mkdir(parents=True, exist_ok=True)
        cache = {"npm_config_cache": str(ROOT / ".cache" / "npm"), "NO_UPDATE_NOTIFIER": "1"}
        package = f"@anthropic-ai/claude-code@{VERSION}"
        quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        subprocess.run(
            ["npm", "install", "--prefix", str(prefix), *quiet, package],
            env={**env, **cache},
            cwd=prefix,
            check=True,
            stdout=sys.stderr,
        )
    found = sorted(prefix.glob(pattern), key=lambda path: len(str(path)))
    assert found, f"the package has no client for {kind}"
    return found[0]


class Answer:
    """What one client process printed, as its stream of events."""

    def __init__(self, rc: int, stdout: str, stderr: str) -> None:
        self.rc, self.stderr = rc, stderr
        self.events: list[dict[str, Any]] = [
            json.loads(line) for line in stdout.splitlines() if line.startswith("{")
        ]

    @property
    def text(self) -> str:
        results = [event for event in self.events if event.get("type") == "result"]
        return str(results[-1].get("result", "")) if results else ""

    @property
    def session_id(self) -> str:
        return next(e["session_id"] for e in reversed(self.events) if e.get("session_id"))

    def hooks(self, event: str) -> list[dict[str, Any]]:
        """The responses of every hook that ran for ``event``."""
        wanted = {"type": "system", "subtype": "hook_response", "hook_event": event}
        return [e for e in self.events if wanted.items() <= e.items()]

    def message(self, event: str) -> str:
        """The line for the person that ``event``'s hooks printed."""
        said = [json.loads(e["stdout"]) for e in self.hooks(event) if e.get("stdout")]
        return "\n".join(one.get("systemMessage", "") for one in said)


class Client:
    """One person on one machine: a home, a project, and the plugin in ``plugin`` unless None."""

    def __init__(self, binary: Path, url: str, folder: Path, plugin: Path | None) -> None:
        self.binary, self.url, self.plugin = binary, url, plugin
        self.home = folder / "home"
        self.scratch = folder / "tmp"
        for made in (self.home, self.scratch):
            made.mkdir()
        self.project = make_repo(folder / "web", "https://git.example.org/shop/web.git")
        self.memory = self.home / ".local" / "share" / "agentihooks"
        self.extra: dict[str, str] = {}

    @property
    def env(self) -> dict[str, str]:
        """The whole environment; the interpreter that runs the tests comes first in PATH."""
        python = os.path.dirname(os.path.realpath(sys.executable))
        return {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([python, "/usr/local/bin", "/usr/bin", "/bin"]),
            "TMPDIR": str(self.scratch),
            "CLAUDE_CODE_TMPDIR": str(self.scratch),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "IS_SANDBOX": "1",  # lets root skip the permission prompts
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            **self.extra,
        }

    @property
    def plugin_args(self) -> list[str]:
        plugin = ["--plugin-dir", str(self.plugin)] if self.plugin else []
        return ["--model", MODEL, *plugin]

    def cli(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run a management command such as ``plugin validate``."""
        return subprocess.run(
            [self.binary, *args],
            env=self.env,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    def run(self, prompt: str, *args: str, cwd: Path | None = None) -> Answer:
        """Ask once (``claude -p``), then wait for what the hooks left working."""
        return self.chat(prompt, args=args, cwd=cwd)

    def chat(self, *prompts: str, args: tuple[str, ...] = (), cwd: Path | None = None) -> Answer:
        """Send ``prompts`` one after the other to one client process, each after an answer."""
        command = [
            *(str(self.binary), "-p", "--verbose", "--include-hook-events"),
            *("--input-format", "stream-json", "--output-format", "stream-json"),
            *(*self.plugin_args, "--dangerously-skip-permissions", *args),
        ]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command,
            env=self.env,
            cwd=cwd or self.project,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
        ) as process:
            lines = []
            for prompt in prompts:
                message = {"role": "user", "content": prompt}
                process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
                process.stdin.flush()
                for line in process.stdout:
                    lines.append(line)
                    if '"type":"result"' in line:
                        break
            rest, errors = process.communicate(timeout=60)
        answer = Answer(process.returncode, "".join(lines) + rest, errors)
        self.settle()
        return answer

    def settle(self) -> None:
        """Wait until no worker that this home's hooks started is left."""
        wait_for_ended(f"HOME={self.home}")

    def shell(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run ``brainhooks <args>`` as the person does in a shell of the project."""
        return subprocess.run(
            [sys.executable, "-P", "-c", "from scripts.cli import main; main()", *args],
            env={**self.env, "PYTHONPATH": str(ROOT)},
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def verb(self, line: str) -> str:
        """What a person's verb answers, asked from a shell outside of the client."""
        entry = str((self.plugin or ROOT) / "hooks" / "__main__.py")
        python = os.path.realpath(sys.executable)
        done = subprocess.run(
            [python, "-I", "-S", entry, "verb", *line.split()],
            env=self.env,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return done.stdout + done.stderr

    def files_with(self, text: str) -> list[Path]:
        """Every file of the installation that holds ``text``, databases included."""
        needle = text.encode()
        files = [path for path in self.memory.rglob("*") if path.is_file()]
        return [path for path in files if needle in path.read_bytes()]

    def hook_errors(self) -> list[dict[str, Any]]:
        """Failures of hooks that the client noted in any transcript."""
        bad = {"hook_non_blocking_error", "hook_blocking_error", "hook_cancelled"}
        bad.add("hook_error_during_execution")
        found = []
        for path in (self.home / ".claude" / "projects").rglob("*.jsonl"):
            for line in path.read_bytes().split(b"\n"):
                note = json.loads(line).get("attachment") if line else None
                if note and note.get("type") in bad:
                    found.append(note)
        return found
