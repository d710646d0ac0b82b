"""What this home notes about a brain service: who it is, what its person accepted from it.

``<home>/brain/services/<brain id>.json`` is ``{"service", "accepted", "told"}``: the name that
the service gave itself (absent: never asked), a hash of each memory that was let cross projects,
and how many bytes of ``tombstones.jsonl`` the service was told of.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.lock import held
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NamedTuple
else:
    from hooks.record import NamedTuple

HUB = "brainhooks-hub"  # what our own server says it is, in /health
_WAIT_S = 2.0


class Notes(NamedTuple):
    service: str | None = None
    accepted: dict[str, str] = {}  # noqa: RUF012 - never changed, always replaced
    told: int = 0

    @property
    def is_hub(self) -> bool:
        """Say whether it is our own server, which knows its keys for ever and can forget."""
        return self.service == HUB


def path_of(home: str, brain: str) -> str:
    return os.path.join(home, "brain", "services", brain + ".json")


def read(home: str, brain: str) -> Notes:
    """Return what is noted of ``brain``; a damaged or absent file notes nothing."""
    try:
        found = load_object(atomic.read(path_of(home, brain))) or {}
    except OSError:
        return Notes()
    service, accepted, told = (found.get(name) for name in Notes._fields)
    rows = accepted.items() if isinstance(accepted, dict) else ()
    return Notes(
        service if isinstance(service, str) else None,
        {key: value for key, value in rows if isinstance(value, str)},
        told if isinstance(told, int) and told >= 0 else 0,
    )


def _change(home: str, brain: str, edit: Callable[[Notes], Notes]) -> None:
    with held(os.path.join(home, "locks", "services"), wait_s=_WAIT_S):
        before = read(home, brain)
        after = edit(before)
        if after != before:
            document: dict[str, Any] = after._asdict()
            atomic.write(path_of(home, brain), dumps(document).encode("ascii") + b"\n")


def note_service(home: str, brain: str, service: str) -> None:
    _change(home, brain, lambda notes: notes._replace(service=service))


def note_accepted(home: str, brain: str, key: str, digest: str) -> None:
    """Note that this person lets memory ``key`` cross projects while it says what ``digest`` is."""
    _change(home, brain, lambda notes: notes._replace(accepted={**notes.accepted, key: digest}))


def note_told(home: str, brain: str, size: int) -> None:
    _change(home, brain, lambda notes: notes._replace(told=size))
