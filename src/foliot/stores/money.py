"""Money: balances, the ledger of each account, and receipts for what runs have used."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from foliot.rows import AccountRow, PostingRow, ReceiptRow
from foliot.stores.dialect import InsertMany, UpdateMany
from foliot.stores.part import Part

_ACCOUNT = "SELECT a.ref, u.id, a.balance, a.is_limited FROM accounts a JOIN users u ON u.ref = a.user_ref"
_POSTING = ", ".join(PostingRow._fields)
_RECEIPT = ", ".join(ReceiptRow._fields)
_POST = InsertMany("postings", "account_ref kind:text amount balance_after reference:text created_at")
_WRITE = InsertMany(
    "receipts",
    "account_ref source:text reference:text run_ref unit:text model:text tokens cost:text credits created_at",
)
_COMPLETE = UpdateMany("receipts", "model:text tokens cost:text credits", "ref")


class Money(Part):
    def account(self, account_ref: int) -> AccountRow:
        return AccountRow(*self._all(f"{_ACCOUNT} WHERE a.ref = ?", account_ref)[0])

    def account_of(self, user: str) -> AccountRow | None:
        """The account that the user's runs are charged to; None when nothing was ever charged or paid."""
        rows = self._all(f"{_ACCOUNT} WHERE u.id = ? AND a.is_default = 1", user)
        return AccountRow(*rows[0]) if rows else None

    def limit_account(self, account_ref: int, *, is_limited: bool) -> None:
        self._do("UPDATE accounts SET is_limited = ? WHERE ref = ?", 1 if is_limited else 0, account_ref)

    def hold_accounts(self, refs: Iterable[int]) -> None:
        """Whoever else charges these waits until this transaction is over: then it sees what was charged already."""
        text = f"SELECT ref FROM accounts WHERE {self.dialect.any_of('ref')} ORDER BY ref{self.dialect.lock}"
        self._all(text, self.dialect.list_of(refs))

    def post(self, account_ref: int, kind: str, amounts: Mapping[str, int]) -> int | None:
        """Add amounts to the balance, each once for its reference; the balance after, None if all were there before."""
        any_of_them = self.dialect.any_text_of("reference")
        text = f"SELECT reference FROM postings WHERE account_ref = ? AND kind = ? AND {any_of_them}"
        known = {row[0] for row in self._all(text, account_ref, kind, self.dialect.list_of_texts(amounts))}
        new = {reference: amount for reference, amount in amounts.items() if reference not in known}
        if not new:
            return None
        total = sum(new.values())
        text = "UPDATE accounts SET balance = balance + ? WHERE ref = ? RETURNING balance"
        after = int(self._all(text, total, account_ref)[0][0])
        running = accumulate(new.values(), initial=after - total)
        next(running)
        rows = [
            (account_ref, kind, amount, balance, reference, self.now)
            for (reference, amount), balance in zip(new.items(), running, strict=True)
        ]
        self.dialect.insert(self.cursor, _POST, rows)
        return after

    def posted(self, account_ref: int, kind: str, reference: str) -> int | None:
        """What was added to the balance under that reference; None when nothing was."""
        text = "SELECT amount FROM postings WHERE account_ref = ? AND kind = ? AND reference = ?"
        rows = self._all(text, account_ref, kind, reference)
        return int(rows[0][0]) if rows else None

    def postings(self, account_ref: int, limit: int) -> list[PostingRow]:
        """The account's ledger, the newest first."""
        text = f"SELECT {_POSTING} FROM postings WHERE account_ref = ? ORDER BY ref DESC LIMIT ?"
        return [PostingRow(*row) for row in self._all(text, account_ref, limit)]

    def postings_before(self, account_ref: int, before: int | None, limit: int) -> list[tuple[int, PostingRow]]:
        """The same with their numbers, from the one before that."""
        condition, values = ("AND ref < ? ", [before]) if before is not None else ("", [])
        text = f"SELECT ref, {_POSTING} FROM postings WHERE account_ref = ? {condition}ORDER BY ref DESC LIMIT ?"
        return [(row[0], PostingRow(*row[1:])) for row in self._all(text, account_ref, *values, limit)]

    def receipts(self, source: str, references: Iterable[str]) -> list[ReceiptRow]:
        """Those that there are. Nobody else completes them or gives them back until this transaction is over."""
        among = self.dialect.any_text_of("reference")
        text = f"SELECT {_RECEIPT} FROM receipts WHERE source = ? AND {among} ORDER BY ref{self.dialect.lock}"
        return [ReceiptRow(*row) for row in self._all(text, source, self.dialect.list_of_texts(references))]

    def receipts_of(self, run_ref: int) -> list[ReceiptRow]:
        rows = self._all(f"SELECT {_RECEIPT} FROM receipts WHERE run_ref = ? ORDER BY ref", run_ref)
        return [ReceiptRow(*row) for row in rows]

    def recent_receipts(self, run_ref: int, limit: int) -> list[ReceiptRow]:
        """The last of them, in their order."""
        rows = self._all(f"SELECT {_RECEIPT} FROM receipts WHERE run_ref = ? ORDER BY ref DESC LIMIT ?", run_ref, limit)
        return [ReceiptRow(*row) for row in rows][::-1]

    def charged_for(self, run_ref: int) -> tuple[int, int]:
        """How many calls the run was charged for, and what they cost."""
        text = "SELECT count(*), CAST(coalesce(sum(credits), 0) AS bigint) FROM receipts WHERE run_ref = ?"
        calls, cost = self._all(text, run_ref)[0]
        return int(calls), int(cost)

    def save_receipts(self, receipts: Sequence[ReceiptRow]) -> None:
        """Write them down; those that were there, their cost not known, are completed."""
        self.dialect.insert(self.cursor, _WRITE, [receipt[1:] for receipt in receipts if not receipt.ref])
        completed = [(row.model, row.tokens, row.cost, row.credits, row.ref) for row in receipts if row.ref]
        self.dialect.update(self.cursor, _COMPLETE, completed)
