"""The database, as it is reached from the loop on which runs are executed."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

from foliot.domain.errors import Unavailable
from foliot.ports import Database, Transaction

log = logging.getLogger("foliot.execution")

T = TypeVar("T")
Act = Callable[[Transaction], T]

_FIRST_WAIT = 0.1
_LONGEST_WAIT = 5.0


class Records:
    """Reads and writes without keeping the loop. With `inline` it waits on the loop, as the engine beside it does."""

    def __init__(self, database: Database, *, inline: bool) -> None:
        self.database = database
        self._inline = inline

    async def read(self, act: Act[T]) -> T:
        return await self._ask(lambda: self.database.read(act))

    async def write(self, act: Act[T]) -> T:
        return await self._ask(lambda: self.database.write(act))

    async def read_surely(self, act: Act[T], what: str) -> T:
        """What must be known before anything goes on: the database is waited for."""
        return await self._surely(lambda: self.database.read(act), what)

    async def write_surely(self, act: Act[T], what: str) -> T:
        """What must be written down whatever happens: the database is waited for."""
        return await self._surely(lambda: self.database.write(act), what)

    async def _surely(self, ask: Callable[[], T], what: str) -> T:
        wait = _FIRST_WAIT
        while True:
            try:
                return await self._ask(ask)
            except Unavailable as error:
                log.warning("%s must wait for the database: %s", what, error)
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)

    async def _ask(self, ask: Callable[[], T]) -> T:
        return ask() if self._inline else await asyncio.to_thread(ask)
