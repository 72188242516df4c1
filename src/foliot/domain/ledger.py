"""The ledger's answer to "why did it, or did it not, run then?": from the rows, else from the rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.generation import Gap
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.domain.runs import Hold, Kind, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.spec import Spec


class LedgerVerdict(StrEnum):
    """What became of a moment."""

    RAN = "ran"
    FAILED = "failed"
    RUNNING = "running"
    HELD = "held"
    SKIPPED = "skipped"
    MISSED = "missed"
    CANCELLED = "cancelled"
    DUE = "due"
    """Its time has come and no worker has looked yet."""
    FUTURE = "future"
    NEVER = "never"
    """The schedule has no such moment."""
    UNKNOWN = "unknown"
    """Its row was removed with age."""


class Absence(StrEnum):
    """Why there is no row: reasons that only an explanation knows."""

    EXCLUDED = "excluded"
    NOT_IN_SPEC = "not_in_spec"
    BEFORE_CREATION = "before_creation"
    BEFORE_EDIT = "before_edit"
    FUTURE = "future"
    NOT_SWEPT = "not_swept"
    PRUNED = "pruned"


class Explanation(NamedTuple):
    verdict: LedgerVerdict
    reason: Reason | Hold | Absence | None
    run_id: str | None
    sentence: str


class Record(NamedTuple):
    """What the ledger says of one run at the moment."""

    run_id: str
    kind: Kind
    status: Status
    reason: Reason | None
    hold: Hold | None
    started_at: int | None
    ended_at: int | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Known:
    """All that bears on the question."""

    spec: Spec
    state: State
    limit: int | None
    created_at: int
    spec_since: int
    """Since when the spec is as it is."""
    deleted_at: int | None
    pruned_before: int
    now: int
    runs: Sequence[Record]
    """Those at the moment, oldest first."""
    gap: Gap | None
    """The one that the moment lies in."""


_SAID = {
    Reason.OVERLAP: "the run before it was not over, and its overlap policy is to skip",
    Reason.SUPERSEDED: "a newer slot took its place while it waited",
    Reason.MISSED: "nothing was there to start it in time, and catch-up does not want it",
    Reason.PAUSED: "the schedule was paused",
    Reason.LIMIT_REACHED: "the schedule had used up its limit of starts",
    Reason.BUFFER_FULL: "as many slots waited already as the schedule holds at most",
    Reason.SKIPPED_BY_USER: "somebody skipped it by hand",
    Reason.SCHEDULE_DELETED: "the schedule was deleted",
    Reason.CANCELLED_BY_USER: "somebody cancelled it",
    Reason.CANCELLED_BY_POLICY: "a newer slot asked it to stop",
    Reason.TERMINATED: "it was terminated",
    Reason.TIMEOUT: "it ran longer than its timeout",
    Reason.LOST: "its worker died or lost its lease again and again",
    Reason.NOT_FOUND: "its target, or something that it asked for, was not found",
    Reason.INTERNAL: "it raised an error",
}

_WAITS_FOR = {
    Hold.OVERLAP: "the run before it to end",
    Hold.PAUSED: "the schedule to be resumed",
    Hold.DUE: "its due time",
    Hold.RETRY: "its next attempt",
    None: "a worker with room for it",
}

_OF_STATUS = {
    Status.SUCCESS: LedgerVerdict.RAN,
    Status.ERROR: LedgerVerdict.FAILED,
    Status.RUNNING: LedgerVerdict.RUNNING,
    Status.WAITING: LedgerVerdict.HELD,
    Status.PENDING: LedgerVerdict.HELD,
    Status.SKIPPED: LedgerVerdict.SKIPPED,
    Status.CANCELLED: LedgerVerdict.CANCELLED,
}


def explain(known: Known, instant: int) -> Explanation:
    """What became of that moment and why."""
    if known.runs:
        return _from_row(_telling(known.runs), instant)
    if known.gap is not None and (instant <= known.spec_since or _absence(known.spec, instant) is None):
        return _from_gap(known.gap, instant)
    return _from_rules(known, instant)


def _telling(runs: Sequence[Record]) -> Record:
    """The run that answers: a success whoever asked for it, else the last attempt at the slot, else the last of all."""
    for run in reversed(runs):
        if run.status is Status.SUCCESS:
            return run
    slots = [run for run in runs if run.kind is Kind.SLOT]
    return (slots or list(runs))[-1]


def _from_row(run: Record, instant: int) -> Explanation:
    verdict = _OF_STATUS[run.status]
    if run.reason is Reason.MISSED:
        verdict = LedgerVerdict.MISSED
    asked = {Kind.SLOT: "", Kind.MANUAL: " by hand", Kind.BACKFILL: " by a backfill"}[run.kind]
    said = _SAID.get(run.reason, str(run.reason)) if run.reason is not None else ""
    at = rfc3339(instant)
    match run.status:
        case Status.SUCCESS:
            sentence = f"{at} ran{asked} from {_said(run.started_at)} to {_said(run.ended_at)}."
        case Status.ERROR:
            error = f" ({run.error.splitlines()[0][:200]})" if run.error else ""
            sentence = f"{at} ran{asked} from {_said(run.started_at)} and failed: {said}{error}."
        case Status.RUNNING:
            sentence = f"{at} is running{asked} since {_said(run.started_at)}."
        case Status.WAITING:
            sentence = (
                f"{at} began{asked} at {_said(run.started_at)} and waits for an answer: `runs.questions` says whose."
            )
        case Status.PENDING:
            sentence = f"{at} waits{asked} for {_WAITS_FOR[run.hold]}."
        case Status.SKIPPED | Status.CANCELLED:
            sentence = f"{at} was {verdict}: {said}."
    return Explanation(verdict, run.hold if run.status is Status.PENDING else run.reason, run.run_id, sentence)


def _from_gap(gap: Gap, instant: int) -> Explanation:
    verdict = LedgerVerdict.MISSED if gap.reason is Reason.MISSED else LedgerVerdict.SKIPPED
    span = f"one of {gap.size} from {rfc3339(gap.first_at)} to {rfc3339(gap.last_at)}"
    return Explanation(verdict, gap.reason, None, f"{rfc3339(instant)} was {verdict}, {span}: {_SAID[gap.reason]}.")


def _from_rules(known: Known, instant: int) -> Explanation:
    at = rfc3339(instant)

    def never(reason: Reason | Absence, why: str) -> Explanation:
        return Explanation(LedgerVerdict.NEVER, reason, None, f"{at} is no moment of the schedule: {why}.")

    if absence := _absence(known.spec, instant):
        return never(*absence)
    if instant <= known.created_at:
        return never(Absence.BEFORE_CREATION, f"it was created at {rfc3339(known.created_at)}")
    if known.deleted_at is not None and instant >= known.deleted_at:
        return never(Reason.SCHEDULE_DELETED, f"it was deleted at {rfc3339(known.deleted_at)}")
    if instant < known.pruned_before:
        before = rfc3339(known.pruned_before)
        return Explanation(
            LedgerVerdict.UNKNOWN, Absence.PRUNED, None, f"{at} is too long ago: rows before {before} are gone."
        )
    if instant <= known.spec_since:
        since = rfc3339(known.spec_since)
        return never(Absence.BEFORE_EDIT, f"its present times hold since {since} and never for what was before")
    return _to_come(known, instant, never)


def _to_come(known: Known, instant: int, never: Callable[[Reason | Absence, str], Explanation]) -> Explanation:
    at = rfc3339(instant)
    state = known.state
    if state.remaining == 0:
        return never(Reason.LIMIT_REACHED, f"{_SAID[Reason.LIMIT_REACHED]} ({known.limit})")
    if instant <= state.swept_to:
        # What was swept has its row, but for what it did not owe while it was completed, before an edit.
        return never(Reason.LIMIT_REACHED, _SAID[Reason.LIMIT_REACHED])
    if instant > known.now:
        paused = " unless the schedule is still paused then" if state.is_paused(known.now) else ""
        return Explanation(
            LedgerVerdict.FUTURE, Absence.FUTURE, None, f"{at} is still to come and will be judged then{paused}."
        )
    if state.is_paused(known.now):
        return Explanation(
            LedgerVerdict.HELD,
            Reason.PAUSED,
            None,
            f"{at} fell into a pause that lasts: catch-up judges it on resuming.",
        )
    if state.wake_at is not None and state.wake_at > known.now:
        return Explanation(
            LedgerVerdict.FUTURE, Absence.FUTURE, None, f"{at} has come and is not due yet: jitter moves its start."
        )
    return Explanation(
        LedgerVerdict.DUE,
        Absence.NOT_SWEPT,
        None,
        f"{at} is due and no worker that takes up its target has looked yet.",
    )


def _absence(spec: Spec, instant: int) -> tuple[Reason | Absence, str] | None:
    """Why the spec does not name that instant; None when it does."""
    second, rest = divmod(instant, MICROSECONDS)
    if rest:
        return Absence.NOT_IN_SPEC, "slots are whole seconds"
    if spec.manual:
        return Absence.NOT_IN_SPEC, "it runs only when triggered"
    if spec.compile().matches(second):
        return None
    # The canonical form, because there an interval no longer counts from the bound that is taken away.
    unbounded = replace(Spec.from_canonical(spec.canonical()), start_at=None, end_at=None)
    if unbounded.compile().matches(second):
        return Reason.OUT_OF_WINDOW, f"it lies outside of {_bounds(spec)}"
    if replace(unbounded, exclude=()).compile().matches(second):
        return Absence.EXCLUDED, "an exclusion takes it out"
    return Absence.NOT_IN_SPEC, "its spec does not name it"


def _bounds(spec: Spec) -> str:
    start = "the beginning" if spec.start_at is None else spec.start_at.isoformat()
    end = "the end" if spec.end_at is None else spec.end_at.isoformat()
    return f"{start} to {end}"


def _said(instant: int | None) -> str:
    return "an unknown time" if instant is None else rfc3339(instant)
