"""Preview: what a spec means, before anybody relies on it."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import NamedTuple

from foliot.domain.advice import SpecWarning
from foliot.domain.clock_changes import Effect, effect_on, seconds_lost
from foliot.domain.errors import Invalid
from foliot.domain.spec import Spec
from foliot.domain.zones import LAST_INSTANT

MOST_TIMES = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PlannedTime(NamedTuple):
    nominal_at: int
    offset: int
    """Seconds east of Greenwich that the zone has then."""
    dst: Effect | None
    """Shifted, or first or second of a repeated wall-clock time."""

    @property
    def local(self) -> str:
        """The wall clock there, with how far it is from UTC."""
        there = timezone(timedelta(seconds=self.offset))
        return (_EPOCH + timedelta(seconds=self.nominal_at)).astimezone(there).isoformat()


class Preview(NamedTuple):
    summary: str
    timezone: str
    times: tuple[PlannedTime, ...]
    skipped: tuple[int, ...]
    """Wall-clock seconds (since 1970-01-01 00:00 there) that a gap removed, up to the last time shown; the first."""
    warnings: tuple[SpecWarning, ...]

    @property
    def skipped_texts(self) -> list[str]:
        """Those that a gap removed, as that wall clock would have shown them."""
        return [f"{_EPOCH + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S}" for second in self.skipped]


def preview(spec: Spec, since: int, count: int) -> Preview:
    """The next times strictly after `since`, what clock changes do to them, and what is odd about the spec."""
    if not 1 <= count <= MOST_TIMES:
        raise Invalid(f"count takes 1-{MOST_TIMES}, got {count}")
    times = spec.compile()
    almanac = times.almanac
    instants = list(islice(times.between(since + 1, LAST_INSTANT), count))
    until = instants[-1] if instants else since
    return Preview(
        summary=spec.describe(),
        timezone=almanac.zone.name,
        times=tuple(
            PlannedTime(instant, almanac.zone.offset_at(instant), effect_on(almanac, instant)) for instant in instants
        ),
        skipped=tuple(islice(seconds_lost(times, since, until + 1), MOST_TIMES)),
        warnings=tuple(spec.warnings(since)),
    )
