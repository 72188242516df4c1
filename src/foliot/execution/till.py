"""The till: who can pay is let through, and what was used is charged, by many runs at a time."""

import asyncio
from collections.abc import Sequence

from foliot.domain.credits import Meter, Pricing, RunLimits, Usage, can_pay, was_let_in
from foliot.execution.charging import Bill, Charged, charge, report
from foliot.execution.records import Records
from foliot.ports import Launch, Transaction
from foliot.rows import AccountRow

_AT_ONCE = 500
"""So many runs pay in one transaction."""


def can_be_paid(tx: Transaction, account: AccountRow, run_ref: int, estimate: int) -> bool:
    """Whether the account has what the run may cost, needs nothing, or was charged by it before."""
    if not account.is_limited or can_pay(account.balance, estimate):
        return True
    answers = [question.closed_at for question in tx.questions_of([run_ref]) if question.is_answer]
    return was_let_in([receipt.created_at for receipt in tx.receipts_of(run_ref)], answers[-1] if answers else None)


class Till:
    """Where runs pay."""

    def __init__(self, records: Records, pricing: Pricing) -> None:
        self._records = records
        self._pricing = pricing
        self._queue: list[tuple[Sequence[Bill], asyncio.Future[None]]] = []
        self._paying: asyncio.Task[None] | None = None

    async def has_enough(self, launch: Launch) -> bool:
        """Whether the run can be paid for, as far as can be told before it begins; who has paid is not asked."""
        estimate = self._pricing.estimate(launch.input)
        if not estimate:
            return True
        account = launch.grant.account
        return await self._records.read(lambda tx: can_be_paid(tx, tx.account(account), launch.ref, estimate))

    async def meter(self, launch: Launch, limits: RunLimits) -> Meter:
        """Counts what the run uses, from what its earlier deliveries have used: they are the same run."""
        meter = Meter(limits, self._pricing)
        if launch.token > 1 or launch.rounds:
            for receipt in await self._records.read(lambda tx: tx.receipts_of(launch.ref)):
                meter.count(receipt.source, receipt.unit, receipt.tokens, receipt.credits)
        return meter

    async def take(self, bills: Sequence[Bill]) -> None:
        """Charge for what was used. It is owed whatever happens. Who comes at the same time pays in one transaction."""
        loop = asyncio.get_running_loop()
        paid: asyncio.Future[None] = loop.create_future()
        self._queue.append((bills, paid))
        if self._paying is None or self._paying.done():
            self._paying = loop.create_task(self._pay())
        # Who is cut off here has been charged all the same, or will be.
        await asyncio.shield(paid)

    async def _pay(self) -> None:
        """Until nobody stands in the queue."""
        while self._queue:
            queue, self._queue = self._queue[:_AT_ONCE], self._queue[_AT_ONCE:]
            try:
                await self._charge([bill for bills, _ in queue for bill in bills])
            except Exception as error:  # Those who wait must hear of it; but one must not keep the others from paying.
                if len(queue) > 1:
                    for bills, paid in queue:
                        await self._pay_alone(bills, paid)
                else:
                    queue[0][1].set_exception(error)
            else:
                for _, paid in queue:
                    paid.set_result(None)

    async def _pay_alone(self, bills: Sequence[Bill], paid: "asyncio.Future[None]") -> None:
        try:
            await self._charge(bills)
        except Exception as error:  # Who waits must hear of it.
            paid.set_exception(error)
        else:
            paid.set_result(None)

    async def _charge(self, bills: Sequence[Bill]) -> None:
        await self._records.write_surely(lambda tx: charge(tx, bills, self._pricing), f"{len(bills)} charges")

    def report(self, run_id: str, usage: Usage, key: str | None = None) -> Charged:
        return self._records.database.write(lambda tx: report(tx, run_id, usage, self._pricing, key))
