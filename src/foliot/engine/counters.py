"""What happened since a worker began, for people and metrics: plain numbers, added to once a turn."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from foliot.books.decided import DecisionCounts
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Kind, Status
from foliot.engine.settler import Report
from foliot.engine.turn import Turn, recorded_in
from foliot.ports import Launch

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


class Histogram:
    """How many values there were up to each bound, and what they add up to."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """One more than bounds: of those beyond the last."""
        self.total = 0.0

    def add(self, value: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.total += value * times


class Counters(DecisionCounts):
    """What happened since the start, for people and metrics."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0
        self.started = 0
        self.started_by_kind: Counter[str] = Counter()
        self.redelivered = 0
        """Runs begun here that another delivery had begun before."""
        self.settled = 0
        self.failed_launches = 0
        """Runs that ended because the gate was not there."""
        self.refused = 0
        """Reports that came too late, and were not recorded."""
        self.fenced = 0
        self.rescued = 0
        self.outages = 0
        self.clock_steps = 0
        self.set_aside = 0
        """Schedules that it failed on, and leaves alone for a while."""
        self.lateness = Histogram(_SECONDS)
        """From the due time of a slot to its start, in seconds;"""
        self.drift = Histogram(_SECONDS)
        """from the nominal one, in either direction."""
        self.turn_seconds = Histogram(_SECONDS)
        self.batch_sizes = Histogram(_SIZES)
        """Of turns that had something to do: starts and outcomes together."""
        self.rescue_seconds = Histogram(_SECONDS)
        """From the end of a dead worker's lease until its runs were taken over."""

    def note(self, turn: Turn, reports: Sequence[Report], seconds: float, now: int) -> None:
        """A turn is committed, which has recorded these reports; what it launches begins now."""
        self.turns += 1
        self.turn_seconds.add(seconds)
        self.settled += len(reports) - len(turn.refused)
        self.refused += len(turn.refused)
        self.rescued += turn.rescued.runs
        if turn.rescued.runs and turn.rescued.after is not None:
            self.rescue_seconds.add(turn.rescued.after / MICROSECONDS)
        if reports:
            self._note_outcomes(recorded_in(turn, reports))
        if turn.decided:
            self.count(turn.decided)
        if turn.launches or reports:
            self.batch_sizes.add(len(turn.launches) + len(reports))
            self._note_starts(turn.launches, now)

    def _note_outcomes(self, reports: Sequence[Report]) -> None:
        # Most are successes, and all that there is to say of those is how many they are.
        success = Status.SUCCESS
        others = [report.outcome for report in reports if report.outcome.status is not success]
        self.count_runs(success, None, len(reports) - len(others))
        for (status, reason), times in Counter((other.status, other.reason) for other in others).items():
            self.count_runs(status, reason, times)

    def _note_starts(self, launches: Sequence[Launch], now: int) -> None:
        self.started += len(launches)
        self.started_by_kind.update([launch.kind for launch in launches])
        self.redelivered += sum(launch.token > 1 for launch in launches)
        # Most of a batch are due at the same moment.
        first = Counter(
            (launch.nominal_at, launch.due_at)
            for launch in launches
            if launch.token == 1 and launch.attempt == 1 and launch.kind == Kind.SLOT
        )
        for (nominal_at, due_at), times in first.items():
            self.lateness.add(max(0, now - due_at) / MICROSECONDS, times)
            self.drift.add(abs(now - nominal_at) / MICROSECONDS, times)
