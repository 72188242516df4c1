"""One turn, in one transaction: settle what ended, rescue, take up what waits, sweep what is due, feed backfills."""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from foliot.books.choosing import Choice
from foliot.books.configurations import Configurations
from foliot.books.decided import DecidedSlot, Fate, fate_of
from foliot.books.entries import Crew, Entries, ReportDigest
from foliot.books.memories import with_memories
from foliot.books.permits import Permits
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Kind, Status
from foliot.domain.skew import Skew
from foliot.domain.slots import SlotKey
from foliot.engine.backfiller import feed
from foliot.engine.dispatcher import take_up
from foliot.engine.expirer import expire
from foliot.engine.rescuer import NOBODY, Recall, Rescue, hand_back, recall, rescue
from foliot.engine.settings import EngineSettings
from foliot.engine.settler import Report, settle_all, settle_with_care
from foliot.engine.sweeper import NEWEST_SHARE, sweep
from foliot.ports import Clock, Launch, Transaction
from foliot.rows import Earliest, News

_OVERDUE = 1 * MICROSECONDS
"""Without room to start anything, slots are recorded once they are this late: they wait in the ledger, not missed."""
_PLENTY = 200
"""With room for so many, what is beyond it waits for the next turn; with less it is recorded, to wait in the ledger."""


class Fenced(Exception):
    """This worker was declared gone while it was not looking."""


class Situation(NamedTuple):
    """What a turn knows before its transaction begins."""

    asked_at: int
    """By this machine's clock."""
    worker: int
    leased_until: int | None
    reports: list[Report]
    held: dict[int, int] | None
    """Token by run, when the ledger is to be compared with it."""
    knows_all: bool
    """Whether it holds all that the ledger says it does, when they were compared last."""
    in_hand: int
    rooms: dict[int, int]
    """By target, how many runs could be started; who comes first is served first."""
    batch: int
    careful: bool
    progress: list[tuple[str, int, int]]
    starts: bool
    """Whether anything new may start."""
    holds: Container[int]
    """Targets that want a person to be asked when nobody knows whether they were executed."""
    unsettled: Container[int]
    """Schedules of which a run has ended here that this turn does not record."""
    orphans: Container[int]
    """Targets that no program had registered"""
    targets: int
    """when targets had been changed so often."""
    choice: Choice | None
    """Which schedules it is about, when some are left alone."""

    def crew(self, report_digest: ReportDigest) -> Crew:
        return Crew(self.worker, self.rooms, self.holds, self.unsettled, report_digest, self.choice)

    def without_orphans(self) -> "Situation":
        return self._replace(rooms={ref: room for ref, room in self.rooms.items() if ref not in self.orphans})


class Turn(NamedTuple):
    """What a turn did, once it is committed."""

    now: int
    launches: list[Launch]
    refused: list[Report]
    recalled: Recall | None
    knows_all: bool
    rescued: Rescue
    has_more: bool
    waits: bool
    """Whether something was left until what has ended is recorded."""
    recalls: bool
    leased_until: int | None
    next_at: int | None
    skew: Skew
    """How far the database's clock is ahead of this machine's."""
    targets: int
    """How often targets were changed."""
    tell_at: int | None
    """When somebody outside is to be told something; 0: it has just happened."""
    decided: list[DecidedSlot]
    """What did not start, and why; what has ended by no report, and what has asked something."""


def recorded_in(turn: Turn, reports: Sequence[Report]) -> Sequence[Report]:
    """Those of the reports that did not come too late."""
    if not turn.refused:
        return reports
    refused = {report.launch.ref for report in turn.refused}
    return [report for report in reports if report.launch.ref not in refused]


def decided_in(turn: Turn, reports: Sequence[Report]) -> Iterator[DecidedSlot]:
    """All that a turn has decided, these reports recorded: what has ended, what does not start, what starts."""
    for report in recorded_in(turn, reports):
        outcome, launch = report.outcome, report.launch
        # What asks something has not ended: whether it waits now, or was stopped meanwhile, is among the decided.
        if outcome.question is None:
            fate = fate_of(outcome.status, outcome.reason)
            yield DecidedSlot(fate, _slot_of(launch), launch.attempt, outcome.status, outcome.reason)
    yield from turn.decided
    for launch in turn.launches:
        yield DecidedSlot(Fate.START, _slot_of(launch), launch.attempt, Status.RUNNING)


def _slot_of(launch: Launch) -> SlotKey:
    return SlotKey(launch.schedule_id, Kind(launch.kind), launch.nominal_at, launch.backfill)


class Shift:
    """What a worker brings to every turn: its clock, its settings, what it knows, and who reports later."""

    def __init__(
        self,
        clock: Clock,
        settings: EngineSettings,
        known: Configurations,
        permits: Permits,
        report_digest: ReportDigest,
    ) -> None:
        self.clock = clock
        self.report_digest = report_digest
        self.settings = settings
        self.known = known
        self.permits = permits

    def work(self, tx: Transaction, situation: Situation) -> Turn:
        """All that a turn writes. It may be run again from the start: it changes nothing but the database."""
        self.known.begin()
        news = tx.news(situation.worker)
        if news.targets != situation.targets:
            # One of them may have a program by now, which is going to run it.
            situation = situation.without_orphans()
        self.permits.begin(news.grants)
        skew = Skew.measured(tx.now, situation.asked_at, self.clock.now())
        crew = situation.crew(self.report_digest)
        entries = Entries(tx, crew, self.permits, news.webhooks)
        recalled = None
        leased_until = situation.leased_until
        knows_all = situation.knows_all
        if situation.held is not None:
            leased_until = tx.now + self.settings.lease
            if not tx.renew(situation.worker, leased_until):
                raise Fenced
            recalled = recall(situation.held, tx.leased(situation.worker))
            knows_all = not recalled.unknown or hand_back(tx, entries, self.known, situation.worker, situation.held)
            tx.note_progress(situation.progress)
        refused = self._settle(tx, entries, situation)
        rescued = self._rescue(tx, entries, situation, news)
        earliest = tx.earliest(list(situation.rooms))
        has_more = self._start_due(tx, entries, situation, earliest) or rescued.has_more
        launches = with_memories(tx, entries.launches)
        in_hand = situation.in_hand - len(situation.reports) + len(launches)
        is_idle = knows_all and in_hand == 0
        leased_until = self._lease(tx, situation.worker, leased_until, is_idle, len(launches))
        if entries.recalls:
            tx.notify("recall")
        moments = [news.expires_at, news.decide_at, entries.decide_at]
        next_at = None if has_more else self._next(tx, situation, moments)
        return Turn(
            tx.now,
            launches,
            refused,
            recalled,
            knows_all,
            rescued,
            has_more,
            crew.waits,
            entries.recalls,
            leased_until,
            next_at,
            skew,
            news.targets,
            0 if entries.has_told else news.tell_at,
            entries.decided,
        )

    def leave(self, tx: Transaction, worker: int, kept: dict[int, int]) -> tuple[bool, list[DecidedSlot]]:
        """Hand back what was interrupted; whether all of it could be, and what has ended instead.

        What cannot be, threads above all, keeps its lease until that runs out.
        """
        entries = Entries(tx, Crew(), self.permits)
        is_all = hand_back(tx, entries, self.known, worker, kept)
        if is_all and not kept:
            tx.renew(worker, None)
            tx.stop(worker)
        tx.notify("look")
        return is_all, entries.decided

    def _settle(self, tx: Transaction, entries: Entries, situation: Situation) -> list[Report]:
        """Record what has ended; what of it came too late."""
        if not situation.reports:
            return []
        if situation.careful:
            return settle_with_care(tx, entries, self.known, situation.reports).refused
        settle_all(tx, entries, self.known, situation.reports)
        return []

    def _rescue(self, tx: Transaction, entries: Entries, situation: Situation, news: News) -> Rescue:
        """Take the runs of those who are gone, and let go those that nobody has answered in time."""
        rescued = NOBODY
        if not situation.starts:
            return rescued
        if news.expires_at is not None and news.expires_at < tx.now:
            rescued = rescue(tx, entries, self.known, situation.worker)._replace(after=tx.now - news.expires_at)
        if news.decide_at is not None and news.decide_at <= tx.now:
            has_more = expire(tx, entries, self.known)
            return rescued._replace(has_more=rescued.has_more or has_more)
        return rescued

    def _start_due(self, tx: Transaction, entries: Entries, situation: Situation, earliest: list[Earliest]) -> bool:
        """Take up, sweep and feed for each target; whether there is more to do at once."""
        has_more = False
        for first in earliest:
            room = entries.crew.room_for(first.target)
            has_due = first.wake_at is not None and first.wake_at <= tx.now
            if first.ready_at is not None and first.ready_at <= tx.now and room:
                # A share is left to slots that just came due, lest a storm of those that wait buries them.
                most = room - room // NEWEST_SHARE if has_due else room
                has_more |= take_up(tx, entries, self.known, first.target, min(situation.batch, most))
            if has_due:
                room = entries.crew.room_for(first.target)
                until = tx.now if room else tx.now - _OVERDUE
                limit = min(situation.batch, room) if room >= _PLENTY else situation.batch
                has_more |= sweep(tx, entries, self.known, first.target, limit, until)
            has_room = entries.crew.room_for(first.target) > 0
            if first.backfill_at is not None and first.backfill_at <= tx.now and has_room:
                has_more |= feed(tx, entries, self.known, first.target, situation.batch)
        return has_more

    def _lease(self, tx: Transaction, worker: int, until: int | None, is_idle: bool, launched: int) -> int | None:
        """Hold a lease exactly while the ledger says that there is something in hand.

        It is written with the runs that need it, whenever there are any: so that a worker which was declared gone
        while this transaction was under way cannot leave runs behind that nobody looks after.
        """
        if launched:
            wanted = tx.now + self.settings.lease
        elif is_idle and until is not None:
            wanted = None
        else:
            return until
        if not tx.renew(worker, wanted):
            raise Fenced
        return wanted

    def _next(self, tx: Transaction, situation: Situation, moments: list[int | None]) -> int | None:
        """When to look again: at the first of these moments, or of the things that will be due."""
        for first in tx.earliest(list(situation.rooms)):
            if situation.rooms[first.target]:
                moments += [first.wake_at, first.ready_at, first.backfill_at]
            else:
                # Nobody says when a thread that was given up on is free at last.
                waiting = [at for at in (first.wake_at, first.ready_at, first.backfill_at) if at is not None]
                moments += [max(at, tx.now) + _OVERDUE for at in waiting]
        known = [moment for moment in moments if moment is not None]
        return min(known, default=None)
