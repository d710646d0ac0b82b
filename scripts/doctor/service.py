"""Checks of a brain service: the one place where a person waits for the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.context.brain_adapter import brain_kind
from hooks.errors import BrainUnreachable
from hooks.settings import load
from scripts.doctor import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.doctor import Look


def answers(look: Look) -> Iterator[Finding]:
    """Ask for its health, then for its feed: an address that is wrong, a token that is."""
    settings = load(look.env)
    if brain_kind(settings) != "http":
        return
    from hooks.context.brains.http import connect

    brain = None
    try:
        brain = connect(settings, look.env, who="doctor")  # asking must not make an installation
        health = brain.health()
        brain.feed()
    except BrainUnreachable as err:
        yield Finding("warn", str(err), err.hint)
    else:
        yield Finding("ok", f"the brain service answers ({health['service'] or 'without a name'})")
    finally:
        if brain is not None:
            brain.close()
