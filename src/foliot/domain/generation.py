"""Generation: which slots a schedule owes since it was last swept, and what their lateness makes of them."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from foliot.domain.instants import MICROSECONDS
from foliot.domain.policies import CatchUp, Policies
from foliot.domain.runs import Reason
from foliot.domain.schedule import State
from foliot.domain.slots import Slot
from foliot.domain.times import Times

MISSES_IN_A_GAP = 100
"""From so many misses of one reason in a row they are one gap."""
LONGEST_SPREAD = 10_000
"""Of a longer backlog the newest are spread, the others missed."""


class Missed(NamedTuple):
    """A slot that nothing will run, and why."""

    slot: Slot
    reason: Reason


class Gap(NamedTuple):
    """A long run of slots, first and last included, that nothing will run, and why."""

    first_at: int
    last_at: int
    size: int
    reason: Reason


class Generation(NamedTuple):
    """What a schedule owes, in order of nominal time."""

    due: Sequence[Slot]
    """To be admitted now."""
    later: Sequence[Slot]
    """To be admitted at their due time: a backlog that is spread."""
    missed: Sequence[Missed]
    gaps: Sequence[Gap]
    swept_to: int
    """Every slot up to here is in this value, or was in one before."""
    wake_at: int | None
    """When to look again; None when no slot is to come."""

    @property
    def is_one(self) -> bool:
        """Whether one slot to be admitted is all: nearly always it is."""
        return len(self.due) == 1 and not (self.missed or self.gaps or self.later)


class Timetable(NamedTuple):
    """The instants of a spec, with the due times that they have for one schedule."""

    times: Times
    schedule_id: str

    def due_at(self, nominal: int) -> int:
        return self.times.due_at(nominal, self.schedule_id)

    def next_after(self, nominal: int) -> Slot | None:
        times = self.times
        following = times.next_after(nominal)
        return None if following is None else Slot(following * MICROSECONDS, times.due_at(following, self.schedule_id))

    def between(self, first: int, last: int) -> list[Slot]:
        return [Slot(nominal * MICROSECONDS, self.due_at(nominal)) for nominal in self.times.between(first, last)]

    def walk(self, after: int) -> Iterator[Slot]:
        while (slot := self.next_after(after)) is not None:
            yield slot
            after = slot.nominal_at // MICROSECONDS

    def first_due_from(self, instant: int, after: int) -> int | None:
        """The first nominal second after `after` whose slot is due at the instant or later.

        Jitter never carries a slot past its neighbours, so it is next to the nominal time nearest to the instant.
        """
        before = self.times.previous_before(instant // MICROSECONDS)
        nominal = self.times.next_after(after) if before is None or before <= after else before
        while nominal is not None and self.due_at(nominal) < instant:
            nominal = self.times.next_after(nominal)
        return nominal


def generate(
    timetable: Timetable, policies: Policies, state: State, now: int, room: int, marked: Collection[int] = ()
) -> Generation:
    """The slots owed up to now, at most `room` of them to be admitted.

    `marked` are the nominal times, in microseconds, of slots that have their row already. Whatever does not fit stays
    beyond `swept_to`, to be generated again at once.
    """
    if state.is_paused(now):
        return _nothing(state, state.pause_to)
    if state.remaining == 0:
        return _nothing(state, None)
    first = timetable.next_after(state.swept_to // MICROSECONDS)
    if first is None:
        return _nothing(state, None)
    if first.due_at > now:
        return _nothing(state, first.due_at)
    if first.due_at >= _startable_from(policies, state, now) and room > 0 and not marked:
        following = timetable.next_after(first.nominal_at // MICROSECONDS)
        if following is None or following.due_at > now:
            wake_at = None if following is None else following.due_at
            return Generation((first,), (), (), (), first.nominal_at, wake_at)
    return _catch_up(timetable, policies, state, now, room, frozenset(marked))


def close_pause(timetable: Timetable, state: State, now: int, marked: Collection[int] = ()) -> Generation:
    """All that a pause has kept from being recorded, as paused: what an edit leaves behind.

    A schedule that has no starts left has owed nothing since its last one.
    """
    late = _Late(timetable, state, now, frozenset(marked))
    if state.remaining != 0:
        late.record(state.swept_to // MICROSECONDS, now // MICROSECONDS, Reason.PAUSED)
    return Generation((), (), late.missed, late.gaps, max(state.swept_to, now), None)


def not_yet_due(timetable: Timetable, state: State, now: int) -> list[Slot]:
    """The slot whose nominal time has come and whose due time has not, if there is one: what an edit must not lose."""
    nominal = timetable.first_due_from(now + 1, state.swept_to // MICROSECONDS)
    return [] if nominal is None or nominal * MICROSECONDS > now else timetable.between(nominal, nominal)


def _nothing(state: State, wake_at: int | None) -> Generation:
    return Generation((), (), (), (), state.swept_to, wake_at)


def _fresh_from(policies: Policies, state: State, now: int) -> int:
    """Slots due from here on are on time: neither older than the grace nor kept back by a pause."""
    fresh = now - policies.grace
    return fresh if state.pause_to is None else max(fresh, state.pause_to)


def _startable_from(policies: Policies, state: State, now: int) -> int:
    """A slot due from here on starts if it is the only one owed: on time, or late and wanted all the same."""
    fresh = _fresh_from(policies, state, now)
    if state.pause_to is not None or policies.catchup not in (CatchUp.ALL, CatchUp.LAST):
        return fresh
    return 0 if policies.window is None else min(fresh, now - policies.window)


def _catch_up(
    timetable: Timetable, policies: Policies, state: State, now: int, room: int, marked: frozenset[int]
) -> Generation:
    after = state.swept_to // MICROSECONDS
    times = timetable.times
    fresh = timetable.first_due_from(_fresh_from(policies, state, now), after)
    latest = times.previous_before(times.almanac.last + 1 if fresh is None else fresh)
    last_late = after if latest is None else max(after, latest)
    newer = next((slot for slot in timetable.walk(last_late) if slot.nominal_at not in marked), None)
    newer_is_due = newer is not None and newer.due_at <= now
    late = _Late(timetable, state, now, marked)
    chosen, swept = late.choose(policies, after, last_late, room, newer_is_due)
    later: Sequence[Slot] = ()
    if policies.catchup is CatchUp.SPREAD:
        later, chosen = _spread(chosen, policies.lookahead, now), []
    if swept == last_late:
        for slot in timetable.walk(last_late):
            if slot.due_at > now or len(chosen) >= room:
                break
            swept = slot.nominal_at // MICROSECONDS
            if slot.nominal_at not in marked:
                chosen.append(slot)
    following = timetable.next_after(swept)
    wake_at = None if following is None else max(following.due_at, now)
    return Generation(chosen, later, late.missed, late.gaps, max(swept * MICROSECONDS, state.swept_to), wake_at)


class _Late:
    """The late slots of one schedule, between two nominal seconds: which start, and how the others are recorded."""

    def __init__(self, timetable: Timetable, state: State, now: int, marked: frozenset[int]) -> None:
        self.timetable = timetable
        self.state = state
        self.now = now
        # An edit may have left marks that the spec no longer names.
        self.marked = frozenset(mark for mark in marked if timetable.times.matches(mark // MICROSECONDS))
        self.missed: list[Missed] = []
        self.gaps: list[Gap] = []

    def choose(
        self, policies: Policies, after: int, last: int, room: int, newer_is_due: bool
    ) -> tuple[list[Slot], int]:
        """Those of (after, last] that catch-up starts, and the second up to which all are chosen or recorded."""
        if after >= last:
            return [], last
        start = self._start(policies, after, last, newer_is_due)
        self.judge(after, start)
        if start >= last:
            return [], last
        most = LONGEST_SPREAD if policies.catchup is CatchUp.SPREAD else min(policies.cap, room)
        chosen: list[Slot] = []
        swept = start
        for slot in self.timetable.walk(start):
            if slot.nominal_at > last * MICROSECONDS or len(chosen) >= most:
                break
            swept = slot.nominal_at // MICROSECONDS
            if slot.nominal_at not in self.marked:
                chosen.append(slot)
        return chosen, swept

    def _start(self, policies: Policies, after: int, last: int, newer_is_due: bool) -> int:
        """The second after which late slots are started."""
        times = self.timetable.times
        start = after
        if policies.catchup is CatchUp.NONE or (policies.catchup is CatchUp.LAST and newer_is_due):
            return last
        if policies.window is not None:
            inside = self.timetable.first_due_from(self.now - policies.window, after)
            start = last if inside is None or inside > last else inside - 1
        if policies.catchup is CatchUp.LAST:
            start = max(start, self._newest(after, last) - 1)
        elif policies.catchup is CatchUp.SPREAD and times.count_between(start + 1, last) > LONGEST_SPREAD:
            start = _last_but(times, last, LONGEST_SPREAD)
        return start

    def judge(self, after: int, last: int) -> None:
        """Record (after, last] as paused where a pause kept them back, and as missed elsewhere."""
        began, ended = self.state.pause_from, self.state.pause_to
        if began is None or ended is None:
            self.record(after, last, Reason.MISSED)
            return
        first_paused = self._last_before(began, after, last)
        first_free = self._last_before(ended, first_paused, last)
        self.record(after, first_paused, Reason.MISSED)
        self.record(first_paused, first_free, Reason.PAUSED)
        self.record(first_free, last, Reason.MISSED)

    def record(self, after: int, last: int, reason: Reason) -> None:
        """(after, last] as rows, or as one gap when there are many."""
        times = self.timetable.times
        known = sum(after * MICROSECONDS < mark <= last * MICROSECONDS for mark in self.marked)
        count = times.count_between(after + 1, last) - known
        if count >= MISSES_IN_A_GAP:
            first = next(slot for slot in self.timetable.walk(after) if slot.nominal_at not in self.marked)
            self.gaps.append(Gap(first.nominal_at, self._newest(after, last) * MICROSECONDS, count, reason))
        elif count > 0:
            self.missed += [
                Missed(slot, reason)
                for slot in self.timetable.between(after + 1, last)
                if slot.nominal_at not in self.marked
            ]

    def _newest(self, after: int, last: int) -> int:
        """The nominal second of the last slot of (after, last] that has no row; `after` when there is none."""
        times = self.timetable.times
        newest = times.previous_before(last + 1)
        while newest is not None and newest > after and newest * MICROSECONDS in self.marked:
            newest = times.previous_before(newest)
        return after if newest is None else max(after, newest)

    def _last_before(self, instant: int, after: int, last: int) -> int:
        """The last second of [after, last] whose slots are all due before the instant."""
        boundary = self.timetable.first_due_from(instant, after)
        return last if boundary is None or boundary > last else boundary - 1


def _last_but(times: Times, last: int, count: int) -> int:
    """The second after which there are exactly that many instants up to `last`: found by halving."""
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if times.count_between(middle + 1, last) > count:
            low = middle
        else:
            high = middle
    return high


def _spread(slots: Sequence[Slot], over: int, now: int) -> list[Slot]:
    """The same slots, due one after another, evenly, over that length of time."""
    return [Slot(slot.nominal_at, now + place * over // len(slots)) for place, slot in enumerate(slots)]
