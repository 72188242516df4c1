"""The till: over charges, repetitions, costs that come late, refunds, payments and crashes, the money adds up."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from foliot.domain.credits import Posting, Pricing, Usage, credits_of
from foliot.execution.till import Bill, Charged, charge
from foliot.stores.transaction import SqlTransaction
from tests.stores.stage import Stage

PRICES = Pricing(markup=Decimal("1.5"))
COSTS = st.none() | st.decimals(min_value="0", max_value="0.01", places=9)


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
        self.charged: dict[tuple[int, int, str], int] = {}
        self.refunded: set[tuple[int, int, str]] = set()
        self.paid: dict[str, int] = {}

    def _write(self, act: Callable[[SqlTransaction], Charged | int | None], crashes: bool) -> Charged | int | None:
        def whole(tx: SqlTransaction) -> Charged | int | None:
            done = act(tx)
            if crashes:
                raise Crash
            return done

        try:
            return self.stage.write(whole)
        except Crash:
            return None

    @rule(target=units, run=st.integers(1, 3), attempt=st.integers(1, 2), unit=st.sampled_from("abc"))
    def name_a_unit(self, run: int, attempt: int, unit: str) -> tuple[int, int, str]:
        return (run, attempt, unit)

    @rule(unit=units, cost=COSTS, crashes=st.booleans())
    def charge(self, unit: tuple[int, int, str], cost: Decimal | None, crashes: bool) -> None:
        run, attempt, name = unit
        bill = Bill(run, f"digest:{run}", attempt, self.account, Usage(name, cost=cost))
        done = self._write(lambda tx: charge(tx, bill, PRICES), crashes)
        if crashes:
            return
        if unit in self.charged:
            assert done is Charged.BEFORE
        elif cost is None:
            assert done is Charged.DEFERRED
        else:
            assert done is Charged.NOW
            self.charged[unit] = credits_of(cost, PRICES.markup)

    @rule(unit=units, crashes=st.booleans())
    def refund(self, unit: tuple[int, int, str], crashes: bool) -> None:
        run, attempt, name = unit

        def act(tx: SqlTransaction) -> int | None:
            receipt = tx.receipt("foliot", f"digest:{run}/{attempt}/{name}")
            if receipt is None or receipt.credits is None:
                return None
            return tx.post(self.account, Posting.REFUND, receipt.credits, f"foliot {receipt.reference}")

        self._write(act, crashes)
        if not crashes and unit in self.charged:
            self.refunded.add(unit)

    @rule(reference=st.sampled_from("xyz"), amount=st.integers(1, 100_000), crashes=st.booleans())
    def pay(self, reference: str, amount: int, crashes: bool) -> None:
        self._write(lambda tx: tx.post(self.account, Posting.TOP_UP, amount, reference), crashes)
        if not crashes:
            self.paid.setdefault(reference, amount)

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
