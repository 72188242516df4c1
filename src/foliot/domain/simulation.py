"""What a simulated stretch of time came to: what fired, what overlapped, what was skipped and why, at what cost."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foliot.domain.clock_changes import ClockChange, clock_changes
from foliot.domain.durations import Span, span_of
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import OPEN, Reason, Status
from foliot.domain.schedule import slug_of
from foliot.domain.times import Times

_MILLISECOND = 1_000
DEFAULT_LENGTH = 1_000_000
"""How long a run takes of which nothing is known, in microseconds."""
MOST_SLOTS = 1_000_000
"""More would take longer than anybody waits without having said so."""
_MOST_DAYS = 230 * 366
"""From the first year that there are times of to the last."""


class SimulatedRun(NamedTuple):
    """What became of one run in the ledger."""

    due_at: int
    started_at: int | None
    ended_at: int | None
    status: Status
    reason: Reason | None
    attempt: int


class Peak(NamedTuple):
    """How many were under way at once at most, and when that was first so."""

    runs: int = 0
    at: int | None = None


Stay = tuple[int, int]
"""From when to when a run was under way."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a stretch of time came to, of one schedule or of all."""

    slots: int
    fires: int
    """Runs that began, with further attempts."""
    overlaps: int
    """Slots that came due while a run of their schedule was under way, whatever was then done about it."""
    skips: Mapping[Reason, int]
    """Slots that nothing ran, by reason."""
    failures: Mapping[Reason, int]
    """Runs that began, or waited, and were ended, by reason."""
    open: int
    """Runs that were under way or waited when the time was over."""
    peak: Peak
    longest_wait: int
    """Of a run from when it was due to when it began, in microseconds."""
    cost: int
    """In credits, as far as it is known;"""
    unpriced: int
    """and how many runs began of which nobody knows what they cost."""


class Lengths(NamedTuple):
    """How long runs take, as somebody says, in microseconds: of some schedules by their ids, and of all others."""

    each: Mapping[str, int]
    others: int | None


def lengths_of(said: Iterable[Span]) -> Lengths:
    """`90s` for all, `digest=20m` for one; the last that is said of a schedule counts."""
    each: dict[str, int] = {}
    others = None
    for text in said:
        name, sign, span = text.rpartition("=") if isinstance(text, str) else ("", "", text)
        if sign:
            each[slug_of(name)] = span_of(f"durations of {name}", span)
        else:
            others = span_of("durations", span)
    return Lengths(each, others)


def length_of(schedule_id: str, said: Lengths, past: Sequence[int]) -> int:
    """How long its runs take: as somebody says, else the median of what the last ones took, else a second."""
    if schedule_id in said.each:
        return said.each[schedule_id]
    if said.others is not None:
        return said.others
    if not past:
        return DEFAULT_LENGTH
    # In whole milliseconds: nobody knows better how long the next one takes.
    return -(-sorted(past)[len(past) // 2] // _MILLISECOND) * _MILLISECOND


def check_known(said: Lengths, known: Iterable[str]) -> None:
    """Invalid when it is said how long something takes that is not there."""
    if missing := sorted(set(said.each) - set(known)):
        raise Invalid(f"durations take schedules that are simulated, got {', '.join(missing)}, which is none of them")


def check_size(slots: Mapping[str, int], most: int) -> None:
    """Invalid when the stretch has more slots than that."""
    total = sum(slots.values())
    if total > most:
        name = max(slots, key=lambda one: slots[one])
        raise Invalid(
            f"a simulation takes up to {most:,} slots, got {total:,}, {slots[name]:,} of them of {name!r}: "
            "take fewer --days or only some schedules, or raise --most and wait"
        )


def days_of(name: str, days: float) -> int:
    """A stretch of time in microseconds; Invalid, by the name of the option, when it is none."""
    length = days * 86_400 * MICROSECONDS
    if not 1 <= length <= _MOST_DAYS * 86_400 * MICROSECONDS:
        raise Invalid(f"{name} takes more than 0 and at most {_MOST_DAYS:,}, got {days:g}")
    return round(length)


def forecast(
    slots: int, runs: Sequence[SimulatedRun], unrun: Mapping[Reason, int], end: int, cost_each: int | None
) -> Forecast:
    """Of one schedule: its runs in the ledger, and how many more slots nothing ran, by reason."""
    stays = stays_of(runs, end)
    skips = Counter(run.reason for run in runs if run.status is Status.SKIPPED and run.reason is not None)
    ended = (Status.ERROR, Status.CANCELLED)
    return Forecast(
        slots=slots,
        fires=len(stays),
        overlaps=overlaps_of([run.due_at for run in runs if run.attempt == 1], stays),
        skips=_ordered(skips + Counter(unrun)),
        failures=_ordered(Counter(run.reason for run in runs if run.status in ended and run.reason is not None)),
        open=sum(run.status in OPEN for run in runs),
        peak=peak_of(stays),
        longest_wait=max((run.started_at - run.due_at for run in runs if run.started_at is not None), default=0),
        cost=len(stays) * (cost_each or 0),
        unpriced=len(stays) if cost_each is None else 0,
    )


def forecast_of_all(tallies: Sequence[Forecast], peak: Peak) -> Forecast:
    """Of all schedules together; how many were under way at once is known only by looking at all their runs."""
    return Forecast(
        slots=sum(one.slots for one in tallies),
        fires=sum(one.fires for one in tallies),
        overlaps=sum(one.overlaps for one in tallies),
        skips=_ordered(sum((Counter(one.skips) for one in tallies), Counter())),
        failures=_ordered(sum((Counter(one.failures) for one in tallies), Counter())),
        open=sum(one.open for one in tallies),
        peak=peak,
        longest_wait=max((one.longest_wait for one in tallies), default=0),
        cost=sum(one.cost for one in tallies),
        unpriced=sum(one.unpriced for one in tallies),
    )


def stays_of(runs: Iterable[SimulatedRun], end: int) -> list[Stay]:
    """When those that began were under way, some beyond the end; what was refused at the gate never was."""
    return [
        (run.started_at, end + 1 if run.ended_at is None else run.ended_at)
        for run in runs
        if run.started_at is not None and run.status is not Status.SKIPPED
    ]


def peak_of(stays: Iterable[Stay]) -> Peak:
    """The most that were under way at once. Who ends at a moment makes room for who begins then."""
    begins, ends = [], []
    for begin, end in stays:
        begins.append(begin)
        # Who takes no time at all is there for a moment.
        ends.append(max(end, begin + 1))
    begins.sort()
    ends.sort()
    peak, over = Peak(), 0
    for place, begin in enumerate(begins):
        while ends[over] <= begin:
            over += 1
        if place + 1 - over > peak.runs:
            peak = Peak(place + 1 - over, begin)
    return peak


def overlaps_of(dues: Iterable[int], stays: Iterable[Stay]) -> int:
    """How many of these moments fall into a stay that has begun before them and ends after them."""
    began = sorted(stays)
    count = place = 0
    latest = -1
    for due in sorted(dues):
        while place < len(began) and began[place][0] < due:
            latest = max(latest, began[place][1])
            place += 1
        count += latest > due
    return count


def surprises_of(times: Times, start: int, end: int) -> list[ClockChange]:
    """Clock changes from one second to another that move, drop or double times which people take to be fixed."""
    return [change for change in clock_changes(times, start, end) if not change.steady]


def _ordered(counts: Mapping[Reason, int]) -> dict[Reason, int]:
    """The most frequent first."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
