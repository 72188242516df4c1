"""Every answer against the written rule, read second by second (or minute by minute, where nothing is finer)."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foliot import Invalid, Spec
from foliot.domain.zones import load_zone, zone_names
from tests.builders import HARD_ZONES, a_spec, said
from tests.oracle import DAY, PlainSpec, WallClock, instants_of

HOUR = 3600


def check(spec: Spec, plain: PlainSpec, clock: WallClock) -> int:
    """All five questions give the oracle's instants; how many those are."""
    expected = instants_of(plain, clock)
    try:
        times = spec.compile()
    except Invalid:
        assert not expected, spec
        return 0
    start, end = clock.start, clock.end
    assert said(list(times.between(start, end))) == said(expected), spec
    forward, instant = [], times.next_after(start - 1)
    while instant is not None and instant <= end:
        forward.append(instant)
        instant = times.next_after(instant)
    backward, instant = [], times.previous_before(end + 1)
    while instant is not None and instant >= start:
        backward.append(instant)
        instant = times.previous_before(instant)
    assert forward == backward[::-1] == expected, spec
    assert times.count_between(start, end) == len(expected), spec
    named = set(expected)
    for moment in range(start, end, 7 * clock.step):
        assert times.matches(moment) == (moment in named), spec
    return len(expected)


def check_around(zone: str, change: int, random: Random, specs: int, seconds: bool = False) -> int:
    table = load_zone(zone)
    step = 1 if seconds or table.grain < 60 else 60
    reach = HOUR if step == 1 else 6 * HOUR
    change -= change % step
    offsets = [offset for _, offset in table.stretches(change - 2 * DAY, change + 2 * DAY)]
    clock = WallClock(zone, change - reach, change + reach, step, max(offsets) - min(offsets) + 60)
    hours = sorted({shown.hour for instant, shown in clock.instants.items() if abs(instant - change) < 2 * HOUR})
    window = (change - reach, change + reach)
    return sum(check(*a_spec(random, zone, window, hours, seconds), clock) for _ in range(specs))


@given(st.sampled_from(HARD_ZONES), st.integers(0, 2**32))
def test_specs_around_a_clock_change_name_what_the_written_rule_names(zone: str, seed: int) -> None:
    changes = [change for change in load_zone(zone).starts if change > 3 * DAY]
    random = Random(seed)
    check_around(zone, random.choice(changes), random, specs=4)


@settings(max_examples=settings().max_examples // 2)
@given(st.sampled_from(HARD_ZONES), st.integers(0, 2**32))
def test_specs_with_seconds_around_a_clock_change_name_what_the_written_rule_names(zone: str, seed: int) -> None:
    changes = [change for change in load_zone(zone).starts if change > 3 * DAY]
    random = Random(seed)
    check_around(zone, random.choice(changes), random, specs=1, seconds=True)


@given(st.sampled_from(sorted(zone_names())), st.integers(3 * DAY, 7_257_000_000), st.integers(0, 2**32))
def test_specs_at_any_time_in_any_zone_name_what_the_written_rule_names(zone: str, start: int, seed: int) -> None:
    check_around(zone, start, Random(seed), specs=4)


def test_the_oddest_offset_of_all_is_read_to_the_second() -> None:
    """Monrovia was 44 min 30 s behind Greenwich until 1972."""
    random = Random(1972)
    change = load_zone("Africa/Monrovia").starts[-1]
    assert sum(check_around("Africa/Monrovia", change, random, specs=5, seconds=True) for _ in range(4)) > 100


def distinct_zones() -> list[str]:
    """One name for each different history of clocks."""
    return sorted({load_zone(name)[1:3]: name for name in sorted(zone_names(), reverse=True)}.values())


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(16))
def test_every_clock_change_of_every_zone_from_2000_to_2037_follows_the_written_rule(part: int) -> None:
    compared = 0
    for zone in distinct_zones()[part::16]:
        for change in load_zone(zone).changes(946_684_800, 2_145_916_800):
            compared += check_around(zone, change, Random(f"{zone} {change}"), specs=4)
    assert compared > 10_000
