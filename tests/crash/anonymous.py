"""The checker's second layer: what ran when, whatever it was called. A scheduler that mislabels its slots is seen here.

Each slot opens a window that closes before the next one opens; a run that was executed to its end may meet the window
that it began in. The matching is exact: earliest deadline first is a largest matching for runs that take no room.
"""

import heapq
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tests.crash.evidence import Evidence, Execution
from tests.crash.ledger import SECOND, Ledger, named_slots
from tests.crash.plan import LEASE, Planned

SHARE = 0.75
"""Of its period, how long a slot's window is open."""
AT_LONGEST = 30.0
"""Seconds after which even the worst of storms has let a slot run."""
FAR = 10.0
"""Seconds of lateness, with nothing to explain it, that no busy machine excuses."""
_NOISE = 0.005
"""The share of windows that a busy machine may miss without anything that was done to it."""
_BEFORE, _AFTER = 0.2, 2 * LEASE
"""A fault explains what is late from a moment before it to when its traces are gone."""


class Window(NamedTuple):
    opens: float
    closes: float


def match(windows: Sequence[Window], moments: Sequence[float]) -> dict[int, int]:
    """The moment that meets each window, by their places; as many windows as can be, each moment once at most."""
    by_opening = sorted(range(len(windows)), key=lambda place: windows[place].opens)
    by_time = sorted(range(len(moments)), key=moments.__getitem__)
    found: dict[int, int] = {}
    waiting: list[tuple[float, int]] = []
    opened = 0
    for place in by_time:
        moment = moments[place]
        while opened < len(by_opening) and windows[by_opening[opened]].opens <= moment:
            window = by_opening[opened]
            heapq.heappush(waiting, (windows[window].closes, window))
            opened += 1
        while waiting and waiting[0][0] <= moment:
            heapq.heappop(waiting)
        if waiting:
            found[heapq.heappop(waiting)[1]] = place
    return found


class Faults:
    """The times in which something had been done to the system, and its traces were not yet gone."""

    def __init__(self, moments: Iterable[float], before: float = _BEFORE, after: float = _AFTER) -> None:
        self._from: list[float] = []
        self._until: list[float] = []
        for moment in sorted(moments):
            if self._until and moment - before <= self._until[-1]:
                self._until[-1] = moment + after
            else:
                self._from.append(moment - before)
                self._until.append(moment + after)

    def cover(self, since: float, until: float) -> bool:
        """Whether any of that span lies in a fault's time."""
        place = bisect_right(self._from, until) - 1
        return place >= 0 and self._until[place] >= since


class Judgement(NamedTuple):
    problems: list[str]
    figures: dict[str, int]


def judge(plan: Sequence[Planned], ledger: Ledger, evidence: Evidence, faults: Faults, end: int) -> Judgement:
    """What the wall times alone have against the story, and how well the windows were met."""
    runs: dict[str, list[Execution]] = defaultdict(list)
    for execution in evidence.executions:
        if execution.key.kind == "slot":
            runs[execution.key.schedule].append(execution)
    counts: Counter[str] = Counter()
    troubles: list[str] = []
    problems: list[str] = []
    for planned in plan:
        cursor = ledger.cursors.get(planned.name)
        if not planned.by_time or cursor is None:
            continue
        slots = [nominal_at / SECOND for nominal_at in named_slots(planned, cursor, end)]
        counts["windows"] += len(slots)
        troubles += _by_window(planned, slots, runs[planned.name], faults, counts)
        problems += _owed(planned, slots, runs[planned.name], ledger)
    for trouble in troubles:
        counts[trouble.partition(":")[0]] += 1
    if len(troubles) > _NOISE * (counts["windows"] - counts["indeterminate"]):
        problems += troubles
    names = ("windows", "met", "indeterminate", "unmet", "extra", "mislabelled")
    return Judgement(problems, {name: counts[name] for name in names})


def _by_window(
    planned: Planned, slots: Sequence[float], runs: Sequence[Execution], faults: Faults, counts: Counter[str]
) -> Iterator[str]:
    """Windows that nothing met, runs that met none, and runs that met another's: but where a fault explains it."""
    whole = [run for run in runs if run.outcome == "done"]
    windows = [Window(slot, slot + SHARE * planned.every) for slot in slots]
    met = match(windows, [run.started for run in whole])
    counts["met"] += len(met)
    cut_off = sorted(run.started for run in runs if run.outcome != "done")
    for place, window in enumerate(windows):
        if place in met:
            run = whole[met[place]]
            label = run.key.nominal_at / SECOND
            if label != window.opens and not faults.cover(min(label, window.opens), run.started):
                yield f"mislabelled: {run} ran in the time of {window.opens:.0f}"
        elif faults.cover(window.opens, window.closes) or _any_within(cut_off, window):
            counts["indeterminate"] += 1
        else:
            yield f"unmet: {planned.name} ran nothing to its end in {window}"
    used = set(met.values())
    for place, run in enumerate(whole):
        if place not in used and not faults.cover(run.started - SHARE * planned.every, run.started):
            yield f"extra: {run} began in no window that was free"


def _any_within(moments: Sequence[float], window: Window) -> bool:
    place = bisect_right(moments, window.closes) - 1
    return place >= 0 and moments[place] >= window.opens


def _owed(planned: Planned, slots: Sequence[float], runs: Sequence[Execution], ledger: Ledger) -> Iterator[str]:
    """However bad the weather: every slot has run to its end in the long run, but for those with an explanation."""
    whole = [run.started for run in runs if run.outcome == "done"]
    met = match([Window(slot, slot + AT_LONGEST) for slot in slots], whole)
    explained = sum(
        row.schedule == planned.name and row.kind == "slot" and row.status in ("skipped", "cancelled", "error")
        for row in ledger.rows
    )
    explained += sum(
        gap.first_at <= slot * SECOND <= gap.last_at
        for gap in ledger.gaps
        if gap.schedule == planned.name
        for slot in slots
    )
    if len(slots) - len(met) > explained:
        yield f"unmet: {planned.name} ran {len(met)} of {len(slots)} slots to their end, and explains {explained}"


def lags(
    plan: Sequence[Planned], ledger: Ledger, evidence: Evidence, faults: Faults
) -> tuple[list[str], dict[str, int]]:
    """How long after its time a slot first began, by its label; only far beyond all reason it is a problem."""
    by_time = {planned.name: planned for planned in plan if planned.by_time}
    due = {row.key: row.due_at / SECOND for row in ledger.rows if row.schedule in by_time and row.kind == "slot"}
    inside: list[float] = []
    outside: list[float] = []
    problems = []
    late = 0
    for execution in evidence.executions:
        due_at = due.pop(execution.key, None)
        if due_at is None:
            continue
        lag = execution.started - due_at
        if faults.cover(due_at, execution.started):
            inside.append(lag)
            continue
        outside.append(lag)
        late += lag > SHARE * by_time[execution.key.schedule].every
        if lag > FAR:
            problems.append(f"late: {execution} was due {lag:.1f} s before, and nothing had happened")
    figures = {"late": late}
    for where, found in (("in fault windows", inside), ("outside", outside)):
        for share in (50, 99):
            figures[f"p{share} lag {where}, ms"] = round(1000 * _percentile(found, share))
    return problems, figures


def _percentile(values: Sequence[float], share: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * share // 100)] if values else 0.0
