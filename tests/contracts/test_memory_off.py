"""Memory off holds, also where the records that it is judged by fail."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from hooks.context import switch
from tests.support.keeping import lesson


@pytest.mark.parametrize(
    ("env", "session_id"), [({"AGENTIHOOKS_SESSION_SCOPE": "0"}, None), ({}, "a b:c")]
)
def test_off_for_the_project_holds_for_a_session_without_a_scope_log(session, env, session_id):
    one = session(env=env, **({"session_id": session_id} if session_id else {}))
    one.start()
    one.settle()
    assert "off" in one.prompt("/brainhooks:memory off --project").answer
    one.prompt("go")
    one.says(lesson("must not be kept"))
    assert one.stop().message == ""
    one.settle()


def test_off_holds_for_a_line_without_a_time(session):
    one = session()
    one.start()
    one.settle()
    one.prompt("/brainhooks:memory off")
    one.prompt("go")
    text = {"type": "text", "text": lesson("off the record")}
    one.write("assistant", {"id": "m", "role": "assistant", "model": "m", "content": [text]})
    raw = one.transcript.read_bytes().splitlines()
    last = json.loads(raw[-1])
    del last["timestamp"]
    one.transcript.write_bytes(b"\n".join([*raw[:-1], json.dumps(last).encode()]) + b"\n")
    one.prompt("/brainhooks:memory on")
    assert one.stop().message == ""
    one.settle()


def test_off_holds_for_the_last_message_when_the_stretch_ends_before_the_stop(session, home):
    one = session()
    one.start()
    one.settle()
    now = datetime.now(UTC)  # noqa: TID251 - the hooks are real processes
    one.prompt("go")
    start, end = now - timedelta(seconds=60), now - timedelta(seconds=5)
    switch.turn(str(home), False, "all", start, end)
    one.says(lesson("off the record"), at=now - timedelta(seconds=20))
    assert one.stop().message == ""
    one.settle()
