"""The judge: after every commit, and at the end of the day, whether everything is as it was promised."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from foliot.books.configurations import compiled
from foliot.domain.grants import REFUSALS
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.domain.runs import FINAL, LOSSES_UNTIL_ERROR, Hold, Kind, Reason, Status, is_legal
from foliot.engine.settings import EngineSettings
from tests.simulation import reasons
from tests.simulation.audit import Change, Row
from tests.simulation.debts import Debts
from tests.simulation.money import Money
from tests.simulation.promises import judge_promise
from tests.simulation.pruning import judge_removal
from tests.simulation.punctuality import Punctuality
from tests.simulation.shadow import Shadow, instants
from tests.simulation.shaky import SLOW_COMMIT
from tests.simulation.story import Execution, Story
from tests.simulation.usage import Call
from tests.simulation.wishes import Wishes
from tests.simulation.worker import LEASE, SETTINGS

_AS_GOOD_AS_KNOWN = MICROSECONDS // 10
"""So far off a worker may take the database's clock to be, which it reads over a network."""
_FIRST = (Status.PENDING, Status.RUNNING, Status.SKIPPED)
"""How a run may be recorded for the first time."""
_FIXED = ("schedule_ref", "nominal_at", "kind", "backfill", "attempt", "created_at", "retry_of", "input")
"""What a run is never told anew."""
_AT_THE_GATE = {
    Reason.PROVIDER_UNAVAILABLE,
    Reason.TIMEOUT,
    Reason.INSUFFICIENT_CREDITS,
    Reason.RUN_LIMIT,
    *REFUSALS,
}
"""How a run may end whose code never began."""


class Suspect(Protocol):
    """A process, as far as the judge must know it."""

    name: str
    is_dead: bool


class Judge:
    """Compares what the database saw with the rules, with what was asked for, and with what the runs say they did."""

    def __init__(
        self, story: Story, wishes: Wishes, complain: Callable[[str], None], steady: Callable[[], float]
    ) -> None:
        self.story = story
        self.wishes = wishes
        self.shadow = Shadow()
        self.punctuality = Punctuality()
        self.debts = Debts(self)
        self.money = Money(self)
        self.settings: EngineSettings = SETTINGS
        self.steady = steady
        self.db_times: list[tuple[float, int]] = []
        """Since when the database's clock has been off by how much."""
        self._complain = complain
        self.launched: dict[tuple[int, int], float] = {}
        """By run and token, when a worker took it."""
        self.owners: dict[int, Suspect] = {}
        """By number of a worker, whose it is."""

    def accuse(self, law: str, what: str) -> None:
        self._complain(f"{law}: {what}")

    def now(self) -> int:
        """What the database's clock shows."""
        return round(self.steady() * MICROSECONDS) + self.db_times[-1][1]

    def committed(self, caller: Suspect, now: int, changes: list[Change]) -> None:
        """A transaction of the caller's is in the books."""
        changes = self.money.open(now, changes)
        shadow, touched = self.shadow, self._touched(changes)
        old_cursors = {
            change.row["ref"]: shadow.cursors.get(change.row["ref"]) for change in changes if change.table == "cursors"
        }
        old_schedules = {ref: shadow.schedules.get(ref) for ref in old_cursors}
        before = reasons.Moment(
            now,
            self.steady(),
            {ref: list(shadow.occupants(ref)) for ref in touched},
            {ref: len(shadow.held(ref)) for ref in touched},
            {ref: row for ref, row in old_cursors.items() if row is not None},
            {ref for ref, row in shadow.schedules.items() if row["deleted_at"] is not None},
            {change.row["ref"] for change in changes if change.table == "runs"},
        )
        old_rows: dict[tuple[str, int], Row | None] = {}
        nominals = self._nominals(changes)
        for change in changes:
            old = shadow.before(change)
            old_rows.setdefault((change.table, change.row["ref"]), old)
            if change.table == "schedules" and old is not None and change.row["version"] < old["version"]:
                self.accuse("versions grow", f"{old['id']} went back from {old['version']} to {change.row['version']}")
            if change.table == "workers":
                self._judge_worker(caller, before, old, change)
            shadow.apply(change, self.steady())
            if change.table == "runs":
                self._tell(change)
            if change.deed == "delete":
                judge_removal(self, now, change, nominals)
            elif change.table == "runs":
                self._judge_run(caller, before, old, change)
        for change in changes:
            if change.table == "gaps" and change.deed == "insert":
                self._judge_gap(change.row, old_schedules)
            elif change.table == "runs" and change.deed == "insert" and change.row["retry_of"] is not None:
                self._judge_retry(change.row)
            elif change.table == "runs" and change.deed != "delete":
                self._judge_end(before, old_rows["runs", change.row["ref"]], change.row)
        for ref, cursor in old_cursors.items():
            self._judge_cursor(ref, cursor, old_schedules[ref])
        for ref in touched:
            self._judge_counts(ref)
        self._judge_backfills(changes)
        self.money.close(now, changes)
        self.debts.note(caller, changes, old_rows)

    def _nominals(self, changes: Iterable[Change]) -> dict[int, list[int]]:
        """Of the schedules from which something is removed, the nominal times of their runs."""
        refs = {change.row["schedule_ref"] for change in changes if (change.table, change.deed) == ("runs", "delete")}
        nominals: dict[int, list[int]] = {ref: [] for ref in refs}
        for row in self.shadow.runs.values() if refs else ():
            if row["schedule_ref"] in refs:
                nominals[row["schedule_ref"]].append(row["nominal_at"])
        return nominals

    def _touched(self, changes: Iterable[Change]) -> list[int]:
        refs = [
            change.row["ref"] if change.table == "cursors" else change.row["schedule_ref"]
            for change in changes
            if change.table in ("cursors", "runs")
        ]
        return list(dict.fromkeys(refs))

    def _tell(self, change: Change) -> None:
        row = change.row
        self.story.tell(
            self.steady(),
            f"  {change.deed} {self.name_of(row)}: {row['status']} {row['reason'] or ''} {row['hold'] or ''}"
            f" token {row['token']} losses {row['losses']} worker {row['worker']}",
        )

    def name_of(self, row: Row) -> str:
        schedule = self.shadow.schedules[row["schedule_ref"]]["id"]
        return (
            f"{schedule}/{row['kind']}/{row['backfill']}/{rfc3339(row['nominal_at'])}~{row['attempt']} (#{row['ref']})"
        )

    # Runs

    def _judge_run(self, caller: Suspect, moment: reasons.Moment, old: Row | None, change: Change) -> None:
        row = change.row
        name = self.name_of(row)
        if row["worker"] is not None:
            self.launched.setdefault((row["ref"], row["token"]), moment.steady)
        if old is None:
            self._judge_new(moment, row, name)
        else:
            self._judge_move(caller, moment, old, row, name)
        if row["status"] == Status.RUNNING and (old is None or old["status"] != Status.RUNNING):
            refusal = reasons.refusal(self, moment, row)
            if refusal is not None:
                self.accuse("nothing without permission", f"{name} started though its grant says {refusal}")
        self.story.counts[f"status: {row['status']}"] += old is None or old["status"] != row["status"]

    def _judge_end(self, moment: reasons.Moment, old: Row | None, row: Row) -> None:
        """It ended otherwise than well: for a reason that is borne out by all that the transaction wrote."""
        is_news = old is None or old["status"] != row["status"]
        if is_news and row["status"] in FINAL and row["status"] != Status.SUCCESS:
            why = reasons.unexplained(self, moment, old, row)
            if why is not None:
                said = f"{self.name_of(row)} is {row['status']}/{row['reason']}"
                self.accuse("no unexplained end", f"{said} but {why}")

    def _judge_new(self, moment: reasons.Moment, row: Row, name: str) -> None:
        if row["status"] not in _FIRST:
            self.accuse("legal moves only", f"{name} began as {row['status']}")
        if (row["attempt"] == 1) != (row["retry_of"] is None):
            self.accuse("attempts are a chain", f"{name} is a retry of {row['retry_of']}")
        if row["kind"] == Kind.SLOT and row["attempt"] == 1:
            self._judge_slot(moment, row, name)
            others = len(self.shadow.open[row["schedule_ref"]]) > 1
            if row["hold"] == Hold.OVERLAP or (row["status"] == Status.RUNNING and not row["occupies"] and others):
                overlap = self.shadow.policies(row["schedule_ref"], row["version"]).overlap
                self.story.counts[f"decided: {overlap}"] += 1

    def _judge_retry(self, row: Row) -> None:
        former = self.shadow.run(row["retry_of"])
        if former["attempt"] != row["attempt"] - 1 or former["status"] not in FINAL:
            self.accuse(
                "attempts are a chain", f"{self.name_of(row)} follows {self.name_of(former)}, {former['status']}"
            )

    def _judge_slot(self, moment: reasons.Moment, row: Row, name: str) -> None:
        schedule, nominal_at = row["schedule_ref"], row["nominal_at"]
        configuration = self.shadow.versions[schedule, row["version"]]
        if nominal_at % MICROSECONDS or not compiled(configuration["spec"]).matches(nominal_at // MICROSECONDS):
            self.accuse("no ghosts", f"{name} is no instant of {configuration['spec']}")
        if self.shadow.is_twice:
            self.accuse("none recorded twice", f"{name} was recorded before")
        if self.shadow.gaps_around(schedule, nominal_at):
            self.accuse("none recorded twice", f"{name} lies in a gap that was recorded before")
        self.debts.judge_slot(moment, row, name)
        if row["status"] == Status.RUNNING:
            self._judge_leave(moment, row, name)
            late = moment.now - row["due_at"]
            if late < 0:
                self.accuse("none early", f"{name} started {-late / MICROSECONDS} s before its due time")

    def _judge_leave(self, moment: reasons.Moment, row: Row, name: str) -> None:
        """Whether anything of the schedule's own may start at all."""
        cursor = moment.cursors.get(row["schedule_ref"])
        if cursor is None:
            return
        if cursor["pause_from"] is not None and (cursor["pause_to"] is None or moment.now < cursor["pause_to"]):
            self.accuse("pauses hold", f"{name} started while its schedule was paused")
        if cursor["remaining"] == 0 and not self._is_given_back(moment, row["schedule_ref"]):
            self.accuse("limits hold", f"{name} started when no starts were left")
        if row["schedule_ref"] in moment.deleted:
            self.accuse("the deleted is gone", f"{name} started though its schedule was deleted")

    def _is_given_back(self, moment: reasons.Moment, schedule_ref: int) -> bool:
        """Whether a start of the schedule's was given back at that moment: the gate has turned its run away."""
        return any(
            run["schedule_ref"] == schedule_ref and run["status"] == Status.SKIPPED and run["token"] > 0
            for run in (self.shadow.runs[ref] for ref in moment.touched if ref in self.shadow.runs)
        )

    def _judge_move(self, caller: Suspect, moment: reasons.Moment, old: Row, row: Row, name: str) -> None:
        before, after = Status(old["status"]), Status(row["status"])
        if before in FINAL:
            self.accuse(
                "no zombie commit", f"{name} was final ({before}) and was written again by {caller.name}: {row}"
            )
        if before != after and not is_legal(before, after):
            self.accuse("legal moves only", f"{name} went from {before} to {after}")
        if row["token"] < old["token"]:
            self.accuse("tokens grow", f"{name} went from token {old['token']} to {row['token']}")
        self.debts.judge_take_up(moment, old, row, name)
        changed = [column for column in _FIXED if old[column] != row[column]]
        if changed:
            self.accuse("a run keeps its identity", f"{name} changed its {changed}")
        if before != Status.RUNNING and after == Status.RUNNING and self._latest_db_time() < row["due_at"]:
            self.accuse(
                "none early", f"{name} started {(row['due_at'] - moment.now) / MICROSECONDS} s before it was due"
            )
        if (
            after == Status.RUNNING
            and row["worker"] is not None
            and row["token"] == old["token"]
            and old["worker"] is None
        ):
            self.accuse("every delivery has its token", f"{name} was taken without a new token")
        if before == Status.RUNNING and after == Status.RUNNING and row["worker"] is None and old["worker"] is not None:
            self._judge_loss(caller, old, row, name)
        if before == Status.RUNNING and after in FINAL and row["token"] == old["token"]:
            self._judge_finish(caller, old, row, moment.now, name)

    def _judge_loss(self, caller: Suspect, old: Row, row: Row, name: str) -> None:
        """Taken from its worker: only when that was in trouble, or by itself."""
        self.story.counts["handed back" if row["losses"] == old["losses"] else "rescued"] += 1
        owner = self.owners[old["worker"]]
        if row["token"] == old["token"]:
            self.accuse("a lost run is fenced", f"{name} was taken from {owner.name} without a new token")
        if row["losses"] == old["losses"]:
            if owner is not caller:
                self.accuse("redelivery has a reason", f"{name} of {owner.name} was handed back by {caller.name}")
            elif not self._was_in_trouble(owner):
                self.accuse("redelivery has a reason", f"{name} was handed back by {owner.name}, which was well")
        elif self.shadow.workers[old["worker"]]["stopped_at"] is None:
            self.accuse("redelivery has a reason", f"{name} was taken from {owner.name}, which was not declared gone")
        if row["losses"] > LOSSES_UNTIL_ERROR:
            self.accuse("redelivery has an end", f"{name} was lost {row['losses']} times")

    def _was_in_trouble(self, owner: Suspect) -> bool:
        now = self.steady()
        return owner.is_dead or self.story.was_troubled(now - 3 * LEASE, now, owner.name)

    def _judge_finish(self, caller: Suspect, old: Row, row: Row, now: int, name: str) -> None:
        """A report was recorded: only of whoever has the run, and only what its code really did."""
        owner = self.owners.get(old["worker"])
        execution = self.story.executions.get((row["ref"], row["token"]))
        if owner is not caller:
            whose = None if owner is None else owner.name
            self.accuse("no zombie commit", f"{name} belongs to {whose} and was finished by {caller.name}")
        elif execution is None:
            if row["reason"] not in _AT_THE_GATE and old["orders"] is None:
                self.accuse(
                    "no zombie commit", f"{name} was finished under token {row['token']}, and never ran under it"
                )
        elif execution.process != caller.name:
            self.accuse("no zombie commit", f"{name} ran at {execution.process} and was finished by {caller.name}")
        elif row["status"] == Status.SUCCESS:
            kept = None if execution.result is None else f'"{execution.result}"'
            if execution.how != "returned" or row["result"] != kept:
                self.accuse("no invented success", f"{name}: its code {execution.how} {kept}, recorded {row['result']}")
            self.money.judge_success(row, execution)
        self.story.counts["settled"] += 1
        self._judge_times(row, now, name)

    def _judge_times(self, row: Row, now: int, name: str) -> None:
        """What is in the ledger is told by one clock, whatever those of the workers show."""
        unclear = ("fault: worker clock step", f"fault: {SLOW_COMMIT}")
        if len(self.db_times) > 1 or any(self.story.counts[fault] for fault in unclear):
            return
        if not row["started_at"] - _AS_GOOD_AS_KNOWN <= row["ended_at"] <= now + _AS_GOOD_AS_KNOWN:
            said = f"from {rfc3339(row['started_at'])} to {rfc3339(row['ended_at'])}, it is {rfc3339(now)}"
            self.accuse("one clock", f"{name} ran {said}")

    # Schedules

    def _judge_cursor(self, ref: int, old: Row | None, schedule: Row | None) -> None:
        """Every slot that the cursor has passed is in the books."""
        cursor = self.shadow.cursors[ref]
        if old is None or schedule is None or schedule["deleted_at"] is not None or old["remaining"] == 0:
            return
        self.story.counts["limit reached"] += cursor["remaining"] == 0
        if old["remaining"] is not None and old["version"] != cursor["version"]:
            return  # The last start may have been taken in the same breath as the edit.
        missing = list(self.shadow.missing(ref, schedule["spec"], old["swept_to"], cursor["swept_to"]))
        self.story.counts["slots"] += len(instants(schedule["spec"], old["swept_to"], cursor["swept_to"]))
        if missing:
            lost = [rfc3339(nominal_at) for nominal_at in missing[:5]]
            self.accuse("no slot lost", f"{schedule['id']} passed {lost} ({len(missing)}) without a record")

    def _judge_gap(self, gap: Row, old_schedules: Mapping[int, Row | None]) -> None:
        ref = gap["schedule_ref"]
        schedule = old_schedules.get(ref) or self.shadow.schedules[ref]
        named = instants(schedule["spec"], gap["first_at"] - 1, gap["last_at"])
        inside = [nominal_at for nominal_at in named if (ref, nominal_at) not in self.shadow.slots]
        self.story.counts["gaps"] += 1
        if len(inside) != gap["size"]:
            self.accuse(
                "none recorded twice", f"{schedule['id']} has a gap of {gap['size']} where {len(inside)} are: {gap}"
            )
        if len(self.shadow.gaps_around(ref, gap["first_at"])) > 1:
            self.accuse("none recorded twice", f"{schedule['id']} has gaps that overlap: {gap}")

    def _judge_counts(self, ref: int) -> None:
        """One at a time, and the counts that admission relies on are right."""
        cursor = self.shadow.cursors.get(ref)
        if cursor is None:
            return
        schedule = self.shadow.schedules[ref]["id"]
        occupants, held = self.shadow.occupants(ref), self.shadow.held(ref)
        if len(occupants) > 1:
            self.accuse("no forbidden overlap", f"{schedule} has {list(map(self.name_of, occupants))} at once")
        if cursor["running"] != len(occupants) or cursor["held"] != len(held):
            said = f"{cursor['running']} running and {cursor['held']} held"
            self.accuse("counts are right", f"{schedule} says {said}, it has {len(occupants)} and {len(held)}")
        if cursor["remaining"] is not None and cursor["remaining"] < 0:
            self.accuse("limits hold", f"{schedule} has {cursor['remaining']} remaining")

    def _judge_backfills(self, changes: Iterable[Change]) -> None:
        touched = {change.row["backfill"] for change in changes if change.table == "runs" and change.row["backfill"]}
        touched |= {change.row["ref"] for change in changes if change.table == "backfills"}
        for ref in sorted(touched):
            backfill = self.shadow.backfills[ref]
            runs = self.shadow.open[backfill["schedule_ref"]].values()
            running = sum(run["backfill"] == ref for run in runs)
            if backfill["running"] != running:
                self.accuse("counts are right", f"backfill {ref} says {backfill['running']} running, it has {running}")

    # The end of the day

    def is_at_rest(self) -> bool:
        return not any(self.shadow.open.values()) and all(row["ended_at"] for row in self.shadow.backfills.values())

    def judge_the_end(self, tables: Mapping[str, list[Row]]) -> None:
        """Nothing is left over, and the books that were kept beside are the real ones."""
        for runs in self.shadow.open.values():
            for row in runs.values():
                self.accuse(
                    "all final in the end", f"{self.name_of(row)} is {row['status']}, hold {row['hold']}: {row}"
                )
        for backfill in self.shadow.backfills.values():
            if backfill["ended_at"] is None:
                self.accuse("all final in the end", f"a backfill has not ended: {backfill}")
        for name in ("runs", "cursors", "schedules", "backfills", "workers"):
            kept = getattr(self.shadow, name)
            if {row["ref"]: row for row in tables[name]} != kept:
                self.accuse("the judge has seen it all", f"the table {name} is not what its changes say")
        rows = (*self.shadow.runs.values(), *self.shadow.pruned.values())
        names = {reasons.name_of(self, row) for row in rows}
        self.money.judge_the_end(tables["accounts"])
        for wish in self.wishes.acknowledged:
            if wish.verb in ("cancel", "terminate", "retry") and wish.what not in names:
                self.accuse("what was acknowledged holds", f"{wish.verb} {wish.what}: there is no such run")

    def acknowledged(self, verb: str, what: str, result: object) -> None:
        """The client was told that it is done: so it is."""
        judge_promise(self, verb, what, result)

    def reported(self, run_id: str, call: Call) -> None:
        """A person is about to say what a run has used."""
        for row in (*self.shadow.runs.values(), *self.shadow.pruned.values()):
            if reasons.name_of(self, row) == run_id:
                self.money.say(row["ref"], call)

    # Workers and executions

    def _judge_worker(self, caller: Suspect, moment: reasons.Moment, old: Row | None, change: Change) -> None:
        row, now = change.row, moment.now
        if old is None:
            self.owners[row["ref"]] = caller
        if old is None or change.deed == "delete":
            return
        if old["stopped_at"] is not None and row["stopped_at"] is None:
            self.accuse("who is gone stays gone", f"worker {row['ref']} came back")
        owner = self.owners[row["ref"]]
        if old["stopped_at"] is None and row["stopped_at"] is not None and owner is not caller:
            if old["lease_until"] is None or old["lease_until"] >= now:
                self.accuse(
                    "leases are respected", f"{owner.name} was declared gone by {caller.name} before its lease ended"
                )
            if not self._was_in_trouble(owner):
                self.accuse("redelivery has a reason", f"{owner.name} was declared gone by {caller.name}, and was well")
            if old["lease_until"] is not None:
                self.debts.judge_rescue(moment, old, owner.name)

    def began(self, execution: Execution, row_due_at: int) -> None:
        """The code of a run begins: not before its time, and beside no other that still counts."""
        latest = self._latest_db_time()
        if latest < row_due_at:
            self.accuse("none early", f"{execution.run_id} began {(row_due_at - latest) / MICROSECONDS} s early")
        self.money.judge_begin(execution)
        if not execution.occupies:
            return
        for other in self.story.executions.values():
            if (
                other is execution
                or other.ended is not None
                or not other.occupies
                or other.schedule != execution.schedule
            ):
                continue
            row = self.shadow.run(other.ref)
            is_current = row["status"] == Status.RUNNING and row["token"] == other.token and row["worker"] is not None
            mine = self.shadow.runs[execution.ref]
            if is_current and mine["token"] == execution.token and mine["status"] == Status.RUNNING:
                self.accuse(
                    "no forbidden overlap", f"{execution.run_id} began while {other.run_id} ran, both in good standing"
                )

    def _latest_db_time(self) -> int:
        """The latest that the database's clock has ever shown: what was due then may start after it was set back."""
        ends = [since for since, _ in self.db_times[1:]] + [self.steady()]
        shown = zip(self.db_times, ends, strict=True)
        return max(round(end * MICROSECONDS) + offset for (_, offset), end in shown)
