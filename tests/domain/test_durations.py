from datetime import timedelta
from typing import Any

import pytest

from foliot import Invalid
from foliot.domain.durations import (
    DAY,
    duration_text,
    parse_duration,
    positive_span_of,
    say_duration,
    say_roughly,
    span_of,
    whole_seconds,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90m", timedelta(minutes=90)),
        ("1h30m", timedelta(minutes=90)),
        ("1.5h", timedelta(minutes=90)),
        ("2d", timedelta(days=2)),
        ("500ms", timedelta(milliseconds=500)),
        ("0.25s", timedelta(milliseconds=250)),
        ("1d1h1m1s1ms", timedelta(days=1, hours=1, minutes=1, seconds=1, milliseconds=1)),
    ],
)
def test_a_duration_is_the_sum_of_its_parts(text: str, expected: timedelta) -> None:
    assert parse_duration("every", text) == expected


@pytest.mark.parametrize("text", ["", "5", "m", "1w", "-5m", "+5m", "1h 30m", "1,5h", "1e3s", "٣m", "1h" * 5000])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(
        Invalid, match=r"^every takes a duration such as '90s' or '1h30m', got .*: give each number its"
    ):
        parse_duration("every", text)


@pytest.mark.parametrize("text", ["999999999999d", "99999999999999999999d", "1" * 63 + "s"])
def test_a_duration_longer_than_python_knows_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="every takes at most"):
        parse_duration("every", text)


@pytest.mark.parametrize(
    ("span", "seconds"),
    [("90m", 5400), ("0", 0), ("0s", 0), (timedelta(hours=1), 3600), (2, 2), (0.25, 0.25), ("84180d", 84_180 * DAY)],
)
def test_a_span_is_text_a_timedelta_or_seconds(span: Any, seconds: float) -> None:
    assert span_of("grace", span) == seconds * 10**6


def test_an_option_that_0_means_nothing_to_refuses_it_with_what_to_do() -> None:
    assert positive_span_of("timeout", "1ms") == 1000
    with pytest.raises(Invalid, match="timeout takes more than 0, got '0s': leave it out to have its default"):
        positive_span_of("timeout", "0s")


def test_a_fraction_of_a_second_is_refused_where_whole_seconds_are_wanted() -> None:
    assert whole_seconds("every", timedelta(minutes=1)) == 60
    with pytest.raises(Invalid, match="every takes whole seconds"):
        whole_seconds("every", timedelta(milliseconds=1500))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (5401, "1 h 30 min 1 s"), (90_061, "1 d 1 h 1 min 1 s"), (86_400, "1 d")],
)
def test_a_duration_is_said_exactly(seconds: int, said: str) -> None:
    assert say_duration(seconds) == said


def test_a_distance_is_said_in_its_two_largest_units() -> None:
    assert (say_roughly(90_061), say_roughly(0)) == ("1 d 1 h", "0 s")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("90m", "1h30m"),
        ("0s", "0s"),
        ("1d", "1d"),
        ("1500ms", "1s500ms"),
        ("36h1s", "1d12h1s"),
        ("0.000001s", "0.001ms"),
    ],
)
def test_a_duration_is_written_as_it_is_read(text: str, written: str) -> None:
    microseconds = parse_duration("span", text) // timedelta(microseconds=1)
    assert duration_text(microseconds) == written
    assert parse_duration("span", written) // timedelta(microseconds=1) == microseconds
