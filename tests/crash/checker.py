"""The checker, outside the system: the ledger, read as plain tables, against the evidence of the runs and the plan.

It knows nothing of the engine. What the spec names it counts for itself, what ran it learns from the runs, and what
was done to the processes it is told. The verdicts are those of Jepsen's Chronos test, with doubles as failures.
This is the layer that goes by the names of slots; `anonymous` goes by the clock alone.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import pairwise

from tests.crash.anonymous import faults_of, judge, lags
from tests.crash.evidence import Execution, Key
from tests.crash.ledger import OPEN, SECOND, Row
from tests.crash.plan import ATTEMPTS, LEASE, PAID, STRICT
from tests.crash.promises import broken_promises
from tests.crash.refusals import AT_THE_GATE, wrong_begins, wrong_postings, wrong_reasons
from tests.crash.story import Facts, Report, Story

LOSSES_UNTIL_ERROR = 3
VERDICTS = (
    "lost",
    "doubled",
    "ghost",
    "early",
    "unexecuted",
    "unexplained",
    "zombie",
    "overlap",
    "changed",
    "stuck",
    "unmet",
    "extra",
    "mislabelled",
    "late",
    "money",
    "forbidden",
    "trail",
)
_EARLY = 0.05
"""Seconds that clocks of one machine may seem to differ."""
_CLOCKS_DIFFER = 0.2
"""Seconds by which a worker on a busy machine may misjudge what its database's clock says."""
_ZOMBIE_WITHIN = 10.0
_FENCED_WITHIN = 2 * LEASE
"""Seconds after it woke up in which a process must have learned what it lost meanwhile."""


def check(story: Story, least: int) -> Report:
    """All that is wrong with the story; also when fewer than `least` runs succeeded, for then it proves nothing."""
    facts = Facts(story)
    faults = faults_of(story.disturbances, story.evidence.executions)
    judgement = judge(story.plan, story.ledger, story.evidence, faults, story.end)
    late, lag_figures = lags(story.plan, story.ledger, story.evidence, faults)
    problems = [
        *_lost(facts),
        *_double_recorded(facts),
        *broken_promises(facts),
        *_ghosts(facts),
        *_early(facts),
        *_unexecuted(facts),
        *_wrongly_charged(facts),
        *wrong_postings(facts),
        *wrong_begins(facts),
        *_zombies(facts),
        *_unexplained(facts),
        *wrong_reasons(facts),
        *_broken_chains(facts),
        *_redelivered_for_nothing(facts),
        *_overlapping(facts),
        *_changed(story),
        *_stuck(facts),
        *_broken_trail(facts),
        *judgement.problems,
        *late,
    ]
    figures = {**_figures(facts), **judgement.figures, **lag_figures}
    found = Counter(problem.partition(":")[0] for problem in problems)
    # What is counted anyway, as a figure, is a problem only in part.
    figures |= {verdict: max(found[verdict], figures.get(verdict, 0)) for verdict in VERDICTS}
    if figures["succeeded"] < least:
        problems.append(f"idle: {figures['succeeded']} runs succeeded, less than {least}: this proves nothing")
    return Report(problems, figures)


def _slots(facts: Facts) -> Counter[tuple[str, int]]:
    """How many records each slot has: rows of its first attempt, and gaps that it lies in."""
    found = Counter((row.schedule, row.nominal_at) for row in facts.rows if row[2:5:2] == ("slot", 1))
    for gap in facts.gaps:
        for nominal_at in facts.named(gap.schedule):
            if gap.first_at <= nominal_at <= gap.last_at:
                found[gap.schedule, nominal_at] += 1
    return found


def _lost(facts: Facts) -> Iterator[str]:
    slots = _slots(facts)
    for schedule in facts.plans:
        if schedule not in facts.cursors:
            yield f"lost: the schedule {schedule}"
        for nominal_at in facts.named(schedule):
            if not slots[schedule, nominal_at]:
                yield f"lost: the slot {nominal_at} of {schedule}"
    for row in facts.rows:
        if row.reason == "lost" and row.losses < LOSSES_UNTIL_ERROR:
            yield f"lost: {row} was given up too soon"


def _double_recorded(facts: Facts) -> Iterator[str]:
    for (schedule, nominal_at), count in _slots(facts).items():
        if count > 1:
            yield f"doubled: the slot {nominal_at} of {schedule} is recorded {count} times"
    for key, rows in facts.by_slot().items():
        if sum(row.status == "success" for row in rows) > 1:
            yield f"doubled: {key} succeeded more than once"


def _ghosts(facts: Facts) -> Iterator[str]:
    for execution in facts.executions:
        row = facts.row_of.get(execution.key)
        if row is None:
            yield f"ghost: {execution} has no row"
        elif row.status == "skipped" and not (row.reason in AT_THE_GATE and execution.token < row.token):
            yield f"ghost: {row} was executed all the same"
    for row in facts.rows:
        if row.kind == "slot" and row.nominal_at not in facts.named(row.schedule):
            yield f"ghost: the spec does not name {row}"


def _early(facts: Facts) -> Iterator[str]:
    for execution in facts.executions:
        row = facts.row_of.get(execution.key)
        if row is not None and execution.started < row.due_at / SECOND - _EARLY:
            yield f"early: {execution} was due at {row.due_at}"
    for row in facts.rows:
        room = facts.plans[row.schedule].jitter * SECOND
        if row.kind == "slot" and row.attempt == 1 and not 0 <= row.due_at - row.nominal_at <= room:
            yield f"early: {row} is due at another time than its jitter allows"


_WANTED = {"success": "done", "internal": "failed"}


def _outcome(row: Row) -> str | None:
    """What the code must have said of itself for the row to say what it says."""
    return _WANTED.get(row.status, _WANTED.get(row.reason or ""))


def _unexecuted(facts: Facts) -> Iterator[str]:
    """What the ledger says ran, and did not, by the process that recorded it."""
    for row in facts.rows:
        outcome = _outcome(row)
        if outcome is None:
            continue
        meant = _meant_by(facts, row, outcome)
        is_forgotten = facts.forgets_workers and row.worker is None
        if meant is None or not (is_forgotten or meant.pid == row.pid):
            yield f"unexecuted: {row} was recorded by {row.pid}; of it there are {facts.ran[row.key]}"


def _meant_by(facts: Facts, row: Row, outcome: str) -> Execution | None:
    """The execution that the row speaks of: the one whose end was nearest to what it says, and not after it.

    Of two that ended at almost the same moment it is the one that had the row's token.
    """
    ended = [run for run in facts.ran[row.key] if run.outcome == outcome and run.ended is not None]
    at = (row.ended_at or 0) / SECOND

    def distance(run: Execution) -> tuple[bool, float]:
        apart = abs((run.ended or 0) - at)
        return run.token != row.token or apart > _EARLY, apart

    nearest = min(ended, key=distance, default=None)
    return None if nearest is None or (nearest.ended or 0) > at + _CLOCKS_DIFFER else nearest


def _wrongly_charged(facts: Facts) -> Iterator[str]:
    """A run that ended well was charged for its one call before anybody heard of its end; no other was."""
    ledger = facts.story.ledger
    by_ref = {row.ref: row for row in facts.rows}
    charging = {planned.name for planned in facts.story.plan if planned.is_charged}
    for row in facts.rows:
        if row.schedule in charging and row.status == "success" and ledger.charged.get(row.ref) != 1:
            yield f"money: {row} has {ledger.charged.get(row.ref, 0)} receipts"
    for ref in ledger.charged:
        if ref in by_ref and by_ref[ref].schedule not in charging:
            yield f"money: {by_ref[ref]} was charged for nothing"


def _zombies(facts: Facts) -> Iterator[str]:
    """Results of those who had lost the run: under a lower token than the highest, or after they were fenced."""
    for row in facts.rows:
        outcome = _outcome(row)
        runs = facts.ran[row.key]
        if outcome is None or not runs:
            continue
        newest = max(run.token for run in runs)
        if newest > row.token:
            yield f"zombie: {row} was recorded under its token, though {newest} had been issued"
        meant = _meant_by(facts, row, outcome)
        if meant is not None and meant.token != row.token:
            yield f"zombie: {row} speaks of {meant}, which had another token"
        for at, token in facts.fenced[row.pid or 0, row.key]:
            if token == row.token and row.ended_at is not None and at < row.ended_at / SECOND - _EARLY:
                yield f"zombie: {row} was recorded by who was fenced from it at {at}"


def _unexplained(facts: Facts) -> Iterator[str]:
    for row in facts.rows:
        if row.status in ("cancelled", "error") and row.reason is None:
            yield f"unexplained: {row}"


def _broken_chains(facts: Facts) -> Iterator[str]:
    """Attempts follow each other without a gap, only after failures, and until one succeeds or there are no more."""
    for key, rows in facts.by_slot().items():
        chain = sorted(rows, key=lambda row: row.attempt)
        planned = facts.plans[key[0]]
        attempts = ATTEMPTS if planned.fails else 1
        is_too_long = len(chain) > attempts and not planned.is_handled
        if [row.attempt for row in chain] != list(range(1, len(chain) + 1)) or is_too_long:
            yield f"doubled: {key} has the attempts {[row.attempt for row in chain]}"
        # A person may try again what was cancelled or skipped.
        ends = ("error", "cancelled", "skipped") if planned.is_handled else ("error",)
        if any(row.status not in ends for row in chain[:-1]):
            yield f"doubled: {key} was tried again though it had not failed"
        if chain[-1].status == "error" and len(chain) < attempts:
            yield f"lost: {chain[-1]} has no retry"


def _redelivered_for_nothing(facts: Facts) -> Iterator[str]:
    for executions in facts.ran.values():
        for before, after in pairwise(executions):
            # Who wakes up with a run that it has lost may begin it after the one who has it now.
            if before.outcome == "asked":
                continue
            is_woken = after.token < before.token and facts.was_stopped_before(after, _ZOMBIE_WITHIN)
            if not is_woken and not facts.was_taken_from(before, after.started):
                yield f"doubled: {after} though nothing had happened to {before}"


def _overlapping(facts: Facts) -> Iterator[str]:
    complete: dict[str, list[Execution]] = defaultdict(list)
    for execution in facts.executions:
        key = execution.key
        # A backfill has a lane of its own.
        is_strict = facts.plans[key.schedule].overlap in STRICT and not key.kind.startswith("backfill")
        if is_strict and execution.outcome in ("done", "failed"):
            complete[key.schedule].append(execution)
    for executions in complete.values():
        at_work: list[Execution] = []
        for second in executions:
            at_work = [first for first in at_work if first.ended is not None and first.ended > second.started]
            for first in at_work:
                taken = facts.was_taken_from(first, second.started) or facts.was_terminated(first, second.started)
                if not taken and not facts.was_stopped_before(second, _ZOMBIE_WITHIN):
                    yield f"overlap: {first} and {second}"
            at_work.append(second)


def _changed(story: Story) -> Sequence[str]:
    if story.memory is None:
        return ()
    story.memory.see_all(story.ledger)
    return story.memory.changes


def _stuck(facts: Facts) -> Iterator[str]:
    for row in facts.rows:
        if row.status in OPEN:
            yield f"stuck: {row}"
    for cursor in facts.cursors.values():
        if cursor.running or cursor.held:
            yield f"stuck: {cursor} counts runs that are over"


def _broken_trail(facts: Facts) -> Iterator[str]:
    """Whoever died, each entry follows the one before it: none is missing, none is there twice, none was altered."""
    bound_to = "0" * 64
    for number, (*said, bound) in enumerate(facts.story.ledger.trail, 1):
        text = json.dumps([bound_to, *said], separators=(",", ":"))
        if said[0] != number or sha256(text.encode()).hexdigest() != bound:
            yield f"trail: entry {number} does not follow the one before it: {said}"
            return
        bound_to = bound


def _figures(facts: Facts) -> dict[str, int]:
    executions = facts.executions
    done = Counter(disturbance.what for disturbance in facts.story.disturbances)
    others = [run for run in executions if run.outcome == "done" and _owner(facts, run) != run.pid]
    woken = [disturbance for disturbance in facts.story.disturbances if disturbance.what == "wake"]
    fenced = [note for note in facts.notes if note.what == "fenced"]

    def is_after_a_freeze(pid: int, at: float) -> bool:
        return any(wake.pid == pid and wake.at <= at <= wake.at + _FENCED_WITHIN for wake in woken)

    def is_taken_away(key: Key) -> bool:
        # A run that another replaced is taken from a worker that did nothing wrong.
        return key in facts.row_of and facts.row_of[key].reason != "terminated"

    slots = _slots(facts)
    executed = {(run.key.schedule, run.key.nominal_at) for run in executions if run.key.kind == "slot"}
    first = [row for row in facts.rows if row.kind == "slot" and row.attempt == 1]
    return {
        "kills": done["kill"],
        "stops": done["stop"],
        "restarts": done["down"],
        "connections cut": done["cut"],
        "ended by themselves": done["end"],
        "slots": len(slots),
        "slots executed": len(slots.keys() & executed),
        "slots skipped": sum(row.status == "skipped" for row in first),
        "executions": len(executions),
        "succeeded": sum(row.status == "success" for row in facts.rows),
        "short of credits": sum(row.reason == "insufficient_credits" for row in facts.rows),
        "not permitted": sum(row.reason == "grant_revoked" for row in facts.rows),
        "paid for": sum(row.status == "success" and facts.plans[row.schedule].model == PAID for row in facts.rows),
        "given up": sum(row.reason == "lost" for row in facts.rows),
        "redelivered": len(executions) - len(facts.ran.keys() & {run.key for run in executions}),
        "fenced": sum(len(note.keys) for note in fenced),
        "fenced after a freeze": sum(
            is_taken_away(key) for note in fenced if is_after_a_freeze(note.pid, note.at) for key in note.keys
        ),
        "done in vain": len(others),
        "done in vain after a freeze": sum(is_after_a_freeze(run.pid, run.ended or 0) for run in others),
    }


def _owner(facts: Facts, execution: Execution) -> int | None:
    row = facts.row_of.get(execution.key)
    return None if row is None else row.pid
