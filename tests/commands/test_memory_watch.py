"""``brainhooks memory watch``: a line for each change, whatever happens to the server."""

from __future__ import annotations

import json
import signal

from tests.support.memory_cli import Watcher
from tests.support.memory_server import MemoryServer


def test_a_watcher_is_told_each_change_of_a_memory_once(cli, home, project, runtime, either):
    cli("put", "memory/old", "before")
    with Watcher(home, project, runtime, "--json") as watcher:
        cli("put", "memory/x", "one")
        assert watcher.change() == ("set", "space", "memory/x", "one")
        cli("edit", "memory/x", "two")
        assert watcher.change() == ("set", "space", "memory/x", "two")
        cli("put", "memory/mine", "private", "--scope", "user")
        assert watcher.change() == ("set", "user", "memory/mine", "private")
        cli("forget", "memory/x")
        change, *where = watcher.change()
        assert (change in ("forget", "gone"), where) == (True, ["space", "memory/x", ""])
        watcher.process.send_signal(signal.SIGINT)
        assert watcher.process.wait(20) == 0
        assert watcher.process.stderr.read() == ""


def test_a_change_in_json_names_the_places_that_are_different(cli, home, project, runtime, either):
    cli("put", "plan", '{"steps": ["a", "b"], "by": "me", "n": 1}')
    with Watcher(home, project, runtime, "plan", "--json") as watcher:
        cli("edit", "plan", '{"steps": ["a", "c", "d"], "by": "me", "n": true}')
        told = json.loads(watcher.line())
        assert told.pop("seq")
        assert sorted(told.pop("changed")) == [["n"], ["steps", "1"], ["steps", "2"]]
        assert told == {
            "change": "set",
            "id": "plan",
            "scope": "space",
            "value": {"steps": ["a", "c", "d"], "by": "me", "n": True},
        }
        cli("forget", "plan")
        assert json.loads(watcher.line())["change"] in ("forget", "gone")
        cli("put", "plan", "anew")
        assert "changed" not in json.loads(watcher.line()), "nothing stood there"


def test_a_watcher_outlives_the_server_and_misses_nothing(cli, home, project, runtime):
    with MemoryServer(home, runtime) as server:
        cli("put", "memory/old", "before")
        with Watcher(home, project, runtime) as watcher:
            server.process.kill()
            server.ended()
            cli("put", "memory/x", "one")
            assert watcher.line().split() == ["3", "space", "set", "memory/x", "one"]
            server.start()
            cli("put", "memory/x", "two")
            assert watcher.line().split() == ["4", "space", "set", "memory/x", "two"]


def test_a_watcher_ends_when_its_reader_goes(cli, home, project, runtime):
    with Watcher(home, project, runtime, "preferences") as watcher:
        watcher.process.stdout.close()
        assert watcher.process.wait(20) == 0
        assert watcher.process.stderr.read() == ""
