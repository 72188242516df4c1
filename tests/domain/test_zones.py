from datetime import UTC, datetime
from random import Random
from zoneinfo import ZoneInfo

import pytest

from foliot.domain.zones import (
    FIRST_INSTANT,
    LAST_INSTANT,
    Range,
    deprecated_alias_of,
    is_fixed_offset,
    load_zone,
    tzdata_version,
    zone_names,
)
from tests.builders import HARD_ZONES, at


def offset_by_zoneinfo(zone: ZoneInfo, instant: int) -> int:
    offset = datetime.fromtimestamp(instant, UTC).astimezone(zone).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


@pytest.mark.parametrize("part", range(8))
def test_every_zone_has_the_offsets_that_zoneinfo_has(part: int) -> None:
    random = Random(part)
    for name in sorted(zone_names())[part::8]:
        zone, reference = load_zone(name), ZoneInfo(name)
        changes = [change + nudge for change in zone.starts for nudge in (-1, 0)]
        anywhere = [random.randrange(FIRST_INSTANT, LAST_INSTANT) for _ in range(300)]
        for instant in changes + anywhere:
            if FIRST_INSTANT <= instant <= LAST_INSTANT:
                assert zone.offset_at(instant) == offset_by_zoneinfo(reference, instant), (name, instant)


def test_a_gap_has_its_wall_clock_times_and_the_first_instant_after_them() -> None:
    berlin = load_zone("Europe/Berlin")
    (gap,) = berlin.gaps_within(at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"))
    assert gap.instant == at("2026-03-29T01:00:00Z")
    assert gap.wall == Range(at("2026-03-29T02:00:00Z"), at("2026-03-29T03:00:00Z"))


def test_a_whole_day_is_missing_in_apia() -> None:
    (gap,) = load_zone("Pacific/Apia").gaps_within(at("2011-12-01T00:00:00Z"), at("2012-01-01T00:00:00Z"))
    assert gap.wall == Range(at("2011-12-30T00:00:00Z"), at("2011-12-31T00:00:00Z"))


@pytest.mark.parametrize("name", HARD_ZONES)
def test_wall_clock_times_have_the_instants_that_a_search_finds(name: str) -> None:
    zone = load_zone(name)
    random = Random(name)
    for change in random.sample(zone.starts, min(20, len(zone.starts))):
        for _ in range(20):
            wall = change + random.randrange(-40 * 3600, 40 * 3600)
            offsets = {offset for _, offset in zone.stretches(wall - 200_000, wall + 200_000)}
            expected = sorted(wall - offset for offset in offsets if zone.offset_at(wall - offset) == offset)
            assert zone.instants_of(wall) == expected
            if not expected:
                after = zone.end_of_gap(wall)
                assert after - 1 + zone.offset_at(after - 1) < wall < after + zone.offset_at(after)
            for instant in expected:
                assert zone.is_repeat(instant) == (instant != expected[0])
                assert zone.will_repeat(instant) == (instant != expected[-1])


def test_the_version_of_the_zone_files_is_known() -> None:
    assert tzdata_version()[:2] == "20"
    assert tzdata_version()[4:].isalpha()


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("US/Eastern", "America/New_York"),
        ("Asia/Calcutta", "Asia/Kolkata"),
        ("Europe/Kiev", "Europe/Kyiv"),
        ("Zulu", "UTC"),
        ("Europe/Oslo", None),
        ("Europe/Berlin", None),
        ("UTC", None),
        ("Etc/UTC", None),
    ],
)
def test_an_old_name_has_a_better_one(name: str, better: str | None) -> None:
    assert deprecated_alias_of(name) == better


@pytest.mark.parametrize(
    ("name", "fixed"),
    [("Etc/GMT+5", True), ("EST", True), ("UTC", False), ("GMT", False), ("Etc/GMT0", False), ("Asia/Kolkata", False)],
)
def test_a_fixed_offset_is_told_from_a_place(name: str, fixed: bool) -> None:
    assert is_fixed_offset(name) is fixed
