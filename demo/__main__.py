"""A recorded session, replayed through the real hook processes on the embedded default.

``transcript.jsonl`` was written by the real client. Only its paths and times are moved, to the
demo's folder and to now; every hook is the process that the agent would start. All files are in
``.demo`` of the clone, or in the folder given. Exit code 1 and a loud line when anything is not as
it must be.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import textwrap
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.support.git import make_repo
from tests.support.run_hook import ROOT, Run, agent_env, recorded, run_hook, wait_for_workers

FOLDER = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / ".demo"
HOME = FOLDER / "person" / "agentihooks"
PROJECT = FOLDER / "web"
REMOTE = "https://git.example.org/shop/web.git"
RECORDED = Path(__file__).with_name("transcript.jsonl")
RECORDED_PROJECT = "/home/dev/proj"
WIDTH = 100
INSTANT = re.compile(r'"timestamp":"([^"]+)"')
FORGOTTEN = "staging host"

checks = 0


def say(text: str = "") -> None:
    print(text, flush=True)


def step(number: int, title: str) -> None:
    say(f"\n\033[1m{number}. {title}\033[0m" if sys.stdout.isatty() else f"\n{number}. {title}")


def show(who: str, text: str) -> None:
    say(f"   {who}:")
    for line in text.splitlines():
        for part in textwrap.wrap(line, WIDTH) or [""]:
            say(f"   | {part}".rstrip())


def check(holds: bool, what: str, *facts: object) -> None:
    """Go on, or end the demo with what failed and the facts."""
    global checks
    checks += 1
    if not holds:
        say(f"\nFAILED: {what}")
        for fact in facts:
            say(f"  {fact}")
        sys.exit(1)


class Replay:
    """One session of the demo; ``record`` puts the recorded transcript in its place."""

    def __init__(self) -> None:
        self.id = str(uuid.uuid4())
        self.prompt_id = str(uuid.uuid4())
        folder = re.sub(r"[^A-Za-z0-9]", "-", str(PROJECT))
        self.transcript = HOME.parent / ".claude" / "projects" / folder / f"{self.id}.jsonl"

    def fire(self, event: str, **fields: object) -> Run:
        common = {"session_id": self.id, "transcript_path": str(self.transcript)}
        payload = recorded(event, cwd=str(PROJECT), **common, **fields)
        if "prompt_id" in payload:
            payload["prompt_id"] = self.prompt_id
        run = run_hook(payload["hook_event_name"], payload, HOME)
        check(run.rc == 0, f"the {event} hook ended with {run.rc}", run.stderr)
        return run

    def prompt(self, text: str) -> str:
        say(f"   > {text}")
        run = self.fire("UserPromptSubmit", prompt=text)
        check(bool(run.answer), "the hook did not answer; the model would have been asked")
        return run.answer

    def record(self) -> str:
        """Write the recorded transcript as if it happened now; return the last answer's text."""
        text = RECORDED.read_text(encoding="utf-8").replace(RECORDED_PROJECT, str(PROJECT))
        for name, own in (("sessionId", self.id), ("promptId", self.prompt_id)):
            text = re.sub(f'"{name}":"[^"]+"', f'"{name}":"{own}"', text)
        moved = datetime.now(UTC) - datetime.fromisoformat(INSTANT.search(text)[1])
        text = INSTANT.sub(lambda found: f'"timestamp":"{_later(found[1], moved)}"', text)
        self.write(text)
        lines = [json.loads(line) for line in text.splitlines()]
        said = [line["message"]["content"][0] for line in lines if line["type"] == "assistant"]
        return [block["text"] for block in said if block["type"] == "text"][-1]

    def repeat(self, other: Replay) -> None:
        """Write the lines of ``other`` as a fork does: under a new id that names the old one."""
        text = other.transcript.read_text(encoding="utf-8")
        text = text.replace(f'"sessionId":"{other.id}"', f'"sessionId":"{self.id}"')
        named = f'"requestSessionId":"{other.id}","type":"assistant"'
        self.write(text.replace('"type":"assistant","uuid"', f'{named},"uuid"'))

    def write(self, text: str) -> None:
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.transcript.write_text(text, encoding="utf-8")


def _later(instant: str, by: timedelta) -> str:
    moved = datetime.fromisoformat(instant) + by
    return moved.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def memory_in(told: str) -> str:
    """Leave out the note on how to mark a lesson, which step 1 shows."""
    return told.partition("</brainhooks-memory>")[0] + "</brainhooks-memory>"


def outbox() -> list[str]:
    return sorted(path.name for path in (HOME / "brain-outbox").glob("*.json"))


def brain_status() -> tuple[int, str]:
    command = [sys.executable, "-c", "from scripts.cli import brain_status; brain_status()"]
    done = subprocess.run(
        command,
        cwd=PROJECT,
        env=agent_env(HOME, PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def first_session() -> Replay:
    step(1, "A first session starts: there is no memory yet")
    session = Replay()
    start = session.fire("SessionStart")
    show("the person sees", start.message)
    show("the model gets", start.context)
    check("no memories yet" in start.message, "the greeting counts no memories", start.message)
    check("migrate" not in start.context, "nothing can be remembered yet", start.context)

    wait_for_workers(HOME)
    step(2, "The agent works, and marks what will matter later; the Stop hook keeps it")
    said = session.record()
    show("the agent wrote", said)
    stop = session.fire("Stop", last_assistant_message=said)
    show("the person sees", stop.message)
    check("kept 3" in stop.message, "three markers, the one in a code block is an example", stop)
    check(session.fire("Stop", last_assistant_message=said).stdout == b"", "nothing is kept twice")

    step(3, "A worker of its own delivers them to the brain; nobody waits for it")
    wait_for_workers(HOME)
    check(outbox() == [], "the outbox is not empty", outbox())
    say("   delivered: the outbox is empty")
    session.fire("SessionEnd")
    return session


def second_session(first: Replay) -> None:
    step(4, "A new session in this project starts with them")
    session = Replay()
    told = session.fire("SessionStart").context
    show("the model gets", memory_in(told))
    for words in ("bin/migrate", FORGOTTEN, "port 0"):
        check(told.count(words) == 1, f"{words!r} is told once", told)
    check("not kept" not in told, "the example in the code block was kept", told)

    step(5, "One of them is wrong: the person has it forgotten, no model is asked")
    listed = session.prompt("/brainhooks:lessons staging")
    show("answer", listed)
    found = re.search(r"\b[0-9a-f]{8,32}\b", listed)
    check(found is not None, "the list names no id", listed)
    show("answer", session.prompt(f"/brainhooks:forget {found[0]}"))
    wait_for_workers(HOME)

    step(6, "It stays away, also after a fork whose transcript repeats the old lines")
    fork = Replay()
    fork.repeat(first)
    fork.fire("SessionStart.fork")
    fork.fire("Stop", last_assistant_message="Where were we?")
    fork.fire("SessionEnd")
    wait_for_workers(HOME)
    told = Replay().fire("SessionStart").context
    show("the model gets", memory_in(told))
    check(FORGOTTEN not in told, "the forgotten lesson is back", told)
    check(told.count("bin/migrate") == 1, "the others are told once", told)


def main() -> None:
    began = time.monotonic()
    shutil.rmtree(FOLDER, ignore_errors=True)
    make_repo(PROJECT, REMOTE)
    say(f"A recorded session, replayed through the real hooks. All they write is in {FOLDER.name}")
    second_session(first_session())
    step(7, "brain_status")
    wait_for_workers(HOME)
    code, text = brain_status()
    show("it says", text)
    check(code == 0, f"brain_status ended with {code}", text)
    say(f"\nAll {checks} checks passed in {time.monotonic() - began:.1f} s.")


if __name__ == "__main__":
    main()
