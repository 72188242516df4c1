"""What may happen on each wall-clock day: which calendars fire on it, and which times of day are excluded."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import compress, count
from math import gcd
from operator import or_
from typing import NamedTuple

from foliot.domain.calendar import FoldRule, GapRule, WallTimes
from foliot.domain.days import NEW_YEARS, Days, marked_days, merged
from foliot.domain.durations import DAY, MINUTE
from foliot.domain.fields import FIRST_YEAR, LAST_YEAR
from foliot.domain.marks import flags, marked_seconds
from foliot.domain.zones import Range

_FEW_GROUPS = 16


class ClockGroup(NamedTuple):
    """Calendars that share times of day and the rule for clock changes."""

    second: int
    minute: int
    hour: int
    gap: GapRule
    fold: FoldRule
    days: tuple[Days, ...]

    def marks(self, grain: int) -> int:
        return marked_seconds(self.hour, self.minute, self.second, grain)

    @property
    def grain(self) -> int:
        """The coarsest grid that its times of day lie on."""
        if self.second == 1:
            return MINUTE * gcd(60, *(minute for minute in range(60) if self.minute >> minute & 1))
        return gcd(60, *(second for second in range(60) if self.second >> second & 1))

    def is_present(self, day: int) -> bool:
        """Whether any of its calendars names that wall-clock day."""
        year = _year_of(day)
        if not FIRST_YEAR <= year <= LAST_YEAR:
            return False
        return bool(marked_days(self.days, year)[day - NEW_YEARS[year - FIRST_YEAR]])

    def has_time_within(self, window: Range) -> bool:
        """Whether it names a time of day in the window, on whatever day; a window may reach over midnight."""
        marks = self.marks(1)
        day = (1 << min(window.end, DAY)) - (1 << window.start)
        next_day = (1 << max(window.end - DAY, 0)) - 1
        return bool(marks & (day | next_day))

    def marks_on_wall(self, wall: Range, grain: int) -> int:
        """The wall-clock times of the span that it names, whether or not they exist; the first is the lowest bit."""
        marks = 0
        for day in range(wall.start // DAY, (wall.end - 1) // DAY + 1):
            low, high = max(wall.start - day * DAY, 0), min(wall.end - day * DAY, DAY)
            if self.is_present(day):
                part = (self.marks(grain) & (1 << high // grain) - 1) >> low // grain
                marks |= part << (day * DAY + low - wall.start) // grain
        return marks

    def seconds_on_wall(self, wall: Range, grain: int) -> tuple[int, ...]:
        """The same as wall-clock seconds."""
        return shown_seconds(self.marks_on_wall(wall, grain), wall, grain)


def shown_seconds(marks: int, wall: Range, grain: int) -> tuple[int, ...]:
    """The wall-clock seconds of the span that are marked; the first is the lowest bit."""
    shown = range(wall.start, wall.end, grain)
    return tuple(compress(shown, flags(marks, len(shown))))


def grouped(calendars: Iterable[WallTimes]) -> tuple[ClockGroup, ...]:
    groups: dict[tuple[int, int, int, GapRule, FoldRule], list[Days]] = {}
    for second, minute, hour, days, gap, fold in calendars:
        groups.setdefault((second, minute, hour, gap, fold), []).append(days)
    return tuple(ClockGroup(*clock, tuple(merged(days))) for clock, days in groups.items())


class DayKind(NamedTuple):
    """When calendars fire on a day, and when they and intervals are allowed to, as marks."""

    fires: int
    allowed: int


class _YearPlan(NamedTuple):
    """The number of each day's kind, 0 for those on which nothing can happen, and where the others begin and end."""

    kinds: Sequence[int]
    live: Range


class WallDays:
    """The wall-clock days of one spec, by kind. Years of the same kind share a plan; there are few of either."""

    __slots__ = (
        "_counter",
        "_exclusions",
        "_grain",
        "_groups",
        "_has_periods",
        "_number_of_kind",
        "_number_of_presence",
        "_plan_of_year",
        "_plans",
        "kinds",
    )

    def __init__(
        self, groups: tuple[ClockGroup, ...], exclusions: tuple[ClockGroup, ...], has_periods: bool, grain: int
    ) -> None:
        self._groups = groups
        self._exclusions = exclusions
        self._has_periods = has_periods
        self._grain = grain
        # Several threads may number kinds at once: a dictionary and a counter let them agree without a lock.
        self.kinds = {0: DayKind(0, 0)}
        self._counter = count(1)
        self._number_of_kind: dict[DayKind, int] = {}
        self._number_of_presence: dict[tuple[int, ...], int] = {}
        self._plans: dict[tuple[int, int, tuple[int, ...]], _YearPlan] = {}
        self._plan_of_year: dict[int, _YearPlan] = {}

    def kinds_of(self, start: int, end: int) -> list[int]:
        """The numbers of the kinds of the days [start, end)."""
        numbers = [0] * -min(start, 0)
        start = max(start, 0)
        while start < end:
            year = _year_of(start)
            new_year = NEW_YEARS[year - FIRST_YEAR]
            part = self._plan(year).kinds[start - new_year : end - new_year]
            numbers += part
            start += len(part)
        return numbers

    def next_live(self, day: int) -> int | None:
        """The first day from this one on, on which something may happen."""
        return next((day for day, _ in self._live_days(day)), None)

    def next_firing(self, day: int) -> int | None:
        """The first day from this one on, on which a calendar fires."""
        return next((day for day, kind in self._live_days(day) if self.kinds[kind].fires), None)

    def allowed_on_some_day(self) -> int:
        """The times of day that are allowed on any day at all."""
        if not self._exclusions:
            return (1 << DAY // self._grain) - 1
        if len(self._groups) + len(self._exclusions) <= _FEW_GROUPS:
            for year in range(FIRST_YEAR, LAST_YEAR + 1):
                self._plan(year)
            # A list of them, because another thread may add one meanwhile.
            return reduce(or_, [kind.allowed for kind in list(self.kinds.values())])
        # With many groups there are too many kinds of day: what is excluded every day alike is the better part of it.
        everyday = (Days() in group.days for group in self._exclusions)
        return self._work_out_kind((*[0] * len(self._groups), *everyday)).allowed

    def _live_days(self, day: int) -> Iterator[tuple[int, int]]:
        """The days from this one on, on which something may happen, with the numbers of their kinds."""
        for year in range(max(_year_of(day), FIRST_YEAR), LAST_YEAR + 1):
            new_year = NEW_YEARS[year - FIRST_YEAR]
            kinds, live = self._plan(year)
            for place in range(max(live.start, day - new_year), live.end):
                if kinds[place]:
                    yield new_year + place, kinds[place]

    def _plan(self, year: int) -> _YearPlan:
        plan = self._plan_of_year.get(year)
        if plan is None:
            plan = self._plan_of_year[year] = self._find_plan(year)
        return plan

    def _find_plan(self, year: int) -> _YearPlan:
        if year > LAST_YEAR:
            return _YearPlan(bytes(366), Range(0, 0))
        place = year - FIRST_YEAR
        groups = (*self._groups, *self._exclusions)
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
        if len(rows) == 1 and not self._exclusions and not self._has_periods:
            self._number((1,))
            kinds = rows[0]
        else:
            numbers = [self._number(present) for present in zip(*rows, strict=True)]
            kinds = array("I", numbers or [self._number(())] * 366)
        marks = kinds if isinstance(kinds, bytes) else bytes(map(bool, kinds))
        return _YearPlan(kinds, Range(len(marks) - len(marks.lstrip(b"\0")), len(marks.rstrip(b"\0"))))

    def _number(self, present: tuple[int, ...]) -> int:
        """The number of the kind of day on which just these groups and exclusions are present."""
        number = self._number_of_presence.get(present)
        if number is None:
            kind = self._work_out_kind(present)
            hopeless = not kind.fires and not (self._has_periods and kind.allowed)
            number = 0 if hopeless else self._number_of_kind.setdefault(kind, next(self._counter))
            self.kinds.setdefault(number, kind)
            self._number_of_presence[present] = number
        return number

    def _work_out_kind(self, present: tuple[int, ...]) -> DayKind:
        allowed = (1 << DAY // self._grain) - 1
        for group in compress(self._exclusions, present[len(self._groups) :]):
            allowed &= ~group.marks(self._grain)
        fires = 0
        for group in compress(self._groups, present):
            fires |= group.marks(self._grain)
        return DayKind(fires & allowed, allowed)


def _year_of(day: int) -> int:
    """The year of a day number, one year either side of ours being the farthest we look."""
    return FIRST_YEAR - 1 + bisect_right(NEW_YEARS, day)
