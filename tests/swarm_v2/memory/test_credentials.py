"""Who somebody is: a private file proves it, and nothing that could be typed."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from hooks.errors import StateError
from scripts.swarm_v2.installation import installation
from scripts.swarm_v2.memory.credentials import (
    FOLDER,
    HEX_DIGITS,
    PUBLIC,
    TOKEN,
    digest,
    of_installation,
    of_redis,
    own_token,
)


def path(home, name):
    return home / FOLDER / name


def test_the_token_is_made_once_private_and_the_same_for_everybody_who_asks_at_once(home):
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(lambda _: own_token(str(home)), range(16)))
    (token,) = tokens
    assert len(token) == HEX_DIGITS
    assert stat.S_IMODE(os.stat(path(home, TOKEN)).st_mode) == 0o600
    assert own_token(str(home)) == token


def test_the_installation_is_the_principal_unless_its_setting_names_another(home):
    one = of_installation(str(home))
    assert one.principal == installation(str(home)).installation_id
    assert of_installation(str(home), "did:key:zA").principal == "did:key:zA"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_token_that_others_may_read_proves_nobody(home, mode):
    own_token(str(home))
    path(home, TOKEN).chmod(mode)
    with pytest.raises(StateError, match="group or others"):
        of_installation(str(home))


@pytest.mark.parametrize("damage", [b"", b"abc\n", b"g" * 64, b"\xff" * 64])
def test_a_damaged_token_is_refused_and_left_as_it_is(home, damage):
    own_token(str(home))
    path(home, TOKEN).write_bytes(damage)
    with pytest.raises(StateError):
        own_token(str(home))
    assert path(home, TOKEN).read_bytes() == damage


def test_a_link_in_place_of_the_token_is_refused(home, tmp_path):
    own_token(str(home))
    os.rename(path(home, TOKEN), tmp_path / "elsewhere")
    path(home, TOKEN).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="symbolic link"):
        own_token(str(home))


def test_the_public_line_holds_the_digest_and_not_the_token(home):
    of_installation(str(home))
    line = path(home, PUBLIC).read_text()
    assert digest(own_token(str(home))) in line
    assert own_token(str(home)) not in line


def test_the_default_user_of_a_redis_names_nobody():
    assert of_redis("default").principal is None
    assert of_redis("").principal is None
    assert of_redis("alice").principal == "alice"
