"""Seven fields, all ANDed: which wall-clock times a calendar names.

Whatever a person wrote becomes `WallTimes`, the canonical form: seven sets of numbers and a stated rule for clock
changes. Special days (`L`, `15W`, `5#2`) become day ranges with weekdays, so no later step knows of them.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from foliot.domain.days import LONGEST_MONTHS, Days, days_of_field, merged
from foliot.domain.fields import DAY_OF_MONTH, HOUR, KINDS, MINUTE, MONTH, SECOND, Field, Source, parse_field


class GapRule(StrEnum):
    """What becomes of a wall-clock time that a clock change skips."""

    AUTO = "auto"
    SHIFT = "shift"
    SKIP = "skip"


class FoldRule(StrEnum):
    """Which of the instants at which a wall-clock time occurs more than once is meant."""

    AUTO = "auto"
    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Calendar:
    """Seven fields in cron's field syntax, all ANDed. Unset second, minute and hour are 0, the rest `*`.

    In a spec's `exclude` every unset field is `*`, so that a day can be excluded by its date.
    `gap` and `fold` override the spec's for this calendar.
    """

    second: str | None = None
    minute: str | None = None
    hour: str | None = None
    day_of_month: str | None = None
    month: str | None = None
    year: str | None = None
    day_of_week: str | None = None
    gap: str = GapRule.AUTO
    fold: str = FoldRule.AUTO


class WallTimes(NamedTuple):
    """A calendar in canonical form: each field a set of numbers as bits, and the rule for clock changes."""

    second: int
    minute: int
    hour: int
    days: Days
    gap: GapRule
    fold: FoldRule


class Reading(NamedTuple):
    """A calendar or cron text as it was read: seven fields in the order of `KINDS`."""

    text: str
    second: Field
    minute: Field
    hour: Field
    day_of_month: Field
    month: Field
    year: Field
    day_of_week: Field
    either_day: bool = False
    """Classic cron: day of month OR day of week."""

    @property
    def fields(self) -> tuple[Field, ...]:
        return self[1:8]

    @property
    def follows_elapsed_time(self) -> bool:
        """Debian cron's wildcard job: it follows elapsed time through a clock change."""
        return self.minute.starred or self.hour.starred

    def longest_month_without_its_day(self) -> int | None:
        """How long the longest of its months is, when that is too short for every date it names: 30 February."""
        if self.either_day or self.day_of_month.specials:
            return None
        longest = max(LONGEST_MONTHS[month] for month in MONTH.values(self.month.values))
        return longest if min(DAY_OF_MONTH.values(self.day_of_month.values)) > longest else None

    def wall_times(self, gap: GapRule, fold: FoldRule) -> list[WallTimes]:
        """The canonical calendars that this reading means, `auto` resolved."""
        if gap is GapRule.AUTO:
            gap = GapRule.SKIP if self.follows_elapsed_time else GapRule.SHIFT
        if fold is FoldRule.AUTO:
            fold = FoldRule.BOTH if self.follows_elapsed_time else FoldRule.FIRST
        clock = (self.second.values, self.minute.values, self.hour.values)
        return [WallTimes(*clock, days, gap, fold) for days in self.days()]

    def days(self) -> tuple[Days, ...]:
        return _days(*self[4:])


@lru_cache(maxsize=1024)
def _days(day_of_month: Field, month: Field, year: Field, day_of_week: Field, either_day: bool) -> tuple[Days, ...]:
    """The sets of days that the fields name. Remembered: most texts differ in their times of day only."""
    bounds = Days(month=month.values, year=year.values)
    by_date = days_of_field(day_of_month)
    by_weekday = days_of_field(day_of_week)
    alternatives = by_date + by_weekday if either_day else [one & other for one, other in product(by_date, by_weekday)]
    return tuple(merged([days & bounds for days in alternatives]))


def read_calendar(calendar: Calendar, label: str = "calendar", unset: str = "0") -> Reading:
    """The calendar's fields, parsed; Invalid names the field that is wrong."""
    fields = []
    for kind in KINDS:
        text = getattr(calendar, kind.name)
        if text is None:
            text = unset if kind in (SECOND, MINUTE, HOUR) else "*"
        text = str(text).strip()
        fields.append(parse_field(kind, text, Source(label, text)))
    said = " ".join(f"{kind.name}={field.text}" for kind, field in zip(KINDS, fields, strict=True))
    return Reading._make((said, *fields, False))
