"""What an event costs through each door: a process of its own, or the server of the plugin.

With the real client, where it is at hand: sessions of many tool calls, with no plugin, with one
and with the other; what a call takes longer than without is the price of its two events.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.workload import FOLDER
from tests.e2e.client import VERSION, Client, find_client
from tests.e2e.fake_api import FakeApi
from tests.support.run_hook import ROOT, recorded
from tests.support.server_door import Door

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CALLS = 40  # tool calls of one session
EVENTS = 2  # of each call that succeeds: before and after
MOST_MS = 5.0
FETCHED = ROOT / ".cache" / "claude-code" / VERSION


class Way(NamedTuple):
    name: str
    plugin: str | None  # its folder in the clone


WAYS = (Way("none", None), Way("process", "."), Way("server", "server"))


def at_hand(env: Mapping[str, str]) -> Path | None:
    """Return the client that ``make e2e`` uses, if it need not be fetched."""
    there = env.get("BRAINHOOKS_E2E_CLIENT") or FETCHED.is_dir()
    return find_client(env) if there else None


def measure(
    rounds: int,
    row: Callable[..., None],
    verdict: Callable[[bool], str],
    env: Mapping[str, str],
) -> None:
    """Print a row for each door; the last one without the client, for what is our own part."""
    client = at_hand(env)
    if client is None:
        row("per event in the client", "-", note="no client here: make e2e fetches it")
    else:
        took = _in_the_client(client, rounds)
        for way in WAYS[1:]:
            ms, fast = (
                (of(took[way.name]) - of(took["none"])) / EVENTS
                for of in (statistics.median, _fast)
            )
            bare = statistics.median(took["none"])
            note = f"{fast:.1f} ms in the fastest tenth; a call without hooks {bare:.1f} ms"
            served = way.name == "server"
            target = (f"≤ {MOST_MS:g} ms", verdict(ms <= MOST_MS)) if served else ("", "")
            row(f"per event in the client, {way.name}", f"{ms:.1f} ms", *target, note)
    for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        wall, own = _alone(event)
        row(f"{event}, the server alone", f"{wall:.2f} ms", note=own)


def _fast(values: list[float]) -> float:
    """What a call takes when nothing else wants the machine."""
    return statistics.quantiles(values, n=10)[0]


def _in_the_client(binary: Path, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each tool call by the way that its events go."""
    took: dict[str, list[float]] = {way.name: [] for way in WAYS}
    for number in range(rounds + 1):
        for way in WAYS:
            gaps = _session(binary, way)
            took[way.name] += gaps if number else []  # the first fills the caches
    return took


def _session(binary: Path, way: Way) -> list[float]:
    """Return the milliseconds from one request for a message to the next."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=FOLDER))
    arrived: list[float] = []
    try:
        with FakeApi() as api:
            plugin = None if way.plugin is None else ROOT / way.plugin
            client = Client(binary, api.url, folder, plugin)
            file = client.project / "notes.txt"
            file.write_text("a line\n" * 40)
            for number in range(CALLS):
                api.does(_turn(_tool(number, file), arrived))
            api.does(_turn("done", arrived))
            client.run("please look around")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    ends = zip(arrived[2:], arrived[1:], strict=False)  # the first call also starts things
    return [(late - early) * 1e3 for late, early in ends]


def _turn(block: str | dict[str, Any], arrived: list[float]) -> Callable[[object], list[Any]]:
    def answer(_request: object) -> list[Any]:
        arrived.append(time.perf_counter())
        return [block]

    return answer


def _tool(number: int, file: Path) -> dict[str, Any]:
    if number % 2:
        return {"tool": "Bash", "input": {"command": f"echo {number}"}}
    return {"tool": "Read", "input": {"file_path": str(file), "offset": number + 1, "limit": 1}}


def _alone(event: str, count: int = 300) -> tuple[float, str]:
    """Return the median of the milliseconds to an answer, pipe included, and the CPU's share."""
    folder = Path(tempfile.mkdtemp(dir=FOLDER))
    took = []
    try:
        with Door(folder / "person" / "agentihooks") as door:
            door.begin()
            began_with = _cpu_ms(door.process.pid)
            for _ in range(count):
                payload = recorded(event, cwd=str(folder))
                began = time.perf_counter()
                door.call(event, payload)
                took.append((time.perf_counter() - began) * 1e3)
            used = (_cpu_ms(door.process.pid) - began_with) / count
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return statistics.median(took[10:]), f"{used:.2f} ms of CPU" if used else ""


def _cpu_ms(pid: int) -> float:
    """What the process has used so far; 0 where nobody says."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e6
    except OSError:
        return 0.0


def main() -> None:
    from bench.__main__ import row, verdict

    measure(3, row, verdict, dict(os.environ))


if __name__ == "__main__":
    main()
