"""Admittance: whether a request from outside may be executed by its grant, and can be paid for."""

from foliot.domain.budgets import RECENT, Owner, set_aside, starts_within, taken_to_cost
from foliot.domain.credits import Pricing
from foliot.domain.errors import Unpaid
from foliot.domain.grants import Grant, NotPermitted, grant_id, refusal_of
from foliot.domain.runs import Reason
from foliot.execution.till import can_be_paid
from foliot.ports import Transaction


def admitted(
    tx: Transaction, pricing: Pricing, grant_ref: int, target: str, input: str | None, billed_as: int
) -> Grant:
    """The grant, when it allows the target and its account can pay; NotPermitted or Unpaid when not."""
    rows = tx.grants([grant_ref])
    refusal = refusal_of(rows[0].grant if rows else None, target, tx.now)
    if refusal is not None:
        words = f"{target} may not be executed by {grant_id(grant_ref)}: {refusal}"
        raise NotPermitted(f"{words}: `grants.create` makes one that allows it", refusal)
    grant = rows[0].grant
    account = tx.account(grant.account)
    estimate = pricing.estimate(input)
    if estimate and not can_be_paid(tx, account, billed_as, estimate):
        has = f"{account.user} has {account.balance:,} credits, and it may cost {estimate:,}"
        raise Unpaid(f"{target} cannot be paid for: {has}: {Reason.INSUFFICIENT_CREDITS}")
    return grant


def reserve(tx: Transaction, pricing: Pricing, grant: Grant, input: str | None, ref: int) -> None:
    """Set aside what it may cost of the grant's budget; NotPermitted when that has nothing left."""
    if grant.budget is None:
        return
    tx.hold_grant(grant.ref)
    spent = tx.spent_since(Owner.GRANT, grant.ref, grant.budget.begins_at(tx.now))
    left = grant.budget.credits - spent
    past = pricing.past_cost(tx.recent_spendings(Owner.GRANT, grant.ref, RECENT), None, input)
    cost = taken_to_cost(past, pricing.guess(input), left, is_untouched=spent == 0)
    if starts_within(left, cost) == 0:
        words = f"the budget of {grant.id} has {left:,} credits left, not enough"
        raise NotPermitted(f"{words}: {Reason.OVER_BUDGET}", Reason.OVER_BUDGET)
    tx.reserve([(Owner.GRANT, grant.ref, ref, tx.now, set_aside(left, cost))])
