"""The condition of a database: what is due and waits, and which schema it has."""

from collections.abc import Sequence

from foliot.rows import Backlog
from foliot.stores.part import Part


class Condition(Part):
    def backlog(self, targets: Sequence[int] | None) -> Backlog:
        """What is due by now, of these targets or of all that a program has registered."""
        if targets is None:
            of_these, given = "IN (SELECT ref FROM targets WHERE registered_at IS NOT NULL)", []
        else:
            of_these, given = f"IN ({', '.join('?' * len(targets)) or 'NULL'})", list(targets)
        text = (
            f"SELECT (SELECT count(*) FROM cursors WHERE target {of_these} AND wake_at <= ?),"
            f" (SELECT min(wake_at) FROM cursors WHERE target {of_these} AND wake_at <= ?),"
            f" (SELECT count(*) FROM runs WHERE ready_for {of_these} AND ready_at <= ?),"
            f" (SELECT min(ready_at) FROM runs WHERE ready_for {of_these} AND ready_at <= ?)"
        )
        schedules, schedules_since, runs, runs_since = self._all(text, *[*given, self.now] * 4)[0]
        return Backlog(schedules, schedules_since, runs, runs_since, self.now)

    def schema(self) -> str:
        """The revision that the tables are at."""
        return str(self._all("SELECT version_num FROM alembic_version")[0][0])
