"""Checks of how the settings are spelled: a hook must not stop for it, and nobody else says it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hooks.atomic import read
from hooks.settings import OFF, ON, SETTINGS_FILE, SWITCHES, TABLE
from scripts.doctor import Finding
from scripts.swarm_v2.wire_json import load_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scripts.doctor import Look

# What begins so is taken for a setting of ours; the other prefixes belong to others, too, in an
# environment, but not in our own file.
_OURS = "BRAINHOOKS_"
_OURS_IN_FILE = (_OURS, "BRAIN_", "AGENTIHOOKS_", "REDIS_")
_SHOWN = 60  # characters of a name or a value


def of_settings(look: Look) -> Iterator[Finding]:
    """A switch with another word than on or off, and a setting that there is not."""
    path = os.path.join(look.home, SETTINGS_FILE)
    try:
        file = load_object(read(path)) or {}
    except OSError:  # absent, or told by the check of the settings
        file = {}
    yield from _words(look.env, "the environment")
    yield from _words(file, path)
    ours = [name for name in look.env if name.startswith(_OURS) and name not in TABLE]
    yield from _unknown(sorted(ours), "the environment")
    ours = [name for name in file if name not in TABLE and name.upper().startswith(_OURS_IN_FILE)]
    yield from _unknown(sorted(ours), path)


def _words(some: Mapping[str, object], place: str) -> Iterator[Finding]:
    for name in SWITCHES:
        value = some.get(name)
        if value is None or isinstance(value, bool | dict | list):
            continue
        word = str(value).strip()
        if word and word.lower() not in ON + OFF:
            default = "on" if TABLE[name][0] == "1" else "off"
            what = f"{name} is {word[:_SHOWN]!r} in {place}, which is neither on nor off"
            yield Finding("warn", f"{what}: it counts as {default}", f"set {name} to 1 or to 0")


def _unknown(names: list[str], place: str) -> Iterator[Finding]:
    for name in names:
        what = f"{place} has {name[:_SHOWN]!r}, and there is no such setting"
        like = name.upper()
        todo = f"write it {like}" if like in TABLE else "README lists the settings; mend or drop it"
        yield Finding("warn", what, todo)
