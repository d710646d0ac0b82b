"""What each hook costs, against F: starting the interpreter for nothing.

Every round runs each case once, in a new order, so that a busy moment hits all alike. Ratios are
medians of the rounds. Nothing here fails: people read it.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import sys
import uuid
from typing import TYPE_CHECKING

from bench import doors, guards, scoped_memory, service
from bench.measure import PYTHON, Case, Job, measure, peak_bytes, syncs, wall_s
from bench.workload import FOLDER, MB, PROJECT, Bench, make_transcript
from tests.support.git import make_repo
from tests.support.run_hook import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BIG, SMALL = 100 * MB, MB
MEMORIES = 40
WORDS = ["deploy", "staging", "parser", "cache", "index", "migration", "token", "retry", "queue"]
WORDS += ["schema", "fixture", "port", "worker", "header", "timeout", "branch"]


class Bed:
    """Three installations with forty memories each, so that no case is another one's news."""

    def __init__(self) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        if not (PROJECT / ".git").exists():
            make_repo(PROJECT, "https://git.example.org/shop/web.git")
        os.chdir(PROJECT)
        self.calm, self.busy, self.starting = Bench("calm"), Bench("busy"), Bench("starting")
        for bench in (self.calm, self.busy, self.starting):
            bench.fresh()
            self._remember(bench)
        self.quiet = self._session(self.calm, "quiet", SMALL)
        self.big = self._session(self.busy, "big", BIG)
        self.small = self._session(self.busy, "small", SMALL)
        wall_s(self.calm.prompt("quiet"))
        self.count = 0

    def _session(self, bench: Bench, name: str, size: int) -> Path:
        """A session whose transcript of ``size`` bytes was read to its end."""
        path = FOLDER / f"{name}.jsonl"
        make_transcript(path, size, str(PROJECT))
        wall_s(bench.start(name))
        wall_s(bench.stop(name, path))
        return path

    def _remember(self, bench: Bench) -> None:
        """Keep forty lessons, as a project has after some weeks."""
        path = FOLDER / "lessons.jsonl"
        make_transcript(path, 1, str(PROJECT))
        wall_s(bench.start("lessons"))
        for number in range(MEMORIES):
            said = bench.work("lessons", path, f"lesson {number}: {_sentence(number)}", 2_000)
            wall_s(bench.stop("lessons", path, said))

    def append(self, name: str, path: Path) -> Job:
        self.count += 1
        said = self.busy.work(name, path, f"measured {self.count} {uuid.uuid4().hex}")
        return self.busy.stop(name, path, said)

    def first_sight(self, path: Path) -> Job:
        """A Stop on a transcript of which this installation knows nothing."""
        fresh = Bench("fresh")
        fresh.fresh()
        wall_s(fresh.start("first"))
        return fresh.stop("first", path)

    def cases(self) -> list[Case]:
        return [
            Case("UserPromptSubmit, nothing to do", 1.6, lambda: self.calm.prompt("quiet")),
            Case("Stop, nothing new", 1.9, lambda: self.calm.stop("quiet", self.quiet)),
            Case("SessionStart, 40 memories", 4.5, self.starting.start),
            Case("Stop, 20 KB + 1 marker on 100 MB", 4.5, lambda: self.append("big", self.big)),
            Case("Stop, 20 KB + 1 marker on 1 MB", 4.5, lambda: self.append("small", self.small)),
        ]


def _sentence(number: int) -> str:
    return " ".join(random.Random(number).sample(WORDS, 9))


def row(name: str, value: str, target: str = "", verdict: str = "", note: str = "") -> None:
    print(f"{name:<36}{value:>12}  {target:<11}{verdict:<6}{note}", flush=True)


def verdict(holds: bool) -> str:
    return "PASS" if holds else "over"


def events(rounds: int, bed: Bed) -> None:
    cases = bed.cases()
    nothing, medians = measure(rounds, cases)
    row("F: python -I -S -c pass", f"{nothing * 1e3:.1f} ms")
    for case in cases:
        ratio = medians[case.name] / nothing
        count = syncs(case.make())
        note = "fsyncs not counted: no strace" if count is None else f"{count} fsyncs"
        target = f"≤ {case.target} F"
        row(case.name, f"{ratio:.2f} F", target, verdict(ratio <= case.target), note)
    big, small = (medians[case.name] for case in cases[-2:])
    row(
        "  the same, 100 MB against 1 MB",
        f"{big / small:.2f}",
        "≤ 1.15",
        verdict(big / small <= 1.15),
    )


def scanning(rounds: int, bed: Bed) -> None:
    """The first Stop on a transcript; what it costs more than on a tiny one is the scan."""
    empty = FOLDER / "empty.jsonl"
    make_transcript(empty, 1, str(PROJECT))
    plain = FOLDER / "plain.jsonl"
    make_transcript(plain, BIG, str(PROJECT))
    pairs = [
        (wall_s(bed.first_sight(plain)), wall_s(bed.first_sight(empty))) for _ in range(rounds)
    ]
    cold, base = (statistics.median(values) for values in zip(*pairs, strict=True))
    rate = plain.stat().st_size / max(cold - base, 1e-6) / 1e9
    note = f"whole hook {cold * 1e3:.0f} ms"
    row("cold scan of 100 MB", f"{rate:.2f} GB/s", "≥ 1 GB/s", verdict(rate >= 1), note)
    peaks = {
        "cold scan": peak_bytes(bed.first_sight(plain)),
        "100 MB": peak_bytes(bed.append("big", bed.big)),
        "1 MB": peak_bytes(bed.append("small", bed.small)),
        "SessionStart": peak_bytes(bed.starting.start()),
    }
    most = max(peaks.values()) / 1e6
    note = ", ".join(f"{name} {value / 1e6:.1f}" for name, value in peaks.items())
    row("peak memory", f"{most:.1f} MB", "≤ 24 MB", verdict(most <= 24), note)


def archiving(rounds: int) -> None:
    """The first `archive --all` over one session of 100 MB in which nothing repeats."""
    profile = FOLDER / "profile"
    path = profile / "projects" / "web" / "long.jsonl"
    if not path.exists():
        make_transcript(path, BIG, str(PROJECT), repeats=False)
    took = []
    for _ in range(rounds):
        fresh = Bench("archived")
        fresh.fresh()
        entry = str(ROOT / "hooks" / "__main__.py")
        env = {**fresh.env, "CLAUDE_CONFIG_DIR": str(profile)}
        took.append(wall_s(Job([PYTHON, "-I", "-S", entry, "worker", "archive-all"], env)))
    seconds = statistics.median(took)
    kept = sum(one.stat().st_size for one in (fresh.home / "archive").rglob("*") if one.is_file())
    note = f"{kept / 1e6:.0f} MB on disk, in a worker that stands back"
    row("archive of 100 MB", f"{seconds:.2f} s", "≤ 2 s", verdict(seconds <= 2), note)


def self_test() -> None:
    """What a person waits for; the interpreter is the one that has the shell's commands."""
    bench = Bench("selftest")
    bench.fresh()
    line = [sys.executable, "-m", "scripts.cli", "selftest"]
    env = {**bench.env, "PYTHONPATH": str(ROOT)}
    for words, most in ((["--quick"], 30), ([], 120)):
        seconds = wall_s(Job([*line, *words], env))
        name = " ".join(["selftest", *words])
        row(name, f"{seconds:.1f} s", f"≤ {most} s", verdict(seconds <= most))


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", choices=("memory",), help="scoped memory alone")
    args = parser.parse_args()
    rounds = args.rounds
    print(f"{PYTHON}, {platform.python_version()}, load {os.getloadavg()[0]:.1f}", flush=True)
    if args.only:
        scoped_memory.measure(rounds, row, verdict)
        return
    bed = Bed()
    events(rounds, bed)
    guards.measure_guards(rounds, row, verdict)
    doors.measure(max(3, rounds // 8), row, verdict, dict(os.environ))
    scanning(max(3, rounds // 4), bed)
    service.measure(max(3, rounds // 4), row, verdict)
    service.measure_stops(row, verdict)
    scoped_memory.measure(rounds, row, verdict)
    archiving(max(3, rounds // 8))
    self_test()


if __name__ == "__main__":
    main()
