"""Money: balances, the ledger of each account, and receipts for what runs have used."""

from foliot.rows import AccountRow, PostingRow, ReceiptRow
from foliot.stores.part import Part

_ACCOUNT = "SELECT a.ref, u.id, a.balance, a.is_limited FROM accounts a JOIN users u ON u.ref = a.user_ref"
_POSTING = ", ".join(PostingRow._fields)
_RECEIPT = ", ".join(ReceiptRow._fields)


class Money(Part):
    def account(self, account_ref: int) -> AccountRow:
        return AccountRow(*self._all(f"{_ACCOUNT} WHERE a.ref = ?", account_ref)[0])

    def account_of(self, user: str) -> AccountRow | None:
        """The account that the user's runs are charged to; None when nothing was ever charged or paid."""
        rows = self._all(f"{_ACCOUNT} WHERE u.id = ? AND a.is_default = 1", user)
        return AccountRow(*rows[0]) if rows else None

    def limit_account(self, account_ref: int, *, is_limited: bool) -> None:
        self._do("UPDATE accounts SET is_limited = ? WHERE ref = ?", 1 if is_limited else 0, account_ref)

    def post(self, account_ref: int, kind: str, amount: int, reference: str) -> int | None:
        """Add the amount to the balance, once for each reference; the balance after, None if it was done before."""
        known = "SELECT 1 FROM postings WHERE account_ref = ? AND kind = ? AND reference = ?"
        if self._all(known, account_ref, kind, reference):
            return None
        text = "UPDATE accounts SET balance = balance + ? WHERE ref = ? RETURNING balance"
        after = int(self._all(text, amount, account_ref)[0][0])
        self._do(
            "INSERT INTO postings (account_ref, kind, amount, balance_after, reference, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            *(account_ref, kind, amount, after, reference, self.now),
        )
        return after

    def postings(self, account_ref: int, limit: int) -> list[PostingRow]:
        """The account's ledger, the newest first."""
        text = f"SELECT {_POSTING} FROM postings WHERE account_ref = ? ORDER BY ref DESC LIMIT ?"
        return [PostingRow(*row) for row in self._all(text, account_ref, limit)]

    def receipt(self, source: str, reference: str) -> ReceiptRow | None:
        rows = self._all(f"SELECT {_RECEIPT} FROM receipts WHERE source = ? AND reference = ?", source, reference)
        return ReceiptRow(*rows[0]) if rows else None

    def receipts_of(self, run_ref: int) -> list[ReceiptRow]:
        rows = self._all(f"SELECT {_RECEIPT} FROM receipts WHERE run_ref = ? ORDER BY ref", run_ref)
        return [ReceiptRow(*row) for row in rows]

    def save_receipt(self, receipt: ReceiptRow) -> None:
        """Write it down; one that was there, its cost not known, is completed."""
        values = receipt._asdict()
        ref = values.pop("ref")
        if ref:
            text = "UPDATE receipts SET model = ?, tokens = ?, cost = ?, credits = ? WHERE ref = ?"
            self._do(text, receipt.model, receipt.tokens, receipt.cost, receipt.credits, ref)
        else:
            signs = ", ".join("?" * len(values))
            self._do(f"INSERT INTO receipts ({', '.join(values)}) VALUES ({signs})", *values.values())
