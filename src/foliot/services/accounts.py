"""The verbs on accounts: what a user has, what was added, and what was charged for."""

from foliot.books.entries import Entries
from foliot.domain.access import Right
from foliot.domain.credits import Posting as Kind
from foliot.domain.credits import check_balance, payment_of
from foliot.domain.errors import Conflict, NotFound
from foliot.domain.grants import LOCAL
from foliot.domain.policies import limit_of, switch_of
from foliot.domain.schedule import name_of, user_of
from foliot.ports import Transaction
from foliot.rows import AccountRow
from foliot.services.desk import Desk
from foliot.services.permission import account_of
from foliot.services.stretches import Stretch, stretch_of
from foliot.services.views import Account, Posting, account_view, posting_view

Postings = list[Posting]


class AccountVerbs:
    """What may be asked of accounts. An account is named by its user.

    The program itself may name a user before anybody else has; who comes with a key names one that there is.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self, user: str | None = None) -> Account:
        """The caller's own, or for admins that of whom they name."""
        owner = self._seen(user)

        def act(tx: Transaction) -> Account:
            found = self._find(tx, owner)
            return Account(owner, 0, owner != LOCAL) if found is None else account_view(found)

        return self._desk.read(act)

    def top_up(self, user: str, credits: int, reference: str) -> Account:
        """Add credits, once for each reference: asked again with the same one, nothing happens.

        Conflict when that was for another amount.
        """
        self._desk.check(Right.ADMIN)
        owner, paid, why = user_of(user), payment_of(credits), name_of("reference", reference)

        def act(tx: Transaction, entries: Entries) -> Account:
            account_ref = self._account(tx, owner)
            after = tx.post(account_ref, Kind.TOP_UP, {why: paid})
            check_balance(owner, after or 0)
            if after is None and (before := tx.posted(account_ref, Kind.TOP_UP, why)) != paid:
                raise Conflict(f"{why!r} has paid {before:,} credits to {owner} before: give this payment its own name")
            if after is not None:
                entries.note("account.top_up", "account", owner, credits=paid, reference=why)
            return account_view(tx.account(account_ref))

        return self._desk.write(act)

    def refund(self, source: str, reference: str) -> Account:
        """Give back what was charged for one call, once."""
        self._desk.check(Right.ADMIN)
        source, reference = name_of("source", source), name_of("reference", reference)

        def act(tx: Transaction, entries: Entries) -> Account:
            receipt = next(iter(tx.receipts(source, [reference])), None)
            if receipt is None or receipt.credits is None:
                raise NotFound(f"there is no charge {reference!r} of {source!r}: `runs.receipts` shows those of a run")
            after = tx.post(receipt.account_ref, Kind.REFUND, {f"{source} {reference}": receipt.credits})
            account = account_view(tx.account(receipt.account_ref))
            if after is not None:
                entries.note("account.refund", "account", account.user, source=source, reference=reference)
            return account

        return self._desk.write(act)

    def limit(self, user: str, limited: bool) -> Account:
        """Whether what is paid needs a balance: so it is for users, and not for a program that knows none."""
        self._desk.check(Right.ADMIN)
        owner, is_limited = user_of(user), switch_of("limited", limited)

        def act(tx: Transaction, entries: Entries) -> Account:
            account_ref = self._account(tx, owner)
            entries.note("account.limit", "account", owner, limited=is_limited)
            tx.limit_account(account_ref, is_limited=is_limited)
            return account_view(tx.account(account_ref))

        return self._desk.write(act)

    def ledger(self, user: str | None = None, *, limit: int = 100) -> Postings:
        """What changed the balance, the newest first."""
        owner, most = self._seen(user), limit_of(limit)

        def act(tx: Transaction) -> Postings:
            found = self._find(tx, owner)
            return [] if found is None else [posting_view(row) for row in tx.postings(found.ref, most)]

        return self._desk.read(act)

    def ledger_page(self, user: str | None = None, *, before: int | None = None, limit: int = 100) -> Stretch[Posting]:
        """The same from the one before that, by number, and where the rest begins."""
        owner = self._seen(user)
        limit_of(limit)

        def act(tx: Transaction) -> Stretch[Posting]:
            account = self._find(tx, owner)
            found = [] if account is None else tx.postings_before(account.ref, before, limit + 1)
            return stretch_of(found, limit, lambda row: posting_view(row[1]), lambda row: (row[0],))

        return self._desk.read(act)

    def _account(self, tx: Transaction, owner: str) -> int:
        self._desk.check_known(tx, owner)
        return account_of(tx, owner)[1]

    def _find(self, tx: Transaction, owner: str) -> AccountRow | None:
        """None when nothing was ever posted to it; NotFound when there is no such user either."""
        found = tx.account_of(owner)
        if found is None and owner != self._desk.principal.user:
            self._desk.check_known(tx, owner)
        return found

    def _seen(self, user: str | None) -> str:
        """Whose account is meant: the caller's, or that of somebody whom they see."""
        if user is None:
            return self._desk.principal.user
        if not self._desk.principal.sees(user_of(user)):
            raise NotFound(f"there is no account of {user!r}: `accounts.get()` shows your own")
        return user
