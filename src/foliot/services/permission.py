"""Which grant a schedule gets, and what becomes of the one that was made for it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from foliot.domain.budgets import Budget, stored_budget
from foliot.domain.credits import Pricing, may_be_created
from foliot.domain.errors import Denied, NotFound, Unpaid
from foliot.domain.grants import (
    EVERYTHING,
    LOCAL,
    grant_id,
    permits_everything,
    read_grant_id,
    refusal_of,
    scope_of,
    stored_scopes,
)
from foliot.domain.runs import Reason
from foliot.domain.schedule import user_of
from foliot.ports import Transaction
from foliot.rows import GrantRow, WorkflowRow

_WHY = {
    Reason.GRANT_REVOKED: "was revoked",
    Reason.GRANT_EXPIRED: "has expired",
    Reason.GRANT_SCOPE: "does not cover {target}",
}

_WORKFLOWS = "dag"
"""The provider of workflows, which are somebody's; other targets are the program's, and everybody's."""


class Wish(NamedTuple):
    """By whose permission a schedule is to run: that grant, one made for this user and this schedule, or the local."""

    user: str | None = None
    grant: int | None = None
    seen_owner: str | None = None
    """Whose grants the caller sees; None: everybody's."""


NO_WISH = Wish()


def wish_of(user: str | None, grant: str | None, seen_owner: str | None = None) -> Wish:
    return Wish(None if user is None else user_of(user), None if grant is None else read_grant_id(grant), seen_owner)


def owner_of(tx: Transaction, wish: Wish) -> str:
    """Whose a schedule is that somebody wishes for."""
    if wish.user is not None:
        return wish.user
    return LOCAL if wish.grant is None else find_grant(tx, wish.grant).grant.user


def grants_for(tx: Transaction, wishes: Sequence[tuple[str, Wish]]) -> list[int]:
    """For each target and wish its grant, made now where there is none; Denied when one is not for the target."""
    for target, seen_owner in {(target, wish.seen_owner) for target, wish in wishes}:
        check_seen(tx, target, seen_owner)
    made = iter(tx.new_grant_refs(sum(_is_made(wish) for _, wish in wishes)))
    accounts = {user: account_of(tx, user) for user in {wish.user for _, wish in wishes if _is_made(wish)} if user}
    is_local = any(wish.user is None and wish.grant is None for _, wish in wishes)
    local = local_grant(tx) if is_local else 0
    scopes = {
        target: stored_scopes([scope_of(target)]) for target in {target for target, wish in wishes if _is_made(wish)}
    }
    rows, refs = [], []
    for target, wish in wishes:
        if wish.grant is not None:
            refs.append(_checked(tx, wish, target))
        elif wish.user is None:
            refs.append(local)
        else:
            ref = next(made)
            rows.append((ref, *accounts[wish.user], scopes[target], None, None, 0, tx.now))
            refs.append(ref)
    tx.insert_grants(rows)
    return refs


def check_seen(tx: Transaction, target: str, seen_owner: str | None) -> None:
    """NotFound when the target is a workflow that somebody does not see who sees only that user's."""
    provider, _, workflow_id = target.partition(":")
    if seen_owner is None or provider != _WORKFLOWS:
        return
    workflow = tx.workflow(workflow_id, None)
    if workflow is None or workflow.owner != seen_owner:
        raise NotFound(f"there is no workflow {workflow_id!r}: `workflows.list()` shows those that there are")


def may_be_given(workflow: WorkflowRow, user: str) -> bool:
    """Whether a user may be given schedules of it: of their own, and of what is the program's, so everybody's.

    What somebody deploys as `local` over the API is that as well: it is the name of who runs the service.
    """
    return workflow.owner in (user, LOCAL)


def _is_made(wish: Wish) -> bool:
    return wish.user is not None and wish.grant is None


def account_of(tx: Transaction, user: str) -> tuple[int, int]:
    """The user and the account that pays."""
    user_ref = tx.user_ref(user)
    return user_ref, tx.default_account(user_ref, is_limited=user != LOCAL)


def known_local_grant(tx: Transaction) -> GrantRow | None:
    """The permission of a program that knows no users, to run whatever it has; None when there is none that holds."""
    rows = (row for row in tx.list_grants(LOCAL) if row.is_shared)
    return next((row for row in rows if permits_everything(row.grant, tx.now)), None)


def local_grant(tx: Transaction) -> int:
    """The same, made when there is none."""
    known = known_local_grant(tx)
    return make_grant(tx, LOCAL, {EVERYTHING}) if known is None else known.grant.ref


def make_grant(
    tx: Transaction, user: str, scopes: Iterable[str], expires_at: int | None = None, budget: Budget | None = None
) -> int:
    """A grant that stands by itself."""
    (ref,) = tx.new_grant_refs(1)
    payer = account_of(tx, user)
    tx.insert_grants([(ref, *payer, stored_scopes(scopes), expires_at, stored_budget(budget), 1, tx.now)])
    return ref


def find_grant(tx: Transaction, ref: int, seen_owner: str | None = None) -> GrantRow:
    """The grant; NotFound when there is none, or none that somebody sees who sees only that user's."""
    rows = tx.grants([ref])
    if not rows or seen_owner not in (None, rows[0].grant.user):
        raise NotFound(f"there is no grant {grant_id(ref)!r}: `grants.list()` shows those that there are")
    return rows[0]


def _checked(tx: Transaction, wish: Wish, target: str) -> int:
    assert wish.grant is not None
    grant = find_grant(tx, wish.grant, wish.seen_owner).grant
    if wish.user is not None and grant.user != wish.user:
        raise Denied(f"{grant.id} is not {wish.user}'s: use a grant of that user, or none to have one made")
    refusal = refusal_of(grant, target, tx.now)
    if refusal is not None:
        why = _WHY[refusal].format(target=target)
        raise Denied(f"{grant.id} {why}: make a grant with {scope_of(target)!r}")
    return wish.grant


def regranted(tx: Transaction, current: int, wish: Wish, before: str, target: str) -> int:
    """The grant of a schedule that is changed: another if one is wished for; its own follows its target."""
    if target != before:
        check_seen(tx, target, wish.seen_owner)
    rows = tx.grants([current])
    own = rows[0] if rows and not rows[0].is_shared else None
    if wish.user is not None and wish.grant is None and rows and rows[0].grant.user != wish.user:
        raise Denied(
            f"it runs by {rows[0].grant.id}, which is {rows[0].grant.user}'s and not {wish.user}'s: give it a grant of"
            f" {wish.user}'s, or delete it first"
        )
    if wish.grant is not None and wish.grant != current:
        chosen = _checked(tx, wish, target)
        if own is not None:
            tx.revoke([current])
        return chosen
    if own is not None and target != before:
        tx.change_grant(own.grant._replace(scopes=frozenset({scope_of(target)})))
    elif target != before:
        _checked(tx, Wish(grant=current), target)
    return current


def let_go(tx: Transaction, grant_ref: int) -> None:
    """The schedule is gone: so is the permission that was made for it."""
    if any(not row.is_shared for row in tx.grants([grant_ref])):
        tx.revoke([grant_ref])


def check_payable(tx: Transaction, pricing: Pricing, wanted: Iterable[tuple[int, str | None]]) -> None:
    """Denied when a schedule of a paid model is wanted on an account that has nothing."""
    for grant_ref, given in wanted:
        model = pricing.model_in(given)
        if model is None or model.is_free:
            continue
        account = tx.account(find_grant(tx, grant_ref).grant.account)
        if account.is_limited and not may_be_created(model, account.balance):
            raise Unpaid(
                f"{model.name} is paid, and {account.user} has {account.balance:,} credits: top the account up first,"
                " or choose a free model"
            )
