"""A spec as it is said in options or as JSON, and nothing but a refusal for what cannot be one."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from foliot import Calendar, Interval, Invalid, Spec
from foliot.services.configuration import OTHER_OPTIONS, POLICY_OPTIONS, stored_of
from foliot.services.specs import SPEC_OPTIONS, spec_of

HUGE = 10**4000
"""Of the numbers that JSON is read with, one of the largest."""
ODD: tuple[Any, ...] = (
    *(True, False, 5, 0, -1, 1.5, float("nan"), float("inf"), HUGE, -HUGE, 10**30),
    *(
        [],
        {},
        [[]],
        [None],
        [5],
        [{}],
        {"a": []},
        {"every": HUGE},
        {"hour": HUGE},
        {"hour": [{"start": -HUGE, "end": 1}]},
    ),
    *(
        "",
        " ",
        "a\x00",
        "\ud800",
        "*",
        "x" * 5000,
        "9" * 5000,
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ),
    *(
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59",
        {"attempts": HUGE},
        {"credits": HUGE},
        {"every": "1h", "anchor": []},
    ),
)


@pytest.mark.parametrize("name", [*OTHER_OPTIONS, *SPEC_OPTIONS, *POLICY_OPTIONS])
def test_whatever_an_option_is_told_it_is_taken_or_refused_in_words(name: str) -> None:
    for said in ODD:
        for rest in ({"cron": "0 9 * * *"}, {}):
            with suppress(Invalid):
                stored_of("digest", {**rest, name: said})


def test_calendars_and_intervals_are_said_as_objects() -> None:
    spec = spec_of(
        {
            "calendars": [{"hour": "9-17", "minute": 30}],
            "exclude": {"month": "12", "day_of_month": "25"},
            "every": {"every": "2h", "offset": "5m", "anchor": "start"},
            "start_at": "2026-11-15T09:00:00Z",
        }
    )
    whole = Spec(
        calendars=Calendar(hour="9-17", minute="30"),
        exclude=Calendar(month="12", day_of_month="25"),
        intervals=Interval(timedelta(hours=2), timedelta(minutes=5), "start"),
        start_at=spec.start_at,
    )
    assert spec.canonical() == whole.canonical()
    assert spec_of({"spec": whole.canonical()}).canonical() == whole.canonical()


def test_a_spec_of_very_many_parts_is_refused() -> None:
    with pytest.raises(Invalid, match="cron takes at most 100"):
        spec_of({"cron": ["* * * * *"] * 101})
