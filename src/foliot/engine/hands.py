"""The runs that a worker has in its hands: started, timed, told to stop, and reported."""

import asyncio
import heapq
import logging
from collections.abc import Callable
from itertools import islice
from operator import is_

from foliot.books.choosing import Choice
from foliot.domain.delivery import InProgress
from foliot.domain.errors import Unavailable
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Order, Reason, Status
from foliot.domain.settlement import BY_ORDER, STOPPED_ITSELF, TIMED_OUT, Outcome
from foliot.engine.counters import Counters
from foliot.engine.settler import Report
from foliot.ports import Clock, Control, Gate, Launch

log = logging.getLogger("foliot.engine")

LAUNCH_RETRIES = 3
_FIRST_WAIT = 1.0
_STOPS_WITHIN = 5.0
_RESULTS_AT_ONCE = 16_000_000
"""Characters of results that one transaction records, beyond the first."""
_FEW_DEADLINES = 100


class Running:
    """One run in this worker's hands."""

    __slots__ = ("control", "is_reported", "launch", "task")

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.control = Control()
        self.is_reported = False
        self.task: asyncio.Task[None] | None = None


class Hands:
    """What this worker holds, and what it has to report."""

    def __init__(
        self, gate: Gate, clock: Clock, now: Callable[[], int], wake: Callable[[], None], counters: Counters
    ) -> None:
        self.gate = gate
        self.clock = clock
        self.held: dict[int, Running] = {}
        self.abandoned = 0
        """Threads that could not be stopped and work on, though nothing of it counts."""
        self._counters = counters
        self._now = now
        self._wake = wake
        self._reports: list[Report] = []
        self._hurries = False
        """Whether something may wait for one of them to be recorded."""
        self._aside: list[tuple[float, Report]] = []
        """Reports that could not be recorded, and when that is tried again."""
        self._deadlines: list[tuple[float, int, int]] = []

    def __len__(self) -> int:
        return len(self.held)

    def begin(self, launch: Launch) -> None:
        """Execute a run that this worker holds the lease of."""
        running = Running(launch)
        self.held[launch.ref] = running
        if launch.timeout is not None:
            self._forget_deadlines()
            deadline = self.clock.steady() + launch.timeout / MICROSECONDS
            heapq.heappush(self._deadlines, (deadline, launch.ref, launch.token))
        running.task = asyncio.get_running_loop().create_task(self._execute(running))

    async def _execute(self, running: Running) -> None:
        try:
            outcome = await self._through_gate(running.launch, running.control)
        except asyncio.CancelledError:
            order = running.control.order
            self._report(running, STOPPED_ITSELF if order is None else BY_ORDER[order])
            return
        except Exception as error:  # A defect of the gate itself must not lose the run.
            log.exception("the gate failed on %s", running.launch.target)
            outcome = Outcome(Status.ERROR, Reason.INTERNAL, error=f"{type(error).__name__}: {error}")
        order = running.control.order
        if order is not None and outcome.status in (Status.ERROR, Status.WAITING):
            # It was asked to stop, and fell over in doing so, or would wait for somebody instead.
            outcome = BY_ORDER[order]._replace(error=outcome.error)
        self._report(running, outcome)

    async def _through_gate(self, launch: Launch, control: Control) -> Outcome:
        """Launch it, and again when the gate was not there: the same run under the same key."""
        retries = 0
        while True:
            try:
                return await self.gate.execute(launch, control)
            except InProgress as busy:
                # An earlier delivery is still at it: what that one comes to is what this one comes to.
                await asyncio.sleep(busy.retry_after)
            except Unavailable as error:
                if retries == LAUNCH_RETRIES:
                    self._counters.failed_launches += 1
                    return Outcome(Status.ERROR, Reason.PROVIDER_UNAVAILABLE, error=str(error))
                await asyncio.sleep(_FIRST_WAIT * 2**retries)
                retries += 1

    def _report(self, running: Running, outcome: Outcome) -> None:
        if running.is_reported or running.control.fenced:
            return
        running.is_reported = True
        order, steady = running.control.order, self.clock.steady()
        self._reports.append(Report(running.launch, outcome, order, self._now(), steady))
        if not running.control.is_patient or outcome.status is not Status.SUCCESS:
            self._hurries = True
            self._wake()

    @property
    def reports(self) -> int:
        """How many are worth a turn of their own."""
        return len(self._reports) if self._hurries else 0

    @property
    def oldest_report_at(self) -> float | None:
        """On the steady clock, when the oldest report was made."""
        return self._reports[0].reported_at if self._reports else None

    def take_reports(self, most: int, choice: Choice | None = None) -> list[Report]:
        """The oldest reports, at most so many and so long; they stay in the hands until they are recorded."""
        taken: list[Report] = []
        length = 0
        reports = self._reports
        if choice is not None:
            reports = choice.among(reports, lambda report: report.launch.schedule_ref)
        for report in islice(reports, most):
            length += len(report.outcome.result or "")
            if taken and length > _RESULTS_AT_ONCE:
                break
            taken.append(report)
        return taken

    def unsettled(self, but: list[Report]) -> set[int]:
        """Schedules with a run among the reports other than these."""
        left = {report.launch.schedule_ref for report in self._without(but)}
        return left | {report.launch.schedule_ref for _, report in self._aside} if self._aside else left

    def _without(self, some: list[Report]) -> list[Report]:
        if all(map(is_, self._reports, some)):
            # They are the oldest, as they are nearly always.
            return self._reports[len(some) :]
        gone = set(map(id, some))
        return [report for report in self._reports if id(report) not in gone]

    def put_aside(self, schedule_ref: int, until: float) -> None:
        """Try the reports of that schedule again at that moment of the steady clock: they cannot be recorded now."""
        aside = [report for report in self._reports if report.launch.schedule_ref == schedule_ref]
        self._reports = self._without(aside)
        self._aside += [(until, report) for report in aside]

    def bring_back(self) -> None:
        """Those whose moment has come."""
        if self._aside:
            steady = self.clock.steady()
            self._reports += [report for until, report in self._aside if until <= steady]
            self._aside = [(until, report) for until, report in self._aside if until > steady]

    def recorded(self, reports: list[Report]) -> None:
        """The ledger has them, or has refused them."""
        self._reports = self._without(reports)
        self._hurries = self._hurries and bool(self._reports)
        for report in reports:
            self._let_go(report.launch)

    def _let_go(self, launch: Launch) -> None:
        running = self.held.get(launch.ref)
        if running is not None and running.launch.token == launch.token:
            del self.held[launch.ref]

    def tokens(self) -> dict[int, int]:
        """What is held, token by run."""
        return {ref: running.launch.token for ref, running in self.held.items()}

    def progress(self) -> list[tuple[str, int, int]]:
        """What the runs have said of their progress since they were last asked."""
        said = []
        for ref, running in self.held.items():
            if running.control.progress is not None:
                said.append((running.control.progress, ref, running.launch.token))
                running.control.progress = None
        return said

    def obey(self, orders: dict[int, Order]) -> None:
        """Ask runs to stop: code that waits is interrupted, a thread finds out when it looks."""
        for ref, order in orders.items():
            running = self.held.get(ref)
            if running is not None and running.control.order is None:
                running.control.order = order
                if running.control.interruptible and running.task is not None:
                    running.task.cancel()

    def fence(self, refs: list[int]) -> None:
        """These are no longer ours: stop them as far as possible and forget them."""
        lost = set(refs)
        self._reports = [report for report in self._reports if report.launch.ref not in lost]
        self._aside = [(until, report) for until, report in self._aside if report.launch.ref not in lost]
        for ref in refs:
            running = self.held.pop(ref, None)
            if running is not None:
                running.control.fenced = True
                self._stop(running)

    def _stop(self, running: Running) -> None:
        if running.task is not None and not running.task.done():
            self.abandoned += not running.control.interruptible
            running.task.cancel()

    def _forget_deadlines(self) -> None:
        """Most runs end long before their timeout: what is left of those is cleared away now and then."""
        if len(self._deadlines) > 2 * len(self.held) + _FEW_DEADLINES:
            current = ((running.launch.ref, running.launch.token) for running in self.held.values())
            alive = set(current)
            self._deadlines = [deadline for deadline in self._deadlines if deadline[1:] in alive]
            heapq.heapify(self._deadlines)

    def next_deadline(self) -> float | None:
        """On the steady clock, when the next timeout may be over."""
        return self._deadlines[0][0] if self._deadlines else None

    def time_out(self) -> None:
        """End the runs whose timeout is over; whether their code obeys or not, they are errors now."""
        while self._deadlines and self._deadlines[0][0] <= self.clock.steady():
            _, ref, token = heapq.heappop(self._deadlines)
            running = self.held.get(ref)
            if running is not None and running.launch.token == token and not running.is_reported:
                order = running.control.order
                self._report(running, TIMED_OUT if order is None else BY_ORDER[order])
                # What a thread of it does from here on does not count, and it may find out.
                running.control.fenced = True
                self._stop(running)

    async def interrupt(self) -> dict[int, int]:
        """Stop what can be stopped and wait a moment for it; what is left, token by run, are threads."""
        stopped = [running for running in self.held.values() if running.control.interruptible]
        self.fence([running.launch.ref for running in stopped])
        tasks = [running.task for running in stopped if running.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=_STOPS_WITHIN)
        return self.tokens()

    def die(self) -> None:
        """What a sudden death does: nothing is reported, and nothing paid for that was not yet."""
        for running in self.held.values():
            running.control.is_dead = True
        self.drop()

    def drop(self) -> None:
        """Stop everything and report nothing: others have it now."""
        self.fence(list(self.held))
        self._reports.clear()
        self._aside.clear()
