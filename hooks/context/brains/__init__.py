"""What every brain can do, what it hands back, and which module speaks for which kind.

Adding a brain is a module with ``connect(settings, env, who)`` and a row in ``BRAINS``.
"""

from __future__ import annotations

from hooks.errors import BrainUnreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal, NamedTuple, Protocol

    from hooks.settings import Settings

    class Brain(Protocol):
        """Where memories live. Every call may raise ``BrainUnreachable``: try again later."""

        def feed(self) -> list[Item]:
            """Return what is for everybody on this brain: accepted signals and fleet items."""
            ...

        def project_memory(self, project: str, principal: str) -> list[Item]:
            """Return the live memories of ``project`` that ``principal`` may see, oldest first.

            The project's own; the principal's personal ones written there, and those accepted
            once wherever written; the principal's session ones (the caller picks the session).
            """
            ...

        def post_marker(self, body: Mapping[str, object], key: str) -> Ack:
            """Keep ``body`` (``type``, ``content``, ``attrs``) under ``key``, once for ever.

            A personal one is that of the body's ``principal`` (see ``signer``), whoever posts.

            Raises:
                BrainRefused: the same bytes will never succeed.
                BrainConflict: a person's edit of a memory that was already replaced.
            """
            ...

        def forget(self, key: str) -> bool:
            """Erase a memory and see that it never comes back; say whether it was there."""
            ...

        def health(self) -> dict[str, object]: ...

        def close(self) -> None: ...

else:
    from hooks.record import NamedTuple

MIN_PREFIX = 8  # of an id that an agent supersedes: what it was shown, not a lucky guess


class Ack(NamedTuple):
    """A brain's explicit acknowledgement. ``key`` is the record's, maybe an earlier one's."""

    kind: Literal["committed", "replayed"]
    key: str
    forgotten: bool = False  # it was erased once, and stays away


class Item(NamedTuple):
    """One memory as a reader sees it."""

    id: str  # the marker key, 32 hex
    type: str
    text: str
    cls: str = "agent"  # who said it: "agent" or "person"
    severity: str = ""
    title: str = ""
    at: str = ""  # the marker's own time, ISO; "" when it had none
    project: str = ""  # "" for a fleet or unattributed one
    scope_key: str = "space"
    session: str = ""
    message_id: str = ""
    path: str = ""
    accepted: bool = False  # a person let it cross projects
    supersedes: str = ""  # the id, or its beginning, of the memory that this one replaces
    state: str = "live"  # "live", "superseded", "waiting" (for the brain) or "forgotten"
    priority: str = ""  # a number: among memories that are equally grave the highest comes first
    until: str = ""  # when it stops counting, ISO; "" for never

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form; fields at their default are left out."""
        bare = Item(self.id, self.type, self.text)
        named = self._asdict().items()
        return {
            name: value
            for name, value in named
            if name in ("id", "type", "text") or value != getattr(bare, name)
        }

    @staticmethod
    def from_dict(document: object) -> Item | None:
        """Read what ``to_dict`` wrote; unknown fields are ignored, None for anything damaged."""
        if not isinstance(document, dict):
            return None
        fields = {name: document[name] for name in Item._fields if name in document}
        accepted = fields.pop("accepted", False)
        if not isinstance(accepted, bool) or not {"id", "type", "text"} <= fields.keys():
            return None
        if not all(isinstance(value, str) for value in fields.values()):
            return None
        return Item(accepted=accepted, **fields)


def signer(said: Mapping[str, object], who: str) -> str:
    """Return whose a body or document is: as it records, else ``who``'s, that handles it.

    Never from the attributes: the agent writes those.
    """
    recorded = said.get("principal")
    return recorded if isinstance(recorded, str) and recorded else who


class Kind(NamedTuple):
    """One kind of brain. ``module`` is empty where there is nothing to talk to."""

    module: str
    remembers_keys: bool  # a marker sent again under its key can never become a second record
    why_not: str = ""
    at_once: bool = False  # it is on this machine: a person's own words need not wait for a worker
    max_chars: int = 0  # of one marker's text; a longer one goes in parts. 0: any length
    library: str = ""  # the module that verbs use in its place: a verb waits for no network


BRAINS = {
    "local": Kind("hooks.context.brains.local", remembers_keys=True, at_once=True),
    "file": Kind("hooks.context.brains.file", remembers_keys=True, at_once=True),
    "http": Kind(
        "hooks.context.brains.http",
        remembers_keys=False,  # our own hub does: see ``remembers_keys``
        max_chars=4_096,
        library="hooks.context.brains.catalog",
    ),
    "none": Kind("", remembers_keys=True, why_not="no brain is configured"),
    "invalid": Kind("", remembers_keys=False),  # see ``why_not``
}


class NoBrain(BrainUnreachable):
    """The settings name none that could be talked to; trying again will not help."""

    def __init__(self, brain: str, why_not: str) -> None:
        super().__init__(brain, why_not)
        self.args = (why_not,)
        self.hint = "nothing is lost, what is kept waits; brainhooks brain_status says what to do"


def why_not(settings: Settings) -> str:
    """Say why there is no brain to talk to; "" where there is one."""
    from hooks.context.brain_adapter import brain_kind, why_invalid

    name = brain_kind(settings)
    return why_invalid(settings) if name == "invalid" else BRAINS[name].why_not


def open_brain(settings: Settings, env: Mapping[str, str]) -> Brain:
    """Return the configured brain, opened; the caller closes it.

    Raises:
        BrainUnreachable: there is none to talk to now; what waits for it goes on waiting.
    """
    from hooks.context.brain_adapter import brain_kind

    name = brain_kind(settings)
    kind = BRAINS[name]
    if not kind.module:
        raise NoBrain(name, why_not(settings))
    from importlib import import_module

    brain: Brain = import_module(kind.module).connect(settings, env)
    return brain


def open_for_person(settings: Settings, env: Mapping[str, str], at: datetime) -> Brain:
    """Return the brain as a person's verbs use it: what is on disk of one behind a network.

    Raises:
        BrainUnreachable: there is nothing to look at.
    """
    from hooks.context.brain_adapter import brain_kind

    library = BRAINS[brain_kind(settings)].library
    if not library:
        return open_brain(settings, env)
    from importlib import import_module

    brain: Brain = import_module(library).connect(settings, at)
    return brain


def remembers_keys(settings: Settings) -> bool:
    """Say whether the configured brain knows every key for ever, so that a doubt may be sent."""
    from hooks.context.brain_adapter import brain_id, brain_kind

    kind = brain_kind(settings)
    if kind != "http":
        return BRAINS[kind].remembers_keys
    from hooks.context.brains import service_notes

    return service_notes.read(settings.home, brain_id(settings)).is_hub
