"""No question is answered by walking: its cost, counted in function calls rather than on a clock, stays small."""

from contextlib import suppress
from datetime import timedelta

import pytest

from foliot import Calendar, Interval, Invalid, Spec
from foliot.domain.clock_changes import seconds_lost
from foliot.domain.comparison import compare
from tests.builders import at
from tests.calls import calls

NOW = at("2026-11-15T00:00:00Z")
SECOND = timedelta(seconds=1)
ALL_BUT_MIDNIGHT = (Calendar(hour="1-23"), Calendar(minute="1-59"), Calendar(second="1-59"))


SPECS = {
    "leap day on a Monday": Spec(calendars=(Calendar(day_of_month="29", month="2", day_of_week="MON"),)),
    "once in 2199": Spec(cron=("0 0 9 31 12 ? 2199",)),
    "a second a year": Spec(
        cron=("* * * * * *",), exclude=(*ALL_BUT_MIDNIGHT, Calendar(month="2-12"), Calendar(day_of_month="2-31"))
    ),
    "every second of 2199": Spec(intervals=(Interval(SECOND),), exclude=(Calendar(year="1970-2198"),)),
    "excluded hour by hour until 2199": Spec(
        cron=("* * * * *",), exclude=tuple(Calendar(hour=str(hour), year="1970-2198") for hour in range(24))
    ),
    "an interval that meets midnight once in 136 years": Spec(
        intervals=(Interval(49_999 * SECOND),), exclude=ALL_BUT_MIDNIGHT
    ),
    "an interval of 60 years": Spec(intervals=(Interval(timedelta(days=21_915)),)),
    "five hundred cron texts": Spec(cron=tuple(f"{n % 59} {n % 23} {n % 28 + 1} * *" for n in range(500))),
}


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@pytest.mark.parametrize("name", SPECS)
def test_a_rare_or_excluded_time_is_found_in_a_bounded_number_of_steps(name: str, zone: str) -> None:
    spec = SPECS[name]
    times = Spec(
        **{field: getattr(spec, field) for field in ("cron", "calendars", "intervals", "exclude")}, timezone=zone
    ).compile()
    assert calls(lambda: times.next_after(NOW)) < 20_000
    assert calls(lambda: times.next_after(NOW)) < 20, "the second time it is remembered"


def test_a_spec_that_never_matches_is_refused_in_a_bounded_number_of_steps() -> None:
    def refuse() -> None:
        with pytest.raises(Invalid):
            Spec(cron=("* * * * * *",), exclude=tuple(Calendar(hour=str(hour)) for hour in range(24))).compile()

    assert calls(refuse) < 40_000


def test_a_century_of_seconds_is_counted_by_pages() -> None:
    times = Spec(cron=("* * * * * *",), timezone="America/New_York").compile()
    assert calls(lambda: times.count_between(0, 100 * 366 * 86_400)) < 150_000


MANY_INTERVALS = tuple(Interval(second * SECOND) for second in range(3, 103))


@pytest.mark.parametrize("cron", [(), ("0 9 * * *",)])
def test_what_would_take_long_to_count_is_bounded_in_a_few_steps(cron: tuple[str, ...]) -> None:
    """A hundred intervals of half a century took half a minute, and whoever wrote meanwhile waited."""
    exclude = (Calendar(second="7", minute="*", hour="*"),)
    times = Spec(cron=cron, intervals=MANY_INTERVALS, timezone="America/New_York", exclude=exclude).compile()
    assert calls(lambda: times.count_roughly(0, NOW)) < 2_000
    count = times.count_roughly(0, NOW)
    assert not count.is_exact
    assert NOW * 0.5 < count.number <= NOW + 1


def test_an_edit_is_compared_in_a_bounded_number_of_steps_whatever_comes_between() -> None:
    before, after = Spec(cron=("0 0 29 2 *",)).compile(), Spec(intervals=MANY_INTERVALS).compile()
    assert calls(lambda: compare(before, after, NOW, 20)) < 500_000


def test_what_gaps_remove_is_found_at_once_for_all_of_their_seconds() -> None:
    """Each second of each gap of two centuries was held against each exclusion: a minute for one preview."""
    exclude = tuple(Calendar(second=str(second), minute="*", hour="*", year="1970-2198") for second in range(60))
    times = Spec(cron=("* * * * * *",), timezone="America/New_York", exclude=exclude).compile()
    assert calls(lambda: list(seconds_lost(times, NOW, times.almanac.last))) < 200_000


def test_creating_a_spec_and_asking_once_works_out_only_what_is_asked() -> None:
    Spec(cron=("1 1 * * 1",), timezone="America/New_York").compile().next_after(NOW)

    def create() -> None:
        Spec(cron=("17 3 * * 2",), timezone="America/New_York").compile().next_after(NOW)

    assert calls(create) < 1500


@pytest.mark.parametrize(
    "text",
    [
        "1" * 10_000,
        "," * 10_000,
        "*/1," * 2_500,
        "0/" * 5_000,
        "L" * 10_000,
        "@every " + "1h" * 4_900,
        "TZ=" + "A" * 9_000 + " * * * * *",
        "* " * 5_000,
        "é" * 10_000,
        " ".join([",".join(f"*/{step}" for step in range(1, 380))] * 5),
        "0 0 " + ",".join(f"{day}W,L-{day - 1}" for day in range(1, 32)) + " * */2,1#1,2#2,3#3,4#4,5#5,5L",
    ],
    ids=lambda text: text[:12],
)
def test_any_text_of_ten_thousand_characters_is_read_in_a_bounded_number_of_steps(text: str) -> None:
    def read() -> None:
        with suppress(Invalid):
            Spec(cron=(text[:10_000],)).canonical()

    assert calls(read) < 30_000
