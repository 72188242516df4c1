"""What runs have taken of budgets, or may yet take."""

from collections.abc import Sequence

from foliot.domain.budgets import Owner
from foliot.domain.delivery import RequestStage
from foliot.stores.dialect import InsertMany, Row
from foliot.stores.part import Part

_RESERVE = InsertMany("spendings", "owner:text owner_ref run_ref at reserved")
_IS_OPEN = "status = 'running' OR status = 'pending' OR status = 'waiting'"


class Spendings(Part):
    def hold_grant(self, ref: int) -> None:
        """Whoever else admits runs by this grant waits until this transaction is over: it has one budget for all."""
        self._all(f"SELECT ref FROM grants WHERE ref = ?{self.dialect.lock}", ref)

    def reserve(self, rows: Sequence[Row]) -> None:
        self.dialect.insert(self.cursor, _RESERVE, rows)

    def spent_since(self, owner: Owner, owner_ref: int, since: int) -> int:
        """What counts: spent since then, or reserved for what is not over. Runs that ended meanwhile are settled."""
        self._do(
            "UPDATE spendings SET spent = coalesce("
            "(SELECT sum(credits) FROM receipts WHERE receipts.run_ref = spendings.run_ref), 0)"
            " WHERE owner = ? AND owner_ref = ? AND spent IS NULL"
            f" AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.ref = spendings.run_ref AND ({_IS_OPEN}))"
            # What was asked for from outside has no run, and the number of its request, negative, instead.
            " AND NOT EXISTS (SELECT 1 FROM execution_requests e WHERE e.ref = -spendings.run_ref"
            f" AND e.stage <> '{RequestStage.DONE}')",
            *(str(owner), owner_ref),
        )
        counted = "SELECT coalesce(sum({}), 0) FROM spendings WHERE owner = ? AND owner_ref = ? AND {}"
        spent = self._all(counted.format("spent", "at > ? AND spent IS NOT NULL"), str(owner), owner_ref, since)
        reserved = self._all(counted.format("reserved", "spent IS NULL"), str(owner), owner_ref)
        return int(spent[0][0]) + int(reserved[0][0])

    def add_spending(self, run_ref: int, amount: int) -> None:
        """A cost of a run that was settled already: it came late."""
        self._do("UPDATE spendings SET spent = spent + ? WHERE run_ref = ? AND spent IS NOT NULL", amount, run_ref)

    def recent_costs(self, schedule_ref: int, limit: int) -> list[int]:
        """What the schedule's last successes were charged with, in credits."""
        text = (
            "SELECT coalesce(sum(receipts.credits), 0) FROM (SELECT ref FROM runs WHERE schedule_ref = ?"
            " AND status = 'success' ORDER BY nominal_at DESC LIMIT ?) AS last"
            " LEFT JOIN receipts ON receipts.run_ref = last.ref GROUP BY last.ref"
        )
        return [int(row[0]) for row in self._all(text, schedule_ref, limit)]
