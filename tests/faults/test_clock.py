"""Somebody sets the clock, by a second or by a month, once or ten times a second: none early, doubled or lost."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foliot import Context
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Status
from foliot.testing import World, virtual
from tests.engine.invariants import check_books, check_nothing_is_stuck
from tests.engine.timelines import START, an_app

LOOK = 5
EVERY = timedelta(minutes=30)
AT_WORK = timedelta(minutes=75)
"""After this much time two slots have run, and the next one is a quarter of an hour away."""

SPANS = {
    "1-s": timedelta(seconds=1),
    "10-s": timedelta(seconds=10),
    "1-min": timedelta(minutes=1),
    "5-min": timedelta(minutes=5),
    "1-h": timedelta(hours=1),
    "25-h": timedelta(hours=25),
    "30-d": timedelta(days=30),
}
TO_1970 = datetime(1970, 1, 1, tzinfo=START.tzinfo) - (START + AT_WORK)
BACK = {**{f"back-{name}": -span for name, span in SPANS.items()}, "to-1970": TO_1970}
FORWARD = {f"forward-{name}": span for name, span in SPANS.items()}
SOME = {
    name: span for name, span in (BACK | FORWARD).items() if name.endswith(("-1-s", "-5-min", "-1-h", "-30-d", "1970"))
}


class Machine:
    """A world whose clock is set behind the engine's back: it finds out by itself, by looking every few seconds."""

    def __init__(self, world: World, begun: list[tuple[Context, datetime]], looks_every: int) -> None:
        self.world = world
        self.begun = begun
        engine = world.engine()
        engine.settings = replace(engine.settings, clock_check=looks_every * MICROSECONDS)

    def step(self, span: timedelta) -> None:
        self.world._clock.start += span // timedelta(microseconds=1)

    def moments(self, schedule: str = "job") -> list[datetime]:
        """The slots whose code was begun, in that order."""
        return [ctx.scheduled_for for ctx, _ in self.begun if ctx.schedule == schedule]

    def check(self) -> None:
        """None early, none doubled, none lost."""
        early = [(ctx.run_id, now) for ctx, now in self.begun if now < ctx.scheduled_for]
        ids = [ctx.run_id for ctx, _ in self.begun]
        assert early == []
        assert len(ids) == len(set(ids)), "begun twice"
        check_books(self.world, is_clock_steady=False)


@contextmanager
def a_machine(length: timedelta = timedelta(), looks_every: int = LOOK, **options: Any) -> Iterator[Machine]:
    begun: list[tuple[Context, datetime]] = []
    worlds: list[World] = []

    async def job(input: Any, ctx: Context) -> None:
        begun.append((ctx, worlds[0].now))
        await asyncio.sleep(length.total_seconds())

    with virtual(an_app(job), START) as world:
        worlds.append(world)
        world.app.schedules.create("job", every=EVERY, target="job", **options)
        yield Machine(world, begun, looks_every)


def slots(first: datetime, last: datetime) -> list[datetime]:
    """Every half hour after the first up to the last."""
    return [START + n * EVERY for n in range(1, 2000) if first < START + n * EVERY <= last]


@pytest.mark.parametrize("span", BACK.values(), ids=BACK)
def test_after_a_step_back_nothing_fires_again_and_when_that_time_has_come_it_goes_on(span: timedelta) -> None:
    with a_machine() as machine:
        world = machine.world
        world.advance(AT_WORK)
        before = machine.moments()
        assert before == slots(START, world.now)
        machine.step(span)
        world.advance(minutes=12)
        assert machine.moments() == before
        # So much of it as is short enough to be waited for passes; the rest is set right.
        if span < -SPANS["1-h"]:
            machine.step(-span)
        else:
            world.advance(-span)
        assert machine.moments() == before
        world.advance(minutes=31)
        assert machine.moments() == slots(START, world.now)
        assert {run.status for run in world.runs()} == {Status.SUCCESS}
        machine.check()
        check_nothing_is_stuck(world)


def none_but_those_within_grace(jumped: list[datetime], now: datetime) -> list[datetime]:
    return [moment for moment in jumped if now - moment <= timedelta(minutes=1)]


CATCH_UP: dict[str, Callable[[list[datetime], datetime], list[datetime]]] = {
    "none": none_but_those_within_grace,
    "last": lambda jumped, _: jumped[-1:],
    "all": lambda jumped, _: jumped,
}


@pytest.mark.parametrize("catchup", CATCH_UP)
@pytest.mark.parametrize("span", FORWARD.values(), ids=FORWARD)
def test_after_a_step_forward_catch_up_judges_what_was_jumped_over(span: timedelta, catchup: str) -> None:
    with a_machine(catchup=catchup, overlap="allow_all") as machine:
        world = machine.world
        world.advance(AT_WORK)
        before, jumped = machine.moments(), slots(world.now, world.now + span)
        machine.step(span)
        world.advance(seconds=LOOK)
        assert machine.moments() == before + CATCH_UP[catchup](jumped, world.now)
        assert world.engine().counters.clock_steps == (span > timedelta(seconds=2))
        world.advance(EVERY)
        assert machine.moments()[-1] == slots(START, world.now)[-1]
        machine.check()
        check_nothing_is_stuck(world)


@pytest.mark.parametrize("span", SOME.values(), ids=SOME)
def test_a_run_in_hand_and_its_timeout_are_left_alone(span: timedelta) -> None:
    with a_machine(timedelta(minutes=10)) as machine:
        world = machine.world
        world.app.schedules.create("bounded", every=EVERY, target="job", timeout="3m")
        world.advance(EVERY + timedelta(minutes=1))
        machine.step(span)
        world.advance(minutes=1, seconds=59)
        assert [run.status for run in world.runs("bounded")[:1]] == [Status.RUNNING]
        world.advance(seconds=1)
        assert [run.reason for run in world.runs("bounded")[:1]] == ["timeout"]
        assert [run.status for run in world.runs("job")[:1]] == [Status.RUNNING]
        world.advance(minutes=7)
        (run,) = world.runs("job")[:1]
        assert (run.status, run.losses) == (Status.SUCCESS, 0)
        assert (world.engine().counters.fenced, world.engine().counters.rescued) == (0, 0)
        machine.check()


@pytest.mark.parametrize("span", SOME.values(), ids=SOME)
def test_a_clock_that_flips_ten_times_a_second_fires_nothing_twice(span: timedelta) -> None:
    with a_machine(looks_every=1, catchup="last") as machine:
        world = machine.world
        world.advance(EVERY - timedelta(seconds=5))
        for flip in range(100):
            machine.step(span if flip % 2 == 0 else -span)
            world.advance(seconds=0.1)
        world.advance(seconds=2)
        # Whatever it has seen of the time to come, of the slots it has passed by the newest has run.
        assert machine.moments()[-1:] == slots(START, max(now for _, now in machine.begun))[-1:]
        assert START + EVERY in [run.scheduled_for for run in world.runs()]
        machine.check()
        machine.step(max(span, timedelta()))
        world.advance(EVERY)
        assert machine.moments()[-1] == slots(START, world.now)[-1]
        machine.check()
        check_nothing_is_stuck(world)


ANY_SPAN = st.sampled_from([*BACK.values(), *FORWARD.values()]) | st.timedeltas(-timedelta(hours=3), timedelta(hours=3))
ANY_STEPS = st.lists(st.tuples(ANY_SPAN, st.integers(0, 2400)), min_size=1, max_size=6)


@settings(max_examples=settings().max_examples // 5, suppress_health_check=list(HealthCheck))
@given(ANY_STEPS, st.sampled_from(["none", "last", "all", "spread"]), st.sampled_from(["0s", "10m"]))
def test_after_any_steps_nothing_was_early_doubled_or_lost(
    steps: list[tuple[timedelta, int]], catchup: str, jitter: str
) -> None:
    with a_machine(catchup=catchup, jitter=jitter, overlap="allow_all") as machine:
        world = machine.world
        latest = world.now
        for span, seconds in steps:
            # The calendar does not go back for ever.
            machine.step(max(span, datetime(1970, 1, 1, tzinfo=START.tzinfo) - world.now))
            latest = max(latest, world.now)
            world.advance(seconds=seconds)
            latest = max(latest, world.now)
            machine.check()
        machine.step(max(timedelta(), latest - world.now))
        world.advance(EVERY + timedelta(minutes=11))
        machine.check()
        check_nothing_is_stuck(world)
        assert set(slots(latest, world.now - timedelta(minutes=10))) <= set(machine.moments())
