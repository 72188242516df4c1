"""Charging: the receipt of each call and the credits for it, written once, whoever else does it too, or later."""

import logging
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.credits import Posting, Pricing, Usage, charge_key, completed
from foliot.domain.delivery import payer_key
from foliot.domain.errors import Invalid, NotFound
from foliot.domain.slots import read_run_id
from foliot.ports import Transaction
from foliot.rows import ReceiptRow, RequestRow

log = logging.getLogger("foliot.execution")


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

    @property
    def name(self) -> tuple[str, str]:
        """What a receipt is found by."""
        return (self.usage.source, self.reference)


def charge(tx: Transaction, bills: Sequence[Bill], pricing: Pricing) -> list[Charged]:
    """Write receipts and take the credits, of each unit once, whoever else does it too. A balance may end below 0."""
    tx.hold_budgets({bill.run_ref for bill in bills})
    tx.hold_accounts({bill.account_ref for bill in bills})
    known = _known(tx, bills)
    receipts: dict[tuple[str, str], ReceiptRow] = {}
    outcomes: list[Charged] = []
    for bill in bills:
        receipt, outcome = _judge(bill, known.get(bill.name), pricing, tx.now)
        outcomes.append(outcome)
        if receipt is not None:
            known[bill.name] = receipts[bill.name] = receipt
    tx.save_receipts(list(receipts.values()))
    tx.add_costs(_costs(receipts.values()))
    _take(tx, [receipt for receipt in receipts.values() if receipt.credits])
    return outcomes


def _known(tx: Transaction, bills: Iterable[Bill]) -> dict[tuple[str, str], ReceiptRow]:
    """The receipts that there are of these."""
    by_source: dict[str, list[str]] = {}
    for bill in bills:
        by_source.setdefault(bill.usage.source, []).append(bill.reference)
    rows = [row for source, references in by_source.items() for row in tx.receipts(source, references)]
    return {(row.source, row.reference): row for row in rows}


def _judge(bill: Bill, known: ReceiptRow | None, pricing: Pricing, now: int) -> tuple[ReceiptRow | None, Charged]:
    """The receipt that is to be written for a bill, if any, and what that means."""
    if known is not None and known.credits is not None:
        return None, Charged.BEFORE
    usage = bill.usage if known is None else completed(bill.usage, known.model, known.tokens)
    amount = pricing.credits_for(usage)
    outcome = Charged.DEFERRED if amount is None else Charged.NOW
    if known is not None and amount is None:
        return None, outcome
    cost = None if usage.cost is None else str(usage.cost)
    if known is not None:
        return known._replace(model=usage.model, tokens=usage.tokens, cost=cost, credits=amount), outcome
    names = (*bill.name, bill.run_ref, usage.unit, usage.model, usage.tokens)
    return ReceiptRow(0, bill.account_ref, *names, cost, amount, now), outcome


def _costs(receipts: Iterable[ReceiptRow]) -> list[tuple[int, int, int]]:
    """By how much more each run was charged, and of how many more calls, or fewer, the cost is not known."""
    added: dict[int, tuple[int, int]] = {}
    for receipt in receipts:
        amount, deferred = added.get(receipt.run_ref, (0, 0))
        # One that was there before had no cost until now.
        deferred += (receipt.credits is None) - bool(receipt.ref)
        added[receipt.run_ref] = (amount + (receipt.credits or 0), deferred)
    return [(run_ref, *more) for run_ref, more in added.items()]


def _take(tx: Transaction, receipts: Sequence[ReceiptRow]) -> None:
    """Take from each account what its receipts say."""
    by_payer: dict[int, dict[str, int]] = {}
    for receipt in receipts:
        assert receipt.credits is not None, "what is not known yet is not taken"
        by_payer.setdefault(receipt.account_ref, {})[f"{receipt.source} {receipt.reference}"] = -receipt.credits
    for payer, amounts in sorted(by_payer.items()):
        after = tx.post(payer, Posting.CHARGE, amounts)
        if after is not None and after < 0 and tx.account(payer).is_limited:
            log.critical("account %d is at %d credits after %s", payer, after, list(amounts)[-1])
    tx.note_charges({receipt.run_ref for receipt in receipts})


def report(tx: Transaction, run_id: str, usage: Usage, pricing: Pricing, key: str | None = None) -> Charged:
    """Charge for a call of a run that may be long over: how a cost that was not known is completed.

    Several requests from outside may be about what they call the same run. Without the key of one, it is the oldest of
    which the cost of that call is open; if none is, one that has paid for it; else the run itself or the last request.
    """
    asked = [row for row in tx.requests_of_run(run_id) if key in (None, row.key)]
    if key is not None and not asked:
        raise NotFound(f"there is no request {key!r} about {run_id!r}: `requests.list()` shows those that there are")
    bills = [_bill_of_request(tx, row, usage) for row in asked if row.run_ref is None]
    if (key is None or not bills) and (own := _bill_of_run(tx, run_id, usage, is_there=not bills)) is not None:
        bills.append(own)
    tx.hold_budgets({bill.run_ref for bill in bills})
    tx.hold_accounts({bill.account_ref for bill in bills})
    known = _known(tx, bills)
    is_open = [bill for bill in bills if bill.name in known and known[bill.name].credits is None]
    told = [bill for bill in bills if bill.name in known]
    return charge(tx, [(is_open or told or bills[-1:])[0]], pricing)[0]


def _bill_of_request(tx: Transaction, row: RequestRow, usage: Usage) -> Bill:
    payer = _payer(tx, -row.ref, row.grant_ref, row.run)
    return Bill(-row.ref, payer_key(row.key), row.attempt, payer, usage)


def _bill_of_run(tx: Transaction, run_id: str, usage: Usage, *, is_there: bool) -> Bill | None:
    """Of a run of a schedule; NotFound when it must be there and is not."""
    try:
        key, attempt = read_run_id(run_id)
    except Invalid:
        if is_there:
            raise
        return None
    row = tx.schedule(key.schedule_id)
    run = None if row is None else tx.run_at(row.ref, key.nominal_at, key.kind, key.backfill, attempt)
    if row is not None and run is not None:
        grant_ref = row.grant_ref if run.grant_ref is None else run.grant_ref
        return Bill(run.ref, str(key), attempt, _payer(tx, run.ref, grant_ref, run_id), usage)
    if is_there:
        raise NotFound(f"there is no run {run_id!r}: `runs.list` shows those that there are")
    return None


def _payer(tx: Transaction, run_ref: int, grant_ref: int, run_id: str) -> int:
    """Who has paid for the run before; else who has permitted it."""
    known = tx.receipts_of(run_ref)
    if known:
        return known[0].account_ref
    rows = tx.grants([grant_ref])
    if not rows:
        raise NotFound(f"nobody is there to pay for {run_id!r}: its grant is not there")
    return rows[0].grant.account
