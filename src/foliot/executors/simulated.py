"""Executes nothing: each run takes its time on the loop's clock, and reports what it is taken to cost."""

import asyncio
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import NamedTuple

from foliot.domain.credits import CREDITS_PER_USD
from foliot.domain.events import SUCCEEDED, Final
from foliot.domain.runs import OnUnknown
from foliot.execution.executing import Execution, Request, performed

_DOWNWARDS = Context(prec=50, rounding=ROUND_FLOOR)


class Behaviour(NamedTuple):
    """What a schedule's runs are taken to be like."""

    seconds: float
    credits: int


class SimulatedExecutor:
    """All of a provider's targets, by the behaviours of the schedules that run them."""

    def __init__(self, targets: Sequence[str], behaviours: Mapping[str, Behaviour], markup: Decimal) -> None:
        self._targets = targets
        self._behaviours = behaviours
        self._markup = markup

    def targets(self) -> Sequence[str]:
        return self._targets

    def room(self, target: str) -> int | None:  # noqa: ARG002
        return None

    def on_unknown(self, target: str) -> OnUnknown:  # noqa: ARG002
        return OnUnknown.REDELIVER

    def run(self, request: Request) -> Execution:
        seconds, credits_each = self._behaviours[request.context.schedule]

        async def work() -> Final:
            await asyncio.sleep(seconds)
            if credits_each:
                request.context.report_usage("simulated", cost=self._usd(credits_each))
            return SUCCEEDED

        return performed(work)

    def close(self) -> None:
        pass

    def _usd(self, amount: int) -> Decimal:
        """What is charged with just as many credits: those are rounded up."""
        return _DOWNWARDS.divide(Decimal(amount), self._markup * CREDITS_PER_USD)
