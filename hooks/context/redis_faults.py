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

# What stops changes only: a server that can be read again may still be in one of these.
OF_WRITES = frozenset(SAID[word] for word in ("NOPERM", "READONLY", "OOM", "MISCONF"))
NO_PASSWORD = "it has no password configured, but the address has one"
NO_PACKAGE = "its form needs the package redis"
UNTRUSTED = "its certificate is not trusted"
NO_MASTER = "no sentinel knows a master of that name"
LOGIN_REFUSED = (SAID["WRONGPASS"], NO_PASSWORD)
# An ERR is told by the server's own text, which is looked for and never repeated.
_ERR = (
    ("without any password configured", NO_PASSWORD),
    ("no password is set", NO_PASSWORD),
    ("DB index", "it has no database of the number that the address has"),
)

_OTHER = "it answers with the error "


class PackageMissing(StateDown):
    """Nothing failed at the server: this interpreter lacks the package that its form takes."""


def down(what: str) -> StateDown:
    err = StateDown("REDIS_URL", what)
    err.hint = "run brainhooks doctor: it asks that Redis what is wrong"
    return err


def refusal(line: str) -> str:
    """Say what an error means; nothing of it is repeated, for it may hold what was sent."""
    meant = err_of(line)
    if meant:
        return meant
    word = line[:32].partition(" ")[0]
    known = word.isascii() and word.isalpha() and word.isupper()
    return SAID.get(word, f"{_OTHER}{word}" if known else NONSENSE)


def is_refusal(what: str) -> bool:
    """Say whether what was asked was certainly not done: a server said so, or was never asked."""
    return (
        what in (UNTRUSTED, NO_MASTER)
        or what in SAID.values()
        or what in dict(_ERR).values()
        or what.startswith(_OTHER)
    )


def err_of(line: str) -> str:
    """Say what the text of an ERR means; "" where it is not known, or is of another error."""
    return next((what for text, what in _ERR if text in line), "")


def broken(err: OSError) -> StateDown:
    """Return what a failed call on a socket means."""
    if isinstance(err, TimeoutError):
        return down(SILENT)
    return down(err.strerror or str(err) or "it cannot be reached")
