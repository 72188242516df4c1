"""Providers that do not keep their promises, for those who must not suffer from it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from foliot import Foliot
from foliot.providers import DONE, Event, Execution, Final, OnUnknown, Request
from foliot.services.views import Run
from foliot.testing import virtual
from tests.sdk.worlds import START


class Own:
    """An executor of `own:...` that keeps all promises, and says that it came to what a test tells it to."""

    def __init__(self, final: Any = None) -> None:
        self.final = Final() if final is None else final

    def targets(self) -> Any:
        return ["own:*"]

    def room(self, target: str) -> Any:
        return None

    def on_unknown(self, target: str) -> Any:
        return OnUnknown.REDELIVER

    def close(self) -> None:
        """It holds nothing."""

    async def told(self) -> AsyncIterator[Any]:
        yield DONE

    def run(self, request: Request) -> Any:
        final: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def stream() -> AsyncIterator[Event]:
            final.set_result(self.final)
            async for event in self.told():
                yield event

        return Execution(stream(), final)


def telling(told: Callable[[], AsyncIterator[Any]], final: Any = None) -> Own:
    """One that says this."""
    own = Own(final)
    own.told = told  # type: ignore[method-assign]
    return own


def a_program(provider: Own, executed: list[str] | None = None) -> Foliot:
    """With the provider, and a graph beside it."""
    app = Foliot("sqlite:///not-used.db")
    app.provider("own", provider)

    @app.graph("good")
    async def good(_: Any, ctx: Any) -> None:
        if executed is not None:
            executed.append(ctx.run_id)

    return app


def what_became_of(provider: Own, *, within: int = 0) -> Run:
    """The run that it executed; after so many seconds, in which others were not disturbed."""
    executed: list[str] = []
    app = a_program(provider, executed)
    with virtual(app, START) as world:
        for name, target in (("bad", "own:x"), ("good", "good")):
            app.schedules.create(name, target=target, manual=True)
            app.schedules.trigger(name)
        world.advance(seconds=1 + within)
        assert [str(run.status) for run in world.runs("good")] == ["success"]
        assert executed == [world.runs("good")[0].id]
        return world.runs("bad")[0]
