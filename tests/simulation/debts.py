"""What the workers owe, and since when: slots to record, runs to take up, leases that ran out."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from foliot.books.configurations import compiled
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import FINAL, Reason, Status
from tests.simulation.audit import Change, Row
from tests.simulation.punctuality import Owed, due_since
from tests.simulation.worker import SYNC_JOB

if TYPE_CHECKING:
    from tests.simulation.judge import Judge, Suspect
    from tests.simulation.reasons import Moment

_NOT_OWED = (Reason.PAUSED, Reason.SKIPPED_BY_USER)
_RULES = ("version", "pause_from", "pause_to", "target")
_WAKING = (*_RULES, "swept_to", "wake_at")
_READINESS = ("ready_for", "ready_at", "hold", "worker", "status")


class Debts:
    """When each of them came into the books; and whether they were paid as soon as anybody could."""

    def __init__(self, judge: "Judge") -> None:
        self._judge = judge
        self._opened: dict[int, float] = {}
        """By schedule, since when its rules are what they are."""
        self._waking: dict[int, float] = {}
        self._ready: dict[int, float] = {}
        self._leased: dict[int, float] = {}

    def judge_slot(self, moment: "Moment", row: Row, name: str) -> None:
        """A slot is recorded, as whatever: not long after somebody could have done so."""
        cursor = moment.cursors.get(row["schedule_ref"])
        if row["reason"] in _NOT_OWED or cursor is None:
            return
        due_at = self._due_at(row)
        if cursor["pause_from"] is not None:
            if cursor["pause_to"] is None:
                return
            due_at = max(due_at, cursor["pause_to"])
        schedule = row["schedule_ref"]
        opened = self._opened.get(schedule, 0.0)
        owed = Owed(max(self._since(due_at), opened), self._waking.get(schedule, opened))
        self._judge_late("none late for no reason", f"{name} was recorded", moment, owed)

    def judge_take_up(self, moment: "Moment", old: Row, row: Row, name: str) -> None:
        """A run that waited for nothing but a worker has one."""
        if old["worker"] is None and row["worker"] is not None and old["ready_at"] is not None:
            written = self._ready.get(row["ref"], moment.steady)
            owed = Owed(self._since(old["ready_at"]), written, old["ready_for"])
            self._judge_late("none waits for a free worker", f"{name} was taken up", moment, owed)

    def judge_rescue(self, moment: "Moment", old: Row, owner: str) -> None:
        """A worker is declared gone: not long after its lease ran out."""
        owed = Owed(self._since(old["lease_until"]), self._leased.get(old["ref"], moment.steady))
        self._judge_late("the lost are rescued", f"{owner} was declared gone", moment, owed, but=owner)

    def note(self, caller: "Suspect", changes: Iterable[Change], before: Mapping[tuple[str, int], Row | None]) -> None:
        """What was just written, for what comes after."""
        now = self._judge.steady()
        written = self._judge.punctuality.moment(now)
        for change in changes:
            row, old = change.row, before[change.table, change.row["ref"]]
            ref = row["ref"]
            if change.table == "cursors":
                if _differ(old, row, _RULES) or (old is not None and old["remaining"] == 0 != row["remaining"]):
                    self._opened[ref] = now
                if _differ(old, row, _WAKING):
                    self._waking[ref] = written
            elif change.table == "workers":
                if _differ(old, row, ("lease_until",)):
                    self._leased[ref] = written
            elif change.table == "runs" and change.deed != "delete":
                if _differ(old, row, _READINESS):
                    self._ready[ref] = written
                self._note_lease(caller, now, old, row)

    def _note_lease(self, caller: "Suspect", now: float, old: Row | None, row: Row) -> None:
        judge = self._judge
        if old is not None and old["worker"] is not None and old["status"] == Status.RUNNING:
            is_held = row["worker"] == old["worker"] and row["token"] == old["token"] and row["status"] not in FINAL
            if not is_held:
                owner = judge.owners[old["worker"]]
                judge.punctuality.release(owner.name, (row["ref"], old["token"]), now, owner is caller)
        if row["worker"] is not None and row["status"] == Status.RUNNING:
            owner = judge.owners[row["worker"]]
            target = judge.shadow.versions[row["schedule_ref"], row["version"]]["target"]
            judge.punctuality.lease(owner.name, (row["ref"], row["token"]), now, self._is_sync(target))

    def _is_sync(self, target: int | None) -> bool:
        return target is not None and self._judge.shadow.targets[target].endswith(SYNC_JOB)

    def _judge_late(self, law: str, what: str, moment: "Moment", owed: Owed, but: str | None = None) -> None:
        judge = self._judge
        decided = (moment.now - judge.db_times[-1][1]) / MICROSECONDS
        idler = judge.punctuality.idler(owed, decided, self._is_sync(owed.target), but)
        if idler is not None:
            judge.accuse(law, f"{what} {decided - owed.since:.3f} s late, and {idler}")

    def _since(self, instant: int) -> float:
        return due_since(self._judge.db_times, instant)

    def _due_at(self, row: Row) -> int:
        """By its spec: a backlog that is spread is given other due times."""
        configuration = self._judge.shadow.versions[row["schedule_ref"], row["version"]]
        return compiled(configuration["spec"]).due_at(row["nominal_at"] // MICROSECONDS, configuration["id"])


def _differ(old: Row | None, row: Row, columns: Iterable[str]) -> bool:
    return old is None or any(old[column] != row[column] for column in columns)
