from __future__ import annotations

import errno
import os
import resource
import stat
from pathlib import Path

import pytest

from hooks import atomic
from tests.support.processes import at_once, run_code


def test_a_written_file_is_whole_private_and_leaves_nothing_aside(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.json"
    atomic.write(str(path), b"one")
    atomic.write(str(path), b"two", durable=False)
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in path.parents[:2]} == {0o700}
    assert os.listdir(path.parent) == ["file.json"]


def test_a_relative_path_is_written_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    atomic.write("file", b"x")
    assert atomic.link_new("other", b"y")
    atomic.append_line("log", b"z", durable=True)
    assert sorted(os.listdir()) == ["file", "log", "other"]


def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    mode = (tmp_path / "open").stat().st_mode
    atomic.make_folder(str(tmp_path / "open"))
    assert (tmp_path / "open").stat().st_mode == mode


def test_a_folder_where_something_else_stands_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "dangling").symlink_to("nowhere")
    for path in ("file", "dangling"):
        with pytest.raises(FileExistsError):
            atomic.make_folder(str(tmp_path / path))
    with pytest.raises(NotADirectoryError):
        atomic.make_folder(str(tmp_path / "file" / "below"))
    with pytest.raises(FileNotFoundError):
        atomic.make_folder("")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")
@pytest.mark.parametrize("path", ["/proc/home", "/proc/self/home/below", "/proc/a/b/c"])
def test_where_no_folder_can_be_made_that_is_said_and_not_tried_for_ever(path):
    with pytest.raises(FileNotFoundError):
        atomic.make_folder(path)


def test_a_write_that_fails_leaves_the_old_bytes_and_nothing_aside(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(OSError, match="target"):
        atomic.write(str(target), b"x")
    assert os.listdir(tmp_path) == ["target"]


# A limit on the size of files is a full disk that root meets too.
FULL_DISK = """
import os, resource, signal
from hooks import atomic
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
path = sys.argv[1]
try:
    {call}
except OSError as err:
    print(err.errno)
"""


@pytest.mark.parametrize("call", ["write", "link_new"])
def test_a_full_disk_keeps_the_old_file_and_leaves_nothing_aside(tmp_path: Path, call: str) -> None:
    path = tmp_path / "file"
    if call == "write":
        path.write_bytes(b"old")
    code = FULL_DISK.format(call=f"atomic.{call}(path, b'x' * 500)")
    assert int(run_code(code, path)) == errno.EFBIG
    assert [name.read_bytes() for name in tmp_path.iterdir()] == [b"old"] * (call == "write")


def test_an_append_that_the_disk_cuts_is_an_error_and_the_next_one_starts_afresh(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a" * 79 + b"\n")
    code = FULL_DISK.format(call="atomic.append_line(path, b'x' * 50)")
    assert int(run_code(code, path)) in (errno.ENOSPC, errno.EFBIG)
    atomic.append_line(str(path), b"next")
    assert path.read_bytes() == b"a" * 79 + b"\n" + b"x" * 20 + b"\nnext\n"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100, "the limit was the child's"


def test_readers_see_the_old_bytes_or_the_new_while_writers_replace(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic.write(str(path), b"0" * 5_000)
    answers = at_once(
        8,
        "from hooks import atomic",
        "number = int(sys.argv[-1])\n"
        "for _ in range(40):\n"
        "    if number % 2:\n"
        "        atomic.write(sys.argv[1], b'%d' % number * 5000, durable=False)\n"
        "    else:\n"
        "        data = atomic.read(sys.argv[1])\n"
        "        if len(data) != 5000 or len(set(data)) != 1: print('torn')\n",
        path,
    )
    assert answers == [""] * 8
    assert os.listdir(tmp_path) == ["file"]


LINKERS = """
from hooks import atomic
number = sys.argv[-1]
"""
LINK = "print(int(atomic.link_new(sys.argv[1], number.encode() * 2000)), number)"
NO_LINKS = """
import errno, os
def refuse(*args, **named):
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))
os.link = refuse
"""


@pytest.mark.parametrize("filesystem", ["with links", "without links"])
def test_of_sixteen_that_create_a_file_one_is_first_and_its_bytes_stay(
    tmp_path: Path, filesystem: str
) -> None:
    path = tmp_path / "new" / "file"
    setup = LINKERS if filesystem == "with links" else NO_LINKS + LINKERS
    answers = [answer.split() for answer in at_once(16, setup, LINK, path)]
    winners = [number for first, number in answers if first == "1"]
    assert len(winners) == 1
    assert path.read_bytes() == winners[0].encode() * 2000
    left = {name for name in os.listdir(path.parent) if not name.endswith(".lock")}
    assert left == {"file"}


def test_a_file_that_exists_is_not_touched_by_link_new(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    assert not atomic.link_new(str(path), b"x")
    assert path.read_bytes() == b""
    (tmp_path / "dangling").symlink_to("nowhere")
    assert not atomic.link_new(str(tmp_path / "dangling"), b"x")
    assert sorted(os.listdir(tmp_path)) == ["dangling", "file"]


def test_lines_of_many_writers_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log"
    at_once(
        16,
        "from hooks import atomic",
        "for turn in range(20):\n"
        "    line = b'%s-%d ' % (sys.argv[-1].encode(), turn)\n"
        "    atomic.append_line(sys.argv[1], line * 1500)\n",
        path,
    )
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    wanted = {b"%d-%d " % (number, turn) * 1500 for number in range(16) for turn in range(20)}
    assert len(lines) == 320
    assert set(lines) == wanted


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"new\n"),
        (b"whole\n", b"whole\nnew\n"),
        (b"torn", b"torn\nnew\n"),
        (b"whole\nto", b"whole\nto\nnew\n"),
        (b"\0\0\0", b"\0\0\0\nnew\n"),
        (b"\n", b"\nnew\n"),
    ],
)
def test_a_torn_last_line_is_closed_before_the_next(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    path = tmp_path / "log"
    path.write_bytes(before)
    atomic.append_line(str(path), b"new\n", durable=True)
    assert path.read_bytes() == after


def test_a_log_cut_at_every_byte_loses_no_later_line(tmp_path: Path) -> None:
    whole = b"".join(b"line %d\n" % number for number in range(5))
    for cut in range(len(whole) + 1):
        path = tmp_path / str(cut)
        path.write_bytes(whole[:cut])
        atomic.append_line(str(path), b"after")
        lines = path.read_bytes().split(b"\n")
        assert lines[-2:] == [b"after", b""]
        assert lines[: whole[:cut].count(b"\n")] == whole.split(b"\n")[: whole[:cut].count(b"\n")]


def test_an_appended_file_is_private(tmp_path: Path) -> None:
    atomic.append_line(str(tmp_path / "new" / "log"), b"x")
    assert stat.S_IMODE((tmp_path / "new" / "log").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


@pytest.mark.parametrize(("size", "found"), [(0, True), (10, True), (11, False)])
def test_a_file_is_read_up_to_the_limit(tmp_path: Path, size: int, found: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    assert atomic.read(str(path), 10) == (b"x" * size if found else None)


def test_a_large_file_is_read_whole(tmp_path: Path) -> None:
    data = os.urandom(3 << 20)
    (tmp_path / "file").write_bytes(data)
    assert atomic.read(str(tmp_path / "file")) == data


def test_what_is_not_a_regular_file_is_a_miss_and_never_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "file").write_bytes(b"")
    for name in ("fifo", ".", "absent", "dangling", "file/below", "absent/below"):
        assert atomic.read(str(tmp_path / name)) is None
    assert atomic.read("/dev/zero") is None


def test_a_file_that_cannot_be_opened_is_a_fault_not_a_miss(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        atomic.read(str(tmp_path / "loop"))


def test_a_file_of_the_system_that_tells_no_size_is_read_too() -> None:
    told = Path("/proc/self/cmdline")
    assert told.stat().st_size == 0
    assert atomic.read(str(told)) == told.read_bytes() != b""
