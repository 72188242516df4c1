"""How much of a budget is used, and from when it has room again: as a start would be judged, and nothing is written."""

from collections.abc import Sequence

from foliot.books.permits import OwnedBudget, allowance_of, budgets_over
from foliot.domain.budgets import RECENT, Owner, wanted_back
from foliot.domain.credits import Pricing
from foliot.domain.errors import NotFound
from foliot.domain.grants import Grant
from foliot.domain.instants import moment_of
from foliot.domain.policies import read_policies
from foliot.ports import Transaction
from foliot.rows import ScheduleRow
from foliot.services.permission import find_grant
from foliot.services.views import BudgetUse


def use_by_schedule(tx: Transaction, row: ScheduleRow, pricing: Pricing) -> BudgetUse:
    """Of the schedule's own budget, for its next slot; NotFound when it has none."""
    own, grant = read_policies(row.policies).budget, find_grant(tx, row.grant_ref).grant
    if own is None:
        besides = "" if grant.budget is None else f", and `grants.budget` shows that of {grant.id}, by which it runs"
        raise NotFound(f"{row.name!r} has no budget of its own: `schedules.patch` gives it one{besides}")
    budgets = budgets_over(row.ref, own, grant.ref, grant.budget)
    return _use(tx, budgets, tx.recent_costs(row.ref, RECENT), row.input, pricing)


def use_by_grant(tx: Transaction, grant: Grant, pricing: Pricing) -> BudgetUse:
    """Of the grant's budget, for what costs as much as the last that ran by it; NotFound when it has none."""
    if grant.budget is None:
        raise NotFound(f"{grant.id} has no budget: `grants.allow` gives it one")
    costs = tx.recent_spendings(Owner.GRANT, grant.ref, RECENT)
    return _use(tx, [OwnedBudget(Owner.GRANT, grant.ref, grant.budget)], costs, None, pricing)


def _use(
    tx: Transaction, budgets: Sequence[OwnedBudget], costs: Sequence[int], input: str | None, pricing: Pricing
) -> BudgetUse:
    """Of the first of the budgets that a run would start under."""
    counted = [tx.counted_since(owner, ref, budget.begins_at(tx.now)) for owner, ref, budget in budgets]
    now = allowance_of(budgets, [each.total for each in counted], costs, input, pricing)
    whole = allowance_of(budgets, [0 for _ in budgets], costs, input, pricing)
    drawn = [(budget, each) for (_, _, budget), each in zip(budgets, counted, strict=True)]
    wanted = wanted_back(drawn, now.cost_of(None), whole.cost_of(None))
    (budget, own), room_at = drawn[0], None if wanted is None else _back_at(tx, budgets, wanted)
    return BudgetUse(
        credits=budget.credits,
        per=budget.window,
        spent=own.spent,
        reserved=own.reserved,
        left=budget.credits - own.total,
        has_room=wanted is not None and not any(wanted),
        room_at=None if room_at is None else moment_of(room_at),
    )


def _back_at(tx: Transaction, budgets: Sequence[OwnedBudget], wanted: Sequence[int]) -> int | None:
    """From when so much of each no longer counts; None when that is nothing."""
    moments = []
    for (owner, ref, budget), amount in zip(budgets, wanted, strict=True):
        spent_at = tx.spent_by(owner, ref, budget.begins_at(tx.now), amount) if amount else None
        if spent_at is not None:
            moments.append(budget.forgets_at(spent_at))
    return max(moments, default=None)
