"""What a name in a folder of memories says: which are ours, and what sync and merge leave behind.

Pure. A copy that no name gives away still has the id of its original and is known by that.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

ENDINGS = (".md", ".markdown")
GRAVE = ".forgotten"
CLOUD = ".icloud"
KEY_LENGTH = 32
_HEX = frozenset("0123456789abcdef")
_SYNC = (
    "conflicted copy",  # Dropbox, Nextcloud
    "(case conflict",
    "(unicode encoding conflict",
    "(selective sync conflict",
    "in konflikt stehende kopie",
    "copie en conflit",
    "copia en conflicto",
    "cópia em conflito",
    ".sync-conflict-",  # Syncthing
    "_conflict-2",  # ownCloud, with the year behind it
)
_MERGE = ("_base_", "_local_", "_remote_", "_backup_")  # git mergetool, with its process id
_LEFT = ("~", ".orig", ".rej", ".bak", ".mine", ".theirs", ".old", "#")


def memory_name(key: str) -> str:
    return key + ENDINGS[0]


def grave_name(key: str) -> str:
    return key + GRAVE + ENDINGS[0]


def is_key(text: str) -> bool:
    return len(text) == KEY_LENGTH and _HEX.issuperset(text)


def stem(name: str) -> str:
    """Return a Markdown file's name without its ending; "" for any other file."""
    for ending in ENDINGS:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return ""


def key_of(name: str) -> str:
    """Return the key that a file of ours is named by, "" for a name that is not."""
    bare = stem(name)
    return bare if is_key(bare) else ""


def grave_of(name: str) -> str:
    """Return the key of a tombstone; a sync copy of one is as good as the first. Else ""."""
    bare = stem(name)
    key = bare[:KEY_LENGTH]
    return key if is_key(key) and bare[KEY_LENGTH:].startswith(GRAVE) else ""


def left_behind(name: str) -> str:
    """Say in words what left this file that is not Markdown any more, or is not here yet."""
    low = name.lower()
    if low.startswith("."):
        return "not on this disk yet" if low.endswith(ENDINGS[0] + CLOUD) else ""
    for ending in ENDINGS:
        if any(low.endswith(ending + left) for left in _LEFT):
            return "left behind by an editor or a merge"
    return ""


def copy_reason(name: str, beside: Container[str]) -> str:
    """Say in words why a Markdown file is a copy of another one; "" where it is none.

    ``beside`` are the names in its folder: a number in a name means a copy only beside the
    name without it.
    """
    bare = stem(name)
    low = bare.lower()
    if any(mark in low for mark in _SYNC):
        return "a sync conflict copy"
    if any(mark in low and low.rpartition(mark)[2].isdigit() for mark in _MERGE):
        return "left behind by a merge"
    ending = name[len(bare) :]
    if bare[:KEY_LENGTH] + ending in beside and is_key(bare[:KEY_LENGTH]) and bare[KEY_LENGTH:]:
        return "a sync conflict copy"  # `<key> (1)`, `<key> 2`, `<key>-MACHINE`
    original, _, number = bare.rpartition(" (")
    if number.endswith(")") and number[:-1].isdigit() and original + ending in beside:
        return "a sync conflict copy"
    return ""
