"""A secret is read only from a file that is proven private, and the file is never changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hooks.context.brains.http_token import token_of
from hooks.context.secret_file import MAX_BYTES, read_secret
from hooks.errors import StateError
from hooks.settings import Http, Settings

SECRET = "s3cret-word"


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "token"
    path.write_text(SECRET + "\n", encoding="ascii")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_private_file_is_read_without_the_line_end(secret, mode):
    secret.chmod(mode)
    assert read_secret(str(secret)) == SECRET
    assert secret.stat().st_mode & 0o777 == mode


def _linked(path: Path) -> Path:
    os.link(path, path.with_name("second"))
    return path


def _symlink(path: Path) -> Path:
    link = path.with_name("link")
    link.symlink_to(path)
    return link


def _fifo(path: Path) -> Path:
    fifo = path.with_name("fifo")
    os.mkfifo(fifo, 0o600)
    return fifo


def _with(data: bytes, mode: int = 0o600):
    def make(path: Path) -> Path:
        path.write_bytes(data)
        path.chmod(mode)
        return path

    return make


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(_with(b"x", 0o640), "group or others", id="the group may read it"),
        pytest.param(_with(b"x", 0o604), "group or others", id="others may read it"),
        pytest.param(_with(b"x", 0o620), "group or others", id="the group may write it"),
        pytest.param(_linked, "2 hard links", id="it has a second name"),
        pytest.param(_symlink, "symbolic link", id="a symbolic link"),
        pytest.param(_fifo, "no regular file", id="a pipe"),
        pytest.param(lambda path: path.parent, "no regular file", id="a folder"),
        pytest.param(lambda path: path.with_name("none"), "No such file", id="absent"),
        pytest.param(lambda path: Path(path.name), "not absolute", id="relative"),
        pytest.param(_with(b" \n"), "empty", id="empty"),
        pytest.param(_with(b"x" * (MAX_BYTES + 1)), "more than", id="too large"),
        pytest.param(_with("schlüssel".encode()), "not ASCII", id="not ASCII"),
    ],
)
def test_what_is_not_proven_is_refused_without_a_byte_of_it(secret, make, says):
    path = make(secret)
    with pytest.raises(StateError, match=says) as raised:
        read_secret(str(path))
    assert SECRET not in str(raised.value)
    assert raised.value.hint


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(secret):
    os.chown(secret, 12_345, 12_345)
    with pytest.raises(StateError, match="another user"):
        read_secret(str(secret))


def test_the_token_comes_from_the_setting_else_from_the_file_else_is_none(secret, tmp_path):
    def token(env=None, **http):
        return token_of(Settings("/h", http=Http(**http)), env or {})

    assert token(token="set", token_file=str(secret)) == "set"
    assert token(token_file=str(secret)) == SECRET
    assert token(token_file="~/token", env={"HOME": str(tmp_path)}) == SECRET
    assert token() == ""
    secret.write_text("two words")
    with pytest.raises(StateError, match="one word"):
        token(token_file=str(secret))


def test_a_token_does_not_show_itself():
    from hooks.settings import load

    settings = load({"HOME": "/nonexistent", "BRAIN_HTTP_TOKEN": SECRET})
    assert settings.http.token == SECRET
    assert SECRET not in repr(settings)
