"""A second set of books, kept from the changes that the database saw: what the judge compares with."""

from collections import defaultdict
from collections.abc import Iterable

from foliot.books.configurations import compiled
from foliot.domain.instants import MICROSECONDS
from foliot.domain.policies import Policies, read_policies
from foliot.domain.runs import FINAL, Hold, Kind, Status
from tests.simulation.audit import Change, Row


class Shadow:
    """All rows as they are now, and the indexes that the checks need."""

    def __init__(self) -> None:
        self.targets: dict[int, str] = {}
        self.runs: dict[int, Row] = {}
        self.pruned: dict[int, Row] = {}
        """Runs that are no longer in the books."""
        self.cursors: dict[int, Row] = {}
        self.schedules: dict[int, Row] = {}
        self.backfills: dict[int, Row] = {}
        self.workers: dict[int, Row] = {}
        self.grants: dict[int, Row] = {}
        self.former_grants: dict[int, list[tuple[float, Row]]] = defaultdict(list)
        """As they were, and until when."""
        self.gaps: dict[int, list[Row]] = defaultdict(list)
        self.versions: dict[tuple[int, int], Row] = {}
        """Every configuration that there ever was, by schedule and version."""
        self.open: dict[int, dict[int, Row]] = defaultdict(dict)
        """By schedule, the runs that are not over."""
        self.slots: dict[tuple[int, int], int] = {}
        """By schedule and nominal time, the first attempt."""

        self.is_twice = False
        """Whether the last slot was recorded before, and its row was gone."""

    def before(self, change: Change) -> Row | None:
        """The row as it was."""
        if change.table in ("gaps", "targets"):
            return None
        tables = {
            "runs": self.runs,
            "cursors": self.cursors,
            "schedules": self.schedules,
            "backfills": self.backfills,
            "workers": self.workers,
            "grants": self.grants,
        }
        return tables[change.table].get(change.row["ref"])

    def apply(self, change: Change, steady: float = 0.0) -> None:
        row, ref = change.row, change.row["ref"]
        if change.deed == "delete":
            self._remove(change)
            return
        match change.table:
            case "targets":
                self.targets[ref] = row["name"]
            case "runs":
                self._apply_run(row)
            case "cursors":
                self.cursors[ref] = row
            case "schedules":
                self.schedules[ref] = row
                self.versions[ref, row["version"]] = row
            case "gaps":
                self.gaps[row["schedule_ref"]].append(row)
            case "backfills":
                self.backfills[ref] = row
            case "workers":
                self.workers[ref] = row
            case "grants":
                if ref in self.grants:
                    self.former_grants[ref].append((steady, self.grants[ref]))
                self.grants[ref] = row

    def _remove(self, change: Change) -> None:
        """It is out of the books; that a slot was recorded once is not forgotten."""
        ref = change.row["ref"]
        if change.table == "runs":
            self.pruned[ref] = self.runs.pop(ref)
            self.open[change.row["schedule_ref"]].pop(ref, None)
        elif change.table == "workers":
            del self.workers[ref]

    def _apply_run(self, row: Row) -> None:
        ref = row["ref"]
        self.runs[ref] = row
        if row["status"] in FINAL:
            self.open[row["schedule_ref"]].pop(ref, None)
        else:
            self.open[row["schedule_ref"]][ref] = row
        if row["kind"] == Kind.SLOT and row["attempt"] == 1:
            first = self.slots.setdefault((row["schedule_ref"], row["nominal_at"]), ref)
            self.is_twice = first != ref

    def run(self, ref: int) -> Row:
        """As it is, or as it was last."""
        return self.runs[ref] if ref in self.runs else self.pruned[ref]

    def occupants(self, schedule: int) -> list[Row]:
        return [row for row in self.open[schedule].values() if is_occupying(row)]

    def held(self, schedule: int) -> list[Row]:
        return [row for row in self.open[schedule].values() if row["hold"] in (Hold.OVERLAP, Hold.PAUSED)]

    def policies(self, schedule: int, version: int | None = None) -> Policies:
        row = self.schedules[schedule] if version is None else self.versions[schedule, version]
        return read_policies(row["policies"])

    def gaps_around(self, schedule: int, nominal_at: int) -> list[Row]:
        return [gap for gap in self.gaps[schedule] if gap["first_at"] <= nominal_at <= gap["last_at"]]

    def missing(self, schedule: int, spec: str, after: int, last: int) -> Iterable[int]:
        """Instants of the spec in (after, last] that have neither a row nor a gap."""
        for nominal_at in instants(spec, after, last):
            if (schedule, nominal_at) not in self.slots and not self.gaps_around(schedule, nominal_at):
                yield nominal_at


def instants(spec: str, after: int, last: int) -> list[int]:
    """In microseconds, what the spec names in (after, last]."""
    named = compiled(spec).between(after // MICROSECONDS + 1, last // MICROSECONDS)
    return [second * MICROSECONDS for second in named if after < second * MICROSECONDS <= last]


def is_occupying(row: Row) -> bool:
    """Whether it stands in the way of others, by its row."""
    if not row["occupies"] or row["status"] in FINAL:
        return False
    return row["status"] != Status.PENDING or row["hold"] in (None, Hold.RETRY)
