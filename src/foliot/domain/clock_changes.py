"""What clock changes do to a spec's times: which are shifted, skipped or repeated."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.almanac import Almanac
from foliot.domain.calendar import FoldRule, GapRule
from foliot.domain.fields import HOUR
from foliot.domain.times import Times
from foliot.domain.zones import Range


class Effect(StrEnum):
    """What a clock change does to a wall-clock time of a calendar."""

    SHIFTED = "shifted"
    SKIPPED = "skipped"
    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


_EFFECT_OF_GAP = {GapRule.SHIFT: Effect.SHIFTED, GapRule.SKIP: Effect.SKIPPED}
_EFFECT_OF_FOLD = {FoldRule.FIRST: Effect.FIRST, FoldRule.SECOND: Effect.SECOND, FoldRule.BOTH: Effect.BOTH}


class ClockChange(NamedTuple):
    """One clock change that touches one calendar's times."""

    instant: int
    effect: Effect
    wall_seconds: tuple[int, ...]
    """The times touched, as the clock on the wall shows them, in seconds since 1970-01-01 00:00 there."""
    steady: bool
    """The calendar fires in every hour and follows elapsed time: nothing is lost or doubled in real time."""


def clock_changes(times: Times, start: int, end: int) -> list[ClockChange]:
    """What the clock changes in [start, end) do to the calendars' times, in order of time.

    A time that is excluded or out of bounds anyway is not touched.
    """
    almanac = times.almanac
    zone = almanac.zone
    found = []
    for group in almanac.groups:
        steady = group.hour == HOUR.all and group.gap is GapRule.SKIP and group.fold is FoldRule.BOTH
        for gap in zone.gaps_within(start, end):
            if group.gap is GapRule.SKIP:
                touched = almanac.lost_in(gap, group)
            else:
                touched = group.seconds_on_wall(gap.wall, almanac.grain) if times.matches(gap.instant) else ()
            found.append(ClockChange(gap.instant, _EFFECT_OF_GAP[group.gap], touched, steady))
        for span in zone.repeats_within(start, end):
            offset = zone.offset_at(span.start)
            seconds = group.seconds_on_wall(Range(span.start + offset, span.end + offset), almanac.grain)
            touched = tuple(second for second in seconds if any(map(times.matches, zone.instants_of(second))))
            found.append(ClockChange(span.start, _EFFECT_OF_FOLD[group.fold], touched, steady))
    return sorted(change for change in found if change.wall_seconds)


def seconds_lost(times: Times, start: int, end: int) -> Iterator[int]:
    """The wall-clock seconds at which it would have fired, had gaps that end in [start, end) not removed them."""
    almanac = times.almanac
    skipping = [group for group in almanac.groups if group.gap is GapRule.SKIP]
    for gap in almanac.zone.gaps_within(start, end):
        yield from sorted({second for group in skipping for second in almanac.lost_in(gap, group)})


def effect_on(almanac: Almanac, instant: int) -> Effect | None:
    """The hand that a clock change had in this instant of the spec: shifted to it, or one of two of the same name."""
    zone = almanac.zone
    for gap in zone.gaps_within(instant, instant + 1):
        if any(
            group.gap is GapRule.SHIFT and group.seconds_on_wall(gap.wall, almanac.grain) for group in almanac.groups
        ):
            return Effect.SHIFTED
    shown = instant + zone.offset_at(instant)
    folds = {
        group.fold
        for group in almanac.groups
        if group.seconds_on_wall(Range(shown, shown + almanac.grain), almanac.grain)
    }
    if zone.is_repeat(instant) and folds & {FoldRule.SECOND, FoldRule.BOTH}:
        return Effect.SECOND
    if zone.will_repeat(instant) and folds & {FoldRule.FIRST, FoldRule.BOTH}:
        return Effect.FIRST
    return None
