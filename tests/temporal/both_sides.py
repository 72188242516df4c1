"""One plain spec, asked of Foliot and of a Temporal server."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import count
from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.workflowservice.v1 import ListScheduleMatchingTimesRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleCalendarSpec,
    ScheduleIntervalSpec,
    ScheduleRange,
    ScheduleSpec,
    ScheduleState,
)

from foliot import Calendar, Interval, Spec
from tests.builders import RANGES, moment
from tests.oracle import LAST_INSTANT, PlainCalendar, PlainSpec

_MOST_PER_ANSWER = 1000
"""The server cuts a longer answer, and does not say so."""
_MOST_ANSWERS = 3
_schedule_numbers = count()


class Window(NamedTuple):
    """From `start` to `end`, both included."""

    start: int
    end: int


class Instants(NamedTuple):
    foliot: list[int]
    temporal: list[int]


def instants_of_both(address: str, plain: PlainSpec, zone: str, *windows: Window) -> Instants:
    """What each names in the windows, cut where Temporal has given as much as we ask of it."""
    times = for_foliot(plain, zone).compile()
    foliot: list[int] = []
    temporal: list[int] = []
    for window, named in asyncio.run(_named_by_temporal(address, plain, zone, windows)):
        foliot += times.between(*window)
        temporal += named
    return Instants(foliot, temporal)


def _in_runs(values: frozenset[int]) -> Iterator[range]:
    """The same numbers as ranges with steps."""
    rest = sorted(values)
    while rest:
        step = rest[1] - rest[0] if len(rest) > 1 else 1
        length = 1
        while length < len(rest) and rest[length] - rest[length - 1] == step:
            length += 1
        yield range(rest[0], rest[length - 1] + 1, step)
        rest = rest[length:]


def for_foliot(plain: PlainSpec, zone: str) -> Spec:
    """The spec in Foliot's terms, under the rule for clock changes that Temporal documents."""
    return Spec(
        calendars=tuple(map(_calendar_for_foliot, plain.calendars)),
        intervals=tuple(
            Interval(timedelta(seconds=every), timedelta(seconds=offset)) for every, offset in plain.intervals
        ),
        exclude=tuple(map(_calendar_for_foliot, plain.exclude)),
        start_at=moment(plain.first) if plain.first > 0 else None,
        end_at=moment(plain.last) if plain.last < LAST_INSTANT else None,
        timezone=zone,
        gap="skip",
        fold="both",
    )


def _calendar_for_foliot(plain: PlainCalendar) -> Calendar:
    texts = {
        name: ",".join(f"{run.start}-{run[-1]}/{run.step}" for run in _in_runs(getattr(plain, name))) for name in RANGES
    }
    return Calendar(**texts)


def _for_temporal(plain: PlainSpec, zone: str) -> ScheduleSpec:
    return ScheduleSpec(
        calendars=list(map(_calendar_for_temporal, plain.calendars)),
        intervals=[
            ScheduleIntervalSpec(timedelta(seconds=every), timedelta(seconds=offset))
            for every, offset in plain.intervals
        ],
        skip=list(map(_calendar_for_temporal, plain.exclude)),
        start_at=moment(plain.first) if plain.first > 0 else None,
        end_at=moment(plain.last) if plain.last < LAST_INSTANT else None,
        time_zone_name=zone,
    )


def _calendar_for_temporal(plain: PlainCalendar) -> ScheduleCalendarSpec:
    def ranges(values: frozenset[int]) -> list[ScheduleRange]:
        return [ScheduleRange(run.start, run[-1], run.step) for run in _in_runs(values)]

    return ScheduleCalendarSpec(
        second=ranges(plain.second),
        minute=ranges(plain.minute),
        hour=ranges(plain.hour),
        day_of_month=ranges(plain.day_of_month),
        month=ranges(plain.month),
        year=ranges(plain.year),
        day_of_week=ranges(plain.day_of_week),
    )


async def _named_by_temporal(
    address: str, plain: PlainSpec, zone: str, windows: Sequence[Window]
) -> list[tuple[Window, list[int]]]:
    """Each window as far as it was answered, and what the server names in it."""
    client = await Client.connect(address)
    schedule = await client.create_schedule(
        f"schedule-{next(_schedule_numbers)}",
        Schedule(
            action=ScheduleActionStartWorkflow("never started", id="never-started", task_queue="nobody-listens"),
            spec=_for_temporal(plain, zone),
            state=ScheduleState(paused=True),
        ),
    )
    return [await _named_within(client, schedule.id, window) for window in windows]


async def _named_within(client: Client, schedule: str, window: Window) -> tuple[Window, list[int]]:
    named: list[int] = []
    after = window.start - 1
    for _ in range(_MOST_ANSWERS):
        answer = await client.workflow_service.list_schedule_matching_times(
            ListScheduleMatchingTimesRequest(
                namespace=client.namespace,
                schedule_id=schedule,
                start_time=Timestamp(seconds=after),
                end_time=Timestamp(seconds=window.end),
            )
        )
        named += (time.seconds for time in answer.start_time)
        if len(answer.start_time) < _MOST_PER_ANSWER:
            return window, named
        after = named[-1]
    return Window(window.start, after), named
