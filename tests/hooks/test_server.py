from __future__ import annotations

import json

import pytest

from hooks.server import MAX_LINE, SERVED, VERSIONS
from tests.support.processes import ROOT
from tests.support.run_hook import recorded, run_hook
from tests.support.server_door import Door

MARKED = "<!-- @lesson -->always run the tests<!-- @/lesson -->"
SHOWN = "◆ lesson: always run the tests"


def display(**fields: object) -> dict[str, object]:
    return recorded("MessageDisplay", **{"delta": MARKED, "index": 0, "final": True, **fields})


def shown(reply: dict) -> str:
    return reply["hookSpecificOutput"]["displayContent"]


def log_of(home):
    path = home / "logs" / "hooks.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.fixture
def door(home):
    with Door(home) as door:
        door.begin()
        yield door


@pytest.mark.parametrize("version", VERSIONS)
def test_it_speaks_the_version_that_the_client_asks_for(home, version):
    with Door(home) as door:
        said = door.begin(version)
    assert said["protocolVersion"] == version
    assert said["capabilities"] == {"tools": {}}
    assert said["serverInfo"]["name"] == "brainhooks"
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    assert said["serverInfo"]["version"] == plugin["version"]


@pytest.mark.parametrize("version", ["2023-01-01", "", "x", 5, None])
def test_to_a_version_that_it_does_not_know_it_names_the_newest_that_it_does(home, version):
    with Door(home) as door:
        assert door.begin(version)["protocolVersion"] == VERSIONS[0]


def test_it_answers_a_ping_and_lists_no_tool(door):
    assert door.request("ping")["result"] == {}
    assert door.request("tools/list")["result"] == {"tools": []}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b'{"a":' * 50_000, -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b'{"id":{},"method":"ping"}', -32600),
        (b'{"id":null,"method":"ping"}', -32600),
        (b'{"id":1,"method":"resources/list"}', -32601),
        (b'{"id":1,"method":"tools/call"}', -32602),
        (b'{"id":1,"method":"tools/call","params":[]}', -32602),
        (b'{"id":1,"method":"tools/call","params":{"name":"rm","arguments":{}}}', -32602),
        (b'{"id":1,"method":"tools/call","params":{"name":"hook","arguments":[]}}', -32602),
    ],
)
def test_what_it_cannot_take_is_an_error_and_it_goes_on(door, line, code):
    door.write(line + b"\n")
    assert door.read()["error"]["code"] == code
    assert shown(door.call("MessageDisplay", display())) == SHOWN


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
        b'{"jsonrpc":"2.0","method":"notifications/unheard"}',
        b'{"jsonrpc":"2.0","method":7}',
        b'{"jsonrpc":"2.0","id":9,"result":{}}',
    ],
)
def test_what_asks_for_no_answer_gets_none(door, line):
    door.write(line + b"\n")
    assert door.request("ping")["result"] == {}


@pytest.mark.parametrize("event", SERVED)
def test_an_event_without_anything_to_say_is_answered_with_an_empty_object(door, home, event):
    payload = recorded(event, cwd=str(home.parent), delta="plain words")
    assert door.call(event, payload) == {}
    assert door.call(event, payload) == {}
    assert log_of(home) == ""


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"event": "Stop"}, id="an event of the other door"),
        pytest.param({"event": "Unheard"}, id="an event of nobody's"),
        pytest.param({"event": "x" * 9_000}, id="a long name"),
        pytest.param({"event": ["PreToolUse"]}, id="a name of another kind"),
        pytest.param({"event": "PreToolUse", "hook_event_name": "Stop"}, id="two events"),
    ],
)
def test_an_unusable_event_is_an_empty_object_and_one_line_in_the_log(door, home, arguments):
    assert door.tool(arguments) == {}
    (line,) = log_of(home).splitlines()
    assert "payload is unusable" in line
    assert shown(door.call("MessageDisplay", display())) == SHOWN


def test_fields_of_other_kinds_are_absent_ones(door):
    odd = {"session_id": 7, "cwd": [], "tool_input": "[1]", "index": None, "final": {}}
    for event in SERVED:
        assert door.tool({"event": event, **odd}) == {}


def test_both_doors_say_the_same(door, home):
    by_process = run_hook("MessageDisplay", display(), home).reply
    assert door.call("MessageDisplay", display()) == by_process


def test_what_has_failed_is_counted_by_both_doors_together(door, home, session):
    current = session()
    current.start()
    payload = recorded("PostToolUseFailure", session_id=current.id, cwd=str(current.cwd))
    said = [
        door.call("PostToolUseFailure", payload)
        if number % 2
        else current.fire("PostToolUseFailure").reply
        for number in range(5)
    ]
    assert said[:4] == [{}] * 4
    assert said[4]["hookSpecificOutput"]["additionalContext"]


def test_a_server_that_is_killed_loses_nothing(home, tmp_path):
    payload = recorded("PostToolUseFailure", cwd=str(tmp_path))
    said = []
    for _ in range(5):
        with Door(home) as door:  # killed at the end of each
            door.begin()
            said.append(door.call("PostToolUseFailure", payload))
    assert said[:4] == [{}] * 4
    assert "additionalContext" in said[4]["hookSpecificOutput"]


def test_a_session_is_the_inputs_never_the_environments(home, tmp_path):
    payload = recorded("PostToolUseFailure", cwd=str(tmp_path))
    with Door(home, {"CLAUDE_CODE_SESSION_ID": payload["session_id"]}) as door:
        door.begin()
        for number in range(6):
            other = {**payload, "session_id": f"another-{number}"}
            assert door.call("PostToolUseFailure", other) == {}


def test_calls_that_come_together_are_answered_in_their_order(door):
    texts = [f"<!-- @lesson -->number {number}<!-- @/lesson -->" for number in range(20)]
    calls = [
        {
            "jsonrpc": "2.0",
            "id": f"call-{number}",
            "method": "tools/call",
            "params": {
                "name": "hook",
                "arguments": {"event": "MessageDisplay", "delta": text, "final": "true"},
            },
        }
        for number, text in enumerate(texts)
    ]
    door.write(b"".join(json.dumps(call).encode() + b"\n" for call in calls))
    for number in range(20):
        answer = door.read()
        assert answer["id"] == f"call-{number}"
        assert f"number {number}" in answer["result"]["content"][0]["text"]


def test_a_message_may_come_in_pieces(door):
    call = {"name": "hook", "arguments": {"event": "MessageDisplay", "delta": MARKED}}
    call["arguments"]["final"] = "true"
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
    for start in range(0, len(data), 7):
        door.write(data[start : start + 7])
    door.write(b"\n")
    assert (
        SHOWN.encode()
        in json.loads(door.read()["result"]["content"][0]["text"])["hookSpecificOutput"][
            "displayContent"
        ].encode()
    )


def test_a_large_answer_of_a_tool_comes_whole(door):
    payload = recorded("PostToolUse", tool_response={"stdout": "é\n" * 2_000_000})
    assert door.call("PostToolUse", payload) == {}


def test_a_message_beyond_all_measure_is_dropped_and_told(home):
    with Door(home) as door:
        door.begin()
        block = b"x" * (1 << 20)
        for _ in range((MAX_LINE >> 20) + 1):
            door.write(block)
        door.write(b"\n")
        assert door.request("ping")["result"] == {}
    assert "was dropped" in log_of(home)


def test_settings_that_change_hold_from_the_next_event_on(door, home):
    assert shown(door.call("MessageDisplay", display())) == SHOWN
    (home / "settings.json").write_text('{"BRAINHOOKS_DISPLAY": "raw"}')
    assert door.call("MessageDisplay", display()) == {}
    (home / "settings.json").write_text("{")
    assert door.call("MessageDisplay", display()) == {}
    assert "settings.json" in log_of(home)
    (home / "settings.json").unlink()
    assert shown(door.call("MessageDisplay", display())) == SHOWN


def test_where_ci_is_set_nothing_is_said_or_written(home):
    with Door(home, {"CI": "true"}) as door:
        door.begin()
        assert door.call("MessageDisplay", display()) == {}
        door.process.stdin.close()
        assert door.process.wait(60) == 0
    assert not (home / "brain").exists()


def test_a_home_that_cannot_be_is_told_to_nobody_and_stops_nothing(home):
    with Door(home, {"AGENTIHOOKS_HOME": "relative"}) as door:
        door.begin()
        assert door.call("MessageDisplay", display()) == {}
