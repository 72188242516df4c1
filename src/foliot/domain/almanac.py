"""Which seconds of each UTC day a spec names: calendars, intervals, one-offs, exclusions, bounds and clock changes.

The almanac answers in pages of 128 UTC days, built when first asked for. Nearly all days are regular: one offset all
day, so the day's seconds follow from the two wall-clock days it touches, and few different patterns occur. A day that a
clock change, a bound or a one-off touches is worked out by itself, by the written rule.

The written rule. A wall-clock time that a calendar names and that
  occurs once    is that instant;
  occurs never   is the first instant after the gap (gap=shift) or none (gap=skip);
  occurs again   is the first of its instants, the last, or each (fold=first, second, both).
Intervals and one-offs are instants already. Then exclusions and bounds are applied to the instants.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import compress, repeat
from math import gcd
from typing import Any, NamedTuple

from foliot.domain.calendar import Fold, Gap, WallTimes
from foliot.domain.days import NEW_YEARS, Days, marked_days
from foliot.domain.durations import DAY, MINUTE
from foliot.domain.fields import FIRST_YEAR
from foliot.domain.marks import both, either, inverse, marked_seconds, seconds_of
from foliot.domain.zones import FIRST_INSTANT, LAST_INSTANT, Span, Zone

PAGE_BITS = 7
PAGE_DAYS = 1 << PAGE_BITS
LAST_PAGE = LAST_INSTANT // DAY >> PAGE_BITS

NOT_KNOWN = -1
_NO_ROWS = bytes(PAGE_DAYS)
_NO_PATTERNS: tuple[Sequence[int], ...] = ((),)
_MOST_PATTERNS_KEPT = 256


class Period(NamedTuple):
    """An interval in whole seconds: every instant t with t % every == offset."""

    every: int
    offset: int


class Page:
    """128 days: each day's pattern by its number, and what comes after them."""

    __slots__ = ("beyond", "patterns", "rows", "total")

    def __init__(self, rows: bytes, patterns: Sequence[Sequence[int]]) -> None:
        self.rows = rows
        """Per day, the number of its pattern; 0 is the empty one."""
        self.patterns = patterns
        self.beyond: int | None = NOT_KNOWN
        """The first instant after the page, once somebody asked."""
        self.total = NOT_KNOWN

    def count(self) -> int:
        if self.total == NOT_KNOWN:
            self.total = sum(len(self.patterns[number]) for number in self.rows)
        return self.total


def empty_page() -> Page:
    return Page(_NO_ROWS, _NO_PATTERNS)


class ClockGroup(NamedTuple):
    """Calendars that share times of day and the rule for clock changes."""

    second: int
    minute: int
    hour: int
    gap: Gap
    fold: Fold
    days: tuple[Days, ...]

    def marks(self, grain: int) -> bytes:
        return marked_seconds(self.hour, self.minute, self.second, grain)


class _DayKind(NamedTuple):
    """What may happen on a wall-clock day, as rows of seconds."""

    fires: bytes
    allowed: bytes


class _YearPlan(NamedTuple):
    """The number of each day's kind, 0 for those on which nothing can happen, and where the others begin and end."""

    kinds: Sequence[int]
    live: Span


class Almanac:
    """The days of one spec. Pure but for its memory of pages' parts already worked out."""

    __slots__ = (
        "_exclusions",
        "_kind_numbers",
        "_kinds",
        "_patterns",
        "_plans",
        "_shared",
        "at",
        "first",
        "grain",
        "groups",
        "last",
        "periods",
        "zone",
    )

    def __init__(
        self,
        zone: Zone,
        calendars: Iterable[WallTimes],
        exclusions: Iterable[WallTimes],
        periods: Iterable[Period],
        at: Iterable[int],
        first: int = FIRST_INSTANT,
        last: int = LAST_INSTANT,
    ) -> None:
        self.zone = zone
        self.periods = tuple(periods)
        self.at = tuple(sorted(set(at)))
        self.first = max(first, FIRST_INSTANT)
        self.last = min(last, LAST_INSTANT)
        self.groups = _grouped(calendars)
        self._exclusions = _grouped(calendar._replace(gap=Gap.SKIP, fold=Fold.BOTH) for calendar in exclusions)
        self.grain = self._common_grain()
        nothing = bytes(DAY // self.grain)
        self._kinds = [_DayKind(nothing, nothing)]
        self._kind_numbers: dict[object, int] = {}
        self._plans: dict[object, _YearPlan] = {}
        self._patterns: dict[object, Sequence[int]] = {}
        self._shared: dict[object, Any] = {}

    def _common_grain(self) -> int:
        """The coarsest grid that every fire lies on: rows of marks need no finer one."""
        grain = self.zone.grain
        for group in self.groups:
            grain = gcd(grain, _grain_of(group))
        if self._exclusions:
            grain = gcd(grain, *(number for period in self.periods for number in period), *self.at)
        return grain if grain % MINUTE == 0 else gcd(grain, MINUTE)

    # What may happen on a wall-clock day

    def _plan(self, year: int) -> _YearPlan:
        place = year - FIRST_YEAR
        if not 0 <= place < len(NEW_YEARS) - 1:
            return _YearPlan(bytes(366), Span(0, 0))
        groups = (*self.groups, *self._exclusions)
        new_year = NEW_YEARS[place]
        key = (
            new_year % 7,
            NEW_YEARS[place + 1] - new_year,
            tuple(days.year >> place & 1 for group in groups for days in group.days),
        )
        if (plan := self._plans.get(key)) is None:
            plan = self._plans[key] = self._work_out_plan([marked_days(group.days, year) for group in groups])
        return plan

    def _work_out_plan(self, rows: list[bytes]) -> _YearPlan:
        kinds: Sequence[int]
        if len(rows) == 1 and not self._exclusions and not self.periods:
            self._kind((1,))
            kinds = rows[0]
        else:
            kinds = array("H", [self._kind(present) for present in zip(*rows, strict=True)] or [self._kind(())] * 366)
        marks = kinds if isinstance(kinds, bytes) else bytes(map(bool, kinds))
        return _YearPlan(kinds, Span(len(marks) - len(marks.lstrip(b"\0")), len(marks.rstrip(b"\0"))))

    def _kind(self, present: tuple[int, ...]) -> int:
        """The number of the kind of day on which just these groups and exclusions are present."""
        number = self._kind_numbers.get(present)
        if number is None:
            kind = self._work_out_kind(present)
            hopeless = 1 not in kind.fires and not (self.periods and 1 in kind.allowed)
            number = 0 if hopeless else self._kind_numbers.get(kind, len(self._kinds))
            if number == len(self._kinds):
                self._kinds.append(kind)
                self._kind_numbers[kind] = number
            self._kind_numbers[present] = number
        return number

    def _work_out_kind(self, present: tuple[int, ...]) -> _DayKind:
        nothing = self._kinds[0].fires
        excluded = compress(self._exclusions, present[len(self.groups) :])
        allowed = inverse(either([nothing, *(group.marks(self.grain) for group in excluded)]))
        fires = either([nothing, *(group.marks(self.grain) for group in compress(self.groups, present))])
        return _DayKind(both(fires, allowed) if self._exclusions else fires, allowed)

    def _wall_kinds(self, start: int, end: int) -> list[int]:
        """The kinds of the wall-clock days [start, end)."""
        kinds = [0] * -min(start, 0)
        start = max(start, 0)
        while start < end:
            year = _year_of(start)
            new_year = NEW_YEARS[year - FIRST_YEAR]
            part = self._plan(year).kinds[start - new_year : end - new_year]
            kinds += part
            start += len(part)
        return kinds

    def _next_live_day(self, day: int) -> int | None:
        """The first wall-clock day from this one on, on which something may happen."""
        for year in range(max(_year_of(day), FIRST_YEAR), FIRST_YEAR + len(NEW_YEARS) - 1):
            new_year = NEW_YEARS[year - FIRST_YEAR]
            kinds, live = self._plan(year)
            for place in range(max(live.start, day - new_year), live.end):
                if kinds[place]:
                    return new_year + place
        return None

    def surely_fires_after(self, instant: int) -> bool:
        """Proves cheaply, where it can, that an instant follows this one: on a plain day a calendar fires."""
        day = self._next_live_day(instant // DAY + 2)
        if day is None or self.periods:
            return False
        start, end = (day - 1) * DAY, (day + 2) * DAY
        return self.first <= start and end <= self.last and not self.zone.changes(start, end)

    # Pages

    def next_live_page(self, number: int) -> int | None:
        """The first page from this one on that may hold an instant."""
        first = max(number, self.first // DAY >> PAGE_BITS)
        # A wall-clock day begins up to a day before or after the UTC day of the same number.
        day = self._next_live_day((first << PAGE_BITS) - 1)
        pages = [] if day is None else [max(first, day - 1 >> PAGE_BITS)]
        place = bisect_left(self.at, (first << PAGE_BITS) * DAY)
        if place < len(self.at):
            pages.append(self.at[place] // DAY >> PAGE_BITS)
        return min(pages) if pages and min(pages) <= self.last // DAY >> PAGE_BITS else None

    def page(self, number: int) -> Page:
        first = number << PAGE_BITS
        wall = self._wall_kinds(first - 2, first + PAGE_DAYS + 2)
        if not any(wall) and not self.at:
            return empty_page()
        rows = bytearray(PAGE_DAYS)
        table = _PatternTable(self)
        for (start, end), offset in self._regular_stretches(first):
            days, rest = divmod(offset, DAY)
            place = start - first + 2 + days
            size = end - start
            keys = zip(
                repeat(rest, size),
                wall[place : place + size],
                wall[place + 1 : place + 1 + size] if rest else repeat(0),
                self._phases(start, end),
                strict=False,
            )
            rows[start - first : end - first] = bytes(map(table.__getitem__, keys))
        for day in self._irregular_days(first):
            rows[day - first] = table.add(self._irregular(day))
        return self._frugal_page(bytes(rows), tuple(table.patterns))

    def _frugal_page(self, rows: bytes, patterns: tuple[Sequence[int], ...]) -> Page:
        """Most pages of a spec look alike: they share what is equal."""
        rows = self._shared.setdefault(rows, rows)
        patterns = self._shared.setdefault(tuple(map(id, patterns)), patterns)
        return Page(rows, patterns)

    def _phases(self, start: int, end: int) -> Iterable[tuple[int, ...]]:
        """For each day, the first second of each period in it."""
        if not self.periods:
            return repeat(())
        return [tuple((offset - day * DAY) % every for every, offset in self.periods) for day in range(start, end)]

    def _regular_stretches(self, first: int) -> list[tuple[Span, int]]:
        """The page's days within the bounds, in stretches of one offset each, irregular days not yet taken out."""
        start = max(first, self.first // DAY)
        end = min(first + PAGE_DAYS, self.last // DAY + 1)
        stretches = []
        for span, offset in self.zone.stretches(start * DAY, end * DAY):
            # A day belongs to the offset at its beginning.
            days = Span(-(-span.start // DAY), -(-span.end // DAY))
            stretches.append((days, offset))
        return stretches

    def _irregular_days(self, first: int) -> set[int]:
        start, end = first * DAY, (first + PAGE_DAYS) * DAY
        days = {instant // DAY for instant in self.at[bisect_left(self.at, start) : bisect_left(self.at, end)]}
        days |= {self.first // DAY, self.last // DAY}
        for change in self.zone.changes(start - 2 * DAY, end + 2 * DAY):
            days.add(change // DAY)
        for span in (*_touching(self.zone.firsts, start, end), *_touching(self.zone.repeats, start, end)):
            days.update(range(span.start // DAY, (span.end - 1) // DAY + 1))
        return {
            day for day in days if first <= day < first + PAGE_DAYS and self.first // DAY <= day <= self.last // DAY
        }

    def regular(self, rest: int, kind: int, next_kind: int, phases: tuple[int, ...]) -> Sequence[int]:
        """The seconds of a UTC day that begins `rest` seconds into a wall-clock day of this kind."""
        key = (rest, kind, next_kind, phases)
        pattern = self._patterns.get(key)
        if pattern is None:
            cut = rest // self.grain
            one, other = self._kinds[kind], self._kinds[next_kind]
            allowed = one.allowed[cut:] + other.allowed[:cut] if self._exclusions else None
            pattern = self._with_periods(seconds_of(one.fires[cut:] + other.fires[:cut], self.grain), phases, allowed)
            if len(self._patterns) >= _MOST_PATTERNS_KEPT:
                self._patterns.clear()
            self._patterns[key] = pattern
        return pattern

    def _with_periods(self, seconds: Sequence[int], phases: tuple[int, ...], allowed: bytes | None) -> Sequence[int]:
        found = [seconds] if seconds else []
        for (every, _), phase in zip(self.periods, phases, strict=True):
            steps: Sequence[int] = range(phase, DAY, every)
            if allowed is not None and steps:
                steps = tuple(compress(steps, allowed[phase // self.grain :: every // self.grain]))
            if steps:
                found.append(steps)
        if len(found) > 1:
            return tuple(sorted(set().union(*found)))
        return found[0] if found else ()

    # Days that a clock change, a bound or a one-off touches

    def _irregular(self, day: int) -> Sequence[int]:
        start = day * DAY
        nothing = self._kinds[0].fires
        fires = either([nothing, *(self._placed(group, start) for group in self.groups)])
        allowed = inverse(either([nothing, *(self._on_instants(group, start) for group in self._exclusions)]))
        phases = tuple((offset - start) % every for every, offset in self.periods)
        seconds = self._with_periods(
            seconds_of(both(fires, allowed), self.grain), phases, allowed if self._exclusions else None
        )
        one_offs = {
            instant - start for instant in self.at[bisect_left(self.at, start) : bisect_left(self.at, start + DAY)]
        }
        if one_offs:
            kept = {second for second in one_offs if not self._exclusions or allowed[second // self.grain]}
            seconds = tuple(sorted(kept.union(seconds)))
        return seconds[bisect_left(seconds, self.first - start) : bisect_right(seconds, self.last - start)]

    def _placed(self, group: ClockGroup, start: int) -> bytes:
        """The instants of a UTC day that the group's wall-clock times mean, by its rule for clock changes."""
        row = bytearray(self._on_instants(group, start))
        silenced = {Fold.FIRST: self.zone.repeats, Fold.SECOND: self.zone.firsts}.get(group.fold, ())
        for span in _touching(silenced, start, start + DAY):
            low = max(span.start - start, 0) // self.grain
            high = min(span.end - start, DAY) // self.grain
            row[low:high] = bytes(high - low)
        if group.gap is Gap.SHIFT:
            for gap in self.zone.gaps_within(start, start + DAY):
                if 1 in self._on_wall(group, gap.wall):
                    row[(gap.instant - start) // self.grain] = 1
        return bytes(row)

    def _on_instants(self, group: ClockGroup, start: int) -> bytes:
        """The instants of a UTC day at which the clock on the wall shows one of the group's times."""
        return b"".join(
            self._on_wall(group, Span(span.start + offset, span.end + offset))
            for span, offset in self.zone.stretches(start, start + DAY)
        )

    def _on_wall(self, group: ClockGroup, wall: Span) -> bytes:
        """The wall-clock seconds of the span that the group names, whether or not they exist."""
        row = b""
        for day in range(wall.start // DAY, (wall.end - 1) // DAY + 1):
            low, high = max(wall.start - day * DAY, 0), min(wall.end - day * DAY, DAY)
            year = _year_of(day)
            present = (
                FIRST_YEAR <= year < FIRST_YEAR + len(NEW_YEARS) - 1
                and marked_days(group.days, year)[day - NEW_YEARS[year - FIRST_YEAR]]
            )
            marks = group.marks(self.grain) if present else self._kinds[0].fires
            row += marks[low // self.grain : high // self.grain]
        return row

    def named_on_wall(self, group: ClockGroup, wall: Span) -> tuple[int, ...]:
        """The wall-clock seconds of the span, given by number, that the group names."""
        return tuple(compress(range(wall.start, wall.end, self.grain), self._on_wall(group, wall)))


class _PatternTable(dict[tuple[int, int, int, tuple[int, ...]], int]):
    """A page's patterns, numbered as they come up."""

    def __init__(self, almanac: Almanac) -> None:
        self._almanac = almanac
        self.patterns: list[Sequence[int]] = [()]

    def __missing__(self, key: tuple[int, int, int, tuple[int, ...]]) -> int:
        number = self[key] = self.add(self._almanac.regular(*key))
        return number

    def add(self, pattern: Sequence[int]) -> int:
        if not pattern:
            return 0
        self.patterns.append(pattern)
        return len(self.patterns) - 1


def _year_of(day: int) -> int:
    """The year of a day number, one year either side of ours being the farthest we look."""
    return FIRST_YEAR - 1 + bisect_right(NEW_YEARS, day)


def _grouped(calendars: Iterable[WallTimes]) -> tuple[ClockGroup, ...]:
    groups: dict[tuple[int, int, int, Gap, Fold], list[Days]] = {}
    for second, minute, hour, days, gap, fold in calendars:
        groups.setdefault((second, minute, hour, gap, fold), []).append(days)
    return tuple(ClockGroup(*clock, tuple(days)) for clock, days in groups.items())


def _grain_of(group: ClockGroup) -> int:
    if group.second == 1:
        return MINUTE * gcd(60, *(minute for minute in range(60) if group.minute >> minute & 1))
    return gcd(60, *(second for second in range(60) if group.second >> second & 1))


def _touching(spans: tuple[Span, ...], start: int, end: int) -> tuple[Span, ...]:
    low = bisect_left(spans, start - 2 * DAY, key=lambda span: span.end)
    high = bisect_left(spans, end, key=lambda span: span.start)
    return tuple(span for span in spans[low:high] if span.end > start)
