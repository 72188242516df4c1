"""A spec made explicit: everything parsed, resolved and checked, before it is compiled."""

from typing import NamedTuple

from foliot.domain.calendar import FoldRule, GapRule, Reading, WallTimes
from foliot.domain.periods import Period
from foliot.domain.slots import JitterMode
from foliot.domain.zones import Zone


class Plan(NamedTuple):
    zone: Zone
    readings: tuple[Reading, ...]
    """Cron texts and calendars as they were read, for sentences and warnings."""
    calendars: tuple[WallTimes, ...]
    """The same in canonical form."""
    excluded_readings: tuple[Reading, ...]
    exclusions: tuple[WallTimes, ...]
    periods: tuple[Period, ...]
    at: tuple[int, ...]
    first: int | None
    last: int | None
    gap: GapRule
    fold: FoldRule
    """As the spec has them, `auto` unresolved."""
    jitter: int
    """Microseconds."""
    jitter_mode: JitterMode
    manual: bool
