"""What goes wrong on purpose, in the scratch home alone."""

from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable


def _empty(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def delete_caches(home: str, chance: random.Random) -> None:  # noqa: ARG001 - one kind of call
    for name in ("project-memory", "positions", "door", "claims"):
        _empty(os.path.join(home, "brain", name))


def damage_ledger(home: str, chance: random.Random) -> None:
    """Overwrite pages of the ledger, as a bad disk does."""
    _overwrite(os.path.join(home, "ledger.db"), chance)


def remove_ledger(home: str, chance: random.Random) -> None:  # noqa: ARG001 - one kind of call
    for ending in ("", "-wal", "-shm", "-journal"):
        try:
            os.unlink(os.path.join(home, "ledger.db" + ending))
        except FileNotFoundError:
            continue


def tear_marks(home: str, chance: random.Random) -> None:
    """Cut every scan mark and the session index in the middle, as a power cut does."""
    folder = os.path.join(home, "brain", "positions")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in names]
    for path in paths:
        if os.path.isfile(path):
            os.truncate(path, chance.randrange(os.path.getsize(path) + 1))


def _overwrite(path: str, chance: random.Random) -> None:
    if not os.path.isfile(path):
        return
    size, page = os.path.getsize(path), 4096
    with open(path, "r+b") as file:
        for at in range(page, size, page):
            if chance.random() < 0.5:
                file.seek(at)
                file.write(b"\xa5" * min(page, size - at))


def end_pause(home: str) -> None:
    """Let the next drainer try at once, as if the minute after a failure were over."""
    try:
        os.unlink(os.path.join(home, "brain", "drain-pause.json"))
    except FileNotFoundError:
        return


TROUBLES: tuple[Callable[[str, random.Random], None], ...] = (
    delete_caches,
    tear_marks,
    remove_ledger,
    damage_ledger,
)
LEDGER_TROUBLES = (remove_ledger, damage_ledger)


def some_kill(chance: random.Random) -> tuple[float, int]:
    """After how many seconds a hook gets which signal."""
    return chance.uniform(0.01, 0.4), chance.choice((signal.SIGKILL, signal.SIGTERM))
