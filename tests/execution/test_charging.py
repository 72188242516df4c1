"""Charging: over charges, repetitions, late costs, refunds, payments, budgets and crashes, the money adds up."""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from foliot.domain.budgets import Owner, set_aside, starts_within
from foliot.domain.credits import Posting, Pricing, Usage, credits_of
from foliot.domain.runs import Status
from foliot.execution.charging import Bill, Charged, charge
from foliot.stores.transaction import SqlTransaction
from tests.builders import DAY, HOUR, NOON
from tests.stores.stage import Stage

PRICES = Pricing(markup=Decimal("1.5"))
COSTS = st.none() | st.decimals(min_value="0", max_value="0.01", places=9)


BUDGET = 400_000
WHOSE = (Owner.GRANT, 1)

Unit = tuple[int, int, str]
"""The run, its attempt and what it calls the call."""
T = TypeVar("T")


class Share(NamedTuple):
    """What a run has taken of the budget."""

    reserved: int
    at: int


class Crash(Exception):
    """The process died before the commit."""


def an_account(tx: SqlTransaction, user: str = "ann") -> int:
    return tx.default_account(tx.user_ref(user), is_limited=True)


class Money(RuleBasedStateMachine):
    """Beside the database stands a dictionary that knows what each unit must have cost."""

    stage: Stage
    units = Bundle("units")

    @initialize()
    def open_the_till(self) -> None:
        self.stage.clear()
        self.account = self.stage.write(an_account)
        schedule = self.stage.schedule()
        self.refs = {run: self.stage.running(schedule, NOON + run) for run in (1, 2, 3)}
        self.shares: dict[int, Share] = {}
        self.over: set[int] = set()
        self.told: set[Unit] = set()
        self.charged: dict[Unit, int] = {}
        self.refunded: set[Unit] = set()
        self.paid: dict[str, int] = {}

    def _write(self, act: Callable[[SqlTransaction], T], crashes: bool) -> T | None:
        def whole(tx: SqlTransaction) -> T:
            done = act(tx)
            if crashes:
                raise Crash
            return done

        try:
            return self.stage.write(whole)
        except Crash:
            return None

    @rule(target=units, run=st.integers(1, 3), attempt=st.integers(1, 2), unit=st.sampled_from("abc"))
    def name_a_unit(self, run: int, attempt: int, unit: str) -> Unit:
        return (run, attempt, unit)

    @rule(unit=units, cost=COSTS, crashes=st.booleans())
    def charge(self, unit: Unit, cost: Decimal | None, crashes: bool) -> None:
        self._charge([(unit, cost)], crashes)

    @rule(bills=st.lists(st.tuples(units, COSTS), max_size=6), crashes=st.booleans())
    def charge_together(self, bills: list[tuple[Unit, Decimal | None]], crashes: bool) -> None:
        self._charge(bills, crashes)

    def _charge(self, bills: list[tuple[Unit, Decimal | None]], crashes: bool) -> None:
        given = [
            Bill(self.refs[run], f"digest:{run}", attempt, self.account, Usage(name, cost=cost))
            for (run, attempt, name), cost in bills
        ]
        outcomes = self._write(lambda tx: charge(tx, given, PRICES), crashes)
        if outcomes is None:
            return
        for (unit, cost), outcome in zip(bills, outcomes, strict=True):
            if unit in self.charged:
                assert outcome is Charged.BEFORE
            elif cost is None:
                assert outcome is Charged.DEFERRED
                self.told.add(unit)
            else:
                assert outcome is Charged.NOW
                self.told.add(unit)
                self.charged[unit] = credits_of(cost, PRICES.markup)
                if self.charged[unit] and unit[0] in self.shares:
                    self.shares[unit[0]] = self.shares[unit[0]]._replace(at=self.stage.clock.at)

    @rule(unit=units, crashes=st.booleans())
    def refund(self, unit: Unit, crashes: bool) -> None:
        run, attempt, name = unit

        def act(tx: SqlTransaction) -> int | None:
            receipts = tx.receipts("foliot", [f"digest:{run}/{attempt}/{name}"])
            if not receipts or receipts[0].credits is None:
                return None
            return tx.post(self.account, Posting.REFUND, {f"foliot {receipts[0].reference}": receipts[0].credits})

        self._write(act, crashes)
        if not crashes and unit in self.charged:
            self.refunded.add(unit)

    @rule(reference=st.sampled_from("xyz"), amount=st.integers(1, 100_000), crashes=st.booleans())
    def pay(self, reference: str, amount: int, crashes: bool) -> None:
        self._write(lambda tx: tx.post(self.account, Posting.TOP_UP, {reference: amount}), crashes)
        if not crashes:
            self.paid.setdefault(reference, amount)

    @rule(run=st.integers(1, 3), estimate=st.none() | st.integers(1, 300_000), crashes=st.booleans())
    def admit(self, run: int, estimate: int | None, crashes: bool) -> None:
        """A run starts when the budget has room for it, and what it may cost is set aside."""
        if run in self.shares or run in self.over:
            return

        def act(tx: SqlTransaction) -> int:
            left = BUDGET - tx.spent_since(*WHOSE, tx.now - DAY)
            if starts_within(left, estimate) == 0:
                return 0
            tx.reserve([(*WHOSE, self.refs[run], tx.now, set_aside(left, estimate))])
            return set_aside(left, estimate)

        left = BUDGET - self._counted()
        reserved = self._write(act, crashes)
        if reserved:
            assert reserved <= left, "what is set aside is there"
            self.shares[run] = Share(reserved, self.stage.clock.at)

    @rule(run=st.integers(1, 3), crashes=st.booleans())
    def end(self, run: int, crashes: bool) -> None:
        over = [(Status.SUCCESS, None, self.stage.clock.at, self.refs[run])]
        self._write(lambda tx: tx.end(over), crashes)
        if not crashes:
            self.over.add(run)

    @rule(hours=st.integers(1, 30))
    def pass_time(self, hours: int) -> None:
        self.stage.clock.at += hours * HOUR

    def _counted(self) -> int:
        """What counts against the budget: while a run is not over, or a cost of its is not known, what is set aside."""
        counted = 0
        for run, share in self.shares.items():
            charged = sum(taken for unit, taken in self.charged.items() if unit[0] == run)
            is_known = all(unit in self.charged for unit in self.told if unit[0] == run)
            if share.at > self.stage.clock.at - DAY or run not in self.over:
                counted += charged if run in self.over and is_known else max(share.reserved, charged)
        return counted

    @invariant()
    def the_budget_counts_what_was_spent_or_may_be(self) -> None:
        if hasattr(self, "shares"):
            shown = self.stage.read(lambda tx: tx.counted_since(*WHOSE, tx.now - DAY))
            assert shown.total == self._counted(), "also before anybody has settled what is over"
            assert self.stage.write(lambda tx: tx.spent_since(*WHOSE, tx.now - DAY)) == self._counted()
            assert self.stage.read(lambda tx: tx.counted_since(*WHOSE, tx.now - DAY)) == shown

    @invariant()
    def the_balance_is_what_the_ledger_says_and_what_it_must_be(self) -> None:
        if not hasattr(self, "account"):
            return
        account, postings = self.stage.read(lambda tx: (tx.account(self.account), tx.postings(self.account, 10_000)))
        must = sum(self.paid.values()) - sum(self.charged.values()) + sum(self.charged[unit] for unit in self.refunded)
        assert account.balance == sum(posting.amount for posting in postings) == must
        running = 0
        for posting in reversed(postings):
            running += posting.amount
            assert posting.balance_after == running


@pytest.fixture(scope="module", autouse=True)
def _a_stage(tmp_path_factory: pytest.TempPathFactory) -> None:
    Money.stage = Stage(f"sqlite:///{tmp_path_factory.mktemp('till') / 'money.db'}")


TestMoney = Money.TestCase
TestMoney.settings = settings(max_examples=settings().max_examples * 3 // 10, stateful_step_count=25, deadline=None)
