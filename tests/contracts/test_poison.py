"""Whatever stands in outbox or transcript: no hook fails, and the good one behind it lives."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from hooks.context import outbox
from tests.support.keeping import Kept, lesson, turn

KEY = "ab" * 16
DOCUMENT = {
    "type": "lesson",
    "content": "foreign",
    "attrs": {"project_id": "git.example.org/shop/web", "session_id": "s", "scope": "user"},
    "idempotency_key": KEY,
    "session_id": "s",
    "agent_name": "",
    "project": "",
    "ts": "2026-11-30T10:00:00+00:00",
    "digest": "d",
    "redacted": [],
    "prompt_id": "p",
    "unseen": True,
    "principal": "ann",
    "sighting": {"message_id": "m", "block": 0, "ordinal": 0, "path": "/t", "at_byte": 0},
    "parts": {"url-1": ["1/2"]},
}
LINE = {
    "type": "assistant",
    "uuid": "u1",
    "timestamp": "2026-11-30T10:00:00.000Z",
    "sessionId": "s",
    "requestSessionId": "s",
    "cwd": "/tmp",
    "gitBranch": "main",
    "apiBlockIndex": 0,
    "isSidechain": False,
    "message": {
        "id": "msg_x",
        "role": "assistant",
        "content": [{"type": "text", "text": lesson("odd")}],
    },
}


def odd(chance, depth=0):
    """Return a JSON value that no program of ours writes there."""
    plain = (
        *(None, True, -1, 0, 10**30, -(10**19), 1.5, 1e300, "", " ", "\ud800", "a\0b", "\u2028"),
        *("../../x", "x" * 5000, "9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59"),
        *("2026-11-30T10:00:00", lesson("\ud800"), "f" * 32, "😀" * 40, {}, []),
    )
    kind = chance.randrange(8)
    if kind == 0 and depth < 3:
        return [odd(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 1 and depth < 3:
        names = chance.choices(["a", "\udc00", "scope", "ts", "id", "text", "content", ""], k=3)
        return {name: odd(chance, depth + 1) for name in names}
    if kind == 2:
        return json.loads("[" * 300 + "]" * 300)
    return chance.choice(plain)


def spoil(chance, document):
    """Return ``document`` with one to three of its fields, on any level, made odd."""
    found = json.loads(json.dumps(document))
    for _ in range(chance.randrange(1, 4)):
        place = found
        while True:
            name = chance.choice([*place, "more"])
            inner = place.get(name)
            if isinstance(inner, dict) and inner and chance.randrange(2):
                place = inner
                continue
            place[name] = odd(chance)
            break
    return found


@pytest.mark.parametrize("seed", range(12))
def test_no_outbox_file_holds_up_the_one_behind_it(home, project, seed):
    chance = random.Random(seed)
    kept = Kept(home, project)
    folder = Path(outbox.folder(kept.home))
    folder.mkdir(mode=0o700, parents=True)
    names = (f"20260101T000000000000-{KEY}.json", f"0-{'c' * 32}.json", "0-other.json")
    for number in range(10):
        for name in names:
            text = json.dumps(spoil(chance, DOCUMENT))
            (folder / name.replace("0", str(number % 10), 1)).write_text(text)
        turn(kept, lesson(f"mine {number}"))
        assert kept.collect().note == ""
        done = kept.drain()
        assert (done.stopped, done.left) == ("", 0)
        assert f"mine {number}" in kept.texts()


@pytest.mark.parametrize("seed", range(12))
def test_no_transcript_line_holds_up_the_one_behind_it(home, project, seed):
    chance = random.Random(seed)
    kept = Kept(home, project)
    for number in range(10):
        kept.ask()
        with kept.session.transcript.open("ab") as file:
            for _ in range(5):
                file.write(json.dumps(spoil(chance, LINE)).encode() + b"\n")
        turn(kept, lesson(f"mine {number}"))
        assert kept.collect().note == ""
        done = kept.drain()
        assert (done.stopped, done.left) == ("", 0)
        assert f"mine {number}" in kept.texts()


def test_a_real_hook_goes_by_all_of_it(session, home):
    chance = random.Random(7)
    one = session()
    one.start()
    one.settle()
    folder = Path(outbox.folder(str(home)))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(40):
        (folder / f"0-{number}.json").write_text(json.dumps(spoil(chance, DOCUMENT)))
        key = f"{number:032x}"
        keyed = json.dumps(spoil(chance, {**DOCUMENT, "idempotency_key": key}))
        (folder / f"20260101T000000000000-{key}.json").write_text(keyed)
    one.prompt("go")
    with one.transcript.open("ab") as file:
        for _ in range(40):
            file.write(json.dumps(spoil(chance, LINE)).encode() + b"\n")
    one.says(lesson("mine"))
    run = one.stop()
    one.settle()
    assert (run.rc, run.stderr) == (0, "")
    assert "mine" in session().start().context
    assert "unforeseen" not in (home / "logs" / "hooks.log").read_text(encoding="utf-8")
