"""The written rule, read second by second, sharing no code with the product: slow, plain, and the judge."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1)
DAY = 86400
LAST_INSTANT = 7_258_118_399


@dataclass(frozen=True)
class PlainCalendar:
    """Seven sets of numbers, Sunday 0, and the rule for clock changes."""

    second: frozenset[int]
    minute: frozenset[int]
    hour: frozenset[int]
    day_of_month: frozenset[int]
    month: frozenset[int]
    year: frozenset[int]
    day_of_week: frozenset[int]
    gap: str = "skip"
    fold: str = "both"

    def names(self, shown: datetime) -> bool:
        return (
            shown.second in self.second
            and shown.minute in self.minute
            and shown.hour in self.hour
            and shown.day in self.day_of_month
            and shown.month in self.month
            and shown.year in self.year
            and shown.isoweekday() % 7 in self.day_of_week
        )


@dataclass(frozen=True)
class PlainSpec:
    calendars: tuple[PlainCalendar, ...] = ()
    exclude: tuple[PlainCalendar, ...] = ()
    intervals: tuple[tuple[int, int], ...] = ()
    at: tuple[int, ...] = ()
    first: int = 0
    last: int = LAST_INSTANT


@dataclass
class WallClock:
    """The clock on the wall of a zone, looked at every `step` seconds from `start` to `end`.

    It looks `margin` farther both ways, for the times that a clock change brings in: no change since 1970 was greater
    than a day.
    """

    zone: str
    start: int
    end: int
    step: int = 1
    margin: int = 26 * 3600
    instants: dict[int, datetime] = field(default_factory=dict)
    occurrences: dict[datetime, list[int]] = field(default_factory=lambda: defaultdict(list))
    missing: dict[datetime, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        zone = ZoneInfo(self.zone)
        step = timedelta(seconds=self.step)
        before: datetime | None = None
        for instant in range(self.start - self.margin, self.end + self.margin + 1, self.step):
            shown = datetime.fromtimestamp(instant, UTC).astimezone(zone).replace(tzinfo=None, fold=0)
            self.instants[instant] = shown
            self.occurrences[shown].append(instant)
            while before is not None and before + step < shown:
                before += step
                self.missing.setdefault(before, instant)
            before = shown
        for shown in self.occurrences:
            self.missing.pop(shown, None)


def instants_of(spec: PlainSpec, clock: WallClock) -> list[int]:
    """Every instant from the clock's start to its end that the spec names."""
    found = set()
    for calendar in spec.calendars:
        for shown, occurrences in clock.occurrences.items():
            if calendar.names(shown):
                found.update({"first": occurrences[:1], "second": occurrences[-1:], "both": occurrences}[calendar.fold])
        if calendar.gap == "shift":
            found.update(after for shown, after in clock.missing.items() if calendar.names(shown))
    for every, offset in spec.intervals:
        found.update(instant for instant in clock.instants if (instant - offset) % every == 0)
    found.update(spec.at)
    return sorted(
        instant
        for instant in found
        if clock.start <= instant <= clock.end
        and max(spec.first, 0) <= instant <= min(spec.last, LAST_INSTANT)
        and 1970 <= clock.instants[instant].year <= 2199
        and not any(calendar.names(clock.instants[instant]) for calendar in spec.exclude)
    )
