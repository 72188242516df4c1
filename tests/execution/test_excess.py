"""A run that has used more than it may is over at that call, whatever its code makes of it."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from foliot import ActionContext, Context, Foliot, LimitExceeded
from foliot.testing import World, virtual
from tests.dags import a_dag, act, manual
from tests.sdk.worlds import START

EXCEEDED = ("error", "run_limit", "it has used 3 calls, and one run may take 2")
COST = 200


@pytest.fixture
def world() -> Iterator[World]:
    with virtual(Foliot("sqlite:///not-used.db"), START) as world:
        yield world


def use(ctx: Context | ActionContext, number: int) -> None:
    ctx.report_usage(f"call-{number}", cost="0.00001")


def by_schedule(world: World, target: str) -> tuple[str, str | None, str | None, timedelta]:
    """How a run of it ended, and after how long."""
    world.app.schedules.create("digest", target=target, manual=True, max_calls=2)
    world.app.schedules.trigger("digest")
    world.advance(hours=1)
    (run,) = world.runs("digest")
    assert run.ended_at is not None
    assert run.started_at is not None
    return str(run.status), run.reason, run.error, run.ended_at - run.started_at


def by_request(world: World, target: str) -> tuple[str, str | None, str | None, timedelta]:
    begun = world.now
    asking = world._loop.create_task(world.app.execute(target, key="k1", max_calls=2))
    world.advance(hours=1)
    ended_at = world.app.requests.get("k1").ended_at
    assert ended_at is not None
    answer = asking.result()
    return answer.status, answer.error_code, answer.error, ended_at - begun


WAYS = pytest.mark.parametrize("way", [by_schedule, by_request])
Way = Callable[[World, str], tuple[str, str | None, str | None, timedelta]]


@WAYS
def test_code_that_catches_every_exception_does_not_catch_this(world: World, way: Way) -> None:
    made: list[int] = []

    @world.app.graph("storm")
    async def storm(input: Any, ctx: Context) -> None:
        for number in range(100):
            made.append(number)
            with suppress(Exception):
                use(ctx, number)

    assert way(world, "storm") == (*EXCEEDED, timedelta(0))
    assert (len(made), world.app.accounts.get().balance) == (3, -3 * COST)


@WAYS
def test_code_that_catches_even_this_is_cancelled_at_once(world: World, way: Way) -> None:
    heard: list[str] = []

    @world.app.graph("deaf")
    async def deaf(input: Any, ctx: Context) -> None:
        for number in range(100):
            with suppress(LimitExceeded):
                use(ctx, number)
        try:
            await asyncio.sleep(600)
        finally:
            heard.append("cancelled")

    assert way(world, "deaf") == (*EXCEEDED, timedelta(0))
    assert heard == ["cancelled"]


@WAYS
def test_code_that_does_not_obey_at_all_is_given_up_on(world: World, way: Way) -> None:
    @world.app.graph("stubborn")
    async def stubborn(input: Any, ctx: Context) -> str:
        for number in range(3):
            with suppress(LimitExceeded):
                use(ctx, number)
        for _ in range(100):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
        return "done"

    assert way(world, "stubborn") == (*EXCEEDED, timedelta(seconds=5))
    assert world.app.accounts.get().balance == -3 * COST


def test_each_further_call_of_its_context_says_so_again(world: World) -> None:
    told: list[str] = []

    @world.app.graph("deaf")
    async def deaf(input: Any, ctx: Context) -> None:
        use(ctx, 0)
        use(ctx, 1)
        assert not ctx.cancelled
        calls: list[Callable[[], None]] = [
            lambda: use(ctx, 2),
            lambda: use(ctx, 2),
            ctx.heartbeat,
            lambda: ctx.ask("approval"),
        ]
        for call in calls:
            try:
                call()
            except LimitExceeded as limit:
                told.append(str(limit).partition(" has ")[2])
        assert ctx.cancelled

    assert by_schedule(world, "deaf") == (*EXCEEDED, timedelta(0))
    assert told == ["used 3 calls, and one run may take 2"] * 4


@WAYS
def test_an_action_that_goes_on_is_cancelled_with_its_workflow(world: World, way: Way) -> None:
    begun: list[str] = []

    @world.app.action("deaf")
    async def deaf(input: Any, ctx: ActionContext) -> None:
        begun.append(ctx.node)
        for number in range(3):
            with suppress(LimitExceeded):
                use(ctx, number)
        await asyncio.sleep(600)

    world.app.workflows.deploy(a_dag([manual(), act("a", "deaf"), act("b", "deaf")], "start > a > b"))
    assert way(world, "dag:flow") == (*EXCEEDED, timedelta(0))
    assert begun == ["a"]


def test_who_was_asked_to_stop_has_stopped_by_order_as_without_limits(world: World) -> None:
    @world.app.graph("obeys")
    async def obeys(input: Any, ctx: Context) -> str | None:
        use(ctx, 0)
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            if input is None:
                raise
        return "in the midst of it"

    world.app.schedules.create("digest", target="obeys", manual=True, max_calls=2, overlap="allow_all")
    for given in (None, "answers"):
        run = world.app.schedules.trigger("digest", input=given)
        world.advance(seconds=10)
        world.app.runs.cancel(run.id)
        world.advance(seconds=1)
    assert [(str(run.status), run.result) for run in world.runs("digest")] == [
        ("cancelled", None),
        ("success", "in the midst of it"),
    ]
    assert world.app.accounts.get().balance == -2 * COST


class WorksOn:
    """Code for a thread that catches everything, and works until its context says that it is over."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        """Its run has ended, as others see it."""
        self.told = threading.Event()

    def __call__(self, input: Any, ctx: Context) -> None:
        for number in range(3):
            with suppress(BaseException):
                use(ctx, number)
        self.is_over.wait(30)
        try:
            ctx.heartbeat()
        except LimitExceeded:
            self.told.set()


def test_a_thread_of_a_request_is_not_waited_for_and_told_so(database_url: str) -> None:
    app, works_on = Foliot(database_url), WorksOn()
    app.graph("thread")(works_on)
    answer = asyncio.run(app.execute("thread", key="k1", max_calls=2))
    works_on.is_over.set()
    assert (answer.status, answer.error_code, answer.error) == EXCEEDED
    assert app.accounts.get().balance == -3 * COST
    assert works_on.told.wait(30)
    app.close()


def test_a_thread_of_a_run_is_not_waited_for_and_told_so(database_url: str) -> None:
    app, works_on = Foliot(database_url), WorksOn()
    app.graph("thread")(works_on)

    async def work() -> None:
        async with app:
            app.schedules.create("digest", target="thread", manual=True, max_calls=2)
            app.schedules.trigger("digest")
            while app.runs.list("digest")[0].ended_at is None:
                await asyncio.sleep(0.02)
            works_on.is_over.set()

    asyncio.run(work())
    (run,) = app.runs.list("digest")
    assert (str(run.status), run.reason, run.error) == EXCEEDED
    assert app.accounts.get().balance == -3 * COST
    assert works_on.told.wait(30)
    app.close()


def test_code_whose_thread_has_used_too_much_is_cancelled_too(database_url: str) -> None:
    app = Foliot(database_url)

    @app.graph("deaf")
    async def deaf(input: Any, ctx: Context) -> None:
        for number in range(3):
            with suppress(LimitExceeded):
                await asyncio.to_thread(use, ctx, number)
        await asyncio.Event().wait()

    answer = asyncio.run(app.execute("deaf", key="k1", max_calls=2, timeout=30))
    assert (answer.status, answer.error_code, answer.error) == EXCEEDED
    app.close()
