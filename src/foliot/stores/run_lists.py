"""Lists of runs, a stretch at a time: each statement looks at a bounded part of a ledger of any length."""

from collections.abc import Iterable

from foliot.lines import RunLine, RunPlace, RunSearch, ScheduleLine
from foliot.stores.part import Part

_ERROR = 200
_NAMES = {"schedule_id": "s.id", "owner": "s.owner", "error": f"substr(r.error, 1, {_ERROR})"}
_LINE = ", ".join(_NAMES.get(name, f"r.{name}") for name in RunLine._fields)
_LINES = f"SELECT {_LINE} FROM runs r JOIN schedules s ON s.ref = r.schedule_ref"
_IS_OPEN = "(r.status = 'running' OR r.status = 'pending' OR r.status = 'waiting')"
_OPEN = ("running", "pending", "waiting")
_BY_TIME = "r.nominal_at DESC, r.schedule_ref DESC, r.created_at DESC, r.ref DESC"
_AFTER = (
    "r.nominal_at < ? OR r.schedule_ref < ? OR (r.schedule_ref = ?"
    " AND (r.created_at < ? OR (r.created_at = ? AND r.ref < ?)))"
)


class RunLists(Part):
    def lines(self, refs: Iterable[int]) -> list[RunLine]:
        """These runs, those that there are."""
        text = f"{_LINES} WHERE {self.dialect.any_of('r.ref')} ORDER BY r.ref"
        return [RunLine(*row) for row in self._all(text, self.dialect.list_of(refs))]

    def refs_after(self, ref: int, limit: int) -> list[int]:
        """The keys after that one, in their order."""
        return [int(row[0]) for row in self._all("SELECT ref FROM runs WHERE ref > ? ORDER BY ref LIMIT ?", ref, limit)]

    def open_lines(self, limit: int) -> list[RunLine]:
        return [RunLine(*row) for row in self._all(f"{_LINES} WHERE {_IS_OPEN} LIMIT ?", limit)]

    def schedules_since(self, moment: int, limit: int) -> list[ScheduleLine]:
        """Schedules that were changed since then, deleted ones included."""
        text = (
            "SELECT s.ref, s.id, s.name, s.owner, s.version, s.updated_at, s.deleted_at, c.pause_from, c.pause_to"
            " FROM schedules s JOIN cursors c ON c.ref = s.ref WHERE s.updated_at >= ? ORDER BY s.updated_at LIMIT ?"
        )
        return [ScheduleLine(*row) for row in self._all(text, moment, limit)]

    def lines_at(self, schedule_ref: int, nominal_at: int, kind: str, backfill: int, limit: int) -> list[RunLine]:
        """The attempts at a slot, the last first."""
        text = (
            f"{_LINES} WHERE r.schedule_ref = ? AND r.nominal_at = ? AND r.kind = ? AND r.backfill = ?"
            " ORDER BY r.attempt DESC LIMIT ?"
        )
        return [RunLine(*row) for row in self._all(text, schedule_ref, nominal_at, kind, backfill, limit)]

    def newest_lines(self, wanted: RunSearch, before: int | None, since: int, limit: int) -> list[RunLine]:
        """Runs in the order of recording, the newest first, from the key before that down to another."""
        conditions, values = _conditions(wanted)
        key = "r.ref"
        if wanted.status in _OPEN:
            # Few are: the sign keeps SQLite from walking all that ever ran, which lies in this order.
            conditions.append(_IS_OPEN)
            key = "+r.ref"
        if before is not None:
            conditions.append(f"{key} < ?")
            values.append(before)
        if wanted.owner is not None:
            # Said so, it does not tempt a database to begin with the schedules and sort all that they ever ran.
            conditions.append("s.owner || '' = ?")
            values.append(wanted.owner)
        text = f"{_LINES} WHERE {key} >= ?{''.join(f' AND {condition}' for condition in conditions)}"
        return [RunLine(*row) for row in self._all(f"{text} ORDER BY {key} DESC LIMIT ?", since, *values, limit)]

    def ref_before(self, before: int | None, count: int) -> int | None:
        """The key of the run with exactly so many after it that come before that key; None: there are fewer."""
        condition, values = ("WHERE ref < ? ", [before]) if before is not None else ("", [])
        rows = self._all(f"SELECT ref FROM runs {condition}ORDER BY ref DESC LIMIT 1 OFFSET ?", *values, count)
        return int(rows[0][0]) if rows else None

    def newest_nominal(self, schedule_refs: Iterable[int], until: int) -> int | None:
        """The latest nominal time of a run of these schedules, not after that."""
        latest = "SELECT nominal_at FROM runs WHERE schedule_ref = s.ref AND nominal_at <= ? ORDER BY nominal_at DESC"
        text = f"SELECT max(n.at) FROM (SELECT ({latest} LIMIT 1) AS at FROM schedules s WHERE"
        among = self.dialect.any_of("s.ref")
        rows = self._all(f"{text} {among}) AS n", until, self.dialect.list_of(schedule_refs))
        return None if rows[0][0] is None else int(rows[0][0])

    def count_between(self, schedule_refs: Iterable[int], first_at: int, last_at: int, most: int) -> int:
        """How many runs these schedules have at nominal times of the range; counted up to so many."""
        among = self.dialect.any_of("schedule_ref")
        text = f"SELECT 1 FROM runs WHERE {among} AND nominal_at >= ? AND nominal_at <= ? LIMIT ?"
        refs = self.dialect.list_of(schedule_refs)
        return int(self._all(f"SELECT count(*) FROM ({text}) AS found", refs, first_at, last_at, most)[0][0])

    def lines_of(
        self, schedule_refs: Iterable[int], wanted: RunSearch, first_at: int, after: RunPlace, limit: int
    ) -> list[RunLine]:
        """Runs of these schedules by nominal time, the newest first, from the one after that place."""
        conditions, values = _conditions(wanted)
        at = "r.nominal_at"
        if wanted.status in _OPEN:
            # Again few, which SQLite would look for in the whole past of the schedules.
            conditions.append(_IS_OPEN)
            at = "+r.nominal_at"
        nominal_at, schedule_ref, created_at, ref = after
        place = (nominal_at, nominal_at, schedule_ref, schedule_ref, created_at, created_at, ref)
        among, refs = self.dialect.any_of("r.schedule_ref"), self.dialect.list_of(schedule_refs)
        text = f"{_LINES} WHERE {among} AND {at} >= ? AND {at} <= ? AND ({_AFTER})"
        text += f"{''.join(f' AND {condition}' for condition in conditions)} ORDER BY {_BY_TIME} LIMIT ?"
        return [RunLine(*row) for row in self._all(text, refs, first_at, *place, *values, limit)]

    def schedules_of(self, owner: str, most: int) -> list[int]:
        """The schedules that are that user's, deleted ones included; so many at most."""
        rows = self._all("SELECT ref FROM schedules WHERE owner = ? LIMIT ?", owner, most)
        return [int(row[0]) for row in rows]


def _conditions(wanted: RunSearch) -> tuple[list[str], list[str | int]]:
    said = (
        ("r.status = ?", wanted.status),
        ("r.reason = ?", wanted.reason),
        ("r.kind = ?", wanted.kind),
        ("r.backfill = ?", wanted.backfill),
        ("r.nominal_at >= ?", wanted.since),
        ("r.nominal_at <= ?", wanted.until),
    )
    given = [(condition, value) for condition, value in said if value is not None]
    return [condition for condition, _ in given], [value for _, value in given]
