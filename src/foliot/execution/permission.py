"""The second look at a grant: right before a run's code begins."""

import asyncio

from foliot.domain.grants import Grant, refusal_of
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Reason
from foliot.execution.records import Records
from foliot.ports import Clock, Launch

_FRESH_FOR = 0.5
"""Seconds: so long the gate goes by what it knows. The worker has just looked, in the transaction of the start."""


class Permission:
    """Whether grants were changed since a run was permitted, asked at most every moment, for all runs at once."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._changes = -1
        self._looked_at = -_FRESH_FOR
        self._database_now = 0
        """What the database's clock showed then: whether a grant has expired is not for this machine's to say."""
        self._looking = asyncio.Lock()

    async def refusal(self, launch: Launch) -> Reason | None:
        """Why the run may not begin, though it was permitted to start; Unavailable when that cannot be told."""
        if self._is_stale():
            async with self._looking:
                if self._is_stale():
                    await self._look()
        grant: Grant | None = launch.grant
        if launch.grants_seen != self._changes:
            grant = await self._read(launch.grant.ref)
        elif launch.grant.expires_at is None:
            # The worker has judged this very grant: nothing but time could have changed that.
            return None
        since = self._clock.steady() - self._looked_at
        return refusal_of(grant, launch.target, self._database_now + round(since * MICROSECONDS))

    def _is_stale(self) -> bool:
        return self._clock.steady() - self._looked_at >= _FRESH_FOR

    async def _look(self) -> None:
        asked_at = self._clock.steady()
        self._changes, self._database_now = await self._records.read(lambda tx: (tx.news(0).grants, tx.now))
        self._looked_at = asked_at

    async def _read(self, ref: int) -> Grant | None:
        rows = await self._records.read(lambda tx: tx.grants([ref]))
        return rows[0].grant if rows else None
