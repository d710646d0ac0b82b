"""What scoped memory costs, in one process as a hook or an embedding program is.

Except for the memory of a server: that is a real one, with everybody connected.
"""

from __future__ import annotations

import functools
import os
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.memory_world import (
    DOCUMENTS,
    OWN,
    PEOPLE,
    SESSIONS,
    WEB,
    Bed,
    Embedded,
    people,
    proposal,
)
from hooks.context.brain_adapter import LOCAL_DATABASE, LOCAL_FORMAT
from hooks.context.database import Database
from scripts.swarm_v2.memory.derivations import Roots
from scripts.swarm_v2.memory.derive_context import run_for
from scripts.swarm_v2.memory.memories import INDEX
from scripts.swarm_v2.memory.preferences import NOTES
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.stored_context import read_context
from scripts.swarm_v2.scope_key import SESSION, SPACE, USER, resolve_scope_key
from tests.support.memory_server import MemoryServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Row = Callable[..., None]
    Verdict = Callable[[bool], str]

FEW = 10  # people, to compare with
OPENING = 8  # sessions after a restart
HEADLINES = {
    "type": "object",
    "properties": {
        "links": {"additionalProperties": {"properties": {"title": True, "summary": True}}}
    },
}


def ms(values: Iterable[float]) -> float:
    return statistics.median(values) * 1e3


def timed(job: Callable[[], object]) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def commits(bed: Bed, count: int, row: Row, verdict: Verdict) -> None:
    """An authored commit: a memory and its link.

    A server writes ahead (WAL), and its commits do not wait for the disk; a hook's have a rollback
    journal and are on the disk (synchronous FULL) when it goes on.
    """
    for wal in (True, False):
        world = Embedded(bed, 1, wal=wal)
        rng, session = random.Random(1), world.sessions[0]
        took: dict[str, list[float]] = {"note": [], USER: [], SPACE: []}
        for number in range(count):
            for scope in (USER, SPACE):
                what = proposal(rng, f"new-{number}", scope)
                took[scope].append(timed(functools.partial(world.commit, session, what)))
            note = {"id": NOTES, "scope": SESSION, "op": "patch", "value": {"goals": [str(number)]}}
            took["note"].append(timed(functools.partial(world.commit, session, {"writes": [note]})))
        world.close()
        own, shared, note = (ms(took[one]) for one in (USER, SPACE, "note"))
        said = f"a project's memory {shared:.2f} ms, a note of a session {note:.2f} ms"
        if wal:
            said = f"WAL; {said}"
            row("commit, as a server does", f"{own:.2f} ms", "≤ 1 ms", verdict(own <= 1), said)
        else:
            said = f"rollback journal, synchronous FULL; {said}; {synced(bed, count)}"
            row("commit, as a hook does", f"{own:.2f} ms", note=said)


def synced(bed: Bed, count: int) -> str:
    """Say what one sync of a file costs here."""
    with open(os.path.join(bed.home(), "synced"), "wb", buffering=0) as file:

        def once() -> None:
            file.write(b"x" * 4096)
            os.fsync(file.fileno())

        return f"a sync of the disk {ms(timed(once) for _ in range(count)):.2f} ms"


def contexts(bed: Bed, count: int, row: Row, verdict: Verdict) -> None:
    """What a session start asks: its context as it is stored, and one that must be made."""
    home, person = bed.home(), people()[0]
    path, who = os.path.join(home, LOCAL_DATABASE), person.identity()
    world = Embedded(bed, 1, home=home)
    world.watch("context")
    world.close()

    def opened() -> Database:
        return Database(path, "", LOCAL_FORMAT, create=False)

    def stored() -> None:
        db = opened()
        assert read_context(db, Roots(WEB).everything, who) is not None
        db.close()

    def cold() -> None:
        db = opened()
        run_for(SqliteStore(path, database=db), Roots(WEB), who)
        db.close()

    for name, job, most in (("from basis rows", stored, 5), ("cold", cold, 50)):
        times = [timed(job) for _ in range(count)]
        took, note = ms(times), f"{min(times) * 1e3:.1f} ms the fastest"
        row(f"context, {name}", f"{took:.1f} ms", f"≤ {most} ms", verdict(took <= most), note)


def changes(bed: Bed, count: int, row: Row, verdict: Verdict) -> None:
    """A change of one person's document, with few and with many people who watch theirs."""
    worlds = {many: Embedded(bed, many) for many in (FEW, PEOPLE)}
    took: dict[int, list[float]] = {many: [] for many in worlds}
    for world in worlds.values():
        world.watch("context")
        world.pump()
    before = worlds[PEOPLE].runs()
    wanted = dict(before)
    for number in range(count + 2):
        person = number % FEW  # of one alone the wakes would be spread over the next seconds
        for session in people()[person].sessions:
            wanted[resolve_scope_key(SESSION, people()[person].identity(session))] += 1
        for size, world in worlds.items():
            what = proposal(random.Random(number), f"mine-{number}", USER)
            seconds = timed(functools.partial(world.change, person, what))
            if number >= 2:
                took[size].append(seconds)
    after = worlds[PEOPLE].runs()
    for world in worlds.values():
        world.close()
    few, many = (ms(took[one]) for one in (FEW, PEOPLE))
    note = f"{few:.1f} ms with {FEW}, {many:.1f} ms with {PEOPLE}; two sessions' contexts each"
    ratio = many / few
    row("a person's change, 100 people to 10", f"{ratio:.2f}", "≤ 1.2", verdict(ratio <= 1.2), note)
    other = sum(runs != wanted.get(key) for key, runs in after.items())
    note = f"{SESSIONS} of {len(after)} instances run for each change, as often as it says"
    row("contexts that run for another's", str(other), "0", verdict(other == 0), note)


def restart(bed: Bed, row: Row, verdict: Verdict) -> None:
    """Eight sessions that watch the index and their contexts, in a process that begins anew."""
    home, half = bed.home(), OPENING // SESSIONS
    world = Embedded(bed, half, home=home)
    world.watch("context")
    world.close()
    world = Embedded(bed, half, home=home)
    seconds = timed(lambda: world.watch(INDEX, schema=HEADLINES))
    cache = world.runtime.cache
    note = f"{cache.hits} of {OPENING} from the cache, {seconds * 1e3:.0f} ms for all"
    count = cache.evaluations
    row(f"evaluations, {OPENING} sessions open", str(count), "1", verdict(count == 1), note)
    world.watch("context")
    runs = sum(world.runs().values())
    row("contexts that a restart runs", str(runs), "0", verdict(runs == 0))
    world.close()


def server(bed: Bed, row: Row, verdict: Verdict) -> None:
    """The most memory of a real server, with everybody connected and told of changes."""
    home = bed.home()
    tokens = {person.name: f"{number:064x}" for number, person in enumerate(people())}
    folder = Path(tempfile.mkdtemp(prefix="bh-"))
    with MemoryServer(Path(home), folder, people=tokens) as running:
        clients = [
            running.client(person.name, session, WEB)
            for person in people()
            for session in person.sessions
        ]
        for client in clients:
            client.watch("context", "context")
        rng = random.Random(3)
        for number in range(5):
            clients[number].commit(proposal(rng, f"mine-{number}", USER))
        clients[0].commit(proposal(rng, "everybody's", SPACE))
        for client in clients:
            assert client.frames(60)
        assert running.process is not None
        most = peak_mb(running.process.pid)
    shutil.rmtree(folder)
    if most is None:
        row("memory of a server, 200 sessions", "-", note="no /proc here")
    else:
        row("memory of a server, 200 sessions", f"{most:.0f} MB", "≤ 200 MB", verdict(most <= 200))


def peak_mb(pid: int) -> float | None:
    """Return the most that a process had resident, as Linux counts it."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    found = next(line for line in text.splitlines() if line.startswith("VmHWM:"))
    return int(found.split()[1]) * 1024 / 1e6


def measure(rounds: int, row: Row, verdict: Verdict) -> None:
    bed = Bed()
    said = f"{bed.bytes / 1e6:.0f} MB; {PEOPLE} people × {SESSIONS} sessions, {OWN} memories each"
    row("documents of scoped memory", f"{DOCUMENTS}", note=said)
    commits(bed, rounds * 4, row, verdict)
    contexts(bed, rounds * 2, row, verdict)
    changes(bed, rounds, row, verdict)
    restart(bed, row, verdict)
    server(bed, row, verdict)
