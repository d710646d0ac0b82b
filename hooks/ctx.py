"""What every step of an event gets. Loaded only where there is something to do."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hooks.context.project import Project
    from hooks.context.session_state import SessionState
    from hooks.payload import Event
    from hooks.settings import Settings
    from scripts.swarm_v2.keyspace import Namespace

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Ctx:
    """The event, the settings, one instant, and what is derived from them."""

    def __init__(
        self, event: Event, settings: Settings, env: Mapping[str, str], at: datetime
    ) -> None:
        self.event, self.settings, self.env, self.at = event, settings, env, at
        self.root = ROOT
        self.incomplete = False  # a cache was missing: the worker has to bring it
        self.after_print: list[Callable[[], None]] = []  # what may only happen once it was said
        self.answered = False  # the prompt was a verb's: it goes no further
        self._project: Project | None = None
        self._state: SessionState | None = None
        self._asked_for_state = False

    @property
    def project(self) -> Project:
        """The session's project: by ``CLAUDE_PROJECT_DIR``, else the payload's folder."""
        if self._project is None:
            from hooks.context.project import launch_folder, resolve

            folder = launch_folder(self.event.cwd, self.env)
            self._project = resolve(folder, self.settings, self.env, self.at)
        return self._project

    @property
    def state(self) -> SessionState | None:
        """The sessions' state, opened once; None where it is down: the event goes on without."""
        if not self._asked_for_state:
            from hooks.context.session_state import open_state

            self._asked_for_state = True
            self._state = open_state(self.settings, self.at)
        return self._state

    def lose_state(self, why: str) -> None:
        """It failed in the middle: nothing else of this event tries it, nor the next events."""
        from hooks.context import state_down

        state_down.mark(self.settings, self.at, why)
        self.close()

    def close(self) -> None:
        if self._state is not None:
            self._state.close()
            self._state = None

    def namespace(self, project: str = "") -> Namespace:
        """The namespace of this installation and brain, for one project or for none."""
        from hooks.context.brain_adapter import namespace

        return namespace(self.settings, project)

    def log(self, text: str) -> None:
        from hooks.clock import iso
        from hooks.log import log

        log(self.settings.home, iso(self.at), self.event.name, self.event.session_id, text)
