"""A process that writes to a store of scoped memory beside the one that a test runs in.

``memory_writer.py``: each line of stdin asks for one of ``Writer``'s methods, as the JSON object
``{"do": NAME, …arguments}``; each answer is a line, ``{"said": …}`` or ``{"code": …}``.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hooks.clock import iso
from scripts.swarm_v2.memory.admission import Admission
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential, Lease
from scripts.swarm_v2.memory.store import Basis, Seen, Write
from scripts.swarm_v2.memory.transactions import Annotated

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SPACE = "proj"


class Writer:
    """One runtime at one store, with a session for each principal and session id it is told."""

    def __init__(self):
        self.runtime = self.service = None
        self.sessions = {}

    def store(self, code):
        """Use another store; ``code`` opens it."""
        self.end()
        found = {}
        exec(code, found)
        self.runtime = MemoryRuntime(found["store"], now=lambda: NOON)
        self.sessions = {}

    def open(self, principal, session):
        self._session(principal, session)

    def _session(self, principal, session):
        key = principal, session
        if key not in self.sessions:
            credential = Credential(principal, "test")
            self.sessions[key] = self.runtime.open_session(SPACE, credential, session or None)
        return self.sessions[key]

    def commit(self, principal, session, proposal, at=""):
        return self.runtime.commit(self._session(principal, session), proposal, at or iso(NOON))

    def read(self, principal, session, id, scope):
        """Return the value and the scope key it was found at; null where nothing is."""
        found = self.runtime.read(self._session(principal, session), id, scope)
        return None if found is None or found.deleted else [found.value, found.scope_key]

    def serve(self, principal):
        """Take the lease of the space; say whether it was free."""
        lease = Lease(self.runtime.store, SPACE, "beside")
        credential = Credential(principal, "test")
        self.service = self.runtime.registry.open(SPACE, credential, "run", lease=lease)
        return lease.acquire()

    def release(self):
        return self.service.lease.release()

    def derive(self, writes, seen=()):
        """Commit as the holder of the lease: ``[id, scope, scope key or null]``, inputs."""
        store = self.runtime.store
        rows = [Annotated(id, scope, "set", {"n": 1}, None, key) for id, scope, key in writes]
        basis = [Basis("context", key, (Seen(SPACE, of, id, 0),)) for key, of, id in seen]
        commit = Admission(store).derived(SPACE, rows, (), basis, self.service, iso(NOON))
        return store.commit(SPACE, commit)

    def carry(self, id, scope_key, value):
        """Commit as a job does."""
        store = self.runtime.store
        commit = Admission(store).system(SPACE, [Write(id, scope_key, "set", value)], iso(NOON))
        return store.commit(SPACE, commit)

    def end(self):
        if self.runtime is not None:
            self.runtime.close()
            self.runtime.store.close()


def main():
    writer = Writer()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"said": getattr(writer, asked.pop("do"))(**asked)}
        except MemoryRefused as err:
            answer = {"code": err.code}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    writer.end()


if __name__ == "__main__":
    main()
