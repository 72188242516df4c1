"""What a run hands to a thread is done when virtual time goes on."""

import asyncio

from foliot import Foliot
from foliot.testing import virtual
from tests.sdk.worlds import START


def test_a_thread_takes_no_virtual_time_and_is_waited_for() -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.schedule("digest", every="5m")
    async def digest() -> int:
        return await asyncio.to_thread(sum, [1, 2, 3])

    with virtual(app, START) as world:
        world.advance(minutes=5)
        (run,) = world.runs("digest")
        assert (run.status, run.result, run.ended_at) == ("success", 6, run.started_at)


def test_what_a_thread_raises_is_the_failure_of_the_run() -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.schedule("digest", every="5m")
    async def digest() -> None:
        await asyncio.to_thread(int, "seven")

    with virtual(app, START) as world:
        world.advance(minutes=5)
        (run,) = world.runs("digest")
        assert (run.status, run.reason) == ("error", "internal")


def test_time_passes_also_more_than_half_a_year_after_the_beginning() -> None:
    """From 2**24 seconds on there was no moment between now and a nanosecond later: nothing was due any more."""
    app = Foliot("sqlite:///not-used.db")
    app.schedule("daily", cron="0 2 * * *")(lambda: None)
    with virtual(app, "2026-01-01T00:00:00Z") as world:
        world.advance(days=193)
        world.advance(days=207)
        assert len(world.runs("daily")) == 400
