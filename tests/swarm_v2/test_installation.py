from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from freezegun import freeze_time
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks import atomic
from scripts.swarm_v2 import keyspace
from scripts.swarm_v2.installation import (
    copied_from_elsewhere,
    encode,
    installation,
    machine_id,
    parse,
    read,
)
from scripts.swarm_v2.keyspace import Installation
from tests.support.processes import at_once, run_code

NOON = datetime(2026, 11, 30, 12, 0, 0, 5, tzinfo=UTC)
ID = "inst-" + "ab" * 16
GOOD = {"installation_id": ID, "created_at": "2026-11-30T12:00:00.000005+00:00"}


def test_the_first_call_makes_the_record_and_every_later_one_reads_it(home: Path) -> None:
    made = installation(home, NOON)
    assert re.fullmatch(r"inst-[0-9a-f]{32}", made.installation_id)
    assert made.created_at == NOON
    assert installation(home, NOON + timedelta(days=9)) == made
    assert installation(str(home)) == read(home) == keyspace.installation(home) == made


def test_the_record_on_disk_is_one_private_line(home: Path) -> None:
    made = installation(home, NOON)
    path = home / "installation.json"
    wanted = {"created_at": GOOD["created_at"], "installation_id": made.installation_id}
    line = json.dumps(wanted, separators=(",", ":")) + "\n"
    assert path.read_text(encoding="utf-8") == line
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert (
        sorted(os.listdir(home))
        == ["installation.json", "installation.machine"][: 2 if machine_id() else 1]
    )


def test_without_a_time_the_cutover_is_now(home: Path) -> None:
    with freeze_time("2026-12-01T08:00:00+00:00"):
        assert installation(home).created_at == datetime(2026, 12, 1, 8, tzinfo=UTC)


def test_a_time_of_another_zone_is_kept_as_the_instant_it_is(home: Path) -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert installation(home, NOON.astimezone(east)).created_at == NOON
    assert read(home) == installation(home)


def test_a_time_without_a_zone_is_refused_before_anything_is_made(home: Path) -> None:
    with pytest.raises(ValueError, match="offset"):
        installation(home, datetime(2026, 11, 30))  # noqa: DTZ001 - the fault under test
    assert not home.exists()


def test_two_homes_are_two_installations(tmp_path: Path) -> None:
    one, two = installation(tmp_path / "a", NOON), installation(tmp_path / "b", NOON)
    assert one.installation_id != two.installation_id


def test_reading_makes_nothing(home: Path) -> None:
    assert read(home) is None
    assert not home.exists()


def _record(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


DAMAGED = {
    "empty": b"",
    "blank": b" \n",
    "truncated": _record()[:-10],
    "not an object": b'["inst"]',
    "null": b"null",
    "not utf-8": b'{"installation_id":"\xff"}',
    "two objects": _record() + _record(),
    "no id": json.dumps({"created_at": GOOD["created_at"]}).encode(),
    "bad id": _record(installation_id="inst-1"),
    "id in capitals": _record(installation_id=ID.upper()),
    "id with a line end": _record(installation_id=ID + "\n"),
    "id not a text": _record(installation_id=5),
    "no time": json.dumps({"installation_id": ID}).encode(),
    "time not a text": _record(created_at=1764504000),
    "time null": _record(created_at=None),
    "time empty": _record(created_at=""),
    "time in words": _record(created_at="yesterday"),
    "date only": _record(created_at="2026-11-30"),
    "time without an offset": _record(created_at="2026-11-30T12:00:00.000005"),
    "impossible time": _record(created_at="2026-13-30T12:00:00+00:00"),
    "too large": b" " * (64 << 10) + _record(),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_record_outside_the_grammar_is_refused_and_left_as_it_is(home: Path, data: bytes) -> None:
    home.mkdir()
    path = home / "installation.json"
    path.write_bytes(data)
    for call in (installation, read):
        with pytest.raises(ValueError, match=r"installation\.json"):
            call(home)
    assert path.read_bytes() == data
    assert os.listdir(home) == ["installation.json"]


def test_a_record_that_is_not_a_file_is_refused(home: Path) -> None:
    (home / "installation.json").mkdir(parents=True)
    with pytest.raises(ValueError, match="not a file"):
        installation(home)


@pytest.mark.parametrize("target", ["nowhere", "installation.json"], ids=["dangling", "loop"])
def test_a_record_that_is_a_broken_link_is_refused(home: Path, target: str) -> None:
    home.mkdir()
    (home / "installation.json").symlink_to(target)
    with pytest.raises(ValueError, match=r"installation\.json"):
        installation(home)
    assert os.readlink(home / "installation.json") == target


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is unreadable for root")
def test_a_record_that_cannot_be_read_is_refused(home: Path) -> None:
    installation(home, NOON)
    (home / "installation.json").chmod(0)
    with pytest.raises(ValueError, match="cannot be read"):
        installation(home)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T12:00:00.000005+00:00",
        "2026-11-30T12:00:00+00:00",
        "2026-11-30T12:00:00Z",
        "2026-11-30T07:00:00-05:00",
        "20261130T120000+0000",
    ],
)
def test_a_record_with_any_time_that_has_an_offset_is_read(text: str) -> None:
    found = parse(_record(created_at=text, added_by_a_later_version=[1]))
    assert found is not None
    assert found.created_at.replace(microsecond=0) == NOON.replace(microsecond=0)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.datetimes(timezones=st.timezones()), st.binary(min_size=16, max_size=16))
def test_a_record_survives_being_written_and_read(at: datetime, random: bytes) -> None:
    try:
        record = Installation("inst-" + random.hex(), at.astimezone(UTC))
    except OverflowError:
        return
    assert parse(encode(record)) == record


def test_every_cut_of_a_record_is_refused_or_still_whole() -> None:
    whole = encode(Installation(ID, NOON))
    found = {cut: parse(whole[:cut]) for cut in range(len(whole) + 1)}
    assert {cut for cut, record in found.items() if record} == {len(whole) - 1, len(whole)}


def test_a_record_made_between_our_miss_and_our_look_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race of concurrent first calls, at its narrowest."""
    made: list[Installation] = []

    def miss_then_read(path: str, limit: int) -> bytes | None:
        if not made:
            made.append(Installation(ID, NOON))
            atomic.link_new(path, encode(made[0]))
            return None
        return atomic.read(path, limit)

    monkeypatch.setattr("scripts.swarm_v2.installation.read_file", miss_then_read)
    assert [read(home)] == made


def test_sixteen_processes_agree_on_one_record_and_one_cutover(home: Path) -> None:
    answers = at_once(
        16,
        "from scripts.swarm_v2.installation import installation",
        "print(*installation(sys.argv[1]))",
        home / "deep" / "er",
    )
    assert len(set(answers)) == 1
    left = sorted(os.listdir(home / "deep" / "er"))
    assert [name for name in left if "tmp" in name or "lock" in name] == []
    assert read(home / "deep" / "er") is not None


# Where os.link answers as a filesystem without hard links does.
NO_LINKS = """
import errno, os
def refuse(*args, **named):
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))
os.link = refuse
from scripts.swarm_v2.installation import installation
"""


def test_without_hard_links_sixteen_processes_still_agree(home: Path) -> None:
    answers = at_once(16, NO_LINKS, "print(*installation(sys.argv[1]))", home)
    assert len(set(answers)) == 1
    assert [name for name in os.listdir(home) if name.endswith(".tmp")] == []


def test_without_hard_links_a_damaged_record_is_not_replaced(home: Path) -> None:
    home.mkdir()
    (home / "installation.json").write_bytes(b"")
    code = "\ntry: installation(sys.argv[1])\nexcept ValueError as err: print('refused')"
    assert run_code(NO_LINKS + code, home) == "refused\n"
    assert (home / "installation.json").read_bytes() == b""


def test_a_home_that_came_from_another_machine_is_told(home: Path) -> None:
    if not machine_id():
        pytest.skip("this machine has no id")
    installation(home, NOON)
    assert copied_from_elsewhere(home) is False
    assert copied_from_elsewhere(home, "f" * 32) is True
    assert machine_id() not in (home / "installation.machine").read_text(encoding="utf-8")


@pytest.mark.parametrize("damage", ["gone", "torn", "folder", "of another record"])
def test_where_the_machine_was_not_noted_nothing_is_claimed(home: Path, damage: str) -> None:
    installation(home, NOON)
    side = home / "installation.machine"
    side.unlink(missing_ok=True)
    if damage == "torn":
        side.write_text('{"installation_id":')
    elif damage == "folder":
        side.mkdir()
    elif damage == "of another record":
        side.write_text(json.dumps({"installation_id": ID, "machine": "0" * 32}))
    assert copied_from_elsewhere(home, "f" * 32) is None


def test_a_home_without_a_record_came_from_nowhere(home: Path) -> None:
    assert copied_from_elsewhere(home) is None


def test_a_machine_without_an_id_claims_nothing(home: Path) -> None:
    installation(home, NOON)
    assert copied_from_elsewhere(home, "") is None
