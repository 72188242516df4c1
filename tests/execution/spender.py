"""A program whose run reports a call, and is killed as soon as that is charged, long before its end. Takes URL."""

import asyncio
import os
import signal
import sys
from typing import Any

from foliot import Context, Foliot


def main(url: str) -> None:
    app = Foliot(url)

    @app.graph("agent", on_unknown="hold")
    async def agent(input: Any, ctx: Context) -> None:
        ctx.report_usage("call", cost="0.00001")
        while not app.runs.receipts(ctx.run_id):
            await asyncio.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(work(app))


async def work(app: Foliot) -> None:
    async with app:
        app.schedules.create("digest", target="agent", manual=True)
        app.schedules.trigger("digest")
        await asyncio.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1])
