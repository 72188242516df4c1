"""A program with one target of each provider, whose worker is killed at a commit. Takes what `Doomed` says, as JSON."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from foliot import EngineSettings, Foliot
from foliot.domain.credits import Model, Pricing
from foliot.providers import DONE, Event, Execution, Final, OnUnknown, Request, UsageReport, success_of, usage_of
from tests.crash.doom import doom

SECOND = 1_000_000
TARGETS = {"http": "http:billing", "langgraph": "langgraph:agent", "own": "own:anything"}


class Doomed(NamedTuple):
    """What a process is to run, and where it is to die."""

    database: str
    folder: str
    endpoint: str
    provider: str
    on_unknown: str
    moment: str | None
    """On which side of the commit of its charges; None: it lives."""


class Own:
    """A provider that a program brings along."""

    def __init__(self, folder: Path, on_unknown: str) -> None:
        self._folder = folder
        self._on_unknown = OnUnknown(on_unknown)

    def targets(self) -> list[str]:
        return ["own:*"]

    def room(self, target: str) -> int | None:
        return None

    def on_unknown(self, target: str) -> OnUnknown:
        return self._on_unknown

    def close(self) -> None:
        """It holds nothing."""

    def run(self, request: Request) -> Execution:
        final: asyncio.Future[Final] = asyncio.get_running_loop().create_future()

        async def stream() -> AsyncIterator[Event]:
            note(self._folder, "own")
            yield UsageReport(usage_of("call", cost="0.001"))
            final.set_result(success_of("done"))
            yield DONE

        return Execution(stream(), final)


def note(folder: Path, what: str) -> None:
    with (folder / "effects").open("a") as effects:
        effects.write(f"{what}\n")


def an_agent(folder: Path) -> Any:
    # Here, because what the other targets do not need takes seconds to read.
    from langgraph.graph import MessagesState  # noqa: PLC0415

    from tests.execution.graphs import a_graph, a_line  # noqa: PLC0415

    def first(state: MessagesState) -> dict[str, Any]:
        note(folder, "first")
        return {"messages": [a_line("a draft", 7, id="draft")]}

    def last(state: MessagesState) -> dict[str, Any]:
        note(folder, "last")
        return {"messages": [a_line("sent", 8, id="sent")]}

    return a_graph(MessagesState, first=first, last=last)


def main(told: Doomed) -> None:
    prices = Pricing({"scripted-1": Model("scripted-1", is_free=False, usd_per_token=Decimal("0.001"))})
    settings = EngineSettings(lease=3 * SECOND, heartbeat=SECOND // 2, look=SECOND // 2)
    app = Foliot(told.database, settings=settings, pricing=prices)
    folder = Path(told.folder)

    app.endpoint("billing", told.endpoint, on_unknown=told.on_unknown, timeout="60s")
    if told.provider == "langgraph":
        app.langgraph("agent", partial(an_agent, folder), on_unknown=told.on_unknown)
    app.provider("own", Own(folder, told.on_unknown))
    if told.moment is not None:
        doom(app, "charge", told.moment, 1)
    asyncio.run(until_it_rests(app, TARGETS[told.provider]))


async def until_it_rests(app: Foliot, target: str) -> None:
    """Until the run is over, or waits for a person."""
    app.schedule("digest", manual=True, input="hello")(target)
    async with app:
        if not app.runs.list("digest"):
            app.schedules.trigger("digest")
        while app.runs.list("digest")[0].status in ("pending", "running"):
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    main(Doomed(**json.loads(sys.argv[1])))
