from __future__ import annotations

import hashlib
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.digest import sha256_hex, short_digest, uuid5_url_hex
from tests.support.processes import run_code

quick = settings(deadline=None, max_examples=100)


@quick
@given(st.binary())
def test_the_digests_are_those_of_hashlib(data: bytes) -> None:
    assert sha256_hex(data) == hashlib.sha256(data).hexdigest()
    assert short_digest(data) == hashlib.sha256(data).hexdigest()[:32]


@quick
@given(st.text())
def test_the_name_based_id_is_that_of_uuid(name: str) -> None:
    assert uuid5_url_hex(name) == uuid.uuid5(uuid.NAMESPACE_URL, name).hex


def test_a_lone_surrogate_is_for_the_caller_to_clean() -> None:
    with pytest.raises(UnicodeEncodeError):
        uuid5_url_hex("a\ud800")


@pytest.mark.parametrize("hidden", ["_sha1", "_sha2 _sha256", "_sha1 _sha2 _sha256"])
def test_an_interpreter_without_the_c_modules_gives_the_same_digests(hidden: str) -> None:
    code = """
for name in sys.argv[1].split():
    sys.modules[name] = None  # what an absent module looks like to import
from scripts.swarm_v2.digest import sha256_hex, uuid5_url_hex
print(sha256_hex(b"x"), uuid5_url_hex("x"))
"""
    assert run_code(code, hidden).split() == [sha256_hex(b"x"), uuid5_url_hex("x")]
