"""The checker's second layer: what ran when, whatever it was called. A scheduler that mislabels its slots is seen here.

Each slot opens a window that closes before the next one opens; a run that was executed to its end may meet the window
that it began in. The matching is exact: earliest deadline first is a largest matching for runs that take no room.
Where nothing was done to the system its windows are judged: only that a busy machine misses one in hundreds is allowed.
"""

import heapq
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tests.crash.evidence import Evidence, Execution
from tests.crash.ledger import SECOND, Ledger, named_slots
from tests.crash.plan import LEASE, Planned
from tests.crash.story import Disturbance

SHARE = 0.75
"""Of its period, how long a slot's window is open."""
AT_LONGEST = 30.0
"""Seconds after which even the worst of storms has let a slot run."""
FAR = 10.0
"""Seconds of lateness, with nothing to explain it, that no busy machine excuses."""
_NOISE = 0.005
"""The share of judged windows that a busy machine may miss; that anything runs too often it does not excuse."""
_BEFORE, _BACK = 0.2, 0.5
"""Seconds from just before a fault, for what was in hand, to when whoever works again has made up for it."""
_CUT = LEASE
"""Seconds in which a worker finds what was committed for it on a connection that was cut."""
_AT_MOST = 2 * LEASE
"""Seconds after which the traces of a fault are gone, whether or not anybody works."""
_ENDS = {"wake": "stop", "up": "down", "over": "stall"}
"""What ends a disturbance that lasts, and that one."""


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

    def __init__(self, spans: Iterable[tuple[float, float]]) -> None:
        self._from: list[float] = []
        self._until: list[float] = []
        for since, until in sorted(spans):
            if self._until and since <= self._until[-1]:
                self._until[-1] = max(until, self._until[-1])
            else:
                self._from.append(since)
                self._until.append(until)

    def cover(self, since: float, until: float) -> bool:
        """Whether any of that span lies in a fault's time."""
        place = bisect_right(self._from, until) - 1
        return place >= 0 and self._until[place] >= since


def faults_of(disturbances: Iterable[Disturbance], executions: Sequence[Execution]) -> Faults:
    """A blow lasts until somebody begins a run again, a freeze until its end, an outage until the server is back."""
    begun = [execution.started for execution in executions]
    spans: list[tuple[float, float]] = []
    lasting: dict[tuple[str, int], float] = {}
    for what, pid, at in disturbances:
        since = at
        if what in _ENDS.values():
            lasting[what, pid] = at
        elif what in _ENDS:
            since = lasting.pop((_ENDS[what], pid), at)
        place = bisect_right(begun, at)
        works_again = begun[place] if place < len(begun) else at + _AT_MOST
        until = at + _CUT if what == "cut" else works_again
        spans.append((since - _BEFORE, min(until + _BACK, at + _AT_MOST)))
    return Faults([*spans, *((at, at + _AT_MOST) for at in lasting.values())])


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
    unmet: list[str] = []
    problems: list[str] = []
    for planned in plan:
        cursor = ledger.cursors.get(planned.name)
        if not planned.by_time or cursor is None:
            continue
        slots = [nominal_at / SECOND for nominal_at in named_slots(planned, cursor, end)]
        counts["windows"] += len(slots)
        for trouble in _by_window(planned, slots, runs[planned.name], faults, counts):
            verdict = trouble.partition(":")[0]
            counts[verdict] += 1
            (unmet if verdict == "unmet" else problems).append(trouble)
        problems += _owed(planned, slots, runs[planned.name], ledger)
    if len(unmet) > _NOISE * counts["judged"]:
        problems += unmet
    names = ("windows", "met", "judged", "unmet", "extra", "mislabelled")
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
    missed = []
    for place, window in enumerate(windows):
        is_judged = not faults.cover(window.opens, window.closes) and not _any_within(cut_off, window)
        counts["judged"] += is_judged
        if place in met:
            run = whole[met[place]]
            label = run.key.nominal_at / SECOND
            if label != window.opens and not faults.cover(min(label, window.opens), run.started):
                yield f"mislabelled: {run} ran in the time of {window.opens:.0f}"
        else:
            # Without a fault, what is so late that the next slot's time has come is not told from a run too many.
            missed.append(Window(window.opens, window.opens + (planned.every if is_judged else FAR)))
            if is_judged:
                yield f"unmet: {planned.name} ran nothing to its end in {window}"
    used = set(met.values())
    left = [run for place, run in enumerate(whole) if place not in used]
    late = set(match(missed, [run.started for run in left]).values())
    for place, run in enumerate(left):
        # What came late for a window that it missed is no more than late; what was done in vain is done again.
        since = max(run.key.nominal_at / SECOND, run.started - _AT_MOST)
        is_explained = faults.cover(since, run.started) or _is_crowded_out(run, whole, met, windows, faults)
        if place not in late and not is_explained:
            yield f"extra: {run} began in no window that was free"


def _is_crowded_out(
    run: Execution, whole: Sequence[Execution], met: dict[int, int], windows: Sequence[Window], faults: Faults
) -> bool:
    """Whether what a fault had delivered once more took the window of this run before it came."""
    opens = run.key.nominal_at / SECOND
    for place, taker in met.items():
        label = whole[taker].key.nominal_at / SECOND
        if windows[place].opens == opens and label < opens:
            return faults.cover(label, whole[taker].started)
    return False


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
