"""One session's transcript and its log, written as a hook does."""

from __future__ import annotations

import json
import os

from hooks.context.followed import everything
from hooks.context.session_state import Key
from hooks.context.state_embedded import EmbeddedState
from hooks.context.transcript_log import log_of, path_of
from hooks.settings import Settings

SESSION = "s1"


class Logged:
    """One session's transcript and log, written as a hook does."""

    def __init__(self, home, folder, at, session=SESSION):
        self.home, self.at, self.session = str(home), at, session
        self.path = folder / f"{session}.jsonl"
        self.log = path_of(self.home, session)
        self.state = EmbeddedState.open(self.home, at)

    def say(self, *uuids, **fields):
        with self.path.open("ab") as file:
            for uuid in uuids:
                file.write(self.line(uuid, **fields))

    def line(self, uuid, *, at="", kind="user", **fields):
        stamp = at or self.at.isoformat()
        said = {"message": {"role": kind, "content": f"text of {uuid}"}, **fields}
        row = {"type": kind, "uuid": uuid, "timestamp": stamp, **said}
        return json.dumps(row).encode() + b"\n"

    def run(self, *, patient=False, state=None, folder="/"):
        options = Settings(self.home)
        made = log_of(state or self.state, options, {}, self.at, self.session, folder)
        return made is not None and made.write(
            lambda _: everything(str(self.path), self.session), patient=patient
        )

    def lose_position(self):
        self.state.delete([Key("logger", self.session)])

    def rows(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, "rb") as file:
            return [json.loads(line) for line in file if line.endswith(b"\n")]

    def uuids(self):
        return [row["uuid"] for row in self.rows()]
