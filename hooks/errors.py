"""What can go wrong in a hook, as facts plus the reader's next step."""

from __future__ import annotations


class HookError(Exception):
    """Root of the package's errors; ``hint`` is what to do next, or empty."""

    hint = ""


class PayloadError(HookError):
    """Standard input is not the event we were promised."""

    def __init__(self, event: str, what: str) -> None:
        self.event, self.what = event, what
        super().__init__(f"the {event} payload is unusable: {what}")


class SettingsError(HookError):
    """A setting has a value we cannot use. For secrets pass ``value="(hidden)"``."""

    def __init__(self, name: str, value: str, *, wants: str) -> None:
        self.name, self.value, self.wants = name, value, wants
        self.hint = f"set {name} to {wants}, or unset it to use the default"
        super().__init__(f"{name} is {value!r}; it must be {wants}")


class StateError(HookError):
    """Something of ours on disk cannot be used or written."""

    def __init__(self, where: str, what: str, *, hint: str = "") -> None:
        self.where, self.what = where, what
        self.hint = hint or f"look at {where}, then run brainhooks doctor"
        super().__init__(f"{where}: {what}")


class StateDown(StateError):
    """The sessions' state cannot be reached or does not answer; go on without it."""


class OutboxError(StateError):
    """An outbox file cannot be read or written."""


class BrainError(HookError):
    """Root of what a brain can do to us."""


class BrainUnreachable(BrainError):
    """No usable answer; the same request may succeed later and stays in the outbox."""

    def __init__(self, brain: str, what: str) -> None:
        self.brain, self.what = brain, what
        self.hint = "nothing is lost; the next event tries again"
        super().__init__(f"the {brain} brain cannot be used now: {what}")


class BrainMisspoke(BrainUnreachable):
    """It answered, but outside the contract: no acknowledgement, so as if it had not."""

    def __init__(self, brain: str, what: str) -> None:
        super().__init__(brain, f"{what}, which is no answer of a brain")
        self.hint = "look at what BRAIN_URL leads to; nothing is lost, the next event tries again"


class BrainRefused(BrainError):
    """The same bytes will never succeed: quarantine them and go on."""

    def __init__(self, brain: str, what: str) -> None:
        self.brain, self.what = brain, what
        self.hint = "its receipt keeps the whole text: brainhooks receipts --json"
        self.reason = f"the brain {brain} refused: {what}"
        super().__init__(self.reason)


class BrainConflict(BrainError):
    """Compare-and-set lost: the memory changed since the reader saw it."""

    def __init__(self, wanted: str, current: str, text: str) -> None:
        self.wanted, self.current, self.text = wanted, current, text
        self.hint = f"read it again with brainhooks lessons, then edit {current[:8]}"
        self.reason = f"{wanted[:8]} was already replaced by {current[:8]}"  # to store: no text
        super().__init__(f"{self.reason}: {text}")


class NotOneMemory(BrainError):
    """An id that a person typed names no memory, or several."""

    def __init__(self, wanted: str, found: int) -> None:
        self.wanted, self.found = wanted, found
        self.hint = "take an id from brainhooks lessons; eight characters are enough"
        what = "no memory has" if not found else f"{found} memories have"
        super().__init__(f"{what} the id {wanted!r}")
