"""Which lines of a transcript may be logged: not those of a stretch in which memory was off.

A damaged switch means off, as everywhere: then nothing is read, and no mark moves. What is
older than the log keeps is not logged anew either.
"""

from __future__ import annotations

from hooks.context import switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.context.scope_log import Transition
    from hooks.settings import Settings


class Filter:
    """Asked line by line. ``folder`` is where the session started, as far as we know."""

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        at: datetime,
        session: str,
        folder: str,
        *,
        kept_days: int,
    ) -> None:
        from datetime import timedelta

        self._settings, self._env, self._at = settings, env, at
        self._session, self._folder = session, folder
        self._oldest = at - timedelta(days=kept_days)
        self._switches = switch.load(settings.home)
        self._scopes: dict[str, list[Transition]] = {}
        self._starts: dict[str, str] = {}

    @property
    def damaged(self) -> str:
        return self._switches.damaged

    def takes(self, when: datetime | None, origin: str) -> bool:
        """Say whether a line written at ``when`` by session ``origin`` may be logged.

        A line without a time, and none before it, counts as written now.
        """
        if when is not None and when < self._oldest:
            return False
        if not self._switches.stretches:
            return not self._switches.damaged
        return not any(
            self._switches.forbade(when or self._at, self._at, self._project(one, when), one)
            for one in {origin, self._session}
        )

    def _project(self, session: str, when: datetime | None) -> str:
        """Return the project of ``session`` at that time; of its start, where no log says."""
        from hooks.context.scope_log import in_force_near, load

        if session not in self._scopes:
            self._scopes[session] = load(self._settings.home, session)
        log = self._scopes[session]
        found = in_force_near(log, when or self._at) or (log[0] if log else None)
        if found is not None:
            return found.project_id
        if session not in self._starts:
            self._starts[session] = self._started(session)
        return self._starts[session]

    def _started(self, session: str) -> str:
        from hooks.context import session_index
        from hooks.context.project import launch_folder, resolve

        for row in reversed(session_index.read(self._settings.home)):
            if row.session_id == session and row.project_id:
                return row.project_id
        folder = launch_folder(self._folder, self._env)
        return resolve(folder, self._settings, self._env, self._at, register=False).id
