"""The loop: a turn when something is due, ended or asked for; else it sleeps. No leader, no beat, no timer each."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from foliot.books.choosing import Choice
from foliot.books.configurations import Configurations
from foliot.books.decided import is_told, tell
from foliot.books.permits import Permits
from foliot.courtesy import Courtesy
from foliot.domain import skew
from foliot.domain.credits import Pricing
from foliot.domain.errors import Unavailable
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.engine.counters import Counters
from foliot.engine.hands import Hands
from foliot.engine.notifier import Notifier
from foliot.engine.pruner import Pruner
from foliot.engine.repertoire import Repertoire
from foliot.engine.settings import EngineSettings
from foliot.engine.settler import StaleReports
from foliot.engine.triage import Aside, Culprit, culprits_of, set_aside
from foliot.engine.turn import Fenced, Shift, Situation, Turn, decided_in
from foliot.engine.vitals import Vitals
from foliot.ports import Carrier, Clock, Database, Gate, Transaction

T = TypeVar("T")

log = logging.getLogger("foliot.engine")

_CLOCK_STEP = 2 * MICROSECONDS
_LONGEST_BACKOFF = 5.0
_BREATH = 0.008
"""Seconds that are left to who had to wait for a turn. What comes due meanwhile shares the next, which is cheaper."""
_SHORTEST_WAIT = 1e-6
_NAP = 200
"""Microseconds that everybody else on the loop waits at most while an idle worker naps."""
_SETTLED_WITHIN = 0.2
"""Seconds that an outcome waits for starts at most, before the turn that records it."""
_OTHERS_HAVE_IT = 50_000
"""Microseconds until the next look at what is due and could not be had."""
_GIVES_UP = 10
"""After so many turns in a row that fail, and not for any schedule, the worker ends."""
_LEAVES = 100
"""How often a worker that leaves tries to hand back what others hold just then."""


class Engine:
    """One worker: no leader, no timer per schedule. Any number of them may share a database that allows it."""

    def __init__(
        self,
        database: Database,
        gate: Gate,
        clock: Clock,
        name: str,
        settings: EngineSettings | None = None,
        pricing: Pricing | None = None,
        carrier: Carrier | None = None,
        courtesy: Courtesy | None = None,
    ) -> None:
        self.database = database
        self.gate = gate
        self.clock = clock
        self.name = name
        self.settings = settings or EngineSettings()
        self.counters = Counters()
        self.worker = 0
        self.vitals = Vitals(clock)
        self._known = Configurations()
        self._shift = Shift(clock, self.settings, self._known, Permits(pricing or Pricing()), gate.report_digest)
        self._poked = asyncio.Event()
        self._hands = Hands(gate, clock, self._now, self._poked.set, self.counters)
        self._notifier = None if carrier is None else Notifier(database, carrier, self._now, self.settings)
        self._courtesy = courtesy or Courtesy()
        self._repertoire = Repertoire(gate)
        self._batch = self.settings.smallest_batch
        self._has_more = False
        self._settles_first = False
        self._recall_wanted = False
        self._stopping = False
        self._grace_over = 0.0
        self._leased_until: int | None = None
        self._knows_all = True
        self._skew = skew.NONE if database.is_local else skew.UNKNOWN
        """How far the database's clock is ahead of this machine's."""
        self._next_at: int | None = 0
        self._looked_at = 0.0
        self._compared_at = 0.0
        self._pruner = Pruner(clock, self.settings)
        self._aside = Aside()
        self._thread: ThreadPoolExecutor | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def in_hand(self) -> int:
        return len(self._hands)

    @property
    def targets(self) -> Sequence[int]:
        """What it takes up, by number."""
        return list(self._repertoire.refs.values())

    @property
    def abandoned(self) -> int:
        """Threads of runs that could not be stopped, and work on."""
        return self._hands.abandoned

    @property
    def grace_left(self) -> float:
        """Seconds that are left of the grace in which, since it was stopped, what is under way may end."""
        return max(0.0, self._grace_over - self.clock.steady())

    def poke(self, *, recall: bool = False, at: int | None = 0) -> None:
        """Look now, or at that moment: something was written. Safe from any thread."""
        loop, next_at = self._loop, self._next_at
        # Nobody wakes it for what it finds by itself in time: that costs as much as a small request.
        is_found = at is None or (at > 0 and next_at is not None and next_at <= at)
        if loop is not None and not loop.is_closed() and (recall or not is_found):
            loop.call_soon_threadsafe(self._poke, recall, at or 0)

    def _poke(self, recall: bool, at: int) -> None:
        self._recall_wanted = self._recall_wanted or recall
        if recall or self._next_at is None:
            # Else a turn is under way, which may find something earlier, or nothing at all was to come.
            at = 0
        elif at > 0 and self._next_at <= at:
            return
        self._next_at = at
        self._poked.set()

    async def run(self) -> None:
        """Work until `stop` is called; then let the runs in hand finish, and hand back what did not."""
        self._loop = asyncio.get_running_loop()
        self.vitals.beat()
        try:
            await self._begin()
            while not self._stopping:
                await self._step()
            await self._finish()
            if self._notifier is not None:
                await self._notifier.stop()
        except Exception as error:
            self.vitals.failure = error
            raise
        finally:
            self._courtesy.rest()
            self.vitals.is_over = True
            if self._notifier is not None:
                self._notifier.die()
            if self._thread is not None:
                self._thread.shutdown(wait=False)

    def stop(self) -> None:
        """Start nothing new, and end when the runs in hand have ended or the grace is over. Safe from any thread."""
        if self._loop is None:
            # It has not begun yet: it will end as soon as it does.
            self._stopping = True
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        self._stopping = True
        self._poked.set()

    def kill(self) -> None:
        """Be dead: nothing more is run, written or handed back."""
        self._stopping = True
        self._hands.die()
        if self._notifier is not None:
            self._notifier.die()
        self._loop = None

    async def _begin(self) -> None:
        while not self._stopping:
            self.vitals.beat()
            try:
                self.worker = await self._write(self._register)
                self._repertoire.forget()
                return
            except Unavailable as error:
                log.warning("cannot start yet: %s", error)
                await self._wait(_LONGEST_BACKOFF)

    def _register(self, tx: Transaction) -> int:
        worker = tx.register(self.name)
        if self.database.is_local:
            tx.void_others(worker)
        return worker

    async def _step(self) -> None:
        self.vitals.beat()
        self._hands.time_out()
        self._hands.bring_back()
        if self._is_time():
            self._courtesy.hurry()
            await self._turn()
            if self.settings.inline or self._repertoire.counts_threads:
                # The runs just begun take their first step before the next turn, and their threads: those with limits,
                # which are watched, with the second. Where it waits for the database, and nobody counts threads, they
                # do so meanwhile.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            if not self._has_more:
                self._courtesy.rest()
                if self._courtesy.has_waited() and not self._recall_wanted:
                    await asyncio.sleep(_BREATH)
            if self._pruner.is_late():
                # There is never a quiet moment: take one.
                await self._prune()
        elif self._pruner.is_due():
            await self._prune()
        else:
            await self._sleep()

    def _is_time(self) -> bool:
        """Whether a turn has anything to do."""
        if self._has_more or self._hands.reports or self._recall_wanted:
            return True
        if self._next_at is not None and self._now() >= self._next_at:
            return True
        since_look = (self.clock.steady() - self._looked_at) * MICROSECONDS
        return since_look >= self.settings.look or self._heartbeat_due()

    def _heartbeat_due(self) -> bool:
        if self._leased_until is None:
            return False
        return (self.clock.steady() - self._compared_at) * MICROSECONDS >= self.settings.heartbeat

    def _now(self) -> int:
        return self.clock.now() + self._skew.likely

    async def _turn(self) -> None:
        try:
            try:
                await self._take_turn()
            except StaleReports:
                await self._take_turn(careful=True)
            self.vitals.mishaps = 0
        except Fenced:
            self._be_fenced()
            await self._begin()
        except Unavailable as error:
            await self._survive(error)
        except Exception as error:  # A defect, or a row that cannot be read, of one schedule must not stop the others.
            await self._recover(error)

    async def _take_turn(self, *, careful: bool = False, choice: Choice | None = None) -> None:
        situation = await self._situation(careful, choice)
        self._poked.clear()
        self._next_at = None
        began = self.clock.steady()
        turn = await self._write(lambda tx: self._shift.work(tx, situation))
        self._conclude(turn, situation, began)

    async def _recover(self, error: Exception) -> None:
        """Find out for which schedules a turn fails, and leave those alone for a while.

        When it fails for none of them, and again and again, there is nothing that a worker can do: it ends.
        """
        log.error("a turn has failed: looking for the schedule that it fails for", exc_info=error)
        try:
            attempt = partial(self._take_turn, careful=True)
            for culprit in await culprits_of(attempt, self._aside.refs(self.clock.steady())):
                await self._set_aside(culprit)
        except Fenced:
            self._be_fenced()
            await self._begin()
        except Unavailable as outage:
            await self._survive(outage)
        except Exception as helpless:
            self.vitals.mishaps += 1
            if self.vitals.mishaps == _GIVES_UP:
                log.critical("%d turns in a row have failed, and not for any schedule: this worker ends", _GIVES_UP)
                raise
            log.error("it fails for none of them", exc_info=helpless)
            self._next_at = 0
            await self._wait(min(0.05 * 2**self.vitals.mishaps, _LONGEST_BACKOFF))

    async def _set_aside(self, culprit: Culprit) -> None:
        ref, error = culprit
        name, trouble = await self._write(lambda tx: set_aside(tx, culprit))
        steady = self.clock.steady() + (trouble.until - self._now()) / MICROSECONDS
        self._aside.put(ref, steady)
        self._hands.put_aside(ref, steady)
        self._next_at = 0
        self.counters.set_aside += 1
        log.error("%s needs attention: it is set aside until %s", name, rfc3339(trouble.until), exc_info=error)

    async def _situation(self, careful: bool, choice: Choice | None) -> Situation:
        await self._learn_targets()
        in_hand = len(self._hands)
        starts = not self._stopping
        compare = careful or self._recall_wanted or self._heartbeat_due()
        self._recall_wanted = False
        if choice is None and (aside := self._aside.refs(self.clock.steady())):
            choice = Choice(but=aside)
        reports = [] if self._holds_back(careful) else self._hands.take_reports(self.settings.largest_batch, choice)
        # What is settled in this turn makes room for what it starts.
        free = max(0, self.settings.max_running - in_hand + len(reports))
        return Situation(
            asked_at=self.clock.now(),
            worker=self.worker,
            leased_until=self._leased_until,
            reports=reports,
            held=self._hands.tokens() if compare else None,
            knows_all=self._knows_all,
            in_hand=in_hand,
            rooms=self._repertoire.rooms(free) if starts else {},
            batch=self._batch,
            careful=careful,
            progress=self._hands.progress() if compare else [],
            starts=starts,
            holds=self._repertoire.holds,
            unsettled=self._hands.unsettled(reports),
            orphans=self._repertoire.orphans,
            targets=self._repertoire.known,
            choice=choice,
        )

    def _holds_back(self, careful: bool) -> bool:
        """While slots wait to be started and there is room for them, settling can wait; but not for long.

        A run that has ended keeps its schedule occupied until that is recorded: what is due there waits for it.
        """
        if careful or self._stopping or not self._has_more or self._settles_first:
            return False
        if len(self._hands) >= self.settings.max_running:
            return False
        oldest = self._hands.oldest_report_at
        return oldest is None or self.clock.steady() - oldest < _SETTLED_WITHIN

    async def _learn_targets(self) -> None:
        """The numbers of the targets that are taken up here; new ones may have been registered."""
        if not self._repertoire.is_current():
            self._repertoire.learned(await self._write(lambda tx: self._repertoire.learn(tx, self.worker)))

    def _conclude(self, turn: Turn, situation: Situation, began: float) -> None:
        self._known.commit()
        steady = self.clock.steady()
        self._looked_at = steady
        if not self.database.is_local:
            self._skew = self._skew.narrowed(turn.skew)
        if situation.held is not None or not situation.in_hand:
            self._compared_at = steady
        self._leased_until = turn.leased_until
        self._knows_all = turn.knows_all
        self.vitals.outages = 0
        self._has_more = turn.has_more
        self._settles_first = turn.waits
        if self._next_at is None:
            is_due = turn.next_at is not None and turn.next_at <= turn.now
            is_with_others = is_due and not turn.launches and not situation.reports
            # At once, since others look at it; and what somebody else has in hand is not asked for again and again.
            self._next_at = turn.now + _OTHERS_HAVE_IT if is_with_others else turn.next_at
        if self._repertoire.note_known(turn.targets):
            self._next_at = 0
        if self._notifier is not None:
            self._notifier.look_at(turn.tell_at)
        self._adapt_batch(steady - began)
        self._repertoire.be_fair({launch.target for launch in turn.launches})
        self._hands.recorded(situation.reports)
        self.counters.note(turn, situation.reports, steady - began, self._now())
        if is_told():
            # After the first step of what begins now: to write a record takes as long as to start a run.
            soon = asyncio.get_running_loop().call_soon
            soon(soon, tell, decided_in(turn, situation.reports))
        if turn.refused:
            log.warning("%d reports came too late and were refused", len(turn.refused))
        if turn.recalled is not None:
            self._hands.fence(turn.recalled.gone)
            self.counters.fenced += len(turn.recalled.gone)
            self._hands.obey(turn.recalled.orders)
        self._recall_wanted = self._recall_wanted or turn.recalls
        if not self.database.is_local and (steady - began) * MICROSECONDS >= self.settings.lease:
            # It was away for longer than its lease: what it has launched may be another's. What is not, it hands back.
            self._recall_wanted = True
            return
        for launch in turn.launches:
            self._hands.begin(launch)

    def _adapt_batch(self, seconds: float) -> None:
        """Small batches start soon, large ones are cheap: grow while there is more, shrink when a turn takes long."""
        if self._has_more and seconds < 0.03:
            self._batch = min(self._batch * 2, self.settings.largest_batch)
        elif not self._has_more or seconds > 0.1:
            self._batch = max(self._batch // 2, self.settings.smallest_batch)

    def _be_fenced(self) -> None:
        """Others have taken over: everything in hand is theirs."""
        log.warning("worker %d lost its lease: its %d runs are fenced", self.worker, len(self._hands))
        self.counters.fenced += len(self._hands)
        self._hands.drop()
        self._leased_until = None
        self._knows_all = True
        self._next_at = 0

    async def _survive(self, error: Unavailable) -> None:
        """The database is away: keep everything in hand, and look again soon."""
        self.counters.outages += 1
        self.vitals.outages += 1
        self._recall_wanted = True
        self._next_at = 0
        wait = min(0.05 * 2 ** min(self.vitals.outages, 10), _LONGEST_BACKOFF)
        log.warning("the database cannot be reached, trying again in %.1f s: %s", wait, error)
        await self._wait(wait)

    async def _sleep(self) -> None:
        """Until something is due or somebody pokes; the wall clock is looked at often, lest it was set meanwhile."""
        now, steady = self.clock.now(), self.clock.steady()
        waits = [self.settings.look - (steady - self._looked_at) * MICROSECONDS]
        if self._next_at is not None:
            due_in = self._next_at - self._now()
            nap_within = 0 if len(self._hands) else self.settings.nap_within
            if due_in < nap_within:
                await self._nap(due_in)
                return
            waits += [due_in - nap_within, self.settings.clock_check]
        if self._leased_until is not None:
            waits.append(self.settings.heartbeat - (steady - self._compared_at) * MICROSECONDS)
        for moment in (self._hands.next_deadline(), self._aside.next_at):
            if moment is not None:
                waits.append((moment - steady) * MICROSECONDS)
        await self._wait(max(0.0, min(waits) / MICROSECONDS))
        step = (self.clock.now() - now) - (self.clock.steady() - steady) * MICROSECONDS
        if abs(step) > _CLOCK_STEP:
            self.counters.clock_steps += 1
            log.warning("the clock was set by %+.1f s", step / MICROSECONDS)
            self._next_at = 0

    async def _nap(self, due_in: int) -> None:
        """A part of the last moments before something is due. Whoever else is on the loop has his turn after it."""
        time.sleep(max(0, min(due_in, _NAP)) / MICROSECONDS)
        await asyncio.sleep(0)

    async def _wait(self, seconds: float) -> None:
        """Until poked, at most so long. Whoever pokes has left a sign of why: a report, a time, a wish."""
        self._courtesy.rest()
        # Never no time at all: what is left of a span may be too little to move the loop's clock.
        timer = asyncio.get_running_loop().call_later(max(seconds, _SHORTEST_WAIT), self._poked.set)
        await self._poked.wait()
        timer.cancel()
        self._poked.clear()

    async def _finish(self) -> None:
        """No new starts: what is in hand may end within the grace, the rest is handed back."""
        self._grace_over = self.clock.steady() + self.settings.stop_grace / MICROSECONDS
        while len(self._hands) and self.grace_left:
            self.vitals.beat()
            self._hands.time_out()
            self._hands.bring_back()
            if self._is_time():
                await self._turn()
                await asyncio.sleep(0)
            else:
                await self._wait(min(self.grace_left, self.settings.heartbeat / MICROSECONDS))
        kept = await self._hands.interrupt()
        try:
            for _ in range(_LEAVES):
                is_all, decided = await self._write(lambda tx: self._shift.leave(tx, self.worker, kept))
                self.counters.count(decided)
                if is_told():
                    tell(decided)
                if is_all:
                    return
                await self._wait(_OTHERS_HAVE_IT / MICROSECONDS)
        except Unavailable as error:
            log.warning("stopped without handing back: leases run out by themselves: %s", error)

    async def _prune(self) -> None:
        """Remove a page of old runs, while there is nothing better to do."""
        try:
            self._pruner.did(await self._write(self._pruner.page))
        except Unavailable as error:
            await self._survive(error)
        except Exception:  # They may stay for another hour.
            log.exception("old runs could not be removed")
            self._pruner.did(None)

    async def _write(self, act: Callable[[Transaction], T]) -> T:
        if self.settings.inline:
            return self.database.write(act)
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="foliot-write")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.database.write, act)
