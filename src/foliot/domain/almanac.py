"""Which seconds of each UTC day a spec names: calendars, intervals, one-offs, exclusions, bounds and clock changes.

The almanac answers in pages of 128 UTC days. Nearly all days are regular: one offset all day, so that a day's seconds
follow from the two wall-clock days it touches, and few different patterns occur. A day that a clock change, a bound or
a one-off touches is worked out by itself, by the written rule. Nothing is worked out before it is asked for.

The written rule. A wall-clock time that a calendar names and that
  occurs once    is that instant;
  occurs never   is the first instant after the gap (gap=shift) or none (gap=skip);
  occurs again   is the first of its instants, the last, or each (fold=first, second, both).
Intervals and one-offs are instants already. Then exclusions and bounds are applied to the instants.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress, repeat
from math import gcd
from typing import NamedTuple

from foliot.domain.calendar import Fold, Gap, WallTimes
from foliot.domain.days import NEW_YEARS, Days, marked_days
from foliot.domain.durations import DAY, MINUTE
from foliot.domain.fields import FIRST_YEAR
from foliot.domain.marks import every_nth, flags, marked_seconds, seconds_of
from foliot.domain.periods import Period, PeriodSearch
from foliot.domain.zones import FIRST_INSTANT, LAST_INSTANT, Span, Zone

PAGE_BITS = 7
PAGE_DAYS = 1 << PAGE_BITS
LAST_PAGE = LAST_INSTANT // DAY >> PAGE_BITS

NOT_KNOWN = -1
_NO_ROWS = bytes(PAGE_DAYS)


RegularDay = tuple[int, int, int, tuple[int, ...]]
"""What decides the seconds of a UTC day with one offset: how far into a wall-clock day it begins, the kinds of that day
and the next, and the first second of each period."""


class PatternTable(dict[RegularDay, int]):
    """The patterns of days, numbered as they come up; each is worked out when first looked at."""

    __slots__ = ("_almanac", "_keys", "patterns")

    def __init__(self, almanac: "Almanac") -> None:
        self._almanac = almanac
        self._keys: list[RegularDay | int] = [-1]
        self.patterns: list[Sequence[int] | None] = [()]

    def __missing__(self, key: RegularDay) -> int:
        hopeless = key[1] == key[2] == 0
        number = self[key] = 0 if hopeless else self.add(key)
        return number

    def add(self, day: RegularDay | int) -> int:
        """The number of a new pattern, for a regular day or for an irregular one given by its own number."""
        self._keys.append(day)
        self.patterns.append(None)
        return len(self._keys) - 1

    def pattern(self, number: int) -> Sequence[int]:
        pattern = self.patterns[number]
        if pattern is None:
            key = self._keys[number]
            pattern = self._almanac.irregular_day(key) if isinstance(key, int) else self._almanac.regular_day(*key)
            self.patterns[number] = pattern
        return pattern


class Page:
    """128 days: per day the number of its pattern, 0 for an empty one, and what comes after them."""

    __slots__ = ("_table", "_total", "beyond", "hops", "patterns", "rows")

    def __init__(self, rows: bytes, table: PatternTable) -> None:
        self.rows, self.hops = _with_hops(rows)
        """Per day, how many days later the next comes that is not empty; 0 when none comes in this page."""
        self.patterns = table.patterns
        """By number, those already worked out."""
        self._table = table
        self.beyond: int | None = NOT_KNOWN
        """The first instant after the page, once somebody asked."""
        self._total = NOT_KNOWN

    def pattern(self, number: int) -> Sequence[int]:
        """The pattern of that number, worked out if need be; it may turn out to be empty."""
        return self._table.pattern(number)

    def count(self) -> int:
        if self._total == NOT_KNOWN:
            self._total = sum(len(self.pattern(number)) * self.rows.count(number) for number in set(self.rows))
        return self._total

    def forget_empty_days(self) -> None:
        """Gives the number 0 to the days whose pattern has turned out to be empty."""
        known = [(number, self.patterns[number]) for number in set(self.rows) if number]
        empty = {number for number, pattern in known if pattern is not None and not pattern}
        if empty:
            rows = self.rows.translate(bytes(0 if number in empty else number for number in range(256)))
            self.rows, self.hops = _with_hops(rows)


@lru_cache(maxsize=4096)
def _with_hops(rows: bytes) -> tuple[bytes, bytes]:
    """The rows and the hops between their days. Pages of many specs look alike, and share both."""
    hops = bytearray(PAGE_DAYS)
    hop = 0
    for place in range(PAGE_DAYS - 1, -1, -1):
        hops[place] = hop
        hop = 1 if rows[place] else hop and hop + 1
    return rows, bytes(hops)


class ClockGroup(NamedTuple):
    """Calendars that share times of day and the rule for clock changes."""

    second: int
    minute: int
    hour: int
    gap: Gap
    fold: Fold
    days: tuple[Days, ...]

    def marks(self, grain: int) -> int:
        return marked_seconds(self.hour, self.minute, self.second, grain)


class _DayKind(NamedTuple):
    """What may happen on a wall-clock day: when calendars fire, and when they and intervals are allowed to."""

    fires: int
    allowed: int


class _YearPlan(NamedTuple):
    """The number of each day's kind, 0 for those on which nothing can happen, and where the others begin and end."""

    kinds: Sequence[int]
    live: Span


class Almanac:
    """The days of one spec. Pure, but for its memory of what it has worked out."""

    __slots__ = (
        "_exclusions",
        "_kind_numbers",
        "_kinds",
        "_period_search",
        "_periods",
        "_plans",
        "_steps",
        "_table",
        "at",
        "first",
        "grain",
        "groups",
        "last",
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
        self.at = tuple(sorted(set(at)))
        # Our years are meant in UTC and on the wall.
        self.first = max(first, FIRST_INSTANT, FIRST_INSTANT - zone.offsets[0])
        self.last = min(last, LAST_INSTANT, LAST_INSTANT - zone.offsets[-1])
        self.groups = _grouped(calendars)
        self._periods = tuple(periods)
        self._exclusions = _grouped(calendar._replace(gap=Gap.SKIP, fold=Fold.BOTH) for calendar in exclusions)
        self.grain = self._common_grain()
        self._steps = DAY // self.grain
        self._kinds = [_DayKind(0, 0)]
        self._kind_numbers: dict[object, int] = {}
        self._plans: dict[object, _YearPlan] = {}
        self._table = PatternTable(self)
        self._period_search = PeriodSearch(self._periods, zone, self.grain, self._allowed_on_any_day())

    def _common_grain(self) -> int:
        """The coarsest grid that every fire lies on: marks need no finer one."""
        grain = self.zone.grain
        for group in self.groups:
            grain = gcd(grain, _grain_of(group))
        if self.groups or self._exclusions or len(self._periods) > 1:
            grain = gcd(grain, *(number for period in self._periods for number in period), *self.at)
        return grain if grain % MINUTE == 0 else gcd(grain, MINUTE)

    def _allowed_on_any_day(self) -> int:
        """The times of day that are not excluded on every day alike."""
        allowed = (1 << self._steps) - 1
        for group in self._exclusions:
            if Days() in group.days:
                allowed &= ~group.marks(self.grain)
        return allowed

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
            tuple([days.year >> place & 1 for group in groups for days in group.days]),
        )
        if (plan := self._plans.get(key)) is None:
            plan = self._plans[key] = self._work_out_plan([marked_days(group.days, year) for group in groups])
        return plan

    def _work_out_plan(self, rows: list[bytes]) -> _YearPlan:
        kinds: Sequence[int]
        if len(rows) == 1 and not self._exclusions and not self._periods:
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
            hopeless = not kind.fires and not (self._periods and kind.allowed)
            number = 0 if hopeless else self._kind_numbers.get(kind, len(self._kinds))
            if number == len(self._kinds):
                self._kinds.append(kind)
                self._kind_numbers[kind] = number
            self._kind_numbers[present] = number
        return number

    def _work_out_kind(self, present: tuple[int, ...]) -> _DayKind:
        allowed = (1 << self._steps) - 1
        for group in compress(self._exclusions, present[len(self.groups) :]):
            allowed &= ~group.marks(self.grain)
        fires = 0
        for group in compress(self.groups, present):
            fires |= group.marks(self.grain)
        return _DayKind(fires & allowed, allowed)

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
        if day is None or self._periods:
            return False
        start, end = (day - 1) * DAY, (day + 2) * DAY
        return self.first <= start and end <= self.last and not self.zone.changes(start, end)

    # Pages

    def next_live_page(self, number: int) -> int | None:
        """The first page from this one on that may hold an instant."""
        first = max(number, self.first // DAY >> PAGE_BITS)
        # A wall-clock day begins up to a day before or after the UTC day of the same number.
        day = self._next_live_day((first << PAGE_BITS) - 1)
        if day is not None and self._periods and not self.groups:
            instant = self._period_search.next_from(max((first << PAGE_BITS), day - 1) * DAY, self.last)
            day = None if instant is None else instant // DAY + 1
        pages = [] if day is None else [max(first, day - 1 >> PAGE_BITS)]
        place = bisect_left(self.at, (first << PAGE_BITS) * DAY)
        if place < len(self.at):
            pages.append(self.at[place] // DAY >> PAGE_BITS)
        return min(pages) if pages and min(pages) <= self.last // DAY >> PAGE_BITS else None

    def page(self, number: int) -> Page:
        first = number << PAGE_BITS
        wall = self._wall_kinds(first - 2, first + PAGE_DAYS + 2)
        if not any(wall) and not self._one_offs(first, first + PAGE_DAYS):
            return self.empty_page()
        try:
            rows = self._number_days(first, wall)
        except ValueError:
            # The numbers are bytes, and the table has run out of them.
            self._table = PatternTable(self)
            rows = self._number_days(first, wall)
        return Page(rows, self._table)

    def empty_page(self) -> Page:
        return Page(_NO_ROWS, self._table)

    def _number_days(self, first: int, wall: list[int]) -> bytes:
        """The numbers of the patterns of the page's days, given the kinds of the wall-clock days around them."""
        rows = bytearray(PAGE_DAYS)
        number_of = self._table.__getitem__
        for (start, end), offset in self._stretches_of_days(first):
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
            rows[start - first : end - first] = bytes(map(number_of, keys))
        for day in self._irregular_days(first):
            rows[day - first] = self._table.add(day)
        return bytes(rows)

    def _one_offs(self, start: int, end: int) -> tuple[int, ...]:
        """Those on the days [start, end)."""
        return self.at[bisect_left(self.at, start * DAY) : bisect_left(self.at, end * DAY)]

    def _phases(self, start: int, end: int) -> Iterable[tuple[int, ...]]:
        """For each day, the first second of each period in it."""
        if not self._periods:
            return repeat(())
        return [tuple((offset - day * DAY) % every for every, offset in self._periods) for day in range(start, end)]

    def _stretches_of_days(self, first: int) -> list[tuple[Span, int]]:
        """The page's days within the bounds, in stretches of one offset each; a day has the offset of its beginning."""
        start = max(first, self.first // DAY)
        end = min(first + PAGE_DAYS, self.last // DAY + 1)
        return [
            (Span(-(-span.start // DAY), -(-span.end // DAY)), offset)
            for span, offset in self.zone.stretches(start * DAY, end * DAY)
        ]

    def _irregular_days(self, first: int) -> set[int]:
        start, end = first * DAY, (first + PAGE_DAYS) * DAY
        days = {instant // DAY for instant in self._one_offs(first, first + PAGE_DAYS)}
        days |= {self.first // DAY, self.last // DAY}
        days.update(change // DAY for change in self.zone.changes(start, end))
        for span in (*_touching(self.zone.firsts, start, end), *_touching(self.zone.repeats, start, end)):
            days.update(range(span.start // DAY, (span.end - 1) // DAY + 1))
        low, high = max(first, self.first // DAY), min(first + PAGE_DAYS - 1, self.last // DAY)
        return {day for day in days if low <= day <= high}

    def regular_day(self, rest: int, kind: int, next_kind: int, phases: tuple[int, ...]) -> Sequence[int]:
        """The seconds of a UTC day that begins `rest` seconds into a wall-clock day of this kind."""
        one, other = self._kinds[kind], self._kinds[next_kind]
        cut = rest // self.grain
        fires = self._joined(one.fires, other.fires, cut)
        allowed = self._joined(one.allowed, other.allowed, cut) if phases else 0
        return self._with_periods(fires, phases, allowed)

    def _joined(self, marks: int, next_marks: int, cut: int) -> int:
        """A day's marks from the cut on, then the next day's up to it."""
        return marks >> cut | (next_marks & (1 << cut) - 1) << self._steps - cut if marks or next_marks else 0

    def _with_periods(self, fires: int, phases: tuple[int, ...], allowed: int) -> Sequence[int]:
        if len(phases) == 1 and not self.groups and not self._exclusions:
            return range(phases[0], DAY, self._periods[0].every)
        for (every, _), phase in zip(self._periods, phases, strict=True):
            fires |= every_nth(phase // self.grain, every // self.grain, self._steps) & allowed
        return seconds_of(fires, self.grain)

    # Days that a clock change, a bound or a one-off touches

    def irregular_day(self, day: int) -> Sequence[int]:
        """The seconds of a UTC day by the written rule."""
        start = day * DAY
        fires = 0
        for group in self.groups:
            fires |= self._placed(group, start)
        allowed = (1 << self._steps) - 1
        for group in self._exclusions:
            allowed &= ~self._on_instants(group, start)
        phases = tuple((offset - start) % every for every, offset in self._periods)
        seconds = self._with_periods(fires & allowed, phases, allowed)
        one_offs = [instant - start for instant in self._one_offs(day, day + 1)]
        kept = [second for second in one_offs if not self._exclusions or allowed >> second // self.grain & 1]
        if kept:
            seconds = tuple(sorted({*kept, *seconds}))
        return seconds[bisect_left(seconds, self.first - start) : bisect_right(seconds, self.last - start)]

    def _placed(self, group: ClockGroup, start: int) -> int:
        """The instants of a UTC day that the group's wall-clock times mean, by its rule for clock changes."""
        marks = self._on_instants(group, start)
        silenced = {Fold.FIRST: self.zone.repeats, Fold.SECOND: self.zone.firsts}.get(group.fold, ())
        for span in _touching(silenced, start, start + DAY):
            low = max(span.start - start, 0) // self.grain
            high = min(span.end - start, DAY) // self.grain
            marks &= ~((1 << high) - (1 << low))
        if group.gap is Gap.SHIFT:
            for gap in self.zone.gaps_within(start, start + DAY):
                if self._on_wall(group, gap.wall):
                    marks |= 1 << (gap.instant - start) // self.grain
        return marks

    def _on_instants(self, group: ClockGroup, start: int) -> int:
        """The instants of a UTC day at which the clock on the wall shows one of the group's times."""
        marks = 0
        for span, offset in self.zone.stretches(start, start + DAY):
            wall = Span(span.start + offset, span.end + offset)
            marks |= self._on_wall(group, wall) << (span.start - start) // self.grain
        return marks

    def _on_wall(self, group: ClockGroup, wall: Span) -> int:
        """The wall-clock times of the span that the group names, whether or not they exist; lowest bit first."""
        marks = 0
        for day in range(wall.start // DAY, (wall.end - 1) // DAY + 1):
            low, high = max(wall.start - day * DAY, 0), min(wall.end - day * DAY, DAY)
            if _is_present(group, day):
                part = (group.marks(self.grain) & (1 << high // self.grain) - 1) >> low // self.grain
                marks |= part << (day * DAY + low - wall.start) // self.grain
        return marks

    def named_on_wall(self, group: ClockGroup, wall: Span) -> tuple[int, ...]:
        """The wall-clock seconds of the span that the group names."""
        shown = range(wall.start, wall.end, self.grain)
        return tuple(compress(shown, flags(self._on_wall(group, wall), len(shown))))


def _is_present(group: ClockGroup, day: int) -> bool:
    year = _year_of(day)
    if not FIRST_YEAR <= year < FIRST_YEAR + len(NEW_YEARS) - 1:
        return False
    return bool(marked_days(group.days, year)[day - NEW_YEARS[year - FIRST_YEAR]])


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
