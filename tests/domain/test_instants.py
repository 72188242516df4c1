from datetime import UTC, datetime, timedelta, timezone
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.instants import instant_of, moment_of, rfc3339
from tests.builders import NOON

FIRST = 0
LAST = 7_258_118_400 * 1_000_000 - 1


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 11, 15, 12, tzinfo=UTC),
        datetime(2026, 11, 15, 13, tzinfo=timezone(timedelta(hours=1))),
        "2026-11-15T12:00:00Z",
        "2026-11-15T12:00:00.000000Z",
        "2026-11-15T07:00:00-05:00",
    ],
)
def test_a_moment_is_the_same_instant_however_it_is_said(moment: datetime | str) -> None:
    assert instant_of(moment, "until") == NOON


def test_microseconds_are_kept() -> None:
    assert instant_of("2026-11-15T12:00:00.000001Z", "until") == NOON + 1


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        (datetime(2026, 11, 15, 12), "until takes a moment with its offset"),
        ("2026-11-15T12:00:00", "until takes a moment with its offset"),
        ("tomorrow", "until takes a moment such as 2026-11-15T09:00:00Z, got 'tomorrow'"),
        ("x" * 1000, "got 'x{64}'$"),
        (1_794_744_000, "until takes an aware datetime or RFC 3339 text, got 1794744000"),
        (None, "until takes an aware datetime or RFC 3339 text, got None"),
        ("1969-12-31T23:59:59.999999Z", "until takes a moment of the years 1970-2199"),
        ("2200-01-01T00:00:00Z", "until takes a moment of the years 1970-2199"),
        ("0001-01-01T00:00:00+14:00", "until takes a moment of the years 1970-2199"),
    ],
)
def test_anything_else_is_refused_by_name(moment: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        instant_of(cast(str, moment), "until")


@pytest.mark.parametrize("instant", [FIRST, LAST])
def test_the_first_and_the_last_instant_of_our_years_are_taken(instant: int) -> None:
    assert instant_of(moment_of(instant), "until") == instant


def test_a_whole_second_is_said_without_a_fraction() -> None:
    assert rfc3339(NOON) == "2026-11-15T12:00:00Z"
    assert rfc3339(NOON + 1) == "2026-11-15T12:00:00.000001Z"


@given(st.integers(FIRST, LAST))
def test_an_instant_survives_being_said(instant: int) -> None:
    assert instant_of(rfc3339(instant), "until") == instant
    assert instant_of(moment_of(instant), "until") == instant
    assert moment_of(instant).tzinfo is UTC
