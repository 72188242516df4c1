"""What runs have cost, and have taken of budgets or may yet take: what the engine knows of money.

It reads no receipt and no request. Whoever writes those tells of it here, in the same transaction.
"""

from collections.abc import Iterable, Sequence

from foliot.domain.budgets import Counted, Owner
from foliot.stores.dialect import InsertMany, Row
from foliot.stores.part import Part

_RESERVE = InsertMany("spendings", "owner:text owner_ref run_ref at reserved")
_ADD = InsertMany(
    "costs",
    "run_ref credits deferred",
    on_conflict="(run_ref) DO UPDATE SET credits = costs.credits + excluded.credits,"
    " deferred = costs.deferred + excluded.deferred",
)
_CHARGED = "coalesce((SELECT credits FROM costs WHERE costs.run_ref = spendings.run_ref), 0)"
_IS_UNKNOWN = "EXISTS (SELECT 1 FROM costs WHERE costs.run_ref = spendings.run_ref AND deferred > 0)"
_IS_OPEN = (
    "(EXISTS (SELECT 1 FROM runs WHERE runs.ref = spendings.run_ref"
    " AND (status = 'running' OR status = 'pending' OR status = 'waiting'))"
    # What was asked for from outside has no run, and the number of its request, negative, instead.
    " OR (run_ref < 0 AND is_over = 0))"
)
_SPENT = f"CASE WHEN spent IS NULL AND NOT {_IS_OPEN} AND NOT {_IS_UNKNOWN} THEN {_CHARGED} ELSE spent END"
"""Of a run that is over and whose costs are known, also before it is settled."""
_TAKEN = f"CASE WHEN ({_IS_OPEN} OR {_IS_UNKNOWN}) AND reserved > {_CHARGED} THEN reserved ELSE {_CHARGED} END"
"""Of what is not settled: what is reserved, or more if it was charged with more, unless it only has to be settled."""

# What counts against a budget, whoever asks: what was spent since then; and what is taken of what is not over, whenever
# it began, or since then of what is over, as long as the cost of one of its calls is not known.
_SETTLED = "spendings WHERE owner = ? AND owner_ref = ? AND at > ? AND spent IS NOT NULL"
_UNSETTLED = (
    f"(SELECT ref, at, {_CHARGED} AS charged, {_TAKEN} AS taken, CASE WHEN {_IS_OPEN} THEN 1 ELSE 0 END AS is_open"
    f" FROM spendings WHERE owner = ? AND owner_ref = ? AND spent IS NULL AND (at > ? OR {_IS_OPEN})) AS unsettled"
)


class Spendings(Part):
    def hold_grant(self, ref: int) -> None:
        """Whoever else admits runs by this grant waits until this transaction is over: it has one budget for all."""
        self._all(f"SELECT ref FROM grants WHERE ref = ?{self.dialect.lock}", ref)

    def reserve(self, rows: Sequence[Row]) -> None:
        self.dialect.insert(self.cursor, _RESERVE, rows)

    def spent_since(self, owner: Owner, owner_ref: int, since: int) -> int:
        """All that counts; runs that ended meanwhile are settled."""
        self._do(
            f"UPDATE spendings SET spent = {_CHARGED} WHERE owner = ? AND owner_ref = ? AND spent IS NULL"
            f" AND NOT {_IS_OPEN} AND NOT {_IS_UNKNOWN}",
            *(str(owner), owner_ref),
        )
        return self.counted_since(owner, owner_ref, since).total

    def counted_since(self, owner: Owner, owner_ref: int, since: int) -> Counted:
        """The same, part by part; nothing is settled."""
        text = (
            f"SELECT sum(spent), sum(spent), 0 FROM {_SETTLED} UNION ALL"
            f" SELECT sum(charged), sum(taken), sum(taken * is_open) FROM {_UNSETTLED}"
        )
        rows = self._all(text, *(str(owner), owner_ref, since) * 2)
        charged, taken, held = (sum(int(part or 0) for part in parts) for parts in zip(*rows, strict=True))
        return Counted(charged, taken - charged, held)

    def spent_by(self, owner: Owner, owner_ref: int, since: int, credits: int) -> int | None:
        """When so much of what counts was spent, the oldest first, by runs that are over; None: it is not so much."""
        passing = (
            f"(SELECT ref, at, spent AS taken FROM {_SETTLED}"
            f" UNION ALL SELECT ref, at, taken FROM {_UNSETTLED} WHERE is_open = 0) AS passing"
        )
        text = (
            f"SELECT at FROM (SELECT at, sum(taken) OVER (ORDER BY at, ref) AS gone FROM {passing}) AS added"
            " WHERE gone >= ? ORDER BY at LIMIT 1"
        )
        found = self._all(text, *(str(owner), owner_ref, since) * 2, credits)
        return int(found[0][0]) if found else None

    def hold_budgets(self, run_refs: Iterable[int]) -> None:
        """Whoever else admits runs by the budgets that these runs have taken of waits until this transaction is over.

        Else a cost that comes when its run is over could be written beside the settling that does not see it.
        """
        these, among = self.dialect.list_of(run_refs), self.dialect.any_of("run_ref")
        text = (
            "SELECT ref FROM grants WHERE ref IN (SELECT schedules.grant_ref FROM spendings JOIN schedules"
            f" ON schedules.ref = spendings.owner_ref WHERE spendings.owner = '{Owner.SCHEDULE}' AND {among}"
            f" UNION ALL SELECT owner_ref FROM spendings WHERE owner = '{Owner.GRANT}' AND {among})"
            f" ORDER BY ref{self.dialect.lock}"
        )
        self._all(text, these, these)

    def add_costs(self, rows: Iterable[tuple[int, int, int]]) -> None:
        """Of each run, once: what it was charged besides, and of how many more calls, or fewer, nobody knows the cost.

        Added up, and not counted anew from the receipts: so whoever else does it too is not forgotten.
        """
        # In one order: else two who charge the same runs could wait for each other.
        added = sorted(rows)
        self.dialect.insert(self.cursor, _ADD, added)
        self._leave_open([run_ref for run_ref, _, deferred in added if deferred > 0])

    def note_charges(self, run_refs: Iterable[int]) -> None:
        """These were charged: what they have spent counts from now; of those that were settled it is more."""
        self._do(
            f"UPDATE spendings SET at = ?, spent = CASE WHEN spent IS NULL THEN NULL ELSE {_CHARGED} END"
            f" WHERE {self.dialect.any_of('run_ref')}",
            *(self.now, self.dialect.list_of(run_refs)),
        )

    def _leave_open(self, refs: Sequence[int]) -> None:
        """Nobody knows yet what these have spent, though they may have been settled."""
        if refs:
            text = f"UPDATE spendings SET spent = NULL WHERE {self.dialect.any_of('run_ref')} AND spent IS NOT NULL"
            self._do(text, self.dialect.list_of(refs))

    def recent_spendings(self, owner: Owner, owner_ref: int, limit: int) -> list[int]:
        """What the last runs under that budget were charged with, in credits."""
        text = (
            f"SELECT {_SPENT} FROM spendings WHERE owner = ? AND owner_ref = ? AND {_SPENT} IS NOT NULL"
            " ORDER BY at DESC LIMIT ?"
        )
        return [int(row[0]) for row in self._all(text, str(owner), owner_ref, limit)]

    def recent_costs(self, schedule_ref: int, limit: int) -> list[int]:
        """What the schedule's last successes were charged with, in credits, as far as that is known."""
        text = (
            "SELECT coalesce(costs.credits, 0) FROM (SELECT ref FROM runs WHERE schedule_ref = ?"
            " AND status = 'success' ORDER BY nominal_at DESC LIMIT ?) AS last"
            " LEFT JOIN costs ON costs.run_ref = last.ref WHERE coalesce(costs.deferred, 0) = 0"
        )
        return [int(row[0]) for row in self._all(text, schedule_ref, limit)]
