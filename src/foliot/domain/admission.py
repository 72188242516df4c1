"""Admission: which of the runs that want to start may do so now, which wait, which never will, and why."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.budgets import UNCOUNTED, Funds
from foliot.domain.policies import Overlap, Policies
from foliot.domain.runs import Hold, Kind, Reason
from foliot.domain.schedule import State


class Applicant(NamedTuple):
    """What wants to start: a slot that just came due, or a run that has waited."""

    nominal_at: int
    due_at: int
    kind: Kind = Kind.SLOT
    overlap: Overlap | None = None
    """Its own policy, if it brings one."""
    ref: int | None = None
    """Its row, if it has one."""
    is_held: bool = False
    """Whether it was told to wait: for another run to end, or for a pause to be over."""
    is_judged: bool = False
    """Whether it has a place among those that wait for another run to end."""


class Start(NamedTuple):
    applicant: Applicant
    occupies: bool
    """Whether it stands in the way of others until it is over."""


class Wait(NamedTuple):
    applicant: Applicant
    hold: Hold


class Skip(NamedTuple):
    applicant: Applicant
    reason: Reason


class Stop(StrEnum):
    """What is done about the runs that are in the way."""

    CANCEL = "cancel"
    """They are asked to stop, and waited for."""
    TERMINATE = "terminate"
    """They are over, here and now, whatever they still do."""


class Admission(NamedTuple):
    """The verdicts, each list in the order in which they fell."""

    starts: list[Start]
    waits: list[Wait]
    skips: list[Skip]
    stop: Stop | None
    pauses: bool = False
    """A budget is spent that wants the schedule to pause then."""


def admit(
    state: State,
    policies: Policies,
    applicants: Iterable[Applicant],
    now: int,
    refusal: Reason | None = None,
    funds: Funds = UNCOUNTED,
) -> Admission:
    """Judge the applicants in order, those held before first, each under its own overlap policy or the schedule's.

    `state.held` counts the runs that wait besides them. With a refusal, nothing of the schedule is permitted now; its
    budgets let start what their funds are enough for.
    """
    door = _Door(state, policies, now, refusal, funds)
    for applicant in applicants:
        door.judge(applicant)
    return Admission(door.starts, door.waits, door.skips, door.stop, door.pauses)


_NEVER_WAIT = (Overlap.ALLOW_ALL, Overlap.CANCEL_OTHER, Overlap.TERMINATE_OTHER)
"""Under these a slot starts beside what runs, or stops it: it must be able to pay."""


class _Door:
    """Lets one run through at a time, in order, and remembers who waits."""

    def __init__(self, state: State, policies: Policies, now: int, refusal: Reason | None, funds: Funds) -> None:
        self.policies = policies
        self.now = now
        self.refusal = refusal
        self.funds = self.first_funds = funds
        self.paused = state.is_paused(now)
        self.occupied = state.running > 0
        self.held = state.held
        self.remaining = state.remaining
        self.starts: list[Start] = []
        self.waits: list[Wait] = []
        self.skips: list[Skip] = []
        self.stop: Stop | None = None
        self.pauses = False

    def judge(self, applicant: Applicant) -> None:
        if self._refuse(applicant):
            return
        overlap = applicant.overlap or self.policies.overlap
        if (not self.occupied or overlap in _NEVER_WAIT) and self._finds_it_spent(applicant):
            self.skips.append(Skip(applicant, Reason.OVER_BUDGET))
        elif overlap is Overlap.ALLOW_ALL:
            self._start(applicant, occupies=False)
        elif not self.occupied:
            self._start(applicant, occupies=True)
        elif applicant.is_judged:
            self._hold(applicant)
        else:
            self._judge_overlap(applicant, overlap)

    def _refuse(self, applicant: Applicant) -> bool:
        """Whether something other than overlap keeps it from starting now; a person's trigger knows but permission.

        What a backfill asked for is as old as it is, and free: neither the window nor the limit is about it.
        """
        if applicant.kind is not Kind.MANUAL and self._refuse_slot(applicant):
            return True
        if self.refusal is None:
            return False
        self.skips.append(Skip(applicant, self.refusal))
        return True

    def _refuse_slot(self, applicant: Applicant) -> bool:
        is_slot = applicant.kind is Kind.SLOT
        window = self.policies.window
        if is_slot and applicant.is_held and window is not None and self.now - applicant.due_at > window:
            self.skips.append(Skip(applicant, Reason.MISSED))
        elif self.paused:
            self.waits.append(Wait(applicant, Hold.PAUSED))
        elif is_slot and self.remaining == 0:
            self.skips.append(Skip(applicant, Reason.LIMIT_REACHED))
        else:
            return False
        return True

    def _finds_it_spent(self, applicant: Applicant) -> bool:
        """Whether a budget has nothing left for it; that one may want the schedule to pause."""
        if not self.funds.lefts:
            return False
        cost = self.funds.cost_of(applicant.ref)
        is_spent = self.funds.starts(cost) == 0
        self.pauses = self.pauses or (is_spent and self.funds.pauses(cost))
        return is_spent

    def _funds_after(self, starts: Iterable[Start]) -> Funds:
        funds = self.first_funds
        for start in starts:
            funds = funds.less(funds.cost_of(start.applicant.ref))
        return funds

    def _start(self, applicant: Applicant, *, occupies: bool) -> None:
        self.starts.append(Start(applicant, occupies))
        self.funds = self.funds.less(self.funds.cost_of(applicant.ref))
        self.occupied = self.occupied or occupies
        if applicant.kind is Kind.SLOT and self.remaining is not None:
            self.remaining -= 1

    def _hold(self, applicant: Applicant) -> None:
        self.waits.append(Wait(applicant, Hold.OVERLAP))

    def _judge_overlap(self, applicant: Applicant, overlap: Overlap) -> None:
        match overlap:
            case Overlap.SKIP:
                self.skips.append(Skip(applicant, Reason.OVERLAP))
            case Overlap.BUFFER_ONE:
                self._supersede_those_that_wait()
                self._hold_within(applicant, 1)
            case Overlap.BUFFER_ALL:
                self._hold_within(applicant, self.policies.buffer)
            case Overlap.CANCEL_OTHER:
                self._replace(applicant, Stop.CANCEL)
            case Overlap.TERMINATE_OTHER:
                self._replace(applicant, Stop.TERMINATE)
            case Overlap.ALLOW_ALL:
                raise AssertionError("it is never judged by overlap")

    def _hold_within(self, applicant: Applicant, bound: int) -> None:
        if self.held + len(self.waits) < bound:
            self._hold(applicant)
        else:
            self.skips.append(Skip(applicant, Reason.BUFFER_FULL))

    def _supersede_those_that_wait(self) -> None:
        """The newest takes the place of the slots that wait; what somebody asked for keeps its own."""
        for wait in [wait for wait in self.waits if wait.applicant.kind is Kind.SLOT]:
            self.waits.remove(wait)
            self.skips.append(Skip(wait.applicant, Reason.SUPERSEDED))

    def _replace(self, applicant: Applicant, stop: Stop) -> None:
        self._supersede_those_that_wait()
        undone = self._take_back_start()
        if undone is not None:
            self.skips.append(Skip(undone, Reason.SUPERSEDED))
            self._start(applicant, occupies=True)
            return
        self._hold(applicant)
        self.stop = Stop.TERMINATE if Stop.TERMINATE in (stop, self.stop) else stop

    def _take_back_start(self) -> Applicant | None:
        """The slot that was let through a moment ago and has not gone anywhere yet."""
        for start in self.starts:
            if start.occupies and start.applicant.kind is Kind.SLOT:
                self.starts.remove(start)
                self.funds = self._funds_after(self.starts)
                if self.remaining is not None:
                    self.remaining += 1
                return start.applicant
        return None
