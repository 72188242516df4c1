"""Requests from outside are bounded as runs are: in time, and in the calls, tokens and credits that they use."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from datetime import timedelta
from typing import Any

import pytest

from foliot import Cancelled, Conflict, Context, Foliot, Invalid, LimitExceeded
from foliot.domain.credits import RunLimits
from foliot.domain.delivery import InProgress
from foliot.execution.bounds import Bounds
from foliot.execution.requests import Executed
from foliot.rows import RunFilter
from foliot.testing import World, virtual
from tests.sdk.worlds import START

TIMED_OUT = ("error", "timeout", "it ran longer than its timeout")
COST = 200


class Slow:
    """A target that makes two calls and takes an hour; what it does when it is to stop, a test says."""

    def __init__(self) -> None:
        self.begun = 0
        self.is_stubborn = False

    async def __call__(self, input: Any, ctx: Context) -> str:
        self.begun += 1
        for unit in ("one", "two"):
            ctx.report_usage(unit, cost="0.00001", tokens=100)
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                if self.is_stubborn:
                    continue
                raise
            return "done"


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def app(slow: Slow) -> Foliot:
    app = Foliot("sqlite:///not-used.db")
    app.graph("slow")(slow)
    app.graph("held", on_unknown="hold")(slow)
    return app


@pytest.fixture
def world(app: Foliot) -> Iterator[World]:
    with virtual(app, START) as world:
        yield world


@pytest.fixture
def any_world(app: Foliot, database_url: str) -> Iterator[World]:
    with virtual(app, START, database=database_url) as world:
        yield world


def asked(world: World, work: Coroutine[Any, Any, Executed]) -> "asyncio.Task[Executed]":
    """Somebody who asks now, and waits for the answer as time passes."""
    asking = world._loop.create_task(work)
    world.advance()
    return asking


def answer(world: World, work: Coroutine[Any, Any, Executed]) -> Executed:
    """The answer of somebody who need not wait for it."""
    return asked(world, work).result()


def told(answer: Executed) -> tuple[str, str | None, str | None]:
    return answer.status, answer.error_code, answer.error


@pytest.mark.parametrize("target", ["slow", "held"])
def test_a_request_longer_than_its_timeout_is_an_error_at_that_moment_and_in_progress_until_then(
    any_world: World, slow: Slow, target: str
) -> None:
    execute = any_world.app.execute
    asking = asked(any_world, execute(target, key="k1", timeout="10m"))
    for _ in range(9):
        # Far longer than a lease.
        any_world.advance(minutes=1)
        with pytest.raises(InProgress, match="ask again") as refusal:
            answer(any_world, execute(target, key="k1", timeout="10m"))
        assert refusal.value.retry_after > 0
    assert not asking.done()
    any_world.advance(minutes=1)
    assert told(asking.result()) == TIMED_OUT
    row = any_world.app.requests.get("k1")
    assert (row.stage, row.ended_at) == ("done", any_world.now)
    assert answer(any_world, execute(target, key="k1")) == asking.result()
    assert slow.begun == 1


def test_what_was_used_before_the_timeout_is_charged_before_the_answer(any_world: World) -> None:
    asking = asked(any_world, any_world.app.execute("slow", key="k1", timeout="1m"))
    balances: list[int] = []
    asking.add_done_callback(lambda _: balances.append(any_world.app.accounts.get().balance))
    any_world.advance(minutes=1)
    assert balances == [-2 * COST]


def test_code_that_does_not_obey_is_over_all_the_same(world: World, slow: Slow) -> None:
    slow.is_stubborn = True
    asking = asked(world, world.app.execute("slow", key="k1", timeout="1m"))
    world.advance(minutes=1)
    assert not asking.done()  # It may tidy up,
    world.advance(seconds=5)  # but not for ever.
    assert told(asking.result()) == TIMED_OUT
    world.advance(hours=2)
    assert answer(world, world.app.execute("slow", key="k1")) == asking.result()


def test_a_timeout_holds_also_when_the_caller_has_left(world: World) -> None:
    asking = asked(world, world.app.execute("slow", key="k1", timeout="1m"))
    asking.cancel()
    world.advance(minutes=1)
    assert told(answer(world, world.app.execute("slow", key="k1"))) == TIMED_OUT


def test_without_a_timeout_a_request_takes_as_long_as_it_takes(world: World) -> None:
    asking = asked(world, world.app.execute("slow", key="k1"))
    world.advance(minutes=59)
    assert not asking.done()
    world.advance(minutes=1)
    assert asking.result().result == "done"


def test_what_ends_in_time_is_what_it_came_to(world: World) -> None:
    @world.app.graph("odd")
    async def odd() -> None:
        raise asyncio.CancelledError

    asking = asked(world, world.app.execute("slow", key="k1", timeout="61m"))
    world.advance(hours=1)
    assert (asking.result().status, asking.result().result) == ("success", "done")
    cut_short = answer(world, world.app.execute("odd", key="k2", timeout="1m"))
    assert told(cut_short) == ("error", "aborted", "it cancelled itself")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"max_calls": 1}, "it has used 2 calls, and one run may take 1"),
        ({"max_tokens": 150}, "it has used 200 tokens, and one run may take 150"),
        ({"max_credits": COST}, "it has used 400 credits, and one run may take 200"),
    ],
)
@pytest.mark.parametrize("swallows", [False, True])
def test_a_request_that_uses_more_than_it_may_is_over_and_pays_for_what_it_used(
    world: World, limits: dict[str, Any], words: str, swallows: bool
) -> None:
    times: list[int] = []

    @world.app.graph("greedy")
    async def greedy(input: Any, ctx: Context) -> str:
        times.append(1)
        try:
            for unit in ("one", "two", "three"):
                ctx.report_usage(unit, cost="0.00001", tokens=100)
        except LimitExceeded:
            if not swallows:
                raise
        return "done"

    first = answer(world, world.app.execute("greedy", key="k1", **limits))
    assert told(first) == ("error", "run_limit", words)
    assert world.app.accounts.get().balance == -2 * COST
    assert answer(world, world.app.execute("greedy", key="k1", **limits)) == first
    assert len(times) == 1


BAD = [
    {"timeout": 0},
    {"timeout": "soon"},
    {"timeout": -1},
    {"timeout": True},
    {"max_calls": 0},
    {"max_tokens": 1.5},
    {"max_credits": "10"},
]


@pytest.mark.parametrize("bounds", BAD)
def test_what_a_schedule_would_not_take_is_refused_in_the_same_words_and_leaves_no_key(
    world: World, slow: Slow, bounds: dict[str, Any]
) -> None:
    with pytest.raises(Invalid) as of_schedules:
        world.app.schedules.create("digest", target="slow", every="1h", **bounds)
    with pytest.raises(Invalid) as of_requests:
        answer(world, world.app.execute("slow", key="k1", **bounds))
    assert str(of_requests.value) == str(of_schedules.value)
    assert (world.app.requests.list(), slow.begun) == ([], 0)


def test_a_key_is_not_bound_to_the_bounds_of_the_first_who_used_it(any_world: World, slow: Slow) -> None:
    execute = any_world.app.execute
    asking = asked(any_world, execute("slow", key="k1", timeout="1m", max_calls=9))
    with pytest.raises(InProgress):
        answer(any_world, execute("slow", key="k1", timeout="1s"))
    any_world.advance(minutes=1)
    for bounds in ({}, {"timeout": "2h"}, {"max_calls": 1}, {"timeout": "1m", "max_credits": 7}):
        assert answer(any_world, execute("slow", key="k1", **bounds)) == asking.result()
    assert slow.begun == 1


def test_who_takes_over_brings_bounds_of_their_own_and_what_is_done_again_counts_once(
    any_world: World, slow: Slow
) -> None:
    execute = any_world.app.execute
    first = asked(any_world, execute("slow", key="k1", timeout="3h", max_calls=2))
    # What the death of its owner comes to.
    any_world.app.parts.database.write(lambda tx: tx.take_request(1, 2, "another", 0))
    second = asked(any_world, execute("slow", key="k1", timeout="30m", max_calls=2))
    any_world.advance(minutes=1)
    assert isinstance(first.exception(), Conflict)
    any_world.advance(minutes=29)
    assert told(second.result()) == TIMED_OUT
    assert slow.begun == 2
    # The calls of the second delivery are those of the first: charged once.
    assert any_world.app.accounts.get().balance == -2 * COST


def test_who_was_overtaken_while_it_stops_does_not_say_how_it_ended(world: World, slow: Slow) -> None:
    slow.is_stubborn = True
    asking = asked(world, world.app.execute("slow", key="k1", timeout="1m"))
    world.advance(minutes=1)
    world.app.parts.database.write(lambda tx: tx.take_request(1, 2, "another", tx.now + 10**9))
    world.advance(seconds=5)
    with pytest.raises(Conflict, match="'k1' was taken over by another"):
        asking.result()
    assert world.app.requests.get("k1").stage == "in_progress"


@pytest.mark.parametrize(
    ("bounds", "after"), [({}, 10), ({"timeout": "5m"}, 5), ({"timeout": "1h", "max_calls": 9}, 10)]
)
def test_a_request_about_a_run_is_bounded_as_the_run_is_and_never_more_widely(
    world: World, bounds: dict[str, Any], after: int
) -> None:
    about = a_request_about_a_run(world, timeout="10m")
    begun = world.now
    asking = asked(world, world.app.execute("slow", **about, **bounds))
    world.advance(minutes=20)
    assert told(asking.result()) == TIMED_OUT
    assert world.app.requests.get("k1").ended_at == begun + timedelta(minutes=after)


def test_a_request_about_a_run_does_not_pass_the_limits_of_its_schedule(world: World) -> None:
    about = a_request_about_a_run(world, max_calls=1)
    assert answer(world, world.app.execute("slow", **about, max_calls=5)).error_code == "run_limit"


def a_request_about_a_run(world: World, **policies: Any) -> dict[str, Any]:
    """What a worker asks for that has taken up a run, and has it executed elsewhere."""
    world.stop()
    world.app.schedules.create("digest", target="slow", every="1d", **policies)
    known = world.app.schedules.trigger("digest")

    def lease(tx: Any) -> None:
        (ref,) = [row.ref for row in tx.list_runs(RunFilter())]
        tx.start([(tx.register("far away"), 1, 1, 1, tx.now, ref)])

    world.app.parts.database.write(lease)
    grant = world.app.schedules.get("digest").grant
    return {"key": "k1", "run_id": known.id, "grant": grant, "caller": "far away"}


def test_of_two_bounds_the_stricter_holds() -> None:
    free, timed = Bounds(), Bounds(timeout=5)
    assert free.within(timed) == timed.within(free) == timed
    limited = Bounds(7, RunLimits(1, None, 30))
    assert limited.within(timed) == timed.within(limited) == Bounds(5, RunLimits(1, None, 30))
    assert limited.within(Bounds(None, RunLimits(2, 20, 3))) == Bounds(7, RunLimits(1, 20, 3))


def test_a_thread_is_given_up_on_and_told_so(database_url: str) -> None:
    app = Foliot(database_url)
    heard = threading.Event()

    @app.graph("beating")
    def beating(input: Any, ctx: Context) -> None:
        ctx.report_usage("one", cost="0.00001")
        try:
            for _ in range(3000):
                ctx.heartbeat()
                heard.wait(0.01)
        except Cancelled:
            heard.set()

    first = asyncio.run(app.execute("beating", key="k1", timeout=0.1))
    assert told(first) == TIMED_OUT
    assert heard.wait(30)
    assert asyncio.run(app.execute("beating", key="k1", timeout=0.1)) == first
    assert app.accounts.get().balance == -COST
    app.close()
