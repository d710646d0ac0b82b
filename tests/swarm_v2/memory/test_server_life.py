"""How a server starts, is found, and ends: nothing that it acknowledged is ever lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from hooks.errors import StateError
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.library import open_store
from scripts.swarm_v2.memory.place import Place, find, make_private
from scripts.swarm_v2.memory.server import MemoryServer as Server
from tests.support.memory_server import PROJ, A, B, MemoryServer, short_folder, written
from tests.support.run_cli import run_cli

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT_S = 20


@pytest.fixture
def folder() -> Iterator[Path]:
    yield from short_folder()


@pytest.fixture
def server(home, folder) -> Iterator[MemoryServer]:
    with MemoryServer(home, folder) as started:
        yield started


def place(server: MemoryServer) -> Place:
    (found,) = (server.folder / "brainhooks").iterdir()
    return Place(str(found))


def test_a_kill_in_the_middle_of_commits_loses_none_that_was_acknowledged(server):
    client = server.client(A)
    acknowledged: list[int] = []
    reached = Event()

    def commit() -> None:
        with suppress(MemoryRefused):
            while True:
                number = len(acknowledged)
                acknowledged.append(client.commit(written(f"memory/{number}", {"text": "x" * 500})))
                if number == 40:
                    reached.set()

    writer = Thread(target=commit)
    writer.start()
    assert reached.wait(WAIT_S)
    server.process.kill()  # while a commit is on its way
    writer.join(WAIT_S)
    server.ended()
    assert (server.folder / "brainhooks").exists()
    assert find(place(server)) == "", "a dead server is not found"

    server.start()
    again = server.client(B)
    stored = {one["id"]: one["seq"] for one in again.documents(limit=1000)["documents"]}
    assert all(stored[f"memory/{n}"] == seq for n, seq in enumerate(acknowledged))
    store = open_store(str(server.home))
    numbers = [change.seq for change in store.changes(PROJ, 0)]
    store.close()
    assert numbers == list(range(1, len(numbers) + 1)), "a number is missing"
    assert again.commit(written("memory/next", {"text": "y"})) == len(numbers) + 1


def test_a_second_server_is_told_where_the_first_one_is_and_changes_nothing(server):
    done = run_cli("memory", "serve", home=server.home, env=server.env)
    assert done.returncode == 1
    assert done.stderr.startswith(f"server-running: a memory server runs at {server.address}\n")
    assert server.client(A).commit(written("memory/x", {"text": "alive"}))


def test_it_ends_when_nobody_is_connected_for_a_while_and_not_before(home, folder):
    with MemoryServer(home, folder, "--idle", "0.5") as server:
        client = server.client(A)
        assert client.frames(1.0) == []  # nothing comes, the time passes
        assert client.commit(written("memory/x", {"text": "alive"}))
        before = time.monotonic()
        client.close()
        with server.raw():  # who never says who they are does not keep it alive
            assert server.ended() == (0, "")
        assert time.monotonic() - before >= 0.4
        assert os.listdir(place(server).folder) == ["lock"]


def test_a_signal_ends_it_and_leaves_the_file_as_hooks_like_it(server):
    client = server.client(A)
    client.watch("c", "context")
    client.commit(written("preferences", {"style": "dry"}, "user"))
    client.frames(WAIT_S)
    database = server.home / "brain" / "local.db"
    assert journal(database) == "wal"
    assert server.end(signal.SIGTERM) == (0, "")
    assert os.listdir(place(server).folder) == ["lock"]
    assert journal(database) == "delete"
    store = open_store(str(server.home))
    assert store.held(PROJ) is None, "the lease was given back"
    store.close()
    assert until_refused(client) == "server-gone", "and who was connected is not left waiting"


def journal(database: Path) -> str:
    beside = sqlite3.connect(database)
    try:
        return str(beside.execute("PRAGMA journal_mode").fetchone()[0])
    finally:
        beside.close()


def test_a_port_of_this_machine_asks_for_the_token_too(home, folder):
    with MemoryServer(home, folder, "--port", "0") as server:
        assert server.address.startswith("tcp:")
        assert find(place(server)) == server.address
        assert server.client(A).commit(written("preferences", {"style": "dry"}, "user"))
        with pytest.raises(MemoryRefused) as refused:
            server.client("x")
        assert refused.value.code == "credential-refused"


@pytest.mark.parametrize("which", ["brainhooks", "brainhooks/one"])
def test_a_folder_that_others_may_enter_is_refused(folder, which):
    one = Place(str(folder / "brainhooks" / "one"))
    make_private(one)
    (folder / which).chmod(0o750)
    with pytest.raises(StateError, match="others may use it"):
        make_private(one)


def test_a_link_to_a_folder_is_refused(folder):
    (folder / "elsewhere").mkdir(mode=0o700)
    (folder / "brainhooks").mkdir(mode=0o700)
    (folder / "brainhooks" / "one").symlink_to(folder / "elsewhere")
    with pytest.raises(StateError, match="not a folder of yours"):
        make_private(Place(str(folder / "brainhooks" / "one")))


def test_a_path_too_long_for_a_socket_is_told_with_a_way_out(folder):
    deep = Place(str(folder / ("d" * 90) / "one"))
    server = Server(deep, engine=pytest.fail, second=pytest.fail, say=pytest.fail)
    with pytest.raises(MemoryRefused, match="too long") as refused:
        server.run()
    assert "--port 0" in refused.value.hint


def test_a_client_that_does_not_read_is_cut_off_and_holds_up_nobody(server):
    slow, quick = server.client(A), server.client(B)
    slow.watch("w", "big")
    for number in range(24):
        quick.commit(written("big", {"n": number, "text": "x" * (1 << 20)}))
    assert quick.read("big")["value"]["n"] == 23
    whole = first(slow, lambda frame: frame.get("reset"))  # it was cut off, and connected anew
    assert [one["value"]["n"] for one in whole["upserts"]] == [23]
    again = server.client(A)
    assert again.watch("w", "big")["upserts"][0]["value"]["n"] == 23
    for number in range(4):
        links = {f"{n}": {"$link": {"id": f"part{n}", "scope": "space"}} for n in range(number)}
        quick.commit(written(f"part{number}", {"text": "x" * (4_000_000), **links}))
    assert refusal(lambda: again.watch("all", "part3")) == "request-too-large"
    assert quick.commit(written("big", "small"))
    (entry,) = first(again, lambda frame: frame.get("upserts"))["upserts"]
    assert (entry["id"], entry["value"]) == ("big", "small"), "and it is served on"
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        (peak,) = [line.split()[1] for line in file if line.startswith("VmHWM")]
    assert int(peak) < 300_000, "kilobytes"


def first(client, wanted):
    """Return the first frame that is wanted; others may come before it."""
    while frames := client.frames(WAIT_S):
        for frame in frames:
            if wanted(frame):
                return frame
    raise AssertionError("no such frame came")


def refusal(call) -> str:
    with pytest.raises(MemoryRefused) as refused:
        call()
    return refused.value.code


def until_refused(client) -> str:
    """Read what came before the end; return the code that it ended with."""
    try:
        while client.frames(WAIT_S):
            pass
    except MemoryRefused as err:
        return err.code
    return ""
