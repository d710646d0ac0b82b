"""What a flush to a brain service costs: one marker, fifty markers over one connection, none."""

from __future__ import annotations

import statistics
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bench.measure import PYTHON, Job, wall_s
from bench.workload import FOLDER, MB, PROJECT, Bench, make_transcript
from hooks.clock import iso
from hooks.context import outbox
from hooks.context.thought import digest_of
from scripts.swarm_v2.installation import installation
from tests.support.brain_server import BrainServer
from tests.support.run_hook import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

MANY = 50
WEB = "git.example.org/shop/web"


def measure(rounds: int, row: Callable[..., None], verdict: Callable[[bool], str]) -> None:
    """Print what each of fifty costs beside one alone, and how often a second flush posts.

    A whole worker each time: its start, the receipts' syncs and the answers are in it.
    """
    bench = Bench("service")
    bench.fresh()
    with BrainServer(bench.home.parent / "store") as server:
        bench.env |= {"BRAIN_URL": server.url, "BRAIN_HTTP_TOKEN": server.token}
        home = str(bench.home)
        installation(home, datetime(2026, 11, 1, tzinfo=UTC))
        entry = str(ROOT / "hooks" / "__main__.py")
        flush = Job([PYTHON, "-I", "-S", entry, "worker", "flush"], bench.env)
        took: dict[int, list[float]] = {1: [], MANY: []}
        for _ in range(rounds + 1):
            for count, times in took.items():
                _leave(home, count)
                times.append(wall_s(flush))
        one, many = (statistics.median(times[1:]) for times in took.values())
        posted = len(server.requests("POST /marker"))
        links = len({entry["connection"] for entry in server.requests()})
        assert len(server.contents()) == (rounds + 1) * (1 + MANY), "not every marker arrived"
        wall_s(flush)
        again = len(server.requests("POST /marker")) - posted
    each = many / MANY / one
    per_run = links / (2 * rounds + 2)
    note = f"{one * 1e3:.0f} ms for 1, {many * 1e3:.0f} for 50, {per_run:g} connection a flush"
    row("each of 50 markers, against 1 alone", f"{each:.2f}", "≤ 1.3", verdict(each <= 1.3), note)
    row("all 50 in one flush, against 1", f"{many / one:.2f}", "", "")
    row("posts of a second flush", str(again), "0", verdict(again == 0))


def measure_stops(row: Callable[..., None], verdict: Callable[[bool], str]) -> None:
    """Print what two Stops of one session post: the first its marker, the second nothing."""
    bench, path = Bench("stops"), FOLDER / "stops.jsonl"
    bench.fresh()
    make_transcript(path, MB, str(PROJECT))
    with BrainServer(bench.home.parent / "store") as server:
        bench.env |= {"BRAIN_URL": server.url, "BRAIN_HTTP_TOKEN": server.token}
        wall_s(bench.start("stops"))
        said = bench.work("stops", path, f"measured {uuid.uuid4().hex}")
        posts = []
        for _ in range(2):
            wall_s(bench.stop("stops", path, said))
            posts.append(len(server.requests("POST /marker")))
    first, second = posts[0], posts[1] - posts[0]
    row("posts of a second Stop", str(second), "0", verdict(second == 0), f"{first} of the first")


def _leave(home: str, count: int) -> None:
    """Leave ``count`` markers in the outbox, as a Stop does."""
    for _ in range(count):
        text, now = f"measured {uuid.uuid4().hex}", iso(datetime.now(UTC))
        attrs = {"session_id": "bench", "project_id": WEB, "class": "agent", "ts": now}
        document = {"type": "lesson", "content": text, "attrs": attrs, "ts": now}
        document |= {"idempotency_key": uuid.uuid4().hex, "session_id": "bench"}
        document |= {"digest": digest_of("lesson", "space", text), "redacted": []}
        outbox.write(home, document)
