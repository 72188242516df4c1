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

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import repeat
from math import gcd

from foliot.domain.calendar import FoldRule, GapRule, WallTimes
from foliot.domain.durations import DAY, MINUTE
from foliot.domain.marks import every_nth, seconds_of
from foliot.domain.pages import NO_ROWS, PAGE_BITS, PAGE_DAYS, DayKey, Numbering, Page, RegularDay
from foliot.domain.periods import Period, PeriodSearch
from foliot.domain.wall_days import ClockGroup, WallDays, grouped, shown_seconds
from foliot.domain.zones import FIRST_INSTANT, LAST_INSTANT, ClockGap, Range, Zone

_MOST_REGULAR_DAYS_KEPT = 256
_QUICK = 400
"""Pages, times intervals, that are counted in less than a second."""
LAST_PAGE = LAST_INSTANT // DAY >> PAGE_BITS


class Almanac:
    """The days of one spec. Pure, but for its memory of what it has worked out."""

    __slots__ = (
        "_at",
        "_exclusions",
        "_keys",
        "_on_grid",
        "_period_search",
        "_periods",
        "_regular_days",
        "_shifting",
        "_steps",
        "_wall_days",
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
        # Our years are meant in UTC and on the wall.
        self.first = max(first, FIRST_INSTANT, FIRST_INSTANT - zone.offset_at(FIRST_INSTANT))
        self.last = min(last, LAST_INSTANT, LAST_INSTANT - zone.offset_at(LAST_INSTANT))
        self.groups = grouped(calendars)
        self._exclusions = grouped(exclusions)
        self._periods = tuple(periods)
        self._at = tuple(sorted(set(at)))
        self._shifting: tuple[ClockGroup, ...] | None = None
        # A single interval by itself needs no grid, and is on none: its days are ranges.
        self._on_grid = bool(self.groups or self._exclusions or len(self._periods) != 1)
        self.grain = self._common_grain()
        self._steps = DAY // self.grain
        self._wall_days = WallDays(self.groups, self._exclusions, bool(self._periods), self.grain)
        self._period_search = PeriodSearch(self._periods, zone, self.grain, self._wall_days.allowed_on_some_day)
        self._keys: dict[RegularDay, RegularDay] = {}
        self._regular_days: dict[RegularDay, Sequence[int]] = {}

    def _common_grain(self) -> int:
        """The coarsest grid that every fire lies on: marks need no finer one."""
        grain = gcd(self.zone.grain, *(group.grain for group in self.groups))
        if self._on_grid:
            grain = gcd(grain, *(number for period in self._periods for number in period), *self._at)
        return grain if grain % MINUTE == 0 else gcd(grain, MINUTE)

    def lost_in(self, gap: ClockGap, group: ClockGroup) -> tuple[int, ...]:
        """The wall-clock seconds in the gap at which the group would have fired."""
        if not self.first <= gap.instant <= self.last:
            return ()
        marks = group.marks_on_wall(gap.wall, self.grain)
        for exclusion in self._exclusions if marks else ():
            marks &= ~exclusion.marks_on_wall(gap.wall, self.grain)
        return shown_seconds(marks, gap.wall, self.grain)

    def rough_count(self, start: int, end: int) -> int | None:
        """No more instants than that are from start to end; None where they are counted quickly.

        Where several intervals meet no day is like another, and each would have to be looked at.
        """
        start, end = max(start, self.first), min(end, self.last)
        pages = (end - start) // (PAGE_DAYS * DAY) + 1
        if len(self._periods) < 2 or pages * len(self._periods) <= _QUICK:
            return None
        on_grid = (end - start) // self.grain + 1
        if self.groups:
            return on_grid
        of_periods = (max(0, (end - period.next_from(start)) // period.every + 1) for period in self._periods)
        return min(on_grid, sum(of_periods) + len(self._at))

    def surely_fires(self, instant: int) -> bool:
        """Proves cheaply, where it can, that there is an instant: an interval that nothing excludes, or a calendar on a
        plain day after this moment."""
        if self._periods and not self._exclusions:
            return any(period.next_from(self.first) <= self.last for period in self._periods)
        day = self._wall_days.next_live(instant // DAY + 2)
        if day is None or self._periods:
            return False
        start, end = (day - 1) * DAY, (day + 2) * DAY
        return self.first <= start and end <= self.last and not self.zone.changes(start, end)

    def next_live_page(self, number: int) -> int | None:
        """The first page from this one on that may hold an instant."""
        first = max(number, self.first // DAY >> PAGE_BITS)
        # A wall-clock day begins up to a day before or after the UTC day of the same number.
        days = [self._wall_days.next_firing((first << PAGE_BITS) - 1)] if self.groups else []
        if self._periods and (day := self._wall_days.next_live((first << PAGE_BITS) - 1)) is not None:
            instant = self._period_search.next_from(max(first << PAGE_BITS, day - 1) * DAY, self.last)
            days.append(None if instant is None else instant // DAY + 1)
        pages = [max(first, day - 1 >> PAGE_BITS) for day in days if day is not None]
        lone = self._next_lone_instant((first << PAGE_BITS) * DAY)
        if lone is not None:
            pages.append(lone // DAY >> PAGE_BITS)
        return min(pages) if pages and min(pages) <= self.last // DAY >> PAGE_BITS else None

    def _next_lone_instant(self, instant: int) -> int | None:
        """The first from this instant on that may be named though its wall-clock day looks empty.

        One-offs are such. So are ends of gaps: a time that is excluded on the wall may be shifted to one that is not.
        """
        place = bisect_left(self._at, instant)
        found = list(self._at[place : place + 1])
        for gap in self.zone.gaps_within(instant, self.last + 1) if self._shifting_groups() else ():
            if any(group.marks_on_wall(gap.wall, self.grain) for group in self._shifting_groups()):
                found.append(gap.instant)
                break
        return min(found, default=None)

    def _shifting_groups(self) -> tuple[ClockGroup, ...]:
        """Where there are exclusions: the groups with a time of day that some gap of the zone skips."""
        if self._shifting is None:
            self._shifting = tuple(
                group
                for group in self.groups
                if self._exclusions
                and group.gap is GapRule.SHIFT
                and any(group.has_time_within(window) for window in self.zone.gap_windows)
            )
        return self._shifting

    def page(self, number: int) -> Page:
        """128 days by number; what they hold is worked out later."""
        first = number << PAGE_BITS
        # Two days more at either end: UTC days touch the wall-clock days before and after, by up to 15 hours.
        kinds = self._wall_days.kinds_of(first - 2, first + PAGE_DAYS + 2)
        if not any(kinds):
            lone = self._next_lone_instant(first * DAY)
            if lone is None or lone >= (first + PAGE_DAYS) * DAY:
                return self.empty_page()
        rows = bytearray(PAGE_DAYS)
        irregular = self._irregular_days(first)
        if len(self._keys) > _MOST_REGULAR_DAYS_KEPT:
            self._keys, self._regular_days = {}, {}
        numbering = Numbering(self._keys)
        for (start, end), offset in self._stretches_of_days(first):
            days, rest = divmod(offset, DAY)
            place = start - first + 2 + days
            size = end - start
            keys: Iterable[DayKey] = zip(
                repeat(rest, size),
                kinds[place : place + size],
                kinds[place + 1 : place + 1 + size] if rest else repeat(0),
                self._phases(start, end),
                strict=False,
            )
            if irregular:
                keys = [day if day in irregular else key for day, key in zip(range(start, end), keys, strict=True)]
            rows[start - first : end - first] = bytes(map(numbering.__getitem__, keys))
        return Page(bytes(rows), tuple(numbering.keys_by_number), self)

    def empty_page(self) -> Page:
        return Page(NO_ROWS, (), self)

    def _stretches_of_days(self, first: int) -> list[tuple[Range, int]]:
        """The page's days within the bounds, in stretches of one offset each; a day has the offset of its beginning."""
        start = max(first, self.first // DAY)
        end = min(first + PAGE_DAYS, self.last // DAY + 1)
        return [
            (Range(-(-span.start // DAY), -(-span.end // DAY)), offset)
            for span, offset in self.zone.stretches(start * DAY, end * DAY)
        ]

    def _phases(self, start: int, end: int) -> Iterable[tuple[int, ...]]:
        """For each day, the first second of each period in it."""
        if not self._periods:
            return repeat(())
        return [tuple((offset - day * DAY) % every for every, offset in self._periods) for day in range(start, end)]

    def _irregular_days(self, first: int) -> set[int]:
        """The page's days, within the bounds, that a clock change, a bound or a one-off touches."""
        start, end = first * DAY, (first + PAGE_DAYS) * DAY
        days = {instant // DAY for instant in (*_on_days(self._at, first, first + PAGE_DAYS), self.first, self.last)}
        days.update(change // DAY for change in self.zone.changes(start, end))
        for span in (*_touching(self.zone.firsts, start, end), *_touching(self.zone.repeats, start, end)):
            days.update(range(span.start // DAY, (span.end - 1) // DAY + 1))
        low, high = max(first, self.first // DAY), min(first + PAGE_DAYS - 1, self.last // DAY)
        return {day for day in days if low <= day <= high}

    def count(self, day: DayKey) -> int:
        """How many seconds the day has."""
        if isinstance(day, int):
            return len(self._irregular_day(day))
        return self._regular_marks(*day).bit_count() if self._on_grid else len(self.seconds(day))

    def seconds(self, day: DayKey) -> Sequence[int]:
        """The seconds of the day, ascending."""
        if isinstance(day, int):
            return self._irregular_day(day)
        seconds = self._regular_days.get(day)
        if seconds is None:
            seconds = self._regular_days[day] = self._regular_day(*day)
        return seconds

    def _regular_day(self, rest: int, kind: int, next_kind: int, phases: tuple[int, ...]) -> Sequence[int]:
        if not self._on_grid:
            return range(phases[0], DAY, self._periods[0].every)
        return seconds_of(self._regular_marks(rest, kind, next_kind, phases), self.grain)

    def _regular_marks(self, rest: int, kind: int, next_kind: int, phases: tuple[int, ...]) -> int:
        """The marks of a UTC day that begins `rest` seconds into a wall-clock day of this kind."""
        one, other = self._wall_days.kinds[kind], self._wall_days.kinds[next_kind]
        cut = rest // self.grain
        fires = self._joined(one.fires, other.fires, cut)
        allowed = self._joined(one.allowed, other.allowed, cut) if phases else 0
        return fires | self._period_marks(phases) & allowed if phases else fires

    def _joined(self, marks: int, next_marks: int, cut: int) -> int:
        """A day's marks from the cut on, then the next day's up to it."""
        return marks >> cut | (next_marks & (1 << cut) - 1) << self._steps - cut if marks or next_marks else 0

    def _period_marks(self, phases: tuple[int, ...]) -> int:
        marks = 0
        for (every, _), phase in zip(self._periods, phases, strict=True):
            marks |= every_nth(phase // self.grain, every // self.grain, self._steps)
        return marks

    def _irregular_day(self, day: int) -> Sequence[int]:
        """The seconds of a UTC day by the written rule."""
        start = day * DAY
        fires = 0
        for group in self.groups:
            fires |= self._placed(group, start)
        allowed = (1 << self._steps) - 1
        for group in self._exclusions:
            allowed &= ~self._on_instants(group, start)
        phases = tuple((offset - start) % every for every, offset in self._periods)
        seconds: Sequence[int]
        if self._on_grid:
            seconds = seconds_of((fires | self._period_marks(phases)) & allowed, self.grain)
        else:
            seconds = range(phases[0], DAY, self._periods[0].every)
        one_offs = [instant - start for instant in _on_days(self._at, day, day + 1)]
        kept = [second for second in one_offs if not self._exclusions or allowed >> second // self.grain & 1]
        if kept:
            seconds = tuple(sorted({*kept, *seconds}))
        return seconds[bisect_left(seconds, self.first - start) : bisect_right(seconds, self.last - start)]

    def _placed(self, group: ClockGroup, start: int) -> int:
        """The instants of a UTC day that the group's wall-clock times mean, by its rule for clock changes."""
        marks = self._on_instants(group, start)
        silenced = {FoldRule.FIRST: self.zone.repeats, FoldRule.SECOND: self.zone.firsts}.get(group.fold, ())
        for span in _touching(silenced, start, start + DAY):
            low = max(span.start - start, 0) // self.grain
            high = min(span.end - start, DAY) // self.grain
            marks &= ~((1 << high) - (1 << low))
        if group.gap is GapRule.SHIFT:
            for gap in self.zone.gaps_within(start, start + DAY):
                if group.marks_on_wall(gap.wall, self.grain):
                    marks |= 1 << (gap.instant - start) // self.grain
        return marks

    def _on_instants(self, group: ClockGroup, start: int) -> int:
        """The instants of a UTC day at which the clock on the wall shows one of the group's times."""
        marks = 0
        for span, offset in self.zone.stretches(start, start + DAY):
            wall = Range(span.start + offset, span.end + offset)
            marks |= group.marks_on_wall(wall, self.grain) << (span.start - start) // self.grain
        return marks


def _on_days(instants: tuple[int, ...], start: int, end: int) -> tuple[int, ...]:
    """Those of the days [start, end)."""
    return instants[bisect_left(instants, start * DAY) : bisect_left(instants, end * DAY)]


def _touching(spans: tuple[Range, ...], start: int, end: int) -> tuple[Range, ...]:
    low = bisect_left(spans, start - 2 * DAY, key=lambda span: span.end)
    high = bisect_left(spans, end, key=lambda span: span.start)
    return tuple(span for span in spans[low:high] if span.end > start)
