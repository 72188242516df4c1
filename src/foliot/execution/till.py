"""The till: who can pay is let through, and what was used is charged, by many runs at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from weakref import WeakKeyDictionary

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
        self.charged = 0
        """Credits, since the start."""
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue] = WeakKeyDictionary()
        """Of each loop that has runs, its own: no loop can wait for what another one does."""

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
        queue = self._queues.get(loop)
        if queue is None:
            queue = self._queues[loop] = _Queue(self._charge)
        await queue.stand_in(bills)

    async def _charge(self, bills: Sequence[Bill]) -> None:
        done = await self._records.write_surely(lambda tx: charge(tx, bills, self._pricing), f"{len(bills)} charges")
        for bill, charged in zip(bills, done, strict=True):
            self._count(bill.usage, charged)

    def report(self, run_id: str, usage: Usage, key: str | None = None) -> Charged:
        charged = self._records.database.write(lambda tx: report(tx, run_id, usage, self._pricing, key))
        self._count(usage, charged)
        return charged

    def _count(self, usage: Usage, charged: Charged) -> None:
        if charged is Charged.NOW:
            self.charged += self._pricing.credits_for(usage) or 0


class _Queue:
    """Those of one loop who want to pay. It keeps nothing of the loop, which may end, once nobody stands in it."""

    def __init__(self, charge: Callable[[Sequence[Bill]], Awaitable[None]]) -> None:
        self._charge = charge
        self._waiting: list[tuple[Sequence[Bill], asyncio.Future[None]]] = []
        self._serving: asyncio.Task[None] | None = None

    async def stand_in(self, bills: Sequence[Bill]) -> None:
        """Until these are paid."""
        loop = asyncio.get_running_loop()
        paid: asyncio.Future[None] = loop.create_future()
        self._waiting.append((bills, paid))
        if self._serving is None or self._serving.done():
            self._serving = loop.create_task(self._serve())
        # Who is cut off here has been charged all the same, or will be.
        await asyncio.shield(paid)

    async def _serve(self) -> None:
        """Until nobody stands in the queue."""
        try:
            while self._waiting:
                served, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
                await self._serve_all(served)
        finally:
            self._serving = None

    async def _serve_all(self, served: "Sequence[tuple[Sequence[Bill], asyncio.Future[None]]]") -> None:
        try:
            await self._charge([bill for bills, _ in served for bill in bills])
        except Exception as error:  # Those who wait must hear of it; but one must not keep the others from paying.
            if len(served) > 1:
                for one in served:
                    await self._serve_all([one])
            else:
                served[0][1].set_exception(error)
        else:
            for _, paid in served:
                paid.set_result(None)
