"""The second look at a grant: right before a run's code begins, by what was known of grants a moment ago."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from foliot.domain.grants import Grant, refusal_of
from foliot.domain.runs import Reason
from foliot.ports import Clock, Database, Launch, Transaction

_FRESH_FOR = 0.5
"""Seconds: so long the gate goes by what it knows. The worker has just looked, in the transaction of the start."""


class Known(NamedTuple):
    changes: int
    grants: dict[int, Grant]


class Permission:
    """What is known of grants, looked up when it is older than a moment; one question for all who ask meanwhile."""

    def __init__(self, database: Database, clock: Clock, *, inline: bool) -> None:
        self._database = database
        self._clock = clock
        self._inline = inline
        self._known = Known(-1, {})
        self._looked_at = -_FRESH_FOR
        self._looking = asyncio.Lock()

    async def grant_of(self, launch: Launch) -> Grant | None:
        """The run's grant, as it was at most a moment ago; None when there is no such grant."""
        ref = launch.grant_ref
        if ref not in self._known.grants or self._clock.steady() - self._looked_at >= _FRESH_FOR:
            async with self._looking:
                if ref not in self._known.grants or self._clock.steady() - self._looked_at >= _FRESH_FOR:
                    await self._look(ref)
        return self._known.grants.get(ref)

    def refusal(self, grant: Grant | None, launch: Launch) -> Reason | None:
        return refusal_of(grant, launch.target, self._clock.now())

    async def _look(self, ref: int) -> None:
        before = self._known

        def act(tx: Transaction) -> Known:
            changes = tx.news(0).grants
            grants = dict(before.grants) if changes == before.changes else {}
            if ref not in grants:
                grants |= {row.grant.ref: row.grant for row in tx.grants([ref])}
            return Known(changes, grants)

        def ask() -> Known:
            return self._database.read(act)

        self._known = await self._on_its_way(ask)
        self._looked_at = self._clock.steady()

    async def _on_its_way(self, ask: Callable[[], Known]) -> Known:
        return ask() if self._inline else await asyncio.to_thread(ask)
