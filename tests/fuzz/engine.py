"""Mutation of a kept corpus. The seed decides everything but how far the time reaches."""

from __future__ import annotations

import hashlib
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

CORPUS = Path(__file__).parent / "corpus"
CPU_S = 2.0  # of one input, in this process's own time: a loaded machine is no finding
MAX_BYTES = 64 << 10
POOL = 2_000
_INTERESTING = (
    0,
    1,
    9,
    10,
    13,
    32,
    34,
    39,
    45,
    58,
    60,
    62,
    91,
    92,
    93,
    96,
    123,
    125,
    127,
    128,
    255,
)


class Target(NamedTuple):
    """``run`` returns what kind of input it was; what must not be is raised.

    ``words`` are pieces that the format is made of.
    """

    name: str
    run: Callable[[bytes], object]
    words: tuple[bytes, ...]


class TooSlow(BaseException):
    """One input took more than ``CPU_S``. No ``except`` below catches it."""


class Finding(NamedTuple):
    target: str
    data: bytes
    error: BaseException


def corpus(name: str) -> list[tuple[str, bytes]]:
    folder = CORPUS / name
    return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file()]


def try_one(target: Target, data: bytes) -> object:
    """Run one input within ``CPU_S`` of processor time; main thread only."""

    def over(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"{target.name}: more than {CPU_S:g} s for {len(data)} bytes")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    try:
        return target.run(data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fuzz(target: Target, seed: int, seconds: float) -> tuple[int, Finding | None]:
    """Return how many inputs were tried in ``seconds``, and the first finding.

    An input of a kind that was not seen before joins the pool that later ones are made of.
    """
    chance = random.Random(f"{seed} {target.name}")
    pool = [data for _, data in corpus(target.name)]
    kinds: set[object] = set()
    tried, ends = 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        data = pool[tried] if tried < len(pool) and tried < POOL else mutate(chance, target, pool)
        tried += 1
        try:
            kind = try_one(target, data)
        except (Exception, TooSlow) as error:  # noqa: BLE001 - any exception is the finding
            return tried, Finding(target.name, smaller(target, data, error), error)
        if kind not in kinds:
            kinds.add(kind)
            if len(pool) < POOL:
                pool.append(data)
    return tried, None


def mutate(chance: random.Random, target: Target, pool: list[bytes]) -> bytes:
    data = bytearray(chance.choice(pool))
    for _ in range(1 << chance.randrange(5)):
        _change(chance, data, target.words, pool)
    return bytes(data[:MAX_BYTES])


def _change(
    chance: random.Random, data: bytearray, words: tuple[bytes, ...], pool: list[bytes]
) -> None:
    at = chance.randrange(len(data) + 1)
    to = min(len(data), at + chance.choice((1, 1, 2, 4, 16, 200)))
    match chance.randrange(9):
        case 0:
            data[at:to] = bytes(chance.choices(_INTERESTING, k=to - at))
        case 1:
            del data[at:to]
        case 2 | 3 | 4:
            data[at : to if chance.random() < 0.3 else at] = chance.choice(words)
        case 5:
            data[at:at] = data[at:to] * chance.choice((1, 2, 30))
        case 6:
            other = chance.choice(pool)
            begin = chance.randrange(len(other) + 1)
            data[at:] = other[begin:]
        case 7:
            data[at:at] = chance.choice(words) * chance.choice((2, 50, 2_000))
        case _:
            data[at:to] = chance.randbytes(to - at)
    del data[MAX_BYTES:]


def smaller(target: Target, data: bytes, error: BaseException) -> bytes:
    """Cut the finding down while it stays one of its kind; a slow one stays as it is."""
    if isinstance(error, TooSlow):
        return data
    step = len(data) // 2
    while step:
        at = 0
        while at < len(data):
            shorter = data[:at] + data[at + step :]
            if type(_error_of(target, shorter)) is type(error):
                data = shorter
            else:
                at += step
        step //= 2
    return data


def _error_of(target: Target, data: bytes) -> BaseException | None:
    try:
        try_one(target, data)
    except (Exception, TooSlow) as error:  # noqa: BLE001 - it is compared, not hidden
        return error
    return None


def keep(finding: Finding) -> Path:
    """Save a finding where the suite replays it from now on."""
    digest = hashlib.sha256(finding.data).hexdigest()[:12]
    path = CORPUS / finding.target / f"found-{digest}"
    path.write_bytes(finding.data)
    return path
