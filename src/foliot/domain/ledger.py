"""The ledger's answer to "why did it, or did it not, run then?": from the rows, else from the rules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.generation import Gap
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.domain.questions import CALLBACK, UNKNOWN_OUTCOME
from foliot.domain.runs import Hold, Kind, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.spec import Spec
from foliot.domain.tenures import Tenure, TenureEnd, tenure_at, tenure_before
from foliot.domain.troubles import Trouble


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
    """Its row was removed, with age or by somebody."""


class Absence(StrEnum):
    """Why there is no row: reasons that only an explanation knows."""

    EXCLUDED = "excluded"
    NOT_IN_SPEC = "not_in_spec"
    BEFORE_CREATION = "before_creation"
    BEFORE_EDIT = "before_edit"
    FUTURE = "future"
    NOT_SWEPT = "not_swept"
    NO_WORKER = "no_worker"
    """No living worker has its target."""
    SET_ASIDE = "set_aside"
    """The engine has failed on its schedule, and looks at it again later."""
    PRUNED = "pruned"
    NOT_RECORDED = "not_recorded"
    """It was swept and has no row, which is a fault: an audit counts what else is missing."""


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
    answers: int = 0
    """How often it was answered."""
    asks: "Asks | None" = None
    """What it waits to be told."""
    lacks: str | None = None
    """The target that it waits for and no living worker has."""


class Taker(NamedTuple):
    """A worker that has not left, and what it takes up."""

    targets: Sequence[str] | None
    """`provider:*` is every target of that provider. None: it has not learned it yet."""
    seen_at: int
    lease_until: int | None
    """None: it holds nothing."""

    def has(self, target: str) -> bool:
        return self.targets is None or target in self.targets or f"{target.partition(':')[0]}:*" in self.targets

    def lives(self, since: int, now: int) -> bool:
        """As far as one can tell who knows that something was there for it to start since then."""
        if self.lease_until is not None:
            return self.lease_until >= now
        # Who holds nothing is not heard of; but it would have taken this up, and been heard of then.
        return self.seen_at >= since or now - since < _TAKEN_WITHIN


_TAKEN_WITHIN = 60 * MICROSECONDS


def is_forsaken(target: str, takers: Sequence[Taker], since: int, now: int) -> bool:
    """Whether no living worker has the target, for which something is ready since then."""
    return not any(taker.has(target) and taker.lives(since, now) for taker in takers)


class Asks(NamedTuple):
    """The question of a run that waits."""

    kind: str
    who: tuple[str, ...]
    expires_at: int

    @property
    def words(self) -> str:
        until = f"until {rfc3339(self.expires_at)}"
        if self.kind == CALLBACK:
            return f"for its target to report {until}: `runs.cancel` ends it before"
        who = " or ".join(self.who) or "anybody"
        if self.kind == UNKNOWN_OUTCOME:
            return (
                f"for {who} to say {until} whether its code is run once more, since its worker was gone and nobody"
                " knows what it has done: `runs.decide` says so"
            )
        return f"for {who} to answer {self.kind!r} {until}: `runs.decide` does, and `runs.questions` shows what it asks"


@dataclass(frozen=True, slots=True)
class Known:
    """All that bears on the question."""

    spec: Spec
    state: State
    limit: int | None
    created_at: int
    spec_since: int
    """Since when the spec is as it is."""
    past: Sequence[Tenure]
    """What it was before, in the order in which each ceased to be in force."""
    deleted_at: int | None
    pruned_before: int
    now: int
    runs: Sequence[Record]
    """Those at the moment, oldest first."""
    gap: Gap | None
    """The one that the moment lies in."""
    lacks: str | None = None
    """The schedule's target, when it is due and no living worker has that."""


_SAID = {
    Reason.OVERLAP: "the run before it was not over, and its overlap policy is to skip",
    Reason.SUPERSEDED: "a newer slot took its place while it waited",
    Reason.MISSED: "nothing was there to start it in time, and catch-up does not want it",
    Reason.PAUSED: "the schedule was paused",
    Reason.LIMIT_REACHED: "the schedule had used up its limit of starts",
    Reason.BUFFER_FULL: "as many slots waited already as the schedule holds at most",
    Reason.SKIPPED_BY_USER: "somebody skipped it by hand",
    Reason.SCHEDULE_DELETED: "the schedule was deleted",
    Reason.CANCELLED_BY_USER: "somebody cancelled it, or stopped it with its grant; `runs.retry` makes another attempt",
    Reason.CANCELLED_BY_POLICY: "a newer slot asked it to stop, as its overlap policy says",
    Reason.TERMINATED: "it was terminated, by somebody or by a newer slot; `runs.retry` makes another attempt",
    Reason.TIMEOUT: "it ran longer than its timeout; let it do less, or raise that",
    Reason.LOST: "its worker died or lost its lease again and again; see what it does to it, then `runs.retry`",
    Reason.NOT_FOUND: "its target, or something that it asked for, was not found; register it, or name another",
    Reason.INTERNAL: "it raised an error",
    Reason.OUT_OF_WINDOW: "it lies outside of start_at and end_at; change them with `schedules.patch`",
    Reason.GRANT_NOT_FOUND: "its schedule's grant is not there; give it another with `schedules.patch(..., grant=...)`",
    Reason.GRANT_EXPIRED: "its grant had expired; `grants.extend` lets it be valid for longer",
    Reason.GRANT_REVOKED: "its grant was revoked; give the schedule another with `schedules.patch(..., grant=...)`",
    Reason.GRANT_SCOPE: "its grant is for other targets; `grants.rescope` lets it permit this one",
    Reason.INSUFFICIENT_CREDITS: "its account could not pay for what it may cost; `accounts.top_up` adds credits",
    Reason.OVER_BUDGET: "its budget, or that of its grant, had nothing left for it; raise it with `schedules.patch` or"
    " `grants.allow`, or wait until less was spent within its span of time",
    Reason.RUN_LIMIT: "it used more than one run may; let it use less, or raise max_calls, max_tokens or max_credits",
    Reason.REJECTED: "it had asked, and somebody said no; `runs.retry` makes another attempt",
    Reason.DECISION_EXPIRED: "it had asked, and nobody answered in time; `runs.retry` makes another attempt",
    Reason.FINALIZATION_LOST: "its executor did not say what it came to; see what it did, then `runs.retry`",
    Reason.INVALID_REQUEST: "it was asked for something that cannot be; mend its input or its code, then `runs.retry`",
    Reason.RATE_LIMIT: "whoever it asked wants to be asked less often; let it run less often, or with a retry policy",
    Reason.PROVIDER_UNAVAILABLE: "what it needs was not to be reached; a retry policy tries again by itself",
    Reason.ABORTED: "it gave up by itself; see why in its code, or raise its recursion_limit if it is a graph",
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
        return explain_run(_telling(known.runs), instant)
    spec = _spec_at(known, instant)
    if known.gap is not None and (spec is None or _absence(spec, instant) is None):
        return _from_gap(known.gap, instant)
    return _from_rules(known, instant) if instant > known.spec_since else _from_the_past(known, spec, instant)


def explain_trouble(trouble: Trouble, instant: int) -> Explanation:
    """Of a moment that has come and was not judged, since the engine fails on its schedule."""
    sentence = (
        f"{rfc3339(instant)} is set aside with its schedule until {rfc3339(trouble.until)}: the engine has failed on it"
        f" since {rfc3339(trouble.since)} ({trouble.error}); the log has more, and an edit has it looked at at once."
    )
    return Explanation(LedgerVerdict.DUE, Absence.SET_ASIDE, None, sentence)


def _spec_at(known: Known, instant: int) -> Spec | None:
    """The spec that was in force then; None when nothing is known of one."""
    if instant > known.spec_since:
        return known.spec
    tenure = tenure_at(known.past, instant)
    return None if tenure is None else Spec.from_canonical(tenure.spec)


def _telling(runs: Sequence[Record]) -> Record:
    """The run that answers: a success whoever asked for it, else the last attempt at the slot, else the last of all."""
    for run in reversed(runs):
        if run.status is Status.SUCCESS:
            return run
    slots = [run for run in runs if run.kind is Kind.SLOT]
    return (slots or list(runs))[-1]


def explain_run(run: Record, instant: int) -> Explanation:
    """What became of that one attempt at that moment and why."""
    verdict = _OF_STATUS[run.status]
    if run.reason is Reason.MISSED:
        verdict = LedgerVerdict.MISSED
    asked = {Kind.SLOT: "", Kind.MANUAL: " by hand", Kind.BACKFILL: " by a backfill"}[run.kind]
    said = "" if run.reason is None else _SAID[run.reason]
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
            what = "for an answer: `runs.questions` says whose" if run.asks is None else run.asks.words
            sentence = f"{at} began{asked} at {_said(run.started_at)} and waits {what}."
        case Status.PENDING if run.lacks is not None:
            sentence = f"{at} waits{asked}: {_no_worker(run.lacks)}"
            return Explanation(verdict, Absence.NO_WORKER, run.run_id, sentence)
        case Status.PENDING:
            sentence = f"{at} waits{asked} for {_WAITS_FOR[run.hold]}."
        case Status.SKIPPED if run.answers:
            sentence = f"{at} began{asked} at {_said(run.started_at)}, asked, and was not let go on: {said}."
        case Status.SKIPPED | Status.CANCELLED:
            sentence = f"{at} was {verdict}: {said}."
    return Explanation(verdict, run.hold if run.status is Status.PENDING else run.reason, run.run_id, sentence)


def _no_worker(target: str) -> str:
    return (
        f"no living worker has its target {target!r}; start a program that registers it, or give the schedule another"
        " with `schedules.patch(..., target=...)`."
    )


def _from_gap(gap: Gap, instant: int) -> Explanation:
    verdict = LedgerVerdict.MISSED if gap.reason is Reason.MISSED else LedgerVerdict.SKIPPED
    span = f"one of {gap.size} from {rfc3339(gap.first_at)} to {rfc3339(gap.last_at)}"
    return Explanation(verdict, gap.reason, None, f"{rfc3339(instant)} was {verdict}, {span}: {_SAID[gap.reason]}.")


def _never(instant: int, reason: Reason | Absence, why: str) -> Explanation:
    sentence = f"{rfc3339(instant)} is no moment of the schedule: {why}."
    return Explanation(LedgerVerdict.NEVER, reason, None, sentence)


def _without_row(known: Known, instant: int) -> Explanation:
    """A slot that was owed and is past."""
    at = rfc3339(instant)
    if instant < known.pruned_before:
        sentence = f"{at} is too long ago: rows before {rfc3339(known.pruned_before)} are gone."
        return Explanation(LedgerVerdict.UNKNOWN, Absence.PRUNED, None, sentence)
    sentence = f"{at} must have had a row, which is gone: `foliot audit` counts what else is missing."
    return Explanation(LedgerVerdict.UNKNOWN, Absence.NOT_RECORDED, None, sentence)


def _from_the_past(known: Known, spec: Spec | None, instant: int) -> Explanation:
    """Of a moment before the present spec was in force: by the one that was, if there was one."""
    present = _absence(known.spec, instant)
    if spec is None:
        return _between_specs(known, present, instant)
    absence = _absence(spec, instant)
    if absence is None:
        return _without_row(known, instant)
    if present is None:
        return _before_edit(known, instant)
    return _never(instant, absence[0], f"as it was then, {absence[1]}")


def _between_specs(known: Known, present: tuple[Reason | Absence, str] | None, instant: int) -> Explanation:
    """Nothing is known of a spec that was in force then."""
    before = tenure_before(known.past, instant)
    if before is not None and before.ended_by is TenureEnd.LIMIT:
        return _never(instant, Reason.LIMIT_REACHED, _SAID[Reason.LIMIT_REACHED])
    if before is not None and before.ended_by is TenureEnd.DELETION:
        return _never(instant, Reason.SCHEDULE_DELETED, "the schedule was deleted, and created again later")
    if present is not None:
        return _never(instant, *present)
    if before is None and instant <= known.created_at:
        return _never(instant, Absence.BEFORE_CREATION, f"it was created at {rfc3339(known.created_at)}")
    return _without_row(known, instant) if instant < known.pruned_before else _before_edit(known, instant)


def _before_edit(known: Known, instant: int) -> Explanation:
    since = rfc3339(known.spec_since)
    return _never(instant, Absence.BEFORE_EDIT, f"its present times hold since {since} and never for what was before")


def _from_rules(known: Known, instant: int) -> Explanation:
    if absence := _absence(known.spec, instant):
        return _never(instant, *absence)
    if instant <= known.state.swept_to:
        return _without_row(known, instant)
    if known.deleted_at is not None:
        return _never(instant, Reason.SCHEDULE_DELETED, f"it was deleted at {rfc3339(known.deleted_at)}")
    return _to_come(known, instant)


def _to_come(known: Known, instant: int) -> Explanation:
    at = rfc3339(instant)
    state = known.state
    if state.remaining == 0:
        return _never(instant, Reason.LIMIT_REACHED, f"{_SAID[Reason.LIMIT_REACHED]} ({known.limit})")
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
    if known.lacks is not None:
        return Explanation(LedgerVerdict.DUE, Absence.NO_WORKER, None, f"{at} is due: {_no_worker(known.lacks)}")
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
