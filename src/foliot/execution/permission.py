"""The second look at a grant: right before a run's code begins."""

import asyncio
from typing import NamedTuple

from foliot.domain.grants import Grant, refusal_of
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Reason
from foliot.execution.records import Records
from foliot.ports import Clock, Launch

_FRESH_FOR = 0.5
"""Seconds: so long the gate goes by what it knows. The worker has just looked, in the transaction of the start."""


class _Look(NamedTuple):
    """What a look at the database has shown."""

    changes: int
    """How often grants had been changed."""
    database_now: int
    """The database's clock: whether a grant has expired is not for this machine's to say."""
    taken_at: float
    """On the steady clock."""


class Permission:
    """Whether grants were changed since a run was permitted, asked at most every moment, for all runs at once."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._last = _Look(-1, 0, -_FRESH_FOR)
        self._looking: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}
        """Of each loop on which somebody looks just now: the others there wait for what it shows."""

    async def refusal(self, launch: Launch) -> Reason | None:
        """Why the run may not begin, though it was permitted to start; Unavailable when that cannot be told."""
        if self._is_stale():
            await self._look()
        last = self._last
        grant: Grant | None = launch.grant
        if launch.grants_seen != last.changes:
            grant = await self._read(launch.grant.ref)
        elif launch.grant.expires_at is None:
            # The worker has judged this very grant: nothing but time could have changed that.
            return None
        since = self._clock.steady() - last.taken_at
        return refusal_of(grant, launch.target, last.database_now + round(since * MICROSECONDS))

    def _is_stale(self) -> bool:
        return self._clock.steady() - self._last.taken_at >= _FRESH_FOR

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with self._looking.setdefault(loop, asyncio.Lock()):
                if self._is_stale():
                    asked_at = self._clock.steady()
                    changes, now = await self._records.read(lambda tx: (tx.news(0).grants, tx.now))
                    self._last = _Look(changes, now, asked_at)
        finally:
            self._looking.pop(loop, None)

    async def _read(self, ref: int) -> Grant | None:
        rows = await self._records.read(lambda tx: tx.grants([ref]))
        return rows[0].grant if rows else None
