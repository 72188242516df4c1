"""The program that is to live through a fault in real time: a slot every second, and what became of them as JSON."""

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any

from foliot import Context, Foliot, Unavailable
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Status
from foliot.engine.settings import EngineSettings

_LEASE = 2 * MICROSECONDS
"""It runs out during a fault, and nobody else is there to take over."""


class _Keeping(logging.Handler):
    def __init__(self, kept: list[logging.LogRecord]) -> None:
        super().__init__(logging.WARNING)
        self._kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(record)


class Program:
    """An app at work inside a loop of its own; counts what it begins and what it warns of."""

    def __init__(self, url: str) -> None:
        settings = EngineSettings(lease=_LEASE, look=MICROSECONDS, heartbeat=MICROSECONDS // 2)
        self.app = Foliot(url, settings=settings)
        self.begun: list[str] = []
        self.warnings: list[logging.LogRecord] = []
        logging.getLogger("foliot").addHandler(_Keeping(self.warnings))

        @self.app.schedule(every=1, overlap="allow_all", catchup="all")
        async def job(input: Any, ctx: Context) -> None:
            self.begun.append(ctx.run_id)
            await asyncio.sleep(0.5)

    async def at_work(self, number: int = 2) -> None:
        """Until it has begun so many runs."""
        number += len(self.begun)
        while len(self.begun) < number:
            await asyncio.sleep(0.05)

    async def seconds_until_it_works_again(self) -> float:
        since = time.time()
        while time.time() < since + 60:
            with suppress(Unavailable):
                runs = await asyncio.to_thread(self.app.runs.list, "job", limit=1)
                if runs and runs[0].started_at is not None and runs[0].started_at.timestamp() > since:
                    break
            await asyncio.sleep(0.1)
        return time.time() - since

    def seen(self) -> dict[str, Any]:
        """What is in the ledger once the worker has stopped."""
        runs = self.app.runs.list("job", kind="slot", limit=10_000)
        self.app.close()
        return {
            "slots": sorted(round(run.scheduled_for.timestamp()) for run in runs),
            "bad": [f"{run.id} {run.status}" for run in runs if run.status is not Status.SUCCESS],
            "twice": len(self.begun) - len(set(self.begun)),
            "warnings": len(self.warnings),
        }

    def is_alive(self) -> bool:
        return self.app._embedded is not None and not self.app._embedded[1].done()
