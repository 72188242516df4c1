"""The checker, outside the system: the ledger, read as plain tables, against the evidence of the runs and the plan.

It knows nothing of the engine. What the spec names it counts for itself, what ran it learns from the runs, and what
was done to the processes it is told. The verdicts are those of Jepsen's Chronos test, with doubles as failures.
"""

import os
import re
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from typing import Any, NamedTuple

import psycopg

from tests.crash.evidence import Evidence, Execution, Key
from tests.crash.plan import ATTEMPTS, STRICT, Planned

SECOND = 1_000_000
OPEN = ("pending", "running", "waiting")
LOSSES_UNTIL_ERROR = 3
_EARLY = 0.05
"""Seconds that clocks of one machine may seem to differ."""
_ZOMBIE_WITHIN = 10.0


class Row(NamedTuple):
    """A run in the ledger."""

    ref: int
    schedule: str
    kind: str
    nominal_at: int
    attempt: int
    due_at: int
    status: str
    reason: str | None
    token: int
    losses: int
    ended_at: int | None
    worker: str | None

    @property
    def key(self) -> Key:
        return Key(self.schedule, self.kind, self.nominal_at, self.attempt)

    @property
    def pid(self) -> int | None:
        """The process whose worker recorded it last."""
        found = re.search(r":(\d+)/\d+$", self.worker or "")
        return None if found is None else int(found[1])


class Cursor(NamedTuple):
    schedule: str
    created_at: int
    spec_since: int
    swept_to: int
    running: int
    held: int


class Gap(NamedTuple):
    schedule: str
    first_at: int
    last_at: int


class Ledger(NamedTuple):
    rows: list[Row]
    cursors: dict[str, Cursor]
    gaps: list[Gap]


NOTHING = Ledger([], {}, [])


class Disturbance(NamedTuple):
    """What a test did to a process: `kill`, `stop` or `leave`."""

    what: str
    pid: int
    at: float


class Story(NamedTuple):
    """All that is known of what happened."""

    plan: Sequence[Planned]
    ledger: Ledger
    evidence: Evidence
    disturbances: Sequence[Disturbance]
    end: int
    """When the schedules ended, in microseconds."""
    snapshots: Sequence[Ledger] = ()
    """The ledger as it was seen before."""


class Report(NamedTuple):
    problems: list[str]
    figures: dict[str, int]

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {number}" for name, number in self.figures.items())
        return "\n".join([figures, *self.problems])


_ROWS = """
    SELECT r.ref, s.id, r.kind, r.nominal_at, r.attempt, r.due_at, r.status, r.reason, r.token, r.losses, r.ended_at,
           w.name
    FROM runs r JOIN schedules s ON s.ref = r.schedule_ref LEFT JOIN workers w ON w.ref = r.worker ORDER BY r.ref"""
_CURSORS = """
    SELECT s.id, s.created_at, s.spec_since, c.swept_to, c.running, c.held
    FROM schedules s JOIN cursors c ON c.ref = s.ref"""
_GAPS = "SELECT s.id, g.first_at, g.last_at FROM gaps g JOIN schedules s ON s.ref = g.schedule_ref"


def read_ledger(url: str) -> Ledger:
    """What is committed, read by somebody who cannot write; an empty ledger where there is none yet."""
    if url.startswith("sqlite:///"):
        return _read_sqlite(url.removeprefix("sqlite:///"))
    with psycopg.connect(url, options="-c default_transaction_read_only=on") as cx:
        cx.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        try:
            return _ledger(cx)
        except psycopg.errors.UndefinedTable:
            return NOTHING


def _read_sqlite(path: str) -> Ledger:
    if not os.path.exists(path):
        return NOTHING
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as cx:
        cx.execute("BEGIN")
        try:
            return _ledger(cx)
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            return NOTHING


def _ledger(cx: Any) -> Ledger:
    return Ledger(
        [Row(*row) for row in cx.execute(_ROWS)],
        {row[0]: Cursor(*row) for row in cx.execute(_CURSORS)},
        [Gap(*row) for row in cx.execute(_GAPS)],
    )


def is_over(url: str, plan: Sequence[Planned], end: int) -> bool:
    """Whether every schedule has come to its end, in seconds since 1970, and nothing is open any more."""
    if time.time() < end:
        return False
    ledger = read_ledger(url)
    if any(row.status in OPEN for row in ledger.rows) or len(ledger.cursors) < len(plan):
        return False
    named = {planned.name: _named(planned, ledger.cursors[planned.name], end * SECOND) for planned in plan}
    return all(not slots or ledger.cursors[name].swept_to >= slots[-1] for name, slots in named.items())


def check(story: Story, least: int) -> Report:
    """All that is wrong with the story; also when fewer than `least` runs succeeded, for then it proves nothing."""
    problems = [
        *_lost(story),
        *_double_recorded(story),
        *_forgotten(story),
        *_ghosts(story),
        *_early(story),
        *_unexecuted(story),
        *_unexplained(story),
        *_broken_chains(story),
        *_redelivered_for_nothing(story),
        *_overlapping(story),
        *_changed(story),
        *_stuck(story),
    ]
    figures = _figures(story, Counter(problem.partition(":")[0] for problem in problems))
    if figures["succeeded"] < least:
        problems.append(f"idle: {figures['succeeded']} runs succeeded, less than {least}: this proves nothing")
    return Report(problems, figures)


def _named(planned: Planned, cursor: Cursor, end: int) -> range:
    """What the spec names: every so many seconds since 1970, after the schedule was created, up to its end.

    Until the schedule was told of its end it had none.
    """
    step = planned.every * SECOND
    return range(cursor.created_at - cursor.created_at % step + step, max(end, cursor.spec_since) + 1, step)


def _slots(story: Story) -> Counter[tuple[str, int]]:
    """How many records each slot has: rows of its first attempt, and gaps that it lies in."""
    found = Counter((row.schedule, row.nominal_at) for row in story.ledger.rows if row[2:5:2] == ("slot", 1))
    plans = {planned.name: planned for planned in story.plan}
    for gap in story.ledger.gaps:
        for nominal_at in _named(plans[gap.schedule], story.ledger.cursors[gap.schedule], story.end):
            if gap.first_at <= nominal_at <= gap.last_at:
                found[gap.schedule, nominal_at] += 1
    return found


def _lost(story: Story) -> Iterator[str]:
    slots = _slots(story)
    for planned in story.plan:
        cursor = story.ledger.cursors.get(planned.name)
        if cursor is None:
            yield f"lost: the schedule {planned.name}"
            continue
        for nominal_at in _named(planned, cursor, story.end):
            if not slots[planned.name, nominal_at]:
                yield f"lost: the slot {nominal_at} of {planned.name}"


def _double_recorded(story: Story) -> Iterator[str]:
    for (schedule, nominal_at), count in _slots(story).items():
        if count > 1:
            yield f"doubled: the slot {nominal_at} of {schedule} is recorded {count} times"
    for key, rows in _by_slot(story.ledger.rows).items():
        if sum(row.status == "success" for row in rows) > 1:
            yield f"doubled: {key} succeeded more than once"


def _by_slot(rows: Sequence[Row]) -> dict[tuple[str, str, int], list[Row]]:
    found: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.schedule, row.kind, row.nominal_at].append(row)
    return found


def _forgotten(story: Story) -> Iterator[str]:
    """What was acknowledged and is not there."""
    keys = {row.key for row in story.ledger.rows}
    for note in story.evidence.notes:
        if note.what == "acknowledged" and note.keys[0] not in keys:
            yield f"lost: the trigger {note.keys[0]}, though it was acknowledged"
        if note.what == "declared":
            late = [cursor for cursor in story.ledger.cursors.values() if cursor.created_at > note.at * SECOND]
            yield from (f"lost: {cursor.schedule} was acknowledged and is created after that" for cursor in late)


def _ghosts(story: Story) -> Iterator[str]:
    keys = {row.key for row in story.ledger.rows}
    for execution in story.evidence.executions:
        if execution.key not in keys:
            yield f"ghost: {execution} has no row"
    plans = {planned.name: planned for planned in story.plan}
    for row in story.ledger.rows:
        if row.kind == "slot" and row.schedule in plans:
            named = _named(plans[row.schedule], story.ledger.cursors[row.schedule], story.end)
            if row.nominal_at not in named:
                yield f"ghost: the spec does not name {row}"


def _early(story: Story) -> Iterator[str]:
    due = {row.key: row.due_at for row in story.ledger.rows}
    plans = {planned.name: planned for planned in story.plan}
    for execution in story.evidence.executions:
        due_at = due.get(execution.key)
        if due_at is not None and execution.started < due_at / SECOND - _EARLY:
            yield f"early: {execution} was due at {due_at}"
    for row in story.ledger.rows:
        room = plans[row.schedule].jitter * SECOND
        if row.kind == "slot" and row.attempt == 1 and not 0 <= row.due_at - row.nominal_at <= room:
            yield f"early: {row} is due at another time than its jitter allows"


def _unexecuted(story: Story) -> Iterator[str]:
    """What the ledger says ran, and did not, by the process that recorded it; and the other way round."""
    ran: dict[Key, list[Execution]] = defaultdict(list)
    for execution in story.evidence.executions:
        ran[execution.key].append(execution)
    wanted = {"success": "done", "internal": "failed"}
    for row in story.ledger.rows:
        outcome = wanted.get(row.status, wanted.get(row.reason or ""))
        if outcome is not None:
            by_whom = [run.pid for run in ran[row.key] if run.outcome == outcome and _ended_before(run, row)]
            if row.pid not in by_whom:
                yield f"unexecuted: {row} was recorded by {row.pid} and executed by {by_whom}"
        if row.status == "skipped" and ran[row.key]:
            yield f"ghost: {row} was executed all the same"
        if row.reason == "lost" and row.losses < LOSSES_UNTIL_ERROR:
            yield f"lost: {row} was given up too soon"


def _ended_before(execution: Execution, row: Row) -> bool:
    """Whether it was over when the row says so: else the row speaks of somebody else's."""
    assert execution.ended is not None
    return row.ended_at is not None and execution.ended <= row.ended_at / SECOND + _EARLY


def _unexplained(story: Story) -> Iterator[str]:
    for row in story.ledger.rows:
        if row.status in ("skipped", "cancelled", "error") and row.reason is None:
            yield f"unexplained: {row}"


def _broken_chains(story: Story) -> Iterator[str]:
    """Attempts follow each other without a gap, only after failures, and until one succeeds or there are no more."""
    plans = {planned.name: planned for planned in story.plan}
    for key, rows in _by_slot(story.ledger.rows).items():
        chain = sorted(rows, key=lambda row: row.attempt)
        attempts = ATTEMPTS if plans[key[0]].fails else 1
        if [row.attempt for row in chain] != list(range(1, len(chain) + 1)) or len(chain) > attempts:
            yield f"doubled: {key} has the attempts {[row.attempt for row in chain]}"
        if any(row.status != "error" for row in chain[:-1]):
            yield f"doubled: {key} was tried again though it had not failed"
        if chain[-1].status == "error" and len(chain) < attempts:
            yield f"lost: {chain[-1]} has no retry"


def _redelivered_for_nothing(story: Story) -> Iterator[str]:
    for executions in _by_key(story.evidence.executions).values():
        for before, after in pairwise(executions):
            if not _was_taken_from(story, before, after.started):
                yield f"doubled: {after} though nothing had happened to {before}"


def _by_key(executions: Sequence[Execution]) -> dict[Key, list[Execution]]:
    found: dict[Key, list[Execution]] = defaultdict(list)
    for execution in executions:
        found[execution.key].append(execution)
    return found


def _was_taken_from(story: Story, execution: Execution, until: float) -> bool:
    """Whether its process was disturbed since it began, or was told that the run is no longer its own."""
    if any(
        disturbance.pid == execution.pid and execution.started <= disturbance.at <= until
        for disturbance in story.disturbances
    ):
        return True
    return any(
        note.what == "fenced"
        and note.pid == execution.pid
        and note.at >= execution.started
        and execution.key in note.keys
        for note in story.evidence.notes
    )


def _began_as_zombie(story: Story, execution: Execution) -> bool:
    """Whether its process was stopped between the launch and the start: it may have lost the run by then."""
    return any(
        disturbance.what == "stop"
        and disturbance.pid == execution.pid
        and 0 <= execution.started - disturbance.at <= _ZOMBIE_WITHIN
        for disturbance in story.disturbances
    )


def _overlapping(story: Story) -> Iterator[str]:
    strict = {planned.name for planned in story.plan if planned.overlap in STRICT}
    complete: dict[str, list[Execution]] = defaultdict(list)
    for execution in story.evidence.executions:
        if execution.key.schedule in strict and execution.outcome in ("done", "failed"):
            complete[execution.key.schedule].append(execution)
    for executions in complete.values():
        for place, first in enumerate(executions):
            for second in executions[place + 1 :]:
                assert first.ended is not None
                if second.started >= first.ended:
                    continue
                if not (_was_taken_from(story, first, second.started) or _began_as_zombie(story, second)):
                    yield f"overlap: {first} and {second}"


def _changed(story: Story) -> Iterator[str]:
    """What was final once is final for ever."""
    for before, after in pairwise((*story.snapshots, story.ledger)):
        later = {row.ref: row for row in after.rows}
        for row in before.rows:
            if row.status not in OPEN and later.get(row.ref) != row:
                yield f"changed: {row} was final, and became {later.get(row.ref)}"


def _stuck(story: Story) -> Iterator[str]:
    for row in story.ledger.rows:
        if row.status in OPEN:
            yield f"stuck: {row}"
    for cursor in story.ledger.cursors.values():
        if cursor.running or cursor.held:
            yield f"stuck: {cursor} counts runs that are over"


def _figures(story: Story, problems: Counter[str]) -> dict[str, int]:
    executions = story.evidence.executions
    done = Counter(disturbance.what for disturbance in story.disturbances)
    owners = {row.key: row.pid for row in story.ledger.rows}
    others = [run for run in executions if run.outcome == "done" and owners.get(run.key) != run.pid]
    frozen = {disturbance.pid for disturbance in story.disturbances if disturbance.what == "stop"}
    fenced = [note for note in story.evidence.notes if note.what == "fenced"]
    return {
        "kills": done["kill"],
        "stops": done["stop"],
        "slots": len(_slots(story)),
        "executions": len(executions),
        "succeeded": sum(row.status == "success" for row in story.ledger.rows),
        "given up": sum(row.reason == "lost" for row in story.ledger.rows),
        "redelivered": len(executions) - len(_by_key(executions)),
        "fenced": sum(len(note.keys) for note in fenced),
        "fenced after a freeze": sum(len(note.keys) for note in fenced if note.pid in frozen),
        "done in vain": len(others),
        "done in vain after a freeze": sum(run.pid in frozen for run in others),
        **{verdict: problems[verdict] for verdict in ("lost", "doubled", "ghost", "early", "overlap", "stuck")},
    }
