"""Anything may be done in any order, with workers dying in between: the books are right after each step.

And whatever somebody else changes in them after that, the audit finds just it.
"""

from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foliot import Conflict, Context, Foliot, Invalid, NotFound
from foliot.engine.settings import EngineSettings
from foliot.testing import virtual
from tests.engine.invariants import check_books, check_decision_counts, check_nothing_is_stuck
from tests.engine.tampering import check_tampering
from tests.engine.timelines import START, Job

REFUSALS = (Conflict, Invalid, NotFound)

OPTIONS: dict[str, dict[str, Any]] = {
    "skips": {"every": "3m", "overlap": "skip", "catchup": "last"},
    "holds-one": {"every": "2m", "overlap": "buffer_one", "catchup": "all", "jitter": "90s"},
    "holds-all": {"every": "2m", "overlap": "buffer_all", "buffer": 4, "retry": 2, "catchup": "spread"},
    "cancels": {"every": "4m", "overlap": "cancel_other", "catchup": "all", "timeout": "9m"},
    "terminates": {"every": "4m", "overlap": "terminate_other", "pause_on_failure": True},
    "allows": {"every": "5m", "overlap": "allow_all", "catchup": "all", "limit": 6, "retry": 2},
}
names = st.sampled_from(sorted(OPTIONS))
edits = st.sampled_from(
    [
        {"every": "1m"},
        {"every": "7m", "jitter": "2m"},
        {"every": "5m", "jitter": "2m", "jitter_mode": "around"},
        {"cron": "*/3 * * * *"},
        {"overlap": "skip"},
        {"overlap": "buffer_all"},
        {"overlap": "cancel_other"},
        {"overlap": "allow_all"},
        {"catchup": "none"},
        {"catchup": "spread", "lookahead": "5m"},
        {"limit": 3},
        {"limit": None},
        {"catchup_window": "4m"},
        {"input": 1},
    ]
)


async def work(input: Any, ctx: Context) -> int:
    """Takes 0 to 10 minutes, and fails one time in four: by its moment, not by chance."""
    dice = int(ctx.scheduled_for.timestamp()) // 60 * 7 + ctx.attempt * 3 + len(ctx.schedule)
    await Job(dice % 11)(input, ctx)
    if dice % 4 == 0:
        raise RuntimeError("no")
    return dice


class AnyOrder(RuleBasedStateMachine):
    """A few schedules of different policies in one world, and everybody who may do something to them."""

    def __init__(self) -> None:
        super().__init__()
        # Heartbeats matter only to other workers; without them hours pass faster.
        app = Foliot("sqlite:///not-used.db", settings=EngineSettings(heartbeat=60_000_000, lease=600_000_000))
        app.graph("job")(work)
        self.exits = ExitStack()
        self.world = self.exits.enter_context(virtual(app, START))
        self.is_alive = True
        self.is_clock_steady = True
        self.was_limited = False
        self.at_work = app
        self.counts = [app.parts.shop.counts, self.world.engine().counters]

    @initialize()
    def create_all(self) -> None:
        for name in OPTIONS:
            self._create(name)

    def _create(self, name: str) -> None:
        self.at_work.schedules.create(name, target="job", **OPTIONS[name])

    @rule(seconds=st.sampled_from([1, 30, 60, 119, 120, 240, 300, 601, 3600]))
    def advance(self, seconds: int) -> None:
        self.world.advance(seconds=seconds)

    @rule(name=names, minutes=st.none() | st.integers(1, 12))
    def pause(self, name: str, minutes: int | None) -> None:
        until = None if minutes is None else self.world.now + timedelta(minutes=minutes)
        self._try(self.at_work.schedules.pause, name, until=until)

    @rule(name=names)
    def resume(self, name: str) -> None:
        self._try(self.at_work.schedules.resume, name)

    @rule(name=names, overlap=st.sampled_from([None, "skip", "buffer_one", "cancel_other", "terminate_other"]))
    def trigger(self, name: str, overlap: str | None) -> None:
        self._try(self.at_work.schedules.trigger, name, overlap=overlap)

    @rule(name=names, changes=edits)
    def edit(self, name: str, changes: dict[str, Any]) -> None:
        self.was_limited = self.was_limited or "limit" in changes
        self._try(self.at_work.schedules.patch, name, **changes)

    @rule(name=names, number=st.integers(0, 4))
    def skip_a_slot_to_come(self, name: str, number: int) -> None:
        try:
            moments = self.at_work.schedules.times(name, count=5)
        except NotFound:
            return
        self._try(self.at_work.schedules.skip, name, moments[number])

    @rule(number=st.integers(0, 40))
    def skip_a_slot_that_waits(self, number: int) -> None:
        waiting = self.at_work.runs.list(status="pending", kind="slot")
        if number < len(waiting):
            self._try(self.at_work.schedules.skip, waiting[number].schedule, waiting[number].scheduled_for)

    @rule(number=st.integers(0, 10), verb=st.sampled_from(["cancel", "terminate"]))
    def stop_a_run(self, number: int, verb: str) -> None:
        open_ones = self.at_work.runs.list(status="running") + self.at_work.runs.list(status="pending")
        if number < len(open_ones):
            self._try(getattr(self.at_work.runs, verb), open_ones[number].id)

    @rule(number=st.integers(0, 10), status=st.sampled_from(["error", "skipped", "cancelled"]))
    def retry_a_run(self, number: int, status: str) -> None:
        over = self.at_work.runs.list(status=status)
        if number < len(over):
            self._try(self.at_work.runs.retry, over[number].id)

    @rule(name=names, which=st.sampled_from(["missing", "failed", "all"]), concurrency=st.integers(1, 3))
    def backfill(self, name: str, which: str, concurrency: int) -> None:
        start = self.world.now - timedelta(minutes=20)
        self._try(self.at_work.schedules.backfill, name, start, self.world.now, which=which, concurrency=concurrency)

    @rule(name=names)
    def delete(self, name: str) -> None:
        self._try(self.at_work.schedules.delete, name)

    @rule(name=names)
    def create_again(self, name: str) -> None:
        self._try(self._create, name)

    @precondition(lambda self: self.is_alive)
    @rule()
    def kill(self) -> None:
        self.world.kill()
        self.is_alive = False

    @precondition(lambda self: not self.is_alive)
    @rule()
    def restart(self) -> None:
        self.world.restart()
        self.counts.append(self.world.engine().counters)
        self.is_alive = True

    @precondition(lambda self: self.is_alive)
    @rule(minutes=st.sampled_from([-30, -3, 5, 45]))
    def step_clock(self, minutes: int) -> None:
        self.world.step_clock(timedelta(minutes=minutes))
        self.is_clock_steady = self.is_clock_steady and minutes > 0

    @invariant()
    def the_books_are_right(self) -> None:
        check_books(
            self.world, covers=self.is_clock_steady and not self.was_limited, is_clock_steady=self.is_clock_steady
        )
        if self.is_alive:
            # What a turn itself made ready is looked at 50 ms later.
            self.world.advance(seconds=0.1)
            check_nothing_is_stuck(self.world)
        check_decision_counts(self.world, self.counts)

    def teardown(self) -> None:
        try:
            check_tampering(self.world)
        finally:
            self.exits.close()

    def _try(self, verb: Any, *values: Any, **options: Any) -> None:
        """A refusal is an answer too; what it must not do is to leave the books wrong."""
        try:
            verb(*values, **options)
        except REFUSALS:
            return


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(
    max_examples=settings().max_examples * 2 // 10,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    # Twenty steps can be read as they are; to shrink them takes minutes.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
