"""Whom the memory server of this home lets in: lines that let nobody in, and why."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hooks.settings import load
from scripts.doctor import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.doctor import Look


def let_in(look: Look) -> Iterator[Finding]:
    """Nothing is said where nobody else is let in."""
    from scripts.swarm_v2.memory.credentials import FOLDER
    from scripts.swarm_v2.memory.people import PEOPLE, listed, own_names
    from scripts.swarm_v2.memory.sessions import Credential

    settings = load(look.env)
    path = os.path.join(settings.home, FOLDER, PEOPLE)
    if not os.path.lexists(path):
        return
    found = listed(settings.home, own_names(settings.home, Credential(settings.principal, "")))
    for fault in found.faults:
        yield Finding("warn", fault, f"mend {path}")
    if not found.faults:
        yield Finding("ok", f"{len(found.lines)} people may come to a memory server of this home")
