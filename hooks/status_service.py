"""What ``brain_status`` knows of a brain service, off the network; ``doctor`` asks it."""

from __future__ import annotations

from hooks.errors import BrainUnreachable, HookError
from hooks.status_piece import Piece, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from hooks.status_piece import Look


def service(look: Look, data: Mapping[str, Any], project: str) -> Piece:
    """Return what is on disk of the service, and what of the settings stands in its way."""
    from hooks.context.brain_adapter import brain_id
    from hooks.context.brains import catalog, service_notes
    from scripts.swarm_v2.installation import read

    settings = look.settings
    notes = service_notes.read(settings.home, brain_id(settings))
    found = {**data, "service": notes.service, "hub": notes.is_hub, "token": _token(look)}
    try:
        if read(settings.home) is not None:  # opening would make one
            held = catalog.connect(settings, look.at)
            found["health"] = {**held.health(), **held.counts(project)}
    except (BrainUnreachable, ValueError):  # not fetched yet; the record's fault is told elsewhere
        pass
    return Piece(found, tuple(_problems(look)))


def _token(look: Look) -> str:
    """Say where the token comes from, never what it is."""
    if look.settings.http.token:
        return "set"
    return "file" if look.settings.http.token_file else "none"


def _problems(look: Look) -> Iterator[Problem]:
    from hooks.context.brains.http_address import parse
    from hooks.context.brains.http_token import token_of

    settings = look.settings
    try:
        token = token_of(settings, look.env)
    except HookError as err:
        yield Problem("red", f"{err}; nothing is sent to the brain", err.hint)
        return
    address = parse(settings.brain_url)
    if token and address.scheme == "http" and not address.is_loopback:
        what = "the brain's token goes over the network unencrypted"
        yield Problem("yellow", what, "set BRAIN_URL to an https:// address")
