"""A program that leaves its database: what it executes for others just then ends first, and is not taken for dead."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from typing import Any

import pytest

from foliot import Foliot, Unavailable
from foliot.domain.delivery import InProgress
from foliot.engine.settings import EngineSettings
from foliot.execution.requests import Executed

Leave = Callable[[Foliot, "Payments"], Coroutine[Any, Any, None]]


class Payments:
    """What the target has done, and when it may end."""

    def __init__(self) -> None:
        self.made = 0
        self.begun = threading.Event()
        self.may_end = threading.Event()

    async def __call__(self, input: Any, ctx: Any) -> int:
        self.made += 1
        self.begun.set()
        while not self.may_end.is_set():
            await asyncio.sleep(0.01)
        return self.made

    async def are_begun(self) -> None:
        while not self.begun.is_set():
            await asyncio.sleep(0.01)

    def end_in_a_moment(self) -> None:
        asyncio.get_running_loop().call_later(0.2, self.may_end.set)


@pytest.fixture
def payments() -> Payments:
    return Payments()


@pytest.fixture
def app(database_url: str, payments: Payments) -> Iterator[Foliot]:
    app = Foliot(database_url)
    app.graph("pay")(payments)
    yield app
    app.close()


async def leave_the_block(app: Foliot, payments: Payments) -> None:
    async with app:
        payments.end_in_a_moment()


async def be_told_to_stop(app: Foliot, payments: Payments) -> None:
    ready = asyncio.Event()
    serving = asyncio.create_task(app.serve(ready.set))
    await ready.wait()
    payments.end_in_a_moment()
    os.kill(os.getpid(), signal.SIGTERM)
    await serving


@pytest.mark.parametrize("leave", [leave_the_block, be_told_to_stop])
def test_who_leaves_waits_for_what_is_being_executed(app: Foliot, payments: Payments, leave: Leave) -> None:
    async def main() -> None:
        first = asyncio.create_task(app.execute("pay", key="k1"))
        await payments.are_begun()
        await leave(app, payments)
        assert first.done()
        assert await app.execute("pay", key="k1") == first.result()

    asyncio.run(main())
    assert payments.made == 1


def test_who_leaves_waits_for_what_is_being_executed_on_another_loop_too(app: Foliot, payments: Payments) -> None:
    told: list[Executed] = []
    handler = threading.Thread(target=lambda: told.append(asyncio.run(app.execute("pay", key="k1"))))

    async def main() -> None:
        handler.start()
        await payments.are_begun()
        await leave_the_block(app, payments)
        assert app.requests.get("k1").stage == "done"

    asyncio.run(main())
    handler.join()
    assert [one.ok for one in told] == [True]


def test_what_does_not_end_within_the_grace_is_cut_off_and_stays_under_way_until_its_lease_is_over(
    app: Foliot, payments: Payments
) -> None:
    app.settings = replace(EngineSettings(), stop_grace=0)

    async def main() -> None:
        first = asyncio.create_task(app.execute("pay", key="k1"))
        await payments.are_begun()
        async with app:
            pass
        with pytest.raises(Unavailable, match="'k1' was cut off, for its program stops: ask again in a while"):
            await first
        with pytest.raises(InProgress):
            await app.execute("pay", key="k1")

    asyncio.run(main())
    assert payments.made == 1


def test_what_is_executed_while_its_database_is_closed_opens_it_again_to_say_what_it_came_to(
    app: Foliot, payments: Payments
) -> None:
    async def main() -> None:
        first = asyncio.create_task(app.execute("pay", key="k1"))
        await payments.are_begun()
        app.close()
        with pytest.raises(InProgress):
            await app.execute("pay", key="k1")
        app.close()
        payments.may_end.set()
        assert await first == await app.execute("pay", key="k1")

    asyncio.run(main())
    assert payments.made == 1


def test_what_is_executed_in_this_process_is_alive_for_another_app_in_it(
    app: Foliot, payments: Payments, database_url: str
) -> None:
    other = Foliot(database_url)
    other.graph("pay")(payments)

    async def main() -> None:
        first = asyncio.create_task(app.execute("pay", key="k1"))
        await payments.are_begun()
        app.close()
        with pytest.raises(InProgress):
            await other.execute("pay", key="k1")
        other.close()
        payments.may_end.set()
        assert (await first).ok

    asyncio.run(main())
    assert payments.made == 1
