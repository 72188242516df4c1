"""Time zones as tables of clock changes. The only module that reads zone files.

Zones come from the `tzdata` package and never from the host, so that two machines with the same lock file agree on
every instant. `zoneinfo` answers "which offset now?", but does not say when the next change is; this does.
"""

import re
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from math import gcd
from pkgutil import get_data
from typing import NamedTuple

from foliot.domain.days import NEW_YEARS
from foliot.domain.durations import DAY, HOUR, MINUTE
from foliot.domain.errors import Invalid
from foliot.domain.fields import FIRST_YEAR, LAST_YEAR, quoted

UTC = "UTC"

FIRST_INSTANT = 0
LAST_INSTANT = NEW_YEARS[-1] * DAY - 1
_NEAR = 2 * DAY
"""Farther apart than this, two changes cannot touch the same wall-clock times."""


class Range(NamedTuple):
    """From `start` up to but without `end`."""

    start: int
    end: int


class ClockGap(NamedTuple):
    """Wall-clock times that do not exist, and the first instant after them."""

    instant: int
    wall: Range


class Zone(NamedTuple):
    name: str
    starts: tuple[int, ...]
    """The instants at which the offset changes, in order."""
    offsets: tuple[int, ...]
    """The offsets in seconds east of Greenwich: before the first change, and after each."""
    gaps: tuple[ClockGap, ...]
    gap_windows: frozenset[Range]
    """Which times of day gaps skip, in seconds from midnight; one that begins before midnight may end after it."""
    firsts: tuple[Range, ...]
    """Instants whose wall-clock time will occur again."""
    repeats: tuple[Range, ...]
    """Instants whose wall-clock time has occurred before."""
    grain: int
    """Offsets and changes are multiples of so many seconds: a divisor of 60, or 60 times a divisor of 60."""

    def offset_at(self, instant: int) -> int:
        return self.offsets[bisect_right(self.starts, instant)]

    def stretches(self, start: int, end: int) -> Iterator[tuple[Range, int]]:
        """The parts of [start, end) between clock changes, each with its offset."""
        place = bisect_right(self.starts, start)
        while start < end:
            stop = min(end, self.starts[place]) if place < len(self.starts) else end
            yield Range(start, stop), self.offsets[place]
            start = stop
            place += 1

    def changes(self, start: int, end: int) -> tuple[int, ...]:
        """The instants in [start, end) at which the clock changes."""
        return self.starts[bisect_left(self.starts, start) : bisect_left(self.starts, end)]

    def repeats_within(self, start: int, end: int) -> tuple[Range, ...]:
        """The repeated stretches that begin at an instant in [start, end)."""
        return self.repeats[bisect_left(self.repeats, (start,)) : bisect_left(self.repeats, (end,))]

    def is_repeat(self, instant: int) -> bool:
        """The clock on the wall has shown this time before."""
        return any(span.start <= instant < span.end for span in self.repeats)

    def will_repeat(self, instant: int) -> bool:
        """The clock on the wall will show this time again."""
        return any(span.start <= instant < span.end for span in self.firsts)

    def instants_of(self, wall: int) -> list[int]:
        """The instants at which the clock on the wall shows this second: mostly one, none in a gap, two in a fold."""
        found = {wall - offset for _, offset in self.stretches(wall - _NEAR, wall + _NEAR)}
        return sorted(instant for instant in found if instant + self.offset_at(instant) == wall)

    def end_of_gap(self, wall: int) -> int:
        """The first instant after the gap that this wall-clock second lies in."""
        return next(gap.instant for gap in self.gaps if gap.wall.start <= wall < gap.wall.end)

    def gaps_within(self, start: int, end: int) -> tuple[ClockGap, ...]:
        """The gaps that end at an instant in [start, end)."""
        return self.gaps[bisect_left(self.gaps, (start,)) : bisect_left(self.gaps, (end,))]


@lru_cache(maxsize=1024)
def load_zone(name: str) -> Zone:
    """The zone of that IANA name; Invalid, with the nearest name, when there is none."""
    if name not in zone_names():
        from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it, every start would pay for it

        near = get_close_matches(name, zone_names(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise Invalid(f"timezone takes an IANA name such as 'Europe/Berlin' or 'UTC', got {quoted(name)}{hint}")
    starts, offsets = _read_zone_file(_tzdata(f"zoneinfo/{name}"))
    stretches = _wall_stretches(starts, offsets)
    firsts, repeats = _repeated(stretches)
    gaps = _gaps(stretches)
    windows = frozenset(
        Range(gap.wall.start % DAY, gap.wall.start % DAY + gap.wall.end - gap.wall.start) for gap in gaps
    )
    return Zone(name, starts, offsets, gaps, windows, firsts, repeats, _grain(starts, offsets))


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    return frozenset(_tzdata("zones").decode().split()) - {"Factory"}


@lru_cache(maxsize=1)
def tzdata_version() -> str:
    """The IANA release of the installed zone files, such as `2026f`."""
    return _tzdata("zoneinfo/tzdata.zi").split(None, 3)[2].decode()


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    lines = _tzdata("zoneinfo/tzdata.zi").decode().splitlines()
    return {alias: target for _, target, alias in (line.split() for line in lines if line.startswith("L "))}


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    lines = _tzdata("zoneinfo/zone.tab").decode().splitlines()
    return frozenset(line.split("\t")[2] for line in lines if line and not line.startswith("#"))


def deprecated_alias_of(name: str) -> str | None:
    """The name to use instead, when this one is kept only for old software: `US/Eastern`, `Asia/Calcutta`."""
    if name in _places() or name in (UTC, "GMT"):
        return None
    target = _aliases().get(name)
    return UTC if target == "Etc/UTC" else target


def is_fixed_offset(name: str) -> bool:
    """An offset from UTC by name, such as `Etc/GMT+5` or `EST`: no summer time, wherever its user lives."""
    return name in ("EST", "MST", "HST") or (name.startswith(("Etc/GMT", "GMT")) and load_zone(name).offsets[-1] != 0)


def _tzdata(path: str) -> bytes:
    data = get_data("tzdata", path)
    assert data is not None
    return data


def _read_zone_file(data: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Changes and offsets from 1970 to 2199 out of a TZif file (RFC 9636), version 2 or later."""
    # A version 1 block with 32-bit times comes first and is passed over.
    counts = struct.unpack_from(">6l", data, 20)
    place = 44 + _block_size(counts, 4)
    isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt = struct.unpack_from(">6l", data, place + 20)
    place += 44
    times = struct.unpack_from(f">{timecnt}q", data, place)
    kinds = struct.unpack_from(f">{timecnt}B", data, place + 8 * timecnt)
    types = [struct.unpack_from(">lBB", data, place + 9 * timecnt + 6 * number)[0] for number in range(typecnt)]
    end = place + _block_size((isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt), 8)
    changes = [(-(1 << 62), types[0]), *zip(times, (types[kind] for kind in kinds), strict=True)]
    changes += _changes_by_rule(data[end + 1 :].split(b"\n")[0].decode(), after=changes[-1][0])
    return _in_range(changes)


def _block_size(counts: tuple[int, ...], time_size: int) -> int:
    isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt = counts
    return timecnt * (time_size + 1) + typecnt * 6 + charcnt + leapcnt * (time_size + 4) + isstdcnt + isutcnt


def _in_range(changes: list[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Drops what lies outside our years, and changes of name only."""
    starts: list[int] = []
    offsets: list[int] = []
    for instant, offset in changes:
        if instant <= FIRST_INSTANT - _NEAR:
            offsets = [offset]
        elif instant <= LAST_INSTANT + _NEAR and offset != offsets[-1]:
            starts.append(instant)
            offsets.append(offset)
    return tuple(starts), tuple(offsets)


_NAME = r"(?:[A-Za-z]{3,}|<[^>]+>)"
_TIME = r"[+-]?\d+(?::\d+)*"
_DATE = rf"M(\d+)\.(\d)\.(\d)(?:/({_TIME}))?"
_RULE = re.compile(rf"{_NAME}({_TIME})(?:{_NAME}({_TIME})?,{_DATE},{_DATE})?")


def _changes_by_rule(rule: str, after: int) -> list[tuple[int, int]]:
    """What the file's last line, a POSIX TZ text such as `CET-1CEST,M3.5.0,M10.5.0/3`, says of the years to come."""
    match = _RULE.fullmatch(rule)
    assert match, rule
    standard = -_seconds(match[1])
    if not match[3]:
        return [(after + 1, standard)] if after < FIRST_INSTANT else []
    summer = -_seconds(match[2]) if match[2] else standard + HOUR
    to_summer, to_standard = match.group(3, 4, 5, 6), match.group(7, 8, 9, 10)
    changes = []
    for year in range(FIRST_YEAR, LAST_YEAR + 1):
        changes.append((_nth_weekday(year, *to_summer) - standard, summer))
        changes.append((_nth_weekday(year, *to_standard) - summer, standard))
    return sorted(change for change in changes if change[0] > after)


def _seconds(text: str) -> int:
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    size = sum(part * unit for part, unit in zip(parts, (HOUR, MINUTE, 1), strict=False))
    return -size if text.startswith("-") else size


def _nth_weekday(year: int, month: str, week: str, weekday: str, time: str | None) -> int:
    """The wall-clock second of `M3.5.0/2`: the last (5) Sunday (0) of March at two."""
    first = _days_before_month(year, int(month))
    day = first + (int(weekday) - (first + 4)) % 7 + 7 * (int(week) - 1)
    while day >= _days_before_month(year, int(month) + 1):
        day -= 7
    return day * DAY + (_seconds(time) if time else 2 * HOUR)


def _days_before_month(year: int, month: int) -> int:
    new_year = NEW_YEARS[year - FIRST_YEAR]
    leap = NEW_YEARS[year - FIRST_YEAR + 1] - new_year == 366
    return new_year + (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)[month - 1] + (leap and month > 2)


class _Stretch(NamedTuple):
    """Between two clock changes: instants, and the wall-clock times they have."""

    instants: Range
    wall: Range


def _wall_stretches(starts: tuple[int, ...], offsets: tuple[int, ...]) -> list[_Stretch]:
    edges = [FIRST_INSTANT - 4 * _NEAR, *starts, LAST_INSTANT + 4 * _NEAR]
    return [
        _Stretch(Range(start, end), Range(start + offset, end + offset))
        for start, end, offset in zip(edges, edges[1:], offsets, strict=False)
    ]


def _neighbours(stretches: list[_Stretch], place: int) -> Iterator[tuple[int, _Stretch]]:
    """The other stretches near enough to share wall-clock times with this one."""
    mine = stretches[place].instants
    for other in range(place - 1, -1, -1):
        if mine.start - stretches[other].instants.end >= _NEAR:
            break
        yield other, stretches[other]
    for other in range(place + 1, len(stretches)):
        if stretches[other].instants.start - mine.end >= _NEAR:
            break
        yield other, stretches[other]


def _repeated(stretches: list[_Stretch]) -> tuple[tuple[Range, ...], tuple[Range, ...]]:
    firsts: list[Range] = []
    repeats: list[Range] = []
    for place, (instants, wall) in enumerate(stretches):
        offset = wall.start - instants.start
        for other, neighbour in _neighbours(stretches, place):
            shared = Range(max(wall.start, neighbour.wall.start) - offset, min(wall.end, neighbour.wall.end) - offset)
            if shared.start < shared.end:
                (firsts if other > place else repeats).append(shared)
    return tuple(sorted(firsts)), tuple(sorted(repeats))


def _gaps(stretches: list[_Stretch]) -> tuple[ClockGap, ...]:
    gaps = []
    for place in range(1, len(stretches)):
        before, after = stretches[place - 1], stretches[place]
        if before.wall.end >= after.wall.start:
            continue
        missing = [Range(before.wall.end, after.wall.start)]
        # A time skipped here may exist all the same, when the clock is soon put back again.
        for _, other in _neighbours(stretches, place):
            missing = [part for span in missing for part in _without(span, other.wall)]
        gaps += [ClockGap(after.instants.start, span) for span in missing if span.start < span.end]
    return tuple(gaps)


def _without(span: Range, other: Range) -> list[Range]:
    if other.end <= span.start or span.end <= other.start:
        return [span]
    return [Range(span.start, max(span.start, other.start)), Range(min(span.end, other.end), span.end)]


def _grain(starts: tuple[int, ...], offsets: tuple[int, ...]) -> int:
    grain = gcd(HOUR, *starts, *offsets)
    return grain if grain % MINUTE == 0 else gcd(grain, MINUTE)
