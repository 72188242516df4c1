"""Warnings: what the author of a spec may not have meant."""

import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from foliot.domain.calendar import Reading
from foliot.domain.clock_changes import ClockChange, Effect, clock_changes
from foliot.domain.description import say_moment, say_wall
from foliot.domain.durations import DAY, say_duration
from foliot.domain.fields import DAY_OF_MONTH, DAY_OF_WEEK, YEAR, Field
from foliot.domain.plan import Plan
from foliot.domain.times import Times
from foliot.domain.zones import FIRST_INSTANT, LAST_INSTANT, Zone, deprecated_alias_of, is_fixed_offset

_YEAR = 366 * DAY
_TWO_YEARS = 731 * DAY
_MOST_TIMES_LISTED = 4


class WarningCode(StrEnum):
    UNEVEN_STEP = "uneven_step"
    BOTH_DAY_FIELDS = "both_day_fields"
    NEVER_MATCHES = "never_matches"
    RARE = "rare"
    EXHAUSTED = "exhausted"
    DST = "dst"
    DEPRECATED_ZONE = "deprecated_zone"
    FIXED_OFFSET_ZONE = "fixed_offset_zone"


class SpecWarning(NamedTuple):
    code: WarningCode
    message: str


def warnings_about(plan: Plan, times: Times, now: int) -> list[SpecWarning]:
    """All that is odd about the spec, seen from `now`."""
    now = min(max(now, FIRST_INSTANT), LAST_INSTANT)
    found = [warning for reading in plan.readings for warning in _about_reading(reading)]
    if not plan.manual:
        found += _about_rarity(plan, times, now)
    found += _about_clock_changes(plan.zone, clock_changes(times, now, now + _TWO_YEARS))
    found += _about_zone(plan.zone)
    return list(dict.fromkeys(found))


def _about_reading(reading: Reading) -> Iterator[SpecWarning]:
    for field in reading.fields:
        yield from _about_steps(field, reading.text)
    if reading.either_day:
        yield SpecWarning(
            WarningCode.BOTH_DAY_FIELDS,
            f"{reading.text!r} sets both day fields: it fires when day_of_month is {reading.day_of_month.text!r} OR "
            f"day_of_week is {reading.day_of_week.text!r}. For days that match both, use a calendar.",
        )
    if longest := reading.longest_month_without_its_day():
        yield SpecWarning(
            WarningCode.NEVER_MATCHES,
            f"{reading.text!r} never matches: month {reading.month.text!r} has at most {longest} days.",
        )


_STEP = re.compile(r"(\*|\d+)(?:-(\d+))?/(\d+)", re.ASCII)


def _about_steps(field: Field, text: str) -> Iterator[SpecWarning]:
    if field.kind is YEAR:
        return
    cycle = 7 if field.kind is DAY_OF_WEEK else field.kind.high - field.kind.low + 1
    for item in field.text.split(","):
        match = _STEP.fullmatch(item)
        if not match or int(match[3]) == 1 or (match[2] and int(match[2]) < field.kind.low + cycle - 1):
            continue  # Not a step, or one in a range that is not meant to go round.
        step = int(match[3])
        first = field.kind.low if match[1] == "*" else int(match[1])
        last = first + (min(field.kind.high, first + cycle - 1) - first) // step * step
        if cycle % step or first - field.kind.low >= step or field.kind is DAY_OF_MONTH:
            wrap = "" if field.kind is DAY_OF_MONTH else f", {first + cycle - last} later"
            yield SpecWarning(
                WarningCode.UNEVEN_STEP,
                f"{item!r} in field {field.kind.name!r} of {text!r} does not divide its range evenly: "
                f"after {last} comes {first} again{wrap}.",
            )


def _about_rarity(plan: Plan, times: Times, now: int) -> Iterator[SpecWarning]:
    coming = times.next_after(now)
    if coming is None:
        yield SpecWarning(WarningCode.EXHAUSTED, f"It names no moment after {say_moment(now, plan.zone)}.")
        return
    following = times.next_after(coming)
    if following is not None and following - coming > _YEAR:
        next_two = f"next {say_moment(coming, plan.zone)}, then {say_moment(following, plan.zone)}"
        yield SpecWarning(WarningCode.RARE, f"It fires less than once a year: {next_two}.")


_WHAT_HAPPENS = {
    Effect.SKIPPED: "{times} {do} not exist in {zone}: skipped",
    Effect.FIRST: "{times} {occur} twice in {zone}: it runs once, at the first",
    Effect.SECOND: "{times} {occur} twice in {zone}: it runs once, at the second",
    Effect.BOTH: "{times} {occur} twice in {zone}: it runs both times",
}


def _about_clock_changes(zone: Zone, changes: list[ClockChange]) -> Iterator[SpecWarning]:
    touched = [change for change in changes if not change.steady]
    for (instant, effect), group in groupby(touched, key=lambda change: (change.instant, change.effect)):
        seconds = sorted({second for change in group for second in change.wall_seconds})
        what = _WHAT_HAPPENS.get(effect) or "{times} {do} not exist in {zone}: it runs at " + _clock(
            instant + zone.offset_at(instant)
        )
        many = len(seconds) > 1
        said = what.format(
            times=_say_times(seconds), zone=zone.name, do="do" if many else "does", occur="occur" if many else "occurs"
        )
        yield SpecWarning(WarningCode.DST, f"On {say_wall(seconds[0])[:10]} {said}.")


def _say_times(wall_seconds: list[int]) -> str:
    more = len(wall_seconds) - _MOST_TIMES_LISTED
    said = ", ".join(_clock(second) for second in wall_seconds[:_MOST_TIMES_LISTED])
    return f"{said} and {more} more" if more > 0 else said


def _clock(wall_second: int) -> str:
    return say_wall(wall_second)[11:]


def _about_zone(zone: Zone) -> Iterator[SpecWarning]:
    if better := deprecated_alias_of(zone.name):
        yield SpecWarning(WarningCode.DEPRECATED_ZONE, f"{zone.name!r} is an old name: use {better!r}.")
    if is_fixed_offset(zone.name):
        offset = zone.offsets[-1]
        ahead = "ahead of" if offset > 0 else "behind"
        yield SpecWarning(
            WarningCode.FIXED_OFFSET_ZONE,
            f"{zone.name!r} is always {say_duration(abs(offset))} {ahead} UTC: it follows no summer time. "
            "Use a place, such as 'America/New_York'.",
        )
