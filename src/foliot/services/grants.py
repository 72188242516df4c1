"""The verbs on grants: what users permit, and what they no longer do."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from foliot.books.entries import Entries
from foliot.domain.budgets import read_budget
from foliot.domain.errors import Conflict, Invalid
from foliot.domain.grants import Grant as KnownGrant
from foliot.domain.grants import read_grant_id, scopes_of
from foliot.domain.instants import instant_of, rfc3339
from foliot.domain.policies import limit_of, switch_of
from foliot.domain.runs import Order, Reason
from foliot.domain.settlement import BY_ORDER, outcome_text
from foliot.ports import Transaction
from foliot.rows import GrantRow
from foliot.services.budgeting import use_by_grant
from foliot.services.desk import Desk
from foliot.services.permission import find_grant, known_local_grant, local_grant, make_grant
from foliot.services.runs import stop_waiting
from foliot.services.stretches import Stretch, stretch_of
from foliot.services.views import BudgetUse, Grant, grant_view

Moment = datetime | str
Grants = list[Grant]


class GrantVerbs:
    """What may be asked of grants. A grant is named by its id; one that was revoked can no longer be changed."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create(
        self,
        scopes: str | Iterable[str],
        *,
        user: str | None = None,
        expires_at: Moment | None = None,
        budget: Mapping[str, Any] | None = None,
        everything: bool = False,
    ) -> Grant:
        """Permit these targets on the user's account; `graph:execute:*` only when `everything` says so too."""
        wanted, owner = scopes_of(scopes, consents_to_everything=everything), self._desk.user(user)
        allowed = None if budget is None else read_budget(budget)
        ends_at = None if expires_at is None else instant_of(expires_at, "expires_at")

        def act(tx: Transaction, entries: Entries) -> Grant:
            if ends_at is not None and ends_at <= tx.now:
                raise Invalid(f"expires_at takes a moment to come, got {rfc3339(ends_at)}")
            self._desk.check_known(tx, owner)
            made = _shown(tx, make_grant(tx, owner, wanted, ends_at, allowed))
            entries.note("grant.create", "grant", made.id, user=owner, scopes=made.scopes)
            return made

        return self._desk.write(act)

    def local(self) -> Grant:
        """The permission of a program that knows no users; it is made when there is none."""
        known = self._desk.read(known_local_grant)
        if known is not None:
            return grant_view(known)

        def act(tx: Transaction, entries: Entries) -> Grant:
            is_new = known_local_grant(tx) is None
            found = _shown(tx, local_grant(tx))
            if is_new:
                entries.note("grant.create", "grant", found.id, user=found.user, scopes=found.scopes)
            return found

        return self._desk.write(act)

    def get(self, grant: str) -> Grant:
        ref = read_grant_id(grant)
        return self._desk.read(lambda tx: grant_view(self._find(tx, ref)))

    def _find(self, tx: Transaction, ref: int) -> GrantRow:
        return find_grant(tx, ref, self._desk.principal.seen_owner)

    def _find_valid(self, tx: Transaction, ref: int) -> KnownGrant:
        """Conflict when it was revoked: nothing that it says matters any more."""
        found = self._find(tx, ref).grant
        if found.revoked_at is not None:
            at = rfc3339(found.revoked_at)
            raise Conflict(f"{found.id} was revoked at {at}, which is for good: `grants.create` makes another")
        return found

    def list(self, user: str | None = None) -> Grants:
        """The grants of that user, or all that the caller sees, the oldest first."""
        owner = self._desk.principal.seen_owner if user is None else self._desk.user(user)
        return self._desk.read(lambda tx: [grant_view(row) for row in tx.list_grants(owner)])

    def page(self, user: str | None = None, *, after: int = 0, limit: int = 100) -> Stretch[Grant]:
        """The same from the one after that, by number, and where the rest begins."""
        owner = self._desk.principal.seen_owner if user is None else self._desk.user(user)
        limit_of(limit)

        def act(tx: Transaction) -> Stretch[Grant]:
            found = tx.grants_after(owner, after, limit + 1)
            return stretch_of(found, limit, grant_view, lambda row: (row.grant.ref,))

        return self._desk.read(act)

    def change(self, grant: str, *, everything: bool = False, **changes: Any) -> Grant:
        """Change only `expires_at`, `scopes` or `budget`, those that are given; None takes an end or a budget away."""
        ref = read_grant_id(grant)
        made: dict[str, Any] = {}
        if set(changes) - {"expires_at", "scopes", "budget"}:
            raise Invalid(f"a grant takes expires_at, scopes and budget, got {', '.join(sorted(changes))}")
        if "expires_at" in changes:
            ends_at = changes["expires_at"]
            made["expires_at"] = None if ends_at is None else instant_of(ends_at, "expires_at")
        if "scopes" in changes:
            made["scopes"] = scopes_of(changes["scopes"], consents_to_everything=everything)
        if "budget" in changes:
            made["budget"] = None if changes["budget"] is None else read_budget(changes["budget"])

        def act(tx: Transaction, entries: Entries) -> Grant:
            found = self._find_valid(tx, ref)
            entries.note("grant.change", "grant", found.id, changed=sorted(made))
            tx.change_grant(found._replace(**made))
            return _shown(tx, ref)

        return self._desk.write(act)

    def extend(self, grant: str, expires_at: Moment | None) -> Grant:
        """Let it end at another moment, or never."""
        ref = read_grant_id(grant)
        ends_at = None if expires_at is None else instant_of(expires_at, "expires_at")

        def act(tx: Transaction, entries: Entries) -> Grant:
            found = self._find_valid(tx, ref)
            entries.note("grant.extend", "grant", found.id, expires_at=None if ends_at is None else rfc3339(ends_at))
            tx.change_grant(found._replace(expires_at=ends_at))
            return _shown(tx, ref)

        return self._desk.write(act)

    def rescope(self, grant: str, scopes: str | Iterable[str], *, everything: bool = False) -> Grant:
        """Let it permit these targets, and no others, from now on."""
        ref = read_grant_id(grant)
        wanted = scopes_of(scopes, consents_to_everything=everything)

        def act(tx: Transaction, entries: Entries) -> Grant:
            found = self._find_valid(tx, ref)
            entries.note("grant.rescope", "grant", found.id, scopes=sorted(wanted))
            tx.change_grant(found._replace(scopes=wanted))
            return _shown(tx, ref)

        return self._desk.write(act)

    def allow(self, grant: str, budget: Mapping[str, Any] | None) -> Grant:
        """Let what runs by it cost so much within a span of time, or whatever it does."""
        ref = read_grant_id(grant)
        allowed = None if budget is None else read_budget(budget)

        def act(tx: Transaction, entries: Entries) -> Grant:
            found = self._find_valid(tx, ref)
            entries.note("grant.allow", "grant", found.id, budget=budget)
            tx.change_grant(found._replace(budget=allowed))
            return _shown(tx, ref)

        return self._desk.write(act)

    def budget(self, grant: str) -> BudgetUse:
        """How much of its budget is used, and from when there is room for another run; NotFound without one."""
        ref = read_grant_id(grant)
        return self._desk.read(lambda tx: use_by_grant(tx, self._find(tx, ref).grant, self._desk.pricing))

    def revoke(self, grant: str, *, stop: bool = False) -> Grant:
        """Nothing starts by it any more; what runs is asked to stop, and what waits cancelled, only if that is said."""
        ref, stops = read_grant_id(grant), switch_of("stop", stop)

        def act(tx: Transaction, entries: Entries) -> Grant:
            entries.note("grant.revoke", "grant", self._find(tx, ref).grant.id, stop=stops)
            # Schedules before the grant: who admits their runs takes them in that order.
            waiting = tx.states(tx.waiting_under(ref)) if stops else []
            tx.revoke([ref])
            for state in waiting:
                stop_waiting(tx, entries, state, ref, Reason.CANCELLED_BY_USER)
            if stops:
                tx.tell(tx.running_under(ref), Order.CANCEL_BY_USER)
                tx.stop_requests(ref, outcome_text(BY_ORDER[Order.CANCEL_BY_USER]))
                entries.recalls = True
            return _shown(tx, ref)

        return self._desk.write(act)


def _shown(tx: Transaction, ref: int) -> Grant:
    return grant_view(find_grant(tx, ref))
