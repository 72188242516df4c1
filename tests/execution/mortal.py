"""A program with an agent whose worker is killed before or after its last effect, if a file says so. URL and FOLDER."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langgraph.graph import MessagesState

from foliot import EngineSettings, Foliot
from tests.execution.graphs import a_graph, a_line

SECOND = 1_000_000


def main(url: str, folder: Path) -> None:
    app = Foliot(url, settings=EngineSettings(lease=3 * SECOND, heartbeat=SECOND // 2, look=SECOND // 2))

    def note(what: str) -> None:
        with (folder / "effects").open("a") as effects:
            effects.write(f"{what}\n")

    def first(state: MessagesState) -> dict[str, Any]:
        note("first")
        return {"messages": [a_line("a draft", 7, id="draft")]}

    def die_if_told_to(moment: str) -> None:
        if (folder / moment).exists():
            (folder / moment).unlink()
            os.kill(os.getpid(), signal.SIGKILL)

    async def second(state: MessagesState) -> dict[str, Any]:
        die_if_told_to("die before")
        note("second")
        die_if_told_to("die after")
        return {"messages": [a_line("sent", 8, id="sent")]}

    app.langgraph("agent", a_graph(MessagesState, first=first, second=second))
    asyncio.run(until_over(app))


async def until_over(app: Foliot) -> None:
    app.schedule("digest", manual=True, input="hello")("langgraph:agent")
    async with app:
        if not app.runs.list("digest"):
            app.schedules.trigger("digest")
        while app.runs.list("digest")[0].status in ("pending", "running"):
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
