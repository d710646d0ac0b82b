from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.clock import compact, from_epoch, iso, parse_iso

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
quick = settings(deadline=None, max_examples=100)
instants = st.datetimes(
    min_value=datetime(1, 1, 3),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(9999, 12, 29),  # noqa: DTZ001 - hypothesis adds the zone
    timezones=st.timezones() | st.just(UTC),
).map(lambda at: at.astimezone(UTC))  # a local time may not exist, or twice


def test_an_instant_is_written_with_offset_and_microseconds() -> None:
    assert iso(NOON) == "2026-11-30T12:00:00.000000+00:00"
    assert compact(NOON) == "20261130T120000000000"
    east = timezone(timedelta(hours=2))
    assert iso(NOON.astimezone(east)) == iso(NOON)
    assert from_epoch(NOON.timestamp()) == NOON


@quick
@given(instants)
def test_an_instant_is_read_back_as_it_was_written(at: datetime) -> None:
    assert parse_iso(iso(at)) == at
    assert parse_iso(at.isoformat()) == at
    assert parse_iso(iso(at.astimezone(timezone(timedelta(hours=-3))))) == at


@quick
@given(instants, instants)
def test_written_instants_sort_as_the_instants_do(one: datetime, other: datetime) -> None:
    assert (iso(one) < iso(other)) == (one < other)
    assert (compact(one) < compact(other)) == (one < other)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T12:00:00.000Z",
        "2026-11-30T12:00:00",
        "2026-11-30 12:00",
        "2026-11-30T13:30+01:30",
        "20261130T120000",
        "20261130T12Z",
    ],
)
def test_every_common_spelling_of_an_instant_is_read(text: str) -> None:
    at = parse_iso(text)
    assert at == NOON
    assert at.tzinfo is UTC


@pytest.mark.parametrize(
    "junk",
    [
        None,
        5,
        1764504000.0,
        b"2026-11-30T12:00:00Z",
        ["2026-11-30T12:00:00Z"],
        "",
        "T",
        "today",
        "2026-11-30",
        "20261130",
        "2026-W48-1",
        "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-11-30T25:00:00Z",
        "2026-11-30T12:00:00Z\n",
        "2026-11-30T12:00:00+25:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-11-30T12:00:0\ud800",
        "٢٠٢٦-11-30T12:00:00Z",
    ],
    ids=ascii,
)
def test_what_names_no_instant_is_none(junk: object) -> None:
    assert parse_iso(junk) is None
