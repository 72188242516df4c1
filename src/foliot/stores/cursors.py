"""The cursors: which schedules are due, and what moves when they have been looked at."""

from collections.abc import Iterable, Sequence

from foliot.domain.schedule import State
from foliot.rows import Earliest
from foliot.stores.dialect import UpdateMany
from foliot.stores.part import Part

_STATE = ", ".join(State._fields)

_MOVING = State._fields.index("swept_to")
_COUNTED = State._fields.index("running")
_MOVE = UpdateMany("cursors", " ".join(State._fields[_MOVING:]), keys="ref")
_ADVANCE = UpdateMany("cursors", "swept_to wake_at running", keys="ref")
_FREE = UpdateMany("cursors", "running", keys="ref")
_KEEP = UpdateMany("cursors", " ".join(State._fields[_COUNTED:]), keys="ref")


class Cursors(Part):
    def earliest(self, targets: Sequence[int]) -> list[Earliest]:
        """For each target, in this order, when its first schedule, waiting run and backfill want to be looked at."""
        signs = ", ".join(["(CAST(? AS bigint))"] * len(targets))
        text = (
            f"WITH t(value) AS (VALUES {signs}) SELECT t.value,"
            " (SELECT wake_at FROM cursors WHERE target = t.value AND wake_at IS NOT NULL ORDER BY wake_at LIMIT 1),"
            " (SELECT ready_at FROM runs WHERE ready_for = t.value ORDER BY ready_at LIMIT 1),"
            " (SELECT wake_at FROM backfills WHERE target = t.value AND wake_at IS NOT NULL ORDER BY wake_at LIMIT 1)"
            " FROM t"
        )
        found = {row[0]: Earliest(*row) for row in self._all(text, *targets)} if targets else {}
        return [found[target] for target in targets]

    def due(self, target: int, until: int, limit: int) -> list[State]:
        """Schedules of the target whose time has come, the longest due first, held for this transaction."""
        return self._due(target, until, limit, "wake_at, ref")

    def due_newest(self, target: int, until: int, limit: int) -> list[State]:
        """The same, the shortest due first: so that a storm of old ones does not bury a new one."""
        return self._due(target, until, limit, "wake_at DESC, ref DESC")

    def _due(self, target: int, until: int, limit: int, order: str) -> list[State]:
        text = f"SELECT {_STATE} FROM cursors WHERE target = ? AND wake_at <= ? ORDER BY {order} LIMIT ?"
        return [State(*row) for row in self._all(text + self.dialect.lock_free, target, until, limit)]

    def overdue(self, before: int, limit: int) -> list[str]:
        """The ids of schedules whose time came before then, the longest due first."""
        text = (
            "SELECT s.id FROM cursors c JOIN schedules s ON s.ref = c.ref WHERE c.wake_at < ?"
            " AND s.deleted_at IS NULL ORDER BY c.wake_at LIMIT ?"
        )
        return [str(row[0]) for row in self._all(text, before, limit)]

    def states(self, refs: Iterable[int]) -> list[State]:
        """These schedules, held for this transaction, waited for in one order so that nobody waits in a circle."""
        return self._states(refs, self.dialect.lock)

    def states_free(self, refs: Iterable[int]) -> list[State]:
        """The same, leaving out those that somebody else holds."""
        return self._states(refs, self.dialect.lock_free)

    def states_seen(self, refs: Iterable[int]) -> list[State]:
        """These schedules as they are, held by nobody."""
        return self._states(refs, "")

    def _states(self, refs: Iterable[int], lock: str) -> list[State]:
        text = f"SELECT {_STATE} FROM cursors WHERE {self.dialect.any_of('ref')} ORDER BY ref{lock}"
        return [State(*row) for row in self._all(text, self.dialect.list_of(refs))]

    def move(self, states: Iterable[State]) -> None:
        """Save all that moves, the cursor and its wake-up included."""
        self.dialect.update(self.cursor, _MOVE, [(*state[_MOVING:], state.ref) for state in states])

    def advance(self, states: Iterable[State]) -> None:
        """Save what the start of a slot that is on time changes: cursor, wake-up and number of runs."""
        rows = [(state.swept_to, state.wake_at, state.running, state.ref) for state in states]
        self.dialect.update(self.cursor, _ADVANCE, rows)

    def free(self, states: Iterable[State]) -> None:
        """Save what the end of most runs changes: how many there are."""
        self.dialect.update(self.cursor, _FREE, [(state.running, state.ref) for state in states])

    def keep(self, states: Iterable[State]) -> None:
        """Save what a run changes, where cursor, pause and wake-up stay: their index is left alone."""
        self.dialect.update(self.cursor, _KEEP, [(*state[_COUNTED:], state.ref) for state in states])
