"""A spec: which moments were asked for. Compiling it is its validation."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from foliot.domain.advice import SpecWarning, warnings_about
from foliot.domain.almanac import Almanac
from foliot.domain.calendar import Calendar, FoldRule, GapRule, Reading, WallTimes, read_calendar
from foliot.domain.canonical import Json, calendar_as_json, calendar_from_json, exclusion_as_json
from foliot.domain.cron import CronText, Every, read_cron
from foliot.domain.description import describe
from foliot.domain.durations import whole_seconds
from foliot.domain.errors import Invalid
from foliot.domain.fields import FIRST_YEAR, LAST_YEAR, Dialect, quoted
from foliot.domain.periods import Period
from foliot.domain.plan import Plan
from foliot.domain.slots import JitterMode
from foliot.domain.times import Times
from foliot.domain.zones import FIRST_INSTANT, LAST_INSTANT, Zone, load_zone
from foliot.domain.zones import UTC as UTC_ZONE

_CANONICAL_KEYS = (
    "calendars",
    "intervals",
    "at",
    "exclude",
    "start_at",
    "end_at",
    "timezone",
    "jitter_us",
    "jitter_mode",
    "manual",
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
# Any moment of our years proves that a spec has one; most specs have one soon after this.
_SOME_TIME = 1_767_225_600


class Anchor(StrEnum):
    """Where an interval is counted from."""

    EPOCH = "epoch"
    START = "start"


@dataclass(frozen=True, slots=True)
class Interval:
    """Every so often, counted from 1 January 1970 UTC plus `offset`, or from the spec's `start_at` plus `offset`."""

    every: timedelta
    offset: timedelta = timedelta()
    anchor: str = Anchor.EPOCH


@dataclass(frozen=True, slots=True)
class Spec:
    """A set of whole-second UTC instants: any cron text, calendar, interval or one-off, less exclusions, within bounds.

    A single value may stand for a sequence of one. Datetimes without a zone are wall-clock times in the spec's zone.
    """

    cron: Sequence[str] = ()
    calendars: Sequence[Calendar] | Calendar = ()
    intervals: Sequence[Interval] | Interval = ()
    at: Sequence[datetime] | datetime = ()
    exclude: Sequence[Calendar] | Calendar = ()
    start_at: datetime | None = None
    end_at: datetime | None = None
    timezone: str | None = None
    """An IANA name; if absent, the one that the cron text names with `TZ=`, else UTC."""
    jitter: timedelta = timedelta()
    jitter_mode: str = JitterMode.AFTER
    gap: str = GapRule.AUTO
    fold: str = FoldRule.AUTO
    dialect: str = Dialect.CRON
    manual: bool = False
    """No moments of its own: runs only when somebody triggers it."""

    def __post_init__(self) -> None:
        for name in ("cron", "calendars", "intervals", "at", "exclude"):
            given = getattr(self, name)
            several = isinstance(given, Iterable) and not isinstance(given, str)
            object.__setattr__(self, name, tuple(given) if several else (given,))

    def compile(self) -> Times:
        """The instants, ready to be asked for; Invalid when the spec is wrong or names no moment at all."""
        return self._times(self._plan())

    def resolved(self) -> tuple[Times, Json]:
        """The instants and the canonical form, for the price of one of them."""
        plan = self._plan()
        return self._times(plan), _form(plan)

    def _times(self, plan: Plan) -> Times:
        first = FIRST_INSTANT if plan.first is None else plan.first
        last = LAST_INSTANT if plan.last is None else plan.last
        almanac = Almanac(plan.zone, plan.calendars, plan.exclusions, plan.periods, plan.at, first, last)
        times = Times(almanac, plan.jitter, plan.jitter_mode)
        if not plan.manual and not almanac.surely_fires(_SOME_TIME) and times.next_after(first - 1) is None:
            raise Invalid(_why_never(self, plan))
        return times

    def describe(self) -> str:
        """The spec as a sentence."""
        return describe(self._plan())

    def warnings(self, now: int) -> list[SpecWarning]:
        """What its author may not have meant, seen from the instant `now` in epoch seconds."""
        return warnings_about(self._plan(), self.compile(), now)

    def canonical(self) -> Json:
        """The structured form, ready for JSON: plain numbers; zone, offsets and rules for clock changes resolved."""
        return _form(self._plan())

    @classmethod
    def from_canonical(cls, form: Mapping[str, Any] | str) -> "Spec":
        """The spec of that canonical form, given as an object or as JSON text."""
        try:
            data = json.loads(form) if isinstance(form, str) else form
            if unknown := set(data) - set(_CANONICAL_KEYS):
                raise Invalid(f"a canonical spec takes {', '.join(_CANONICAL_KEYS)}, got {sorted(unknown)}")
            return cls(
                calendars=tuple(calendar_from_json(one, "calendar") for one in data["calendars"]),
                intervals=tuple(
                    Interval(timedelta(seconds=one["every"]), timedelta(seconds=one["offset"]))
                    for one in data["intervals"]
                ),
                at=tuple(map(datetime.fromisoformat, data["at"])),
                exclude=tuple(calendar_from_json(one, "exclude") for one in data["exclude"]),
                start_at=datetime.fromisoformat(data["start_at"]) if data["start_at"] else None,
                end_at=datetime.fromisoformat(data["end_at"]) if data["end_at"] else None,
                timezone=data["timezone"],
                jitter=timedelta(microseconds=data["jitter_us"]),
                jitter_mode=data["jitter_mode"],
                manual=data["manual"],
            )
        except Invalid:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise Invalid(
                f"a canonical spec takes all of {', '.join(_CANONICAL_KEYS)}, each as the canonical form of a spec "
                "has it: show one and change that"
            ) from error

    def _plan(self) -> Plan:
        texts = [read_cron(text, _option(Dialect, "dialect", self.dialect)) for text in _all(str, "cron", self.cron)]
        if not isinstance(self.timezone, str | None):
            raise Invalid(f"timezone takes an IANA name such as 'Europe/Berlin', got {self.timezone!r}")
        zone = load_zone(_zone_name(self.timezone, texts))
        gap, fold = _option(GapRule, "gap", self.gap), _option(FoldRule, "fold", self.fold)
        read = [(text.moments, gap, fold) for text in texts if isinstance(text.moments, Reading)]
        read += [
            (read_calendar(calendar), *_own_rule(calendar, gap, fold))
            for calendar in _all(Calendar, "calendars", self.calendars)
        ]
        excluded = []
        for calendar in _all(Calendar, "exclude", self.exclude):
            _own_rule(calendar, gap, fold)  # An instant needs no rule for clock changes, but a wrong one is refused.
            excluded.append(read_calendar(calendar, "exclude", unset="*"))
        start, end = _bounds(self.start_at, self.end_at, zone)
        every = [text.moments for text in texts if isinstance(text.moments, Every)]
        periods = [_period(Interval(*one), start) for one in every]
        periods += [_period(interval, start) for interval in _all(Interval, "intervals", self.intervals)]
        plan = Plan(
            zone=zone,
            readings=tuple(reading for reading, _, _ in read),
            calendars=tuple(_distinct(reading.wall_times(gap, fold) for reading, gap, fold in read)),
            excluded_readings=tuple(excluded),
            exclusions=tuple(_distinct(reading.wall_times(GapRule.SKIP, FoldRule.BOTH) for reading in excluded)),
            periods=tuple(periods),
            at=tuple(sorted({_one_off(moment, zone) for moment in _all(datetime, "at", self.at)})),
            first=start if start is None or start > FIRST_INSTANT else None,
            last=end if end is None or end < LAST_INSTANT else None,
            gap=gap,
            fold=fold,
            jitter=_jitter(self.jitter),
            jitter_mode=_option(JitterMode, "jitter_mode", self.jitter_mode),
            manual=bool(self.manual),
        )
        _check_emptiness(plan)
        return plan


def _form(plan: Plan) -> Json:
    return {
        "calendars": _in_order([calendar_as_json(calendar) for calendar in plan.calendars]),
        "intervals": [period._asdict() for period in sorted(set(plan.periods))],
        "at": [_rfc3339(instant) for instant in plan.at],
        "exclude": _in_order([exclusion_as_json(calendar) for calendar in plan.exclusions]),
        "start_at": None if plan.first is None else _rfc3339(plan.first),
        "end_at": None if plan.last is None else _rfc3339(plan.last),
        "timezone": plan.zone.name,
        "jitter_us": plan.jitter,
        "jitter_mode": str(plan.jitter_mode),
        "manual": plan.manual,
    }


_Option = TypeVar("_Option", bound=StrEnum)
_Item = TypeVar("_Item")


def _option(kind: type[_Option], name: str, value: str) -> _Option:
    try:
        return kind(value)
    except ValueError:
        raise Invalid(f"{name} takes {', '.join(map(repr, map(str, kind)))}, got {value!r}") from None


def _all(kind: type[_Item], name: str, values: Sequence[_Item] | _Item) -> tuple[_Item, ...]:
    assert isinstance(values, tuple), "Spec makes it one"
    for value in values:
        if not isinstance(value, kind):
            raise Invalid(f"{name} takes {kind.__name__} values, got {value!r}")
    return values


def _zone_name(timezone: str | None, texts: list[CronText]) -> str:
    """The one zone of the spec; Invalid when cron prefixes disagree with each other or with `timezone`."""
    named = {text.zone for text in texts if isinstance(text.moments, Reading) or text.zone}
    if timezone is not None:
        named = named - {None} | {timezone}
    if len(named) > 1:
        said = ", ".join(sorted(repr(name) if name else "none" for name in named))
        raise Invalid(f"a spec has one time zone, got {said}: give it once, as timezone, and drop the TZ= prefixes")
    return next((name for name in named if name is not None), UTC_ZONE)


def _own_rule(calendar: Calendar, gap: GapRule, fold: FoldRule) -> tuple[GapRule, FoldRule]:
    own_gap, own_fold = _option(GapRule, "gap", calendar.gap), _option(FoldRule, "fold", calendar.fold)
    return gap if own_gap is GapRule.AUTO else own_gap, fold if own_fold is FoldRule.AUTO else own_fold


def _bounds(start_at: datetime | None, end_at: datetime | None, zone: Zone) -> tuple[int | None, int | None]:
    for name, moment in (("start_at", start_at), ("end_at", end_at)):
        if moment is not None and not isinstance(moment, datetime):
            raise Invalid(f"{name} takes a datetime, got {moment!r}")
    first = None if start_at is None else -(-_microseconds(start_at, zone) // 1_000_000)
    last = None if end_at is None else _microseconds(end_at, zone) // 1_000_000
    if (first is not None and first > LAST_INSTANT) or (last is not None and last < FIRST_INSTANT):
        raise Invalid(
            f"start_at and end_at leave nothing of the years {FIRST_YEAR}-{LAST_YEAR}, got {start_at} and {end_at}"
        )
    if first is not None and last is not None and first > last:
        raise Invalid(f"end_at must not be before start_at, got start_at {start_at} and end_at {end_at}")
    return first, last


def _one_off(moment: datetime, zone: Zone) -> int:
    """A fraction of a second is rounded up: late by less than a second, never early."""
    instant = -(-_microseconds(moment, zone) // 1_000_000)
    if not FIRST_INSTANT <= instant <= LAST_INSTANT:
        raise Invalid(f"at takes moments of the years {FIRST_YEAR}-{LAST_YEAR}, got {moment}")
    return instant


def _microseconds(moment: datetime, zone: Zone) -> int:
    """Since the epoch. Without a zone it is a wall-clock time in the spec's: shifted out of a gap, first in a fold."""
    if moment.tzinfo is not None and moment.utcoffset() is not None:
        return (moment - _EPOCH) // timedelta(microseconds=1)
    wall, fraction = divmod(moment.replace(tzinfo=UTC) - _EPOCH, _SECOND)
    instants = zone.instants_of(wall)
    if not instants:
        return zone.end_of_gap(wall) * 1_000_000
    return instants[0] * 1_000_000 + fraction.microseconds


def _period(interval: Interval, first: int | None) -> Period:
    for name in ("every", "offset"):
        if not isinstance(getattr(interval, name), timedelta):
            raise Invalid(f"interval '{name}' takes a timedelta, got {getattr(interval, name)!r}")
    every = whole_seconds("interval 'every'", interval.every)
    offset = whole_seconds("interval 'offset'", interval.offset)
    if every < 1:
        raise Invalid(f"interval 'every' takes 1 second or more, got {interval.every}")
    if not 0 <= offset < every:
        raise Invalid(f"interval 'offset' takes 0 up to but without 'every' ({interval.every}), got {interval.offset}")
    if _option(Anchor, "anchor", interval.anchor) is Anchor.START:
        if first is None:
            raise Invalid("an interval with anchor 'start' takes a spec with start_at, got none")
        offset += first
    return Period(every, offset % every)


def _jitter(jitter: timedelta) -> int:
    if not isinstance(jitter, timedelta) or jitter < timedelta():
        raise Invalid(f"jitter takes a timedelta of 0 or more, got {jitter!r}")
    return jitter // timedelta(microseconds=1)


def _distinct(parts: Iterable[list[WallTimes]]) -> dict[WallTimes, None]:
    return {calendar: None for part in parts for calendar in part}


def _in_order(objects: list[Json]) -> list[Json]:
    return sorted(objects, key=json.dumps) if len(objects) > 1 else objects


def _rfc3339(instant: int) -> str:
    return f"{(_EPOCH + timedelta(seconds=instant)).replace(tzinfo=None).isoformat()}Z"


def _check_emptiness(plan: Plan) -> None:
    asked = bool(plan.readings or plan.periods or plan.at)
    if plan.manual and asked:
        raise Invalid(
            "a manual spec has no moments of its own: leave out cron, calendars, intervals and at, or that it is manual"
        )
    if not plan.manual and not asked:
        raise Invalid(
            "a spec takes cron, calendars, intervals or at, got none of them: give one, or say that it is manual, "
            "with no moments at all"
        )


def _why_never(spec: Spec, plan: Plan) -> str:
    """The likeliest mistake, by name: a day that its months do not have, else a plain statement."""
    for reading in plan.readings:
        if longest := reading.longest_month_without_its_day():
            return (
                f"field 'day_of_month' takes 1-{longest} when field 'month' is {reading.month.text!r}, "
                f"got {reading.day_of_month.text!r} in {quoted(reading.text)}: it never matches"
            )
    what = ", ".join(repr(reading.text) for reading in plan.readings) or "the spec"
    bounds = f" from {spec.start_at or FIRST_YEAR} to {spec.end_at or LAST_YEAR}"
    excluded = " once its exclusions are taken out" if plan.exclusions else ""
    return f"{what} never matches{bounds}{excluded}: change the fields, the bounds or the exclusions"
