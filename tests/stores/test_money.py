"""Money on both databases: what is charged together, by several at once, or late, is charged once and counts."""

from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal

from foliot.domain.budgets import Owner
from foliot.domain.credits import CREDITS_PER_USD, Model, Posting, Pricing, Usage
from foliot.domain.grants import stored_scopes
from foliot.execution.charging import Bill, Charged, charge
from foliot.stores.transaction import SqlTransaction
from tests.builders import HOUR, NOON
from tests.stores.stage import Stage
from tests.stores.waiting import until_somebody_waits

PRICES = Pricing({"small": Model("small", is_free=True)}, markup=Decimal(1))
CENT = Decimal("0.01")
CREDITS = CREDITS_PER_USD // 100


def an_account(stage: Stage, user: str = "ann") -> int:
    return stage.write(lambda tx: tx.default_account(tx.user_ref(user), is_limited=True))


def a_grant(stage: Stage, account: int) -> int:
    def act(tx: SqlTransaction) -> int:
        (ref,) = tx.new_grant_refs(1)
        tx.insert_grants([(ref, tx.user_ref("ann"), account, stored_scopes(frozenset()), None, None, 0, NOON)])
        return ref

    return stage.write(act)


def a_bill(account: int, unit: str, cost: Decimal | None = CENT, run_ref: int = 1) -> Bill:
    return Bill(run_ref, f"digest:{run_ref}", 1, account, Usage(unit, cost=cost))


def ledger(stage: Stage, account: int) -> list[tuple[int, int]]:
    """What each charge took and left, in order."""
    postings = stage.read(lambda tx: tx.postings(account, 1000))
    return [(posting.amount, posting.balance_after) for posting in reversed(postings)]


def test_bills_that_are_paid_together_stand_in_the_ledger_one_by_one(stage: Stage) -> None:
    ann, ben = an_account(stage), an_account(stage, "ben")
    bills = [a_bill(ann, "a"), a_bill(ben, "b", 2 * CENT), a_bill(ann, "c", 3 * CENT), a_bill(ann, "free", Decimal(0))]

    assert stage.write(lambda tx: charge(tx, bills, PRICES)) == [Charged.NOW] * 4
    assert ledger(stage, ann) == [(-CREDITS, -CREDITS), (-3 * CREDITS, -4 * CREDITS)]
    assert ledger(stage, ben) == [(-2 * CREDITS, -2 * CREDITS)]
    assert stage.read(lambda tx: tx.account(ann)).balance == -4 * CREDITS
    assert [row.unit for row in stage.read(lambda tx: tx.receipts_of(1))] == ["a", "b", "c", "free"]


def test_a_unit_that_is_in_a_batch_twice_or_was_charged_before_is_charged_once(stage: Stage) -> None:
    ann = an_account(stage)
    stage.write(lambda tx: charge(tx, [a_bill(ann, "before"), a_bill(ann, "late", None)], PRICES))
    bills = [
        *(a_bill(ann, "new"), a_bill(ann, "new"), a_bill(ann, "before"), a_bill(ann, "late", None)),
        *(a_bill(ann, "late"), a_bill(ann, "late"), a_bill(ann, "both", None), a_bill(ann, "both")),
    ]

    now, before, deferred = Charged.NOW, Charged.BEFORE, Charged.DEFERRED
    outcomes = stage.write(lambda tx: charge(tx, bills, PRICES))

    assert outcomes == [now, before, before, deferred, now, before, deferred, now]
    assert [amount for amount, _ in ledger(stage, ann)] == [-CREDITS] * 4
    costs = {row.unit: (row.cost, row.credits) for row in stage.read(lambda tx: tx.receipts_of(1))}
    assert costs == dict.fromkeys(["before", "late", "new", "both"], ("0.01", CREDITS))


def test_two_who_charge_the_same_units_at_once_charge_them_once(postgresql: Stage) -> None:
    ann = an_account(postgresql)
    bills = [a_bill(ann, unit) for unit in "abc"]
    late = [a_bill(ann, "late"), *reversed(bills)]
    postgresql.write(lambda tx: charge(tx, [a_bill(an_account(postgresql, "ben"), "late", None)], PRICES))

    with ThreadPoolExecutor() as threads:

        def first(tx: SqlTransaction) -> list[Charged]:
            outcomes = charge(tx, [*bills, a_bill(ann, "late")], PRICES)
            second.append(threads.submit(postgresql.write, lambda other: charge(other, late, PRICES)))
            until_somebody_waits(postgresql.url)
            return outcomes

        second: list[Future[list[Charged]]] = []
        assert postgresql.write(first) == [Charged.NOW] * 4
        assert second[0].result(timeout=20) == [Charged.BEFORE] * 4

    assert [amount for amount, _ in ledger(postgresql, ann)] == [-CREDITS] * 3
    assert [amount for amount, _ in ledger(postgresql, an_account(postgresql, "ben"))] == [-CREDITS]


def test_two_who_complete_a_cost_at_once_for_whoever_paid_before_take_it_once(postgresql: Stage) -> None:
    ann, ben, eve = (an_account(postgresql, name) for name in ("ann", "ben", "eve"))
    postgresql.write(lambda tx: charge(tx, [a_bill(ann, "late", None)], PRICES))

    with ThreadPoolExecutor() as threads:

        def first(tx: SqlTransaction) -> list[Charged]:
            outcomes = charge(tx, [a_bill(ben, "late")], PRICES)
            second.append(threads.submit(postgresql.write, lambda other: charge(other, [a_bill(eve, "late")], PRICES)))
            until_somebody_waits(postgresql.url)
            return outcomes

        second: list[Future[list[Charged]]] = []
        assert postgresql.write(first) == [Charged.NOW]
        assert second[0].result(timeout=20) == [Charged.BEFORE]

    assert [ledger(postgresql, account) for account in (ann, ben, eve)] == [[(-CREDITS, -CREDITS)], [], []]


def test_a_payment_counts_once_for_each_reference(stage: Stage) -> None:
    ann = an_account(stage)

    assert stage.write(lambda tx: tx.post(ann, Posting.TOP_UP, {"x": 10, "y": 5})) == 15
    assert stage.write(lambda tx: tx.post(ann, Posting.TOP_UP, {"y": 100, "z": 2})) == 17
    assert stage.write(lambda tx: tx.post(ann, Posting.TOP_UP, {"x": 1, "z": 1})) is None
    assert ledger(stage, ann) == [(10, 10), (5, 15), (2, 17)]


def test_a_cost_that_comes_when_its_run_was_settled_counts_for_its_budgets(stage: Stage) -> None:
    ann = an_account(stage)
    grant = a_grant(stage, ann)
    run = stage.ended(stage.schedule(grant_ref=grant))
    stage.write(lambda tx: tx.reserve([(str(Owner.GRANT), grant, run, NOON, 7)]))
    assert stage.write(lambda tx: tx.spent_since(Owner.GRANT, grant, 0)) == 0

    stage.write(lambda tx: charge(tx, [a_bill(ann, "late", run_ref=run)], PRICES))

    assert stage.write(lambda tx: tx.spent_since(Owner.GRANT, grant, 0)) == CREDITS


def test_an_admission_waits_for_a_late_cost_and_counts_it(postgresql: Stage) -> None:
    ann = an_account(postgresql)
    grant = a_grant(postgresql, ann)
    schedule = postgresql.schedule(grant_ref=grant)
    run = postgresql.ended(schedule)
    postgresql.write(lambda tx: tx.reserve([(str(Owner.SCHEDULE), schedule, run, NOON, 7)]))

    def admit(tx: SqlTransaction) -> int:
        tx.hold_grant(grant)
        return tx.spent_since(Owner.SCHEDULE, schedule, 0)

    with ThreadPoolExecutor() as threads:

        def pay(tx: SqlTransaction) -> None:
            charge(tx, [a_bill(ann, "late", run_ref=run)], PRICES)
            admitting.append(threads.submit(postgresql.write, admit))
            until_somebody_waits(postgresql.url)

        admitting: list[Future[int]] = []
        postgresql.write(pay)
        assert admitting[0].result(timeout=20) == CREDITS


def test_what_a_run_spends_counts_from_when_it_was_charged_and_not_from_its_start(stage: Stage) -> None:
    ann = an_account(stage)
    grant = a_grant(stage, ann)
    run = stage.ended(stage.schedule(grant_ref=grant))
    stage.write(lambda tx: tx.reserve([(str(Owner.GRANT), grant, run, NOON, 7)]))
    stage.clock.at = NOON + HOUR

    stage.write(lambda tx: charge(tx, [a_bill(ann, "call", run_ref=run)], PRICES))

    assert stage.write(lambda tx: tx.spent_since(Owner.GRANT, grant, NOON + HOUR - 1)) == CREDITS
    assert stage.write(lambda tx: tx.spent_since(Owner.GRANT, grant, NOON + HOUR)) == 0


def test_a_run_that_was_charged_with_more_than_was_set_aside_counts_with_that_before_it_is_over(stage: Stage) -> None:
    ann = an_account(stage)
    grant = a_grant(stage, ann)
    run = stage.running(stage.schedule(grant_ref=grant))
    stage.write(lambda tx: tx.reserve([(str(Owner.GRANT), grant, run, NOON, 7)]))
    assert stage.write(lambda tx: tx.spent_since(Owner.GRANT, grant, NOON)) == 7

    stage.write(lambda tx: charge(tx, [a_bill(ann, "call", run_ref=run)], PRICES))

    assert stage.write(lambda tx: tx.spent_since(Owner.GRANT, grant, NOON)) == CREDITS


def test_a_call_is_of_the_model_that_it_was_of_when_its_cost_is_told_later(stage: Stage) -> None:
    ann = an_account(stage)
    call = a_bill(ann, "call", None)
    paid = call._replace(usage=Usage("call", model="large"))
    stage.write(lambda tx: charge(tx, [paid], PRICES))

    nothing = stage.write(lambda tx: charge(tx, [a_bill(ann, "call", Decimal(0))], PRICES))
    cents = stage.write(lambda tx: charge(tx, [call._replace(usage=Usage("call", model="small", cost=CENT))], PRICES))

    assert (nothing, cents) == ([Charged.DEFERRED], [Charged.NOW])
    (receipt,) = stage.read(lambda tx: tx.receipts_of(1))
    assert (receipt.model, receipt.credits) == ("large", CREDITS)
