from __future__ import annotations

import os
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from hooks.spawn import MAX_ANSWER, ask, detach, start_command
from tests.support.processes import command

ENV = {"PATH": os.defpath, "LANG": "C.UTF-8"}


def _sh(script: str, timeout_s: float = 20.0) -> str | None:
    return ask(["/bin/sh", "-c", script], ENV, timeout_s=timeout_s)


def test_the_start_command_is_an_isolated_interpreter_and_our_entry_by_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", None)
    wanted = [sys.executable, "-I", "-S", "/a b/hooks/__main__.py", "Stop"]
    assert start_command("/a b", "Stop") == wanted
    assert Path(start_command("/")[0]).is_absolute()


def test_a_cache_folder_of_ours_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", "/data/cache")
    assert start_command("/r")[3:5] == ["-X", "pycache_prefix=/data/cache"]


def test_an_answer_is_the_programs_output_byte_for_byte() -> None:
    assert _sh("printf 'a\\n\\303\\274\\377 '") == "a\nü\udcff "
    assert _sh(":") == ""


def test_a_program_is_asked_in_the_environment_it_is_given_and_without_an_input() -> None:
    assert ask(["sh", "-c", 'echo "$A$HOME"; cat'], {**ENV, "A": "1"}, timeout_s=20) == "1\n"


def test_a_program_that_is_absent_or_fails_has_no_answer() -> None:
    assert ask(["no-such-program-here"], ENV, timeout_s=20) is None
    assert _sh("echo half; exit 3") is None
    assert _sh("echo half; kill -9 $$") is None
    assert _sh("echo noise >&2; echo said") == "said\n"


@pytest.mark.parametrize(
    "script",
    [
        "exec sleep 600",
        "echo some; exec sleep 600",
        "exec >&-; exec sleep 600",
        "trap '' TERM HUP; exec sleep 600",
        "sleep 600 & wait",
        "exec yes",
    ],
    ids=["silent", "halting", "closes its output", "ignores signals", "with a child", "endless"],
)
def test_a_program_that_does_not_end_is_ended_with_all_it_started(script: str) -> None:
    started = time.monotonic()
    leash, held = os.pipe()
    os.set_inheritable(held, True)
    assert _sh(script, timeout_s=0.2) is None
    os.close(held)
    # End of file on the leash: nobody who inherited its other end is left.
    assert select.select([leash], [], [], 60)[0], "a process was left behind"
    assert os.read(leash, 1) == b""
    os.close(leash)
    assert time.monotonic() - started < 300, "it was ended, it did not end by itself"


def test_an_answer_larger_than_any_of_ours_is_none() -> None:
    assert _sh(f"head -c {MAX_ANSWER} /dev/zero") == "\0" * MAX_ANSWER
    assert _sh(f"head -c {MAX_ANSWER + 1} /dev/zero") is None


def _children() -> set[str]:
    """The processes that are this one's, dead ones that nobody asked for among them."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{name}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:  # it is gone
            continue
        if stat.rpartition(")")[2].split()[1] == str(os.getpid()):
            found.add(name)
    return found


def test_asking_leaves_no_descriptor_and_no_zombie() -> None:
    before, children = os.listdir("/proc/self/fd"), _children()
    for script in ("echo x", "exit 1", "exec >&-; exec sleep 600"):
        _sh(script, timeout_s=0.2)
    ask(["no-such-program-here"], ENV, timeout_s=1)
    assert os.listdir("/proc/self/fd") == before
    assert _children() <= children


def test_a_detached_process_has_its_own_session_and_silent_streams(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "facts = [os.getsid(0) == os.getpid(), sys.stdin.read() == '',"
        " *(os.readlink(f'/proc/self/fd/{fd}') for fd in (0, 1, 2)), os.environ['A']]\n"
        "print('never seen')\n"
        "with open(sys.argv[1] + '.part', 'w') as file: file.write(repr(facts))\n"
        "os.rename(sys.argv[1] + '.part', sys.argv[1])\n"
    )
    out = tmp_path / "facts"
    pid = detach(command(code, out), {**ENV, "A": "1"})
    assert os.waitpid(pid, 0) == (pid, 0)
    assert out.read_text() == repr([True, True, *["/dev/null"] * 3, "1"])


def test_a_detached_process_outlives_the_one_that_started_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    worker = f"exec 3<'{tmp_path}/go'; echo done >'{tmp_path}/done'"
    code = (
        "import os, signal\n"
        "from hooks.spawn import detach\n"
        "detach(['/bin/sh', '-c', sys.argv[1]], os.environ)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    pid = os.posix_spawn(sys.executable, command(code, worker), ENV)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    with open(tmp_path / "go", "wb"):  # opens only when the worker is there to read
        pass
    deadline = time.monotonic() + 60
    while not (tmp_path / "done").exists() and time.monotonic() < deadline:
        select.select([], [], [], 0.01)
    assert (tmp_path / "done").exists()


def test_a_detached_program_that_is_absent_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        detach(["/no/such/program"], ENV)


def test_a_started_program_dies_of_a_broken_pipe_as_programs_do(tmp_path: Path) -> None:
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN, "Python ignores it"
    assert _sh("grep SigIgn /proc/self/status") is not None
    ignored = int((_sh("grep SigIgn /proc/self/status") or "x:0").split(":")[1], 16)
    assert not ignored & 1 << (signal.SIGPIPE - 1)
    out = tmp_path / "ignored"
    pid = detach(["/bin/sh", "-c", f"grep SigIgn /proc/self/status >'{out}'"], ENV)
    os.waitpid(pid, 0)
    assert int(out.read_text().split(":")[1], 16) == ignored
