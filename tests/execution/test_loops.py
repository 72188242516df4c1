"""Requests from many event loops at once: of web handlers in threads, and of sync graphs beside the engine."""

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from foliot import Foliot
from foliot.engine.settings import EngineSettings
from foliot.services.views import Run

HANDLERS = 8
EACH = 5


@pytest.fixture
def app(database_url: str) -> Iterator[Foliot]:
    app = Foliot(database_url, settings=replace(EngineSettings(), threads=1))

    @app.graph("inner")
    async def inner(input: Any, ctx: Any) -> Any:
        ctx.report_usage("call", cost="0.001")
        return f"inner {input}"

    @app.graph("inner-in-a-thread")
    def in_a_thread(input: Any, ctx: Any) -> Any:
        ctx.report_usage("call", cost="0.001")
        return f"inner {input}"

    @app.graph("outer")
    def outer(input: Any, ctx: Any) -> Any:
        return asyncio.run(app.execute(input, "x", key=f"{ctx.idempotency_key}/inner")).result

    yield app
    app.close()


def in_threads(work: Callable[[int], Any]) -> list[Any]:
    """What each of the handlers comes to: all begin at the same moment."""
    together = threading.Barrier(HANDLERS)

    def handle(number: int) -> Any:
        together.wait()
        return work(number)

    with ThreadPoolExecutor(HANDLERS) as pool:
        return list(pool.map(handle, range(HANDLERS)))


def test_handlers_in_threads_are_executed_and_charged_each_on_a_loop_of_its_own(app: Foliot) -> None:
    def handle(number: int) -> list[Any]:
        asked = [app.execute("inner", n, key=f"{number}-{n}") for n in range(EACH)]
        return [asyncio.run(asyncio.wait_for(one, 30)).result for one in asked]

    assert in_threads(handle) == [[f"inner {n}" for n in range(EACH)]] * HANDLERS
    assert -app.accounts.get().balance == HANDLERS * EACH * 20_000


def test_many_at_once_on_one_loop_after_another_has_ended(app: Foliot) -> None:
    async def many(loop: int) -> list[Any]:
        asked = [app.execute("inner", n, key=f"{loop}-{n}") for n in range(EACH)]
        return [executed.result for executed in await asyncio.gather(*asked)]

    for loop in range(3):
        assert asyncio.run(many(loop)) == [f"inner {n}" for n in range(EACH)]
        # What was looked at a moment ago would not be looked at again.
        app.parts.gate._permission._last = app.parts.gate._permission._last._replace(taken_at=-1.0)
    gc.collect()
    assert len(app.parts.till._queues) == 0


@pytest.mark.parametrize("inner", ["inner", "python:inner-in-a-thread"])
def test_a_sync_graph_may_have_another_executed_beside_the_engine_also_when_no_thread_is_free(
    app: Foliot, inner: str
) -> None:
    app.schedules.create("digest", target="outer", manual=True, input=inner)

    async def by_schedule() -> Run:
        async with app:
            known = app.schedules.trigger("digest")
            while app.runs.get(known.id).ended_at is None:
                await asyncio.sleep(0.02)
            return app.runs.get(known.id)

    done = asyncio.run(asyncio.wait_for(by_schedule(), 30))
    assert (done.status, done.result) == ("success", "inner x")
    assert -app.accounts.get().balance == 20_000
