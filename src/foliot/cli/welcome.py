"""What is said when work begins: where it listens, where the key is, what comes next, and what is odd."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from foliot.app import Foliot
from foliot.cli.local_key import FoundKey
from foliot.domain.durations import say_roughly
from foliot.domain.errors import Invalid
from foliot.domain.instants import moment_of
from foliot.services.views import Schedule
from foliot.serving import Server

_SHOWN = 3
_MOST_LOOKED_AT = 1000
_MOST_WARNINGS = 5
_UNREADABLE = "unreadable"


class Fire(NamedTuple):
    at: datetime
    schedule: str


def welcome(
    program: Foliot, server: Server | None = None, key: FoundKey | None = None, *, is_worker: bool = True
) -> str:
    now = moment_of(program.parts.clock.now())
    schedules = program.schedules.list(limit=_MOST_LOOKED_AT)
    lines = [f"foliot: {program.name} works on {program.shown_url}" if is_worker else _only_asked(program)]
    if server is not None:
        lines.append(f"  API   {server.url}")
    if key is not None:
        lines.append(f"  key   {_short(key.path)}")
        lines += [] if key.note is None else [f"        {key.note}"]
    coming = _next(program, schedules)
    width = max((len(fire.schedule) for fire in coming), default=0)
    for number, (at, name) in enumerate(coming):
        wait = say_roughly(max(0, int((at - now).total_seconds())))
        lines.append(f"  {'' if number else 'next':4}  {name:{width}}  {at:%Y-%m-%d %H:%M:%SZ}, in {wait}")
    if not coming:
        lines.append("  next  nothing to come: `foliot schedule create` makes a schedule")
    lines += _warnings(schedules, int(now.timestamp()))
    return "\n".join([*lines, "Stop it with Ctrl-C."])


def _only_asked(program: Foliot) -> str:
    others = "on SQLite nothing else can: leave out --no-worker" if program.parts.database.is_local else "others do"
    return f"foliot: {program.name} answers for {program.shown_url}; nothing runs in this process, {others}"


def _short(path: Path) -> str:
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)


def _next(program: Foliot, schedules: list[Schedule]) -> list[Fire]:
    """The next fires of all schedules: those that fire soonest have them among them."""
    soonest = sorted((s.next_at, s.id) for s in schedules if s.next_at is not None and not s.paused)[:_SHOWN]
    return sorted(fire for at, schedule in soonest for fire in _fires(program, schedule, at))[:_SHOWN]


def _fires(program: Foliot, schedule: str, next_at: datetime) -> list[Fire]:
    try:
        return [Fire(at, schedule) for at in program.schedules.times(schedule, count=_SHOWN)]
    except Invalid:
        # Its zone may not be known here: among the warnings it is told that.
        return [Fire(next_at, schedule)]


def _warnings(schedules: list[Schedule], now: int) -> list[str]:
    """The first of each kind that a schedule's spec has."""
    told: dict[tuple[str, str], str] = {}
    for schedule in schedules:
        try:
            odd = schedule.spec.warnings(now)
        except Invalid as refusal:
            told[schedule.id, _UNREADABLE] = f"warning: {schedule.id} is set aside: {refusal} [{_UNREADABLE}]"
            continue
        for warning in odd:
            told.setdefault((schedule.id, warning.code), f"warning: {schedule.id}: {warning.message} [{warning.code}]")
    lines = list(told.values())
    more = len(lines) - _MOST_WARNINGS
    return lines if more <= 0 else [*lines[:_MOST_WARNINGS], f"warning: {more} more; `foliot schedule show` tells them"]
