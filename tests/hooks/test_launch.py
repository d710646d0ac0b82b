"""The plugin's launcher, run by real shells with real interpreters behind scripts as shims are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
REAL = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
NASTY = "plugin ó 名前 😀 'q\" $HOME `x`"
USUAL = ":/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin"
SHELLS = [path for name in ("sh", "bash", "dash") if (path := shutil.which(name))]

ENTRY = """\
import json, os, sys
print(json.dumps({"exe": sys.executable, "argv": sys.argv[1:], "prefix": sys.pycache_prefix,
    "isolated": sys.flags.isolated, "site": not sys.flags.no_site, "cwd": os.getcwd(),
    "stdin": sys.stdin.buffer.read().decode("utf-8", "surrogateescape")}))
"""


class Plugin:
    """A bare clone with a stand-in entry that says how it was started."""

    def __init__(self, base: Path, shell: str = "/bin/sh") -> None:
        self.root, self.data, self.bin = base / NASTY, base / "data ó", base / "bin"
        self.shell, self.cwd = shell, base / "project"
        for folder in (self.root / "hooks", self.data, self.bin, self.cwd):
            folder.mkdir(parents=True)
        shutil.copy(REPO / "hooks" / "launch.sh", self.root / "hooks")
        (self.root / "hooks" / "__main__.py").write_text(ENTRY, encoding="utf-8")
        for tool in ("mkdir", "mv"):
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        document = json.loads((REPO / "hooks" / "hooks.json").read_text(encoding="utf-8"))
        self.events = document["hooks"]
        self.env = {
            "PATH": str(self.bin),
            "CLAUDE_PLUGIN_ROOT": str(self.root),
            "CLAUDE_PLUGIN_DATA": str(self.data),
        }

    @property
    def memory(self) -> Path:
        return self.data / "python"

    def only_path(self) -> None:
        """Forget the usual folders, so that only PATH can offer an interpreter."""
        script = self.root / "hooks" / "launch.sh"
        text = script.read_text(encoding="utf-8")
        assert USUAL in text
        script.write_text(text.replace(USUAL, "").replace(":/opt/local/bin", ""), encoding="utf-8")

    def shim(self, name: str, body: str) -> Path:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def run(self, event: str, *before: str, stdin: str = "{}") -> subprocess.CompletedProcess[str]:
        command = self.events[event][0]["hooks"][0]["command"]
        return subprocess.run(
            [*before, self.shell, "-c", command],
            env=self.env,
            cwd=self.cwd,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )

    def started(self, event: str, *before: str, stdin: str = "{}") -> dict[str, object]:
        done = self.run(event, *before, stdin=stdin)
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        return dict(json.loads(done.stdout))


@pytest.fixture(params=SHELLS)
def plugin(request, tmp_path) -> Plugin:
    return Plugin(tmp_path, request.param)


def test_every_event_gets_the_one_start_command_and_its_payload(plugin):
    for event in plugin.events:
        seen = plugin.started(event, stdin='{"x": "é\\n"}\n')
        assert seen["argv"] == [event]
        assert seen["stdin"] == '{"x": "é\\n"}\n'
        assert (seen["isolated"], seen["site"], seen["prefix"]) == (1, False, None)
        assert seen["cwd"] == str(plugin.cwd)


def test_a_shim_is_asked_once_and_never_remembered(plugin):
    asked = plugin.data / "asked"
    plugin.shim("python3.14", f'echo . >> "{asked}"\nexec {REAL} "$@"')
    seen = [plugin.started("UserPromptSubmit")["exe"] for _ in range(3)]
    assert plugin.memory.read_text(encoding="utf-8") == f"{REAL}\n"
    assert {os.path.realpath(str(path)) for path in seen} == {REAL}
    assert len(asked.read_text(encoding="utf-8").splitlines()) == 1


def test_the_fast_path_starts_nothing_but_the_interpreter(plugin):
    plugin.memory.write_text(f"{REAL}\n", encoding="utf-8")
    for tool in plugin.bin.iterdir():
        tool.unlink()
    plugin.only_path()
    assert plugin.started("Stop")["argv"] == ["Stop"]


def test_an_interpreter_that_was_removed_is_replaced(plugin):
    plugin.memory.write_text("/nowhere/bin/python3.11\n", encoding="utf-8")
    assert plugin.started("Stop")["argv"] == ["Stop"]
    assert os.path.exists(plugin.memory.read_text(encoding="utf-8").strip())


def test_an_interpreter_that_no_longer_starts_is_replaced_at_session_start(plugin):
    broken = plugin.shim("broken", "echo 'error while loading shared libraries' >&2; exit 127")
    plugin.memory.write_text(f"{broken}\n", encoding="utf-8")
    done = plugin.run("SessionStart", stdin='{"source": "startup"}')
    assert done.returncode == 0
    assert json.loads(done.stdout)["stdin"] == '{"source": "startup"}'
    assert plugin.memory.read_text(encoding="utf-8").strip() != str(broken)


def test_a_failing_hook_is_not_taken_for_a_broken_interpreter(plugin):
    runs = plugin.data / "runs"
    (plugin.root / "hooks" / "__main__.py").write_text(
        f"open({str(runs)!r}, 'a').write('.')\nraise SystemExit(2)\n", encoding="utf-8"
    )
    plugin.memory.write_text(f"{REAL}\n", encoding="utf-8")
    assert plugin.run("SessionStart").returncode == 1  # never 2: the agent reads that as a refusal
    assert runs.read_text(encoding="utf-8") == "."


@pytest.mark.parametrize("content", ["", "python3\n", "none", "\0\n", "./evil\n", "\n\n"])
def test_a_damaged_memory_is_searched_again_and_never_run_from_the_project(plugin, content):
    for name in ("python3", "none", "evil"):
        evil = plugin.cwd / name
        evil.write_text("#!/bin/sh\necho evil\n", encoding="utf-8")
        evil.chmod(0o755)
    plugin.memory.write_text(content, encoding="utf-8")
    assert plugin.started("SessionStart")["argv"] == ["SessionStart"]


def _fake(change: str) -> str:
    return f"exec {REAL} -I -S -c 'import sys; {change}; exec(sys.argv[1])' \"$4\""


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(None, "was found. Nothing", id="no Python at all"),
        pytest.param(_fake("sys.version_info = (3, 9, 2)"), "is too old", id="an older Python"),
        pytest.param(_fake('sys.modules["sqlite3"] = None'), "without sqlite3", id="no sqlite3"),
        pytest.param("echo chatter", "was found. Nothing", id="a shim that only talks"),
    ],
)
def test_without_an_interpreter_the_person_is_told_once_and_nothing_fails(plugin, body, says):
    plugin.only_path()
    if body:
        plugin.shim("python3", body)
    for event in plugin.events:
        if body is None:  # then each event is also the first one ever
            plugin.memory.unlink(missing_ok=True)
        done = plugin.run(event)
        assert (done.returncode, done.stderr) == (0, ""), event
        if event == "SessionStart":
            told = json.loads(done.stdout)["systemMessage"]
            assert says in told
            assert "apt install python3" in told
        else:
            assert done.stdout == ""


def test_an_interpreter_that_appears_later_is_found_at_the_next_start(plugin):
    plugin.only_path()
    plugin.run("SessionStart")
    plugin.shim("python3", f'exec {REAL} "$@"')
    assert plugin.run("Stop").stdout == ""
    assert plugin.started("SessionStart")["argv"] == ["SessionStart"]
    assert plugin.started("Stop")["argv"] == ["Stop"]


@pytest.mark.parametrize(
    ("env", "kept"),
    [
        ({"HOME": "home ó"}, "home ó/.cache/brainhooks"),
        ({"HOME": "home", "XDG_CACHE_HOME": "cache"}, "cache/brainhooks"),
    ],
)
def test_without_a_plugin_folder_the_cache_folder_remembers(plugin, tmp_path, env, kept):
    del plugin.env["CLAUDE_PLUGIN_DATA"]
    plugin.env |= {name: str(tmp_path / value) for name, value in env.items()}
    plugin.started("Stop")
    memory = tmp_path / kept / "python"
    assert os.path.isabs(memory.read_text(encoding="utf-8").strip())
    assert memory.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("extra", [{}, {"LC_ALL": "C"}, {"HOME": "relative"}, {"HOME": ""}])
def test_an_empty_environment_still_starts_and_writes_nothing_into_the_project(plugin, extra):
    plugin.env = {"CLAUDE_PLUGIN_ROOT": str(plugin.root), **extra}
    assert plugin.started("Stop")["argv"] == ["Stop"]
    assert not list(plugin.cwd.iterdir())


def test_variables_of_the_same_names_in_the_environment_change_nothing(plugin):
    plugin.env |= {name: "1" for name in ("bh_py", "bh_rc", "bh_seen", "bh_real", "bh_keep")}
    assert plugin.started("SessionStart")["argv"] == ["SessionStart"]


def test_a_plugin_folder_that_is_gone_is_silent(plugin):
    shutil.rmtree(plugin.root)
    for event in plugin.events:
        done = plugin.run(event)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_first_events_in_parallel_agree(plugin):
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(plugin.started, ["Stop", "MessageDisplay"] * 8))
    assert len(seen) == 16
    assert [path.name for path in plugin.data.iterdir()] == ["python"]


def test_a_folder_with_quotes_cannot_break_the_message(plugin):
    plugin.only_path()
    nasty = plugin.bin.rename(plugin.bin.parent / NASTY.replace("plugin", "bin"))
    plugin.bin, plugin.env["PATH"] = nasty, str(nasty)
    plugin.shim("python3", _fake("sys.version_info = (3, 9, 2)"))
    assert "was found. Nothing" in json.loads(plugin.run("SessionStart").stdout)["systemMessage"]


SETPRIV = shutil.which("setpriv")


@pytest.mark.skipif(os.getuid() == 0 and not SETPRIV, reason="root may write everywhere")
def test_a_read_only_clone_keeps_its_bytecode_in_the_data_folder():
    base = Path(tempfile.mkdtemp(prefix="brainhooks-"))
    try:
        base.chmod(0o755)
        plugin = Plugin(base)
        plugin.data.chmod(0o777)
        for folder in (plugin.root / "hooks", plugin.root):
            folder.chmod(0o555)
        as_user = [str(SETPRIV), "--reuid=65534", "--regid=65534", "--clear-groups"]
        before = as_user if os.getuid() == 0 else []
        seen = plugin.started("SessionStart", *before)
        assert seen["prefix"] == f"{plugin.data}/pyc"
        assert plugin.started("Stop", *before)["prefix"] == f"{plugin.data}/pyc"
    finally:
        for folder in (base / NASTY, base / NASTY / "hooks"):
            folder.chmod(0o755)
        shutil.rmtree(base)
