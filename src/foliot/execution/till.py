"""The till: who can pay is let through, and what was used is charged, each unit once."""

import asyncio
import logging
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.credits import Meter, Posting, Pricing, RunLimits, Usage, can_pay, charge_key
from foliot.domain.errors import NotFound
from foliot.domain.slots import read_run_id
from foliot.execution.context import payer_key
from foliot.execution.records import Records
from foliot.ports import Launch, Transaction
from foliot.rows import ReceiptRow

log = logging.getLogger("foliot.execution")

_AT_ONCE = 500
"""So many runs pay in one transaction."""


class Charged(StrEnum):
    """What came of a charge."""

    NOW = "now"
    BEFORE = "before"
    """It was charged already: nothing happened."""
    DEFERRED = "deferred"
    """Nobody knows yet what it costs."""


class Bill(NamedTuple):
    """A call that a run made, and who pays for it."""

    run_ref: int
    run: str
    """What names the run over all its attempts: its slot."""
    attempt: int
    account_ref: int
    usage: Usage

    @property
    def reference(self) -> str:
        return charge_key(self.run, self.attempt, self.usage.unit)


def charge(tx: Transaction, bill: Bill, pricing: Pricing) -> Charged:
    """Write the receipt and take the credits, unless that was done before. The balance may end below nothing."""
    usage = bill.usage
    known = tx.receipt(usage.source, bill.reference)
    if known is not None and known.credits is not None:
        return Charged.BEFORE
    amount = pricing.credits_for(usage)
    if known is None or amount is not None:
        cost = None if usage.cost is None else str(usage.cost)
        payer = bill.account_ref if known is None else known.account_ref
        created_at = tx.now if known is None else known.created_at
        ref = 0 if known is None else known.ref
        names = (usage.source, bill.reference, bill.run_ref, usage.unit, usage.model, usage.tokens)
        tx.save_receipt(ReceiptRow(ref, payer, *names, cost, amount, created_at))
    if amount is None:
        return Charged.DEFERRED
    payer = bill.account_ref if known is None else known.account_ref
    after = tx.post(payer, Posting.CHARGE, -amount, f"{usage.source} {bill.reference}") if amount else None
    if amount:
        tx.add_spending(bill.run_ref, amount)
    if after is not None and after < 0 and tx.account(payer).is_limited:
        log.critical("account %d is at %d credits after %s", payer, after, bill.reference)
    return Charged.NOW


def report(tx: Transaction, run_id: str, usage: Usage, pricing: Pricing) -> Charged:
    """Charge for a call of a run that may be long over: how a cost that was not known is completed."""
    asked = tx.request_of_run(run_id)
    if asked is not None and asked.run_ref is None:
        payer = _payer(tx, -asked.ref, asked.grant_ref, run_id)
        return charge(tx, Bill(-asked.ref, payer_key(asked.key), asked.attempt, payer, usage), pricing)
    key, attempt = read_run_id(run_id)
    row = tx.schedule(key.schedule_id)
    run = None if row is None else tx.run_at(row.ref, key.nominal_at, key.kind, key.backfill, attempt)
    if row is None or run is None:
        raise NotFound(f"there is no run {run_id!r}: `runs.list` shows those that there are")
    return charge(tx, Bill(run.ref, str(key), attempt, _payer(tx, run.ref, row.grant_ref, run_id), usage), pricing)


def _payer(tx: Transaction, run_ref: int, grant_ref: int, run_id: str) -> int:
    """Who has paid for the run before; else who would now."""
    known = tx.receipts_of(run_ref)
    if known:
        return known[0].account_ref
    rows = tx.grants([grant_ref])
    if not rows:
        raise NotFound(f"nobody is there to pay for {run_id!r}: its grant is not there")
    return rows[0].grant.account


class Till:
    """Where runs pay."""

    def __init__(self, records: Records, pricing: Pricing) -> None:
        self._records = records
        self._pricing = pricing
        self._queue: list[tuple[Sequence[Bill], asyncio.Future[None]]] = []
        self._paying: asyncio.Task[None] | None = None

    async def has_enough(self, launch: Launch) -> bool:
        """Whether the run can be paid for, as far as can be told before it begins."""
        estimate = self._pricing.estimate(launch.input)
        if not estimate:
            return True
        account = await self._records.read(lambda tx: tx.account(launch.grant.account))
        return not account.is_limited or can_pay(account.balance, estimate)

    def meter(self, limits: RunLimits) -> Meter:
        return Meter(limits, self._pricing)

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
        def act(tx: Transaction) -> None:
            for bill in bills:
                charge(tx, bill, self._pricing)

        await self._records.write_surely(act, f"{len(bills)} charges")

    def report(self, run_id: str, usage: Usage) -> Charged:
        return self._records.database.write(lambda tx: report(tx, run_id, usage, self._pricing))
