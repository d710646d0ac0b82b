"""The settings file on disk: links, modes, and writers that do not wait for us."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from scripts.settings_edit import decode
from scripts.settings_file import SettingsFileError, update


def no_sleep(seconds: float) -> None:
    assert seconds > 0


def upper(data: bytes | None) -> bytes | None:
    return data.upper() if data is not None else b"NEW"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "profile ó" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(b"old")
    return file


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400])
def test_a_replacement_keeps_the_mode_and_leaves_nothing_beside(path, mode):
    path.chmod(mode)
    assert update(str(path), upper) == (b"old", b"OLD")
    assert path.read_bytes() == b"OLD"
    assert path.stat().st_mode & 0o777 == mode
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_replacement_keeps_the_owner(path):
    os.chown(path, 65534, 65534)
    update(str(path), upper)
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)


def test_a_symbolic_link_is_followed_and_kept(path, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(path)
    update(str(link), upper)
    assert link.is_symlink()
    assert path.read_bytes() == b"OLD"


def test_an_absent_file_is_made_private(tmp_path):
    path = tmp_path / "none yet" / "settings.json"
    assert update(str(path), upper) == (None, b"NEW")
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_where_nothing_changes(path):
    before = path.stat()
    assert update(str(path), lambda data: data) == (b"old", b"old")
    assert path.stat().st_ino == before.st_ino


def _dangling(path, tmp_path):
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")


def _circle(path, tmp_path):
    path.unlink()
    path.symlink_to(path)


def _folder(path, tmp_path):
    path.unlink()
    path.mkdir()


def _fifo(path, tmp_path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(_dangling, "which does not exist", id="dangling link"),
        pytest.param(_circle, "goes in circles", id="circular link"),
        pytest.param(_folder, "not a regular file", id="folder"),
        pytest.param(_fifo, "not a regular file", id="fifo"),
        pytest.param(lambda p, t: os.link(p, t / "other"), "2 hard links", id="hard link"),
    ],
)
def test_what_a_replacement_would_break_is_refused_with_the_next_step(path, tmp_path, change, why):
    change(path, tmp_path)
    with pytest.raises(SettingsFileError, match=why) as caught:
        update(str(path), upper)
    assert caught.value.hint
    assert str(path) in str(caught.value)


def test_a_file_that_stays_unusable_is_left_as_it_is(path):
    path.write_bytes(b'{"cut": ')
    with pytest.raises(SettingsFileError, match="not JSON"):
        update(str(path), lambda data: decode(data).encode() + b" ", sleep=no_sleep)
    assert path.read_bytes() == b'{"cut": '


def test_a_file_that_is_cut_only_for_a_moment_is_waited_for(path):
    path.write_bytes(b"")
    naps = iter(range(100))

    def nap(seconds: float) -> None:
        if next(naps) == 3:
            path.write_bytes(b"{}")

    update(str(path), lambda data: decode(data).encode() + b"\n", sleep=nap)
    assert path.read_bytes() == b"{}\n"


def test_what_was_written_since_we_read_is_read_again(path):
    seen = []

    def plan(data: bytes | None) -> bytes | None:
        seen.append(data)
        if len(seen) == 1:
            path.write_bytes(b"newer and longer")
        return upper(data)

    update(str(path), plan, sleep=no_sleep)
    assert seen == [b"old", b"newer and longer"]
    assert path.read_bytes() == b"NEWER AND LONGER"


def test_a_file_that_appears_meanwhile_is_not_replaced_unread(tmp_path):
    path = tmp_path / "settings.json"

    def plan(data: bytes | None) -> bytes | None:
        if data is None:
            path.write_bytes(b"theirs")
        return upper(data)

    update(str(path), plan, sleep=no_sleep)
    assert path.read_bytes() == b"THEIRS"


def test_a_file_that_never_rests_is_given_up_and_kept(path):
    count = iter(range(10_000))

    def plan(data: bytes | None) -> bytes | None:
        path.write_bytes(f"turn {next(count)}".encode())
        return b"ours"

    with pytest.raises(SettingsFileError, match="keeps rewriting"):
        update(str(path), plan, sleep=no_sleep)
    assert path.read_bytes().startswith(b"turn ")


WRITER = """
import os, select, sys
path, way = sys.argv[1:]
turns = 0
while not select.select([sys.stdin], [], [], 0.005)[0]:  # 200 times a second, until we are done
    with open(path) as file:
        text = file.read()
    turns += 1
    if way == "in place":
        with open(path, "w") as file:
            for at in range(0, len(text), 9000):
                file.write(text[at : at + 9000])
    else:
        with open(path + ".w", "w") as file:
            file.write(text)
        os.replace(path + ".w", path)
    if turns == 5:
        print("ready", flush=True)
"""


@pytest.mark.parametrize("way", ["in place", "by rename"])
def test_nothing_is_ever_lost_to_a_writer_beside_us(path, way):
    """A program rewrites the file 200 times a second while we add a member again and again."""
    start = {"text": "x" * 50_000}
    path.write_text(json.dumps(start), encoding="utf-8")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), way], stdin=pipe, stdout=pipe
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        for turn in range(40):

            def plan(data: bytes | None, turn: int = turn) -> bytes | None:
                value = json.loads(decode(data or b""))
                return json.dumps({**value, "turn": turn}).encode()

            old, new = update(str(path), plan)
            assert json.loads(old or b"")["text"] == start["text"]
            assert len(new or b"") >= len(old or b"") - 1
    assert writer.returncode == 0
    assert json.loads(path.read_bytes())["text"] == start["text"]
