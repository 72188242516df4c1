"""A spec as a sentence."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import assert_never

from foliot.domain.calendar import Reading
from foliot.domain.durations import say_duration
from foliot.domain.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    YEAR,
    Field,
    LastDay,
    LastOfWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    SpecialDay,
)
from foliot.domain.instants import MICROSECONDS
from foliot.domain.periods import Period
from foliot.domain.plan import Plan
from foliot.domain.slots import JitterMode
from foliot.domain.zones import Zone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = ["", *(name.capitalize() for name in MONTH.names)]
_WEEKDAYS = [name.capitalize() for name in DAY_OF_WEEK.names]
_MOST_TIMES_LISTED = 8
_MOST_ONE_OFFS_LISTED = 3


def describe(plan: Plan) -> str:
    """One sentence with everything that decides when the spec fires."""
    if plan.manual:
        return "Only when triggered by hand"
    parts = [_say_reading(reading) for reading in plan.readings]
    parts += [_say_period(period) for period in plan.periods]
    if plan.at:
        parts.append(_say_one_offs(plan.at, plan.zone))
    text = "; ".join(parts)
    if plan.excluded_readings:
        text += ", except " + " and ".join(map(_say_exclusion, plan.excluded_readings))
    if plan.first is not None:
        text += f", from {say_moment(plan.first, plan.zone)}"
    if plan.last is not None:
        text += f", until {say_moment(plan.last, plan.zone)}"
    rules = [f"{name}={rule}" for name, rule in (("gap", plan.gap), ("fold", plan.fold)) if rule != "auto"]
    if rules:
        text += f", with {' and '.join(rules)}"
    if plan.jitter:
        text += f", {_say_jitter(plan.jitter, plan.jitter_mode)}"
    return f"{text[0].upper()}{text[1:]} ({plan.zone.name})"


def say_moment(instant: int, zone: Zone) -> str:
    """`2026-11-15 09:00` as the clock on the wall of the zone shows it; seconds only when there are some."""
    return say_wall(instant + zone.offset_at(instant))


def say_wall(wall_second: int) -> str:
    """`2026-11-15 09:00`, given the wall-clock second since 1970-01-01 00:00 there."""
    shown = _EPOCH + timedelta(seconds=wall_second)
    return shown.strftime("%Y-%m-%d %H:%M:%S" if shown.second else "%Y-%m-%d %H:%M")


def _say_reading(reading: Reading) -> str:
    clock, days = _say_clock(reading), _say_days(reading)
    if not days and clock.startswith("at ") and not clock.endswith("every hour"):
        days = "every day"
    return f"{clock} {days}".strip()


def _say_exclusion(reading: Reading) -> str:
    whole_day = all(field.values == field.kind.all for field in (reading.second, reading.minute, reading.hour))
    if whole_day:
        return _say_days(reading) or "always"
    seconds, minutes, hours = _clock_values(reading)
    whole_minutes = len(seconds) == 60 and len(minutes) < 60
    clock = _say_minutes(minutes, hours) if whole_minutes else _say_clock(reading).removeprefix("every second ")
    return f"{clock} {_say_days(reading)}".strip()


def _say_period(period: Period) -> str:
    shift = f", shifted by {say_duration(period.offset)}" if period.offset else ""
    return f"every {say_duration(period.every)}{shift}"


def _say_one_offs(at: tuple[int, ...], zone: Zone) -> str:
    if len(at) > _MOST_ONE_OFFS_LISTED:
        return f"at {len(at)} single times from {say_moment(at[0], zone)} to {say_moment(at[-1], zone)}"
    return f"once at {_listed([say_moment(instant, zone) for instant in at])}"


def _say_jitter(jitter: int, mode: JitterMode) -> str:
    span = f"{jitter} µs" if jitter % 1000 else f"{jitter // 1000} ms"
    if jitter % MICROSECONDS == 0:
        span = say_duration(jitter // MICROSECONDS)
    return f"delayed by up to {span}" if mode is JitterMode.AFTER else f"moved by up to {span} either way"


def _say_clock(reading: Reading) -> str:
    seconds, minutes, hours = _clock_values(reading)
    return _say_minutes(minutes, hours) if seconds == [0] else _say_seconds(seconds, minutes, hours)


def _clock_values(reading: Reading) -> tuple[list[int], list[int], list[int]]:
    return (
        SECOND.values(reading.second.values),
        MINUTE.values(reading.minute.values),
        HOUR.values(reading.hour.values),
    )


def _say_minutes(minutes: list[int], hours: list[int]) -> str:
    span = _hours_from_to(hours, minutes[0], minutes[-1])
    if step := _cadence(minutes, 60):
        if len(hours) == 24:
            return _say_every(step, "minute", minutes[0]) if step < 60 else _say_every(1, "hour", minutes[0])
        if step < 60 and span:
            return f"{_say_every(step, 'minute', 0)} {span}"
    if len(minutes) == 1 and (step := _cadence(hours, 24)) and step < 24:
        return f"every {step} hours from {hours[0]:02}:{minutes[0]:02}"
    if len(minutes) == 1 and span and len(hours) > 3:
        return f"every hour {span}"
    if len(hours) * len(minutes) <= _MOST_TIMES_LISTED:
        return f"at {_listed([f'{hour:02}:{minute:02}' for hour in hours for minute in minutes])}"
    return f"at {_counted('minute', minutes)} of {_counted('hour', hours) if len(hours) < 24 else 'every hour'}"


def _say_seconds(seconds: list[int], minutes: list[int], hours: list[int]) -> str:
    step = _cadence(seconds, 60)
    if step and step < 60 and len(minutes) == 60:
        span = "" if len(hours) == 24 else _hours_from_to(hours, 0, 59)
        if span is not None:
            return f"{_say_every(step, 'second', seconds[0])} {span}".strip()
    if len(hours) * len(minutes) * len(seconds) <= _MOST_TIMES_LISTED:
        return "at " + _listed([f"{h:02}:{m:02}:{s:02}" for h in hours for m in minutes for s in seconds])
    start = _say_every(step, "second", seconds[0]) if step and step < 60 else f"at {_counted('second', seconds)}"
    within = "every minute" if len(minutes) == 60 else _counted("minute", minutes)
    return f"{start} of {within}" + ("" if len(hours) == 24 else f" of {_counted('hour', hours)}")


def _say_every(step: int, unit: str, start: int) -> str:
    text = f"every {unit}" if step == 1 else f"every {step} {unit}s"
    return f"{text} from :{start:02}" if start and step > 1 else f"{text} at :{start:02}" if start else text


def _hours_from_to(hours: list[int], first: int, last: int) -> str | None:
    """`from 09:00 to 17:45`, when the hours are one run of the day."""
    if len(hours) == 24 or hours[-1] - hours[0] + 1 != len(hours):
        return None
    return f"from {hours[0]:02}:{first:02} to {hours[-1]:02}:{last:02}"


def _cadence(values: list[int], cycle: int) -> int | None:
    """The step, when the values go round the whole cycle in equal steps."""
    step = cycle // len(values)
    return step if step * len(values) == cycle and values == list(range(values[0], cycle, step)) else None


def _say_days(reading: Reading) -> str:
    date = _say_dates(reading.day_of_month)
    weekday = _say_weekdays(reading.day_of_week)
    months = "" if reading.month.values == MONTH.all else _runs(MONTH.values(reading.month.values), _month_name)
    words = []
    if date:
        words.append(f"on {date} of {months or 'the month'}")
    if date and weekday:
        words.append(f"or on {weekday}" if reading.either_day else f"when it is {weekday}")
    elif weekday:
        words.append(f"on {weekday}")
    if months and (not date or (weekday and reading.either_day)):
        words.append(f"in {months}")
    if reading.year.values != YEAR.all:
        words.append(f"in {_runs(YEAR.values(reading.year.values), str)}")
    return " ".join(words)


def _say_dates(field: Field) -> str:
    if field.values == DAY_OF_MONTH.all:
        return ""
    plain = _runs(DAY_OF_MONTH.values(field.values), lambda day: f"the {_ordinal(day)}")
    return _listed([plain] * bool(plain) + [_say_special(special) for special in field.specials])


def _say_weekdays(field: Field) -> str:
    if field.values == DAY_OF_WEEK.all:
        return ""
    days = DAY_OF_WEEK.values(field.values)
    if days[:1] == [0] and len(days) > 1:
        days = [*days[1:], 7]  # A week that ends on Sunday reads better: Saturday and Sunday.
    plain = _runs(days, lambda day: _WEEKDAYS[day % 7])
    return _listed([plain] * bool(plain) + [_say_special(special) for special in field.specials])


def _say_special(special: SpecialDay) -> str:
    match special:
        case LastDay(0):
            return "the last day"
        case LastDay(before):
            return f"the day {before} before the last"
        case LastWorkday():
            return "the last workday"
        case NearestWorkday(day):
            return f"the workday nearest the {_ordinal(day)}"
        case NthWeekday(weekday, nth):
            return f"the {_ordinal(nth)} {_WEEKDAYS[weekday]} of the month"
        case LastOfWeekday(weekday):
            return f"the last {_WEEKDAYS[weekday]} of the month"
        case _:
            assert_never(special)


def _counted(unit: str, values: list[int]) -> str:
    return f"{unit}{'s' * (len(values) > 1)} {_runs(values, str)}"


def _month_name(month: int) -> str:
    return _MONTHS[month]


def _runs(values: list[int], name: Callable[[int], str]) -> str:
    """The values by name, runs of three or more as `first to last`, equal steps as `first to last by step`."""
    said = []
    while values:
        size = 1
        step = values[1] - values[0] if len(values) > 1 else 1
        while size < len(values) and values[size] - values[size - 1] == step:
            size += 1
        if size < 3 or (step > 1 and size < 5):
            size = 1
        run, values = values[:size], values[size:]
        by = f" by {step}" if size > 1 and step > 1 else ""
        said.append(name(run[0]) if size == 1 else f"{name(run[0])} to {name(run[-1])}{by}")
    return _listed(said)


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
