from datetime import timedelta

import pytest

from foliot import Invalid
from foliot.domain.durations import parse_duration, say_duration, say_roughly, whole_seconds


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
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "5", "m", "1w", "-5m", "+5m", "1h 30m", "1,5h", "1e3s", "٣m", "1h" * 5000])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="a duration is a sum of numbers"):
        parse_duration(text)


def test_a_duration_longer_than_python_knows_is_refused() -> None:
    with pytest.raises(Invalid, match="at most"):
        parse_duration("999999999999d")


def test_a_fraction_of_a_second_is_refused_where_whole_seconds_are_wanted() -> None:
    assert whole_seconds(timedelta(minutes=1), "every") == 60
    with pytest.raises(Invalid, match="every takes whole seconds"):
        whole_seconds(timedelta(milliseconds=1500), "every")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (5401, "1 h 30 min 1 s"), (90_061, "1 d 1 h 1 min 1 s"), (86_400, "1 d")],
)
def test_a_duration_is_said_exactly(seconds: int, said: str) -> None:
    assert say_duration(seconds) == said


def test_a_distance_is_said_in_its_two_largest_units() -> None:
    assert (say_roughly(90_061), say_roughly(0)) == ("1 d 1 h", "0 s")
