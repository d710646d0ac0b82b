"""What can be wrong with a Redis, in words that hold nothing of its address or its secrets."""

from __future__ import annotations

from hooks.errors import StateDown

NONSENSE = "it answers nonsense, so it is perhaps no Redis"
TOO_LARGE = "its answer is too large"
SILENT = "no answer in time"
SAID = {
    "WRONGPASS": "it refuses the user or the password",
    "NOAUTH": "it wants a password",
    "NOPERM": "its user may not do what is needed",
    "LOADING": "it is still loading its data",
    "READONLY": "it is read-only",
    "OOM": "it is out of memory",
    "MISCONF": "it cannot save and takes no writes",
    "MASTERDOWN": "it has lost its master",
    "MOVED": "it is part of a cluster (use redis+cluster://)",
    "CLUSTERDOWN": "its cluster is down",
}


def down(what: str) -> StateDown:
    err = StateDown("REDIS_URL", what)
    err.hint = "run brainhooks doctor: it asks that Redis what is wrong"
    return err


def refusal(line: str) -> str:
    """Say what an error means by its first word; the rest may repeat what was sent, secrets too."""
    word = line[:32].partition(" ")[0]
    known = word.isascii() and word.isalpha() and word.isupper()
    return SAID.get(word, f"it answers with the error {word}" if known else NONSENSE)


def broken(err: OSError) -> StateDown:
    """Return what a failed call on a socket means."""
    if isinstance(err, TimeoutError):
        return down(SILENT)
    return down(err.strerror or str(err) or "it cannot be reached")
