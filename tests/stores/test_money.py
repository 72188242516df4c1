"""Money on both databases: what is charged together, by several at once, or late, is charged once and counts."""

from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal

from foliot.domain.budgets import Counted, Owner
from foliot.domain.credits import CREDITS_PER_USD, Model, Posting, Pricing, Usage
from foliot.domain.delivery import RequestStage
from foliot.domain.grants import stored_scopes
from foliot.execution.charging import Bill, Charged, charge
from foliot.rows import RequestRow
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


def a_request(stage: Stage, grant: int, key: str = "order") -> int:
    """One from outside, under way."""
    row = RequestRow(
        ref=0,
        key=key,
        hash="hash",
        target="python:send",
        caller="ann",
        grant_ref=grant,
        run="hers",
        attempt=1,
        run_ref=None,
        stage=RequestStage.IN_PROGRESS,
        owner="a process",
        token=1,
        lease_until=NOON + HOUR,
        verdict=None,
        decided_by=None,
        outcome=None,
        created_at=NOON,
        ended_at=None,
    )
    ref = stage.write(lambda tx: tx.insert_request(row))
    assert ref is not None
    return ref


def costs_of(stage: Stage) -> list[tuple[int, ...]]:
    """What each run has cost, and of how many of its calls nobody knows that."""
    return stage.read(lambda tx: tx._all("SELECT run_ref, credits, deferred FROM costs ORDER BY run_ref"))


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


def test_two_who_charge_one_run_at_once_for_two_payers_are_both_counted(postgresql: Stage) -> None:
    ann, ben = an_account(postgresql), an_account(postgresql, "ben")

    with ThreadPoolExecutor() as threads:

        def first(tx: SqlTransaction) -> None:
            charge(tx, [a_bill(ann, "a")], PRICES)
            second.append(threads.submit(postgresql.write, lambda other: charge(other, [a_bill(ben, "b")], PRICES)))
            until_somebody_waits(postgresql.url)

        second: list[Future[list[Charged]]] = []
        postgresql.write(first)
        assert second[0].result(timeout=20) == [Charged.NOW]

    assert costs_of(postgresql) == [(1, 2 * CREDITS, 0)]


def test_what_a_run_has_cost_is_what_its_receipts_say_whenever_its_costs_were_told(stage: Stage) -> None:
    ann = an_account(stage)
    stage.write(lambda tx: charge(tx, [a_bill(ann, "a"), a_bill(ann, "b", None), a_bill(ann, "c", None)], PRICES))
    assert costs_of(stage) == [(1, CREDITS, 2)]

    late = [a_bill(ann, "b"), a_bill(ann, "a"), a_bill(ann, "d", None), a_bill(ann, "d"), a_bill(ann, "e", None)]
    stage.write(lambda tx: charge(tx, [*late, a_bill(ann, "x", run_ref=-7)], PRICES))
    assert costs_of(stage) == [(-7, CREDITS, 0), (1, 3 * CREDITS, 2)]

    stage.write(lambda tx: charge(tx, [a_bill(ann, "c", Decimal(0)), a_bill(ann, "e"), a_bill(ann, "e")], PRICES))
    assert costs_of(stage) == [(-7, CREDITS, 0), (1, 4 * CREDITS, 0)]


def test_a_request_from_outside_has_its_share_of_a_budget_until_it_is_over_and_its_costs_are_known(
    stage: Stage,
) -> None:
    ann = an_account(stage)
    grant = a_grant(stage, ann)
    ref = a_request(stage, grant)
    stage.write(lambda tx: tx.reserve([(str(Owner.GRANT), grant, -ref, NOON, 7)]))

    def counted(since: int) -> int:
        return stage.write(lambda tx: tx.spent_since(Owner.GRANT, grant, since))

    def shown(since: int) -> Counted:
        return stage.read(lambda tx: tx.counted_since(Owner.GRANT, grant, since))

    stage.write(lambda tx: charge(tx, [a_bill(ann, "call", None, run_ref=-ref)], PRICES))
    assert (counted(0), counted(NOON)) == (7, 7), "it is under way, however long ago it began"
    assert shown(NOON) == Counted(spent=0, reserved=7, held=7)
    assert not stage.write(lambda tx: tx.finish_request(ref, 9, "{}"))
    assert counted(NOON) == 7, "who was not at it has ended nothing"
    assert stage.write(lambda tx: tx.finish_request(ref, 1, "{}"))
    assert shown(0) == Counted(spent=0, reserved=7, held=0)
    assert (counted(0), counted(NOON)) == (7, 0), "nobody knows what it cost: it counts as long as what was spent does"
    stage.write(lambda tx: charge(tx, [a_bill(ann, "call", run_ref=-ref)], PRICES))
    assert shown(0) == Counted(spent=CREDITS, reserved=0, held=0)
    assert counted(0) == CREDITS


def test_of_what_is_under_way_what_was_charged_is_spent_and_only_the_rest_of_its_share_is_reserved(
    stage: Stage,
) -> None:
    ann = an_account(stage)
    grant = a_grant(stage, ann)
    refs = [a_request(stage, grant, key) for key in "ab"]
    shares = zip(refs, (CREDITS + 7, 7), strict=True)
    stage.write(lambda tx: tx.reserve([(str(Owner.GRANT), grant, -ref, NOON, share) for ref, share in shares]))
    stage.write(lambda tx: charge(tx, [a_bill(ann, "call", run_ref=-ref) for ref in refs], PRICES))
    found = stage.read(lambda tx: tx.counted_since(Owner.GRANT, grant, 0))
    assert found == Counted(spent=2 * CREDITS, reserved=7, held=2 * CREDITS + 7)


def test_when_so_much_of_a_budget_was_spent_is_told_by_what_is_over_and_the_oldest_first(stage: Stage) -> None:
    ann = an_account(stage)
    grant = a_grant(stage, ann)
    under_way, *over = [a_request(stage, grant, key) for key in "abcd"]
    rows = [(str(Owner.GRANT), grant, -ref, NOON + number, 7) for number, ref in enumerate((under_way, *over))]
    stage.write(lambda tx: tx.reserve(rows))
    stage.write(lambda tx: charge(tx, [a_bill(ann, "call", None, run_ref=-ref) for ref in over], PRICES))
    stage.write(lambda tx: [tx.finish_request(ref, 1, "{}") for ref in over])

    def spent_by(credits: int, since: int = 0) -> int | None:
        return stage.read(lambda tx: tx.spent_by(Owner.GRANT, grant, since, credits))

    assert [spent_by(amount) for amount in (1, 7, 8, 21, 22)] == [NOON + 1, NOON + 1, NOON + 2, NOON + 3, None]
    assert spent_by(1, since=NOON + 1) == NOON + 2


def test_requests_that_a_revoked_grant_stops_are_over_for_its_budget(stage: Stage) -> None:
    grant = a_grant(stage, an_account(stage))
    refs = [a_request(stage, grant, key) for key in "ab"]
    stage.write(lambda tx: tx.reserve([(str(Owner.GRANT), grant, -ref, NOON, 7) for ref in refs]))
    stage.write(lambda tx: tx.hold_request(refs[0]))

    stage.write(lambda tx: tx.stop_requests(grant, "{}"))

    assert stage.write(lambda tx: tx.spent_since(Owner.GRANT, grant, 0)) == 7, "the other one waits for a person"
