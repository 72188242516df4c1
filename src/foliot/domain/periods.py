"""Intervals: the next instant of one that a daily exclusion leaves, by arithmetic."""

from collections.abc import Callable, Sequence
from itertools import compress
from math import gcd
from typing import NamedTuple

from foliot.domain.durations import DAY
from foliot.domain.marks import flags
from foliot.domain.zones import Zone

_MOST_CLASSES = 64


class Period(NamedTuple):
    """An interval in whole seconds: every instant t with t % every == offset."""

    every: int
    offset: int

    def next_from(self, instant: int) -> int:
        """The first instant of the period from this one on."""
        return instant + (self.offset - instant) % self.every


class _DayClass(NamedTuple):
    """The days d with d % modulus == remainder; on these the period has an instant at that second."""

    second: int
    modulus: int
    remainder: int

    def next_from(self, instant: int) -> int:
        day = -((self.second - instant) // DAY)
        return (day + (self.remainder - day) % self.modulus) * DAY + self.second


class PeriodSearch:
    """Finds the next instant of any period at a time of day that is allowed on some day.

    A period and a time of day meet on the days of one residue class (the Chinese remainder theorem). When few times of
    day are left, the next meeting is computed rather than waited for: a 49,999 s interval meets midnight once in 136
    years.
    """

    __slots__ = ("_allowed", "_allowed_on_some_day", "_classes", "_grain", "_periods", "_zone")

    def __init__(
        self, periods: tuple[Period, ...], zone: Zone, grain: int, allowed_on_some_day: Callable[[], int]
    ) -> None:
        self._periods = periods
        self._zone = zone
        self._grain = grain
        self._allowed_on_some_day = allowed_on_some_day
        self._allowed: Sequence[int] | None = None
        self._classes: dict[int, Sequence[Period | _DayClass]] = {}

    def next_from(self, instant: int, last: int) -> int | None:
        """The first such instant from this one to the last; other exclusions may still remove it."""
        for span, offset in self._zone.stretches(instant, last + 1):
            candidates = self._candidates(offset)
            found = min((one.next_from(span.start) for one in candidates), default=span.end)
            if found < span.end:
                return found
        return None

    def _candidates(self, offset: int) -> Sequence[Period | _DayClass]:
        """While the zone has this offset: the periods themselves, or for those seldom allowed their days."""
        if offset not in self._classes:
            self._classes[offset] = [one for period in self._periods for one in self._split(period, offset)]
        return self._classes[offset]

    def _split(self, period: Period, offset: int) -> Sequence[Period | _DayClass]:
        common = gcd(period.every, DAY)
        walls = self._wall_seconds()
        if len(walls) * self._grain == DAY or len(walls) > _MOST_CLASSES * common:
            return [period]
        # Only wall-clock seconds that leave this remainder can be met.
        first = (period.offset + offset) % common
        walls = [wall for wall in walls if wall % common == first]
        if len(walls) > _MOST_CLASSES:
            return [period]
        modulus = period.every // common
        inverse = pow(DAY // common, -1, modulus)
        return [
            _DayClass(second, modulus, (period.offset - second) // common * inverse % modulus)
            for second in ((wall - offset) % DAY for wall in walls)
        ]

    def _wall_seconds(self) -> Sequence[int]:
        """The times of day that are allowed on some day."""
        if self._allowed is None:
            steps = range(0, DAY, self._grain)
            self._allowed = tuple(compress(steps, flags(self._allowed_on_some_day(), len(steps))))
        return self._allowed
