"""What follows from how a run ends: retries, limits, pauses, timeouts, memories."""

import asyncio
import itertools
from datetime import timedelta
from typing import Any

import pytest

from foliot import Context, Invalid, NotFound, Unavailable
from foliot.domain.delivery import InProgress
from foliot.domain.settlement import Outcome
from foliot.ports import Control, Gate, Launch
from tests.engine.timelines import Failing, Job, a_world, at, clock, minutes, timeline

SLOT = "job:2026-11-15T12:05:00Z"


def test_a_retry_is_a_new_row_that_names_the_attempt_before_it(database_url: str) -> None:
    graph = Failing(2)
    with a_world(graph, database=database_url, cron="5 12 * * *", retry=3) as world:
        world.advance_to(at("12:10"))
        runs = world.runs("job")
        assert [(run.id, run.status, run.retry_of) for run in runs] == [
            (f"{SLOT}~1", "error", None),
            (f"{SLOT}~2", "error", f"{SLOT}~1"),
            (f"{SLOT}~3", "success", f"{SLOT}~2"),
        ]
        assert {ctx.idempotency_key for ctx in graph.seen} == {SLOT}
        assert [ctx.attempt for ctx in graph.seen] == [1, 2, 3]


def test_backoff_doubles_up_to_its_longest_with_up_to_a_fifth_of_jitter() -> None:
    with a_world(Failing(), cron="5 12 * * *", retry={"attempts": 6, "backoff": "10s", "longest": "60s"}) as world:
        world.advance_to(at("12:20"))
        runs = world.runs("job")
        waits = [
            (after.due_at - before.ended_at).total_seconds()
            for before, after in itertools.pairwise(runs)
            if before.ended_at is not None
        ]
        assert len(waits) == 5
        for wait, least in zip(waits, (10, 20, 40, 60, 60), strict=True):
            assert least <= wait <= least * 1.2
        assert len({wait / least for wait, least in zip(waits, (10, 20, 40, 60, 60), strict=True)}) > 1


@pytest.mark.parametrize(
    ("error", "reason", "attempts"),
    [
        (RuntimeError("no"), "internal", 2),
        (Unavailable("not now"), "provider_unavailable", 2),
        (Invalid("wrong"), "invalid_request", 1),
        (NotFound("gone"), "not_found", 1),
    ],
)
def test_only_reasons_that_may_go_better_the_next_time_are_retried(
    error: Exception, reason: str, attempts: int
) -> None:
    with a_world(Failing(error=error), cron="5 12 * * *", retry=2) as world:
        world.advance_to(at("12:15"))
        assert [run.reason for run in world.runs("job")] == [reason] * attempts


class AwayAtFirst:
    """A gate that is not there the first so many times."""

    def __init__(self, gate: Gate, times: int) -> None:
        self.gate, self.times = gate, times
        self.targets, self.room, self.on_unknown = gate.targets, gate.room, gate.on_unknown
        self.report_digest = gate.report_digest

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        if self.times:
            self.times -= 1
            raise Unavailable("nobody answers")
        return await self.gate.execute(launch, control)


@pytest.mark.parametrize(
    ("times", "line"),
    [
        (3, "12:05 success 12:05-12:05:07"),
        (4, "12:05 error provider_unavailable 12:05-12:05:07"),
    ],
)
def test_a_gate_that_is_not_there_is_asked_three_times_more_for_the_same_run(times: int, line: str) -> None:
    job = Job()
    with a_world(job, cron="5 12 * * *") as world:
        hands = world.engine()._hands
        hands.gate = AwayAtFirst(hands.gate, times)
        world.advance_to(at("12:06"))
        assert timeline(world) == [line]
        assert len(job.seen) == (times == 3)


class BusyAtFirst(AwayAtFirst):
    """A gate at which an earlier delivery of the run is still at work, so often as it is asked."""

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        if self.times:
            self.times -= 1
            raise InProgress("it is being executed", 2.0)
        return await self.gate.execute(launch, control)


def test_a_gate_that_says_somebody_is_at_it_is_asked_until_that_one_is_done() -> None:
    job = Job()
    with a_world(job, cron="5 12 * * *") as world:
        hands = world.engine()._hands
        hands.gate = BusyAtFirst(hands.gate, times=30)
        world.advance_to(at("12:07"))
        assert timeline(world) == ["12:05 success 12:05-12:06"]
        assert len(job.seen) == 1


def test_what_the_code_itself_calls_unavailable_is_its_failure_and_not_launched_again() -> None:
    with a_world(Failing(1, Unavailable("not now")), cron="5 12 * * *") as world:
        world.advance_to(at("12:15"))
        assert timeline(world) == ["12:05 error provider_unavailable 12:05-12:05"]


def test_pause_on_failure_is_judged_at_the_end_of_the_retry_chain() -> None:
    retry = {"attempts": 2, "backoff": "1m"}
    with a_world(Failing(), cron="5 * * * *", retry=retry, pause_on_failure=True) as world:
        world.advance_to(at("12:05:30"))
        assert not world.app.schedules.get("job").paused
        world.advance_to(at("12:07"))
        assert world.app.schedules.get("job").note == f"{SLOT}~2 failed: internal"


def test_pause_on_failure_does_not_pause_when_a_retry_succeeds() -> None:
    with a_world(Failing(1), cron="5 * * * *", retry=2, pause_on_failure=True) as world:
        world.advance_to(at("12:07"))
        assert not world.app.schedules.get("job").paused


def test_a_timeout_pauses_on_failure_and_a_cancel_does_not() -> None:
    with a_world(Job(10), every="30m", timeout="5m", pause_on_failure=True) as world:
        world.advance_to(at("12:31"))
        (run,) = world.runs("job")
        world.app.runs.cancel(run.id)
        world.advance_to(at("12:40"))
        assert not world.app.schedules.get("job").paused
        world.advance_to(at("13:10"))
        assert timeline(world)[-1] == "13:00 error timeout 13:00-13:05"
        assert world.app.schedules.get("job").paused


def test_a_lost_run_pauses_on_failure() -> None:
    with a_world(Job(10), every="30m", pause_on_failure=True) as world:
        world.advance_to(at("12:31"))
        for _ in range(3):
            world.kill()
            world.restart()
        assert world.app.schedules.get("job").note == "job:2026-11-15T12:30:00Z~1 failed: lost"


def test_a_run_longer_than_its_timeout_is_an_error_at_that_moment() -> None:
    with a_world(Job(10), cron="5 12 * * *", timeout="90s") as world:
        world.advance_to(at("12:10"))
        (run,) = world.runs("job")
        assert (run.status, run.reason, run.error) == ("error", "timeout", "it ran longer than its timeout")
        assert run.ended_at == at("12:06:30")


def test_a_run_that_ignores_its_timeout_is_over_all_the_same_and_frees_the_schedule() -> None:
    async def ignores(input: Any, ctx: Context) -> str:
        for _ in range(10):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue
        return "done after all"

    with a_world(ignores, every="5m", timeout="2m") as world:
        world.advance_to(at("12:30"))
        runs = [run for run in world.runs("job") if run.status != "running"]
        assert [(run.reason, run.result) for run in runs] == [("timeout", None)] * len(runs)
        assert [clock(run.started_at) for run in runs if run.started_at][:2] == ["12:05", "12:10"]


def test_a_timeout_is_retried_and_each_attempt_has_it_anew() -> None:
    with a_world(Job(10, 1), cron="5 12 * * *", timeout="2m", retry=2) as world:
        world.advance_to(at("12:10"))
        assert [(run.status, run.reason) for run in world.runs("job")] == [("error", "timeout"), ("success", None)]


def test_the_limit_counts_starts_of_slots_and_then_the_schedule_is_completed() -> None:
    with a_world(Job(), every="5m", limit=2, covers=False) as world:
        assert world.app.schedules.get("job").remaining == 2
        world.app.schedules.trigger("job")
        world.advance_to(at("12:05"))
        assert world.app.schedules.get("job").remaining == 1
        world.advance_to(at("12:30"))
        assert timeline(world, kind="slot") == ["12:05 success 12:05-12:05", "12:10 success 12:10-12:10"]
        schedule = world.app.schedules.get("job")
        assert (schedule.standing, schedule.remaining, schedule.next_at) == ("completed", 0, None)
        assert schedule in world.app.schedules.list()
        assert world.app.schedules.trigger("job").decision == "start"
        world.advance()


def test_slots_skipped_for_overlap_or_missed_do_not_count_against_the_limit() -> None:
    with a_world(Job(7, 1), every="5m", limit=2, covers=False) as world:
        world.advance_to(at("12:11"))
        world.kill()
        world.advance_to(at("12:22"))
        world.restart()
        assert world.app.schedules.get("job").remaining == 1
        world.advance_to(at("12:40"))
        assert [run.status for run in world.runs("job", status="success")] == ["success"] * 2


def test_several_slots_at_once_beyond_the_limit_are_recorded_as_such() -> None:
    with a_world(Job(), every="5m", limit=2, catchup="all", overlap="allow_all") as world:
        world.kill()
        world.advance_to(at("12:21"))
        world.restart()
        assert timeline(world) == [
            "12:05 success 12:21-12:21",
            "12:10 success 12:21-12:21",
            "12:15 skipped limit_reached",
            "12:20 skipped limit_reached",
        ]


def test_retries_redeliveries_and_backfills_are_free() -> None:
    with a_world(Failing(1), every="5m", limit=3, retry=2, covers=False) as world:
        world.advance_to(at("12:06"))
        assert world.app.schedules.get("job").remaining == 2
        world.app.schedules.backfill("job", at("12:05"), at("12:05"), which="all")
        world.advance(seconds=1)
        assert world.app.schedules.get("job").remaining == 2


def test_a_completed_schedule_is_edited_back_to_life() -> None:
    with a_world(Job(), every="5m", limit=1, covers=False) as world:
        world.advance_to(at("12:16"))
        world.app.schedules.patch("job", limit=2)
        explained = world.app.schedules.explain("job", at("12:10"))
        assert (explained.verdict, explained.reason) == ("never", "limit_reached")
        world.advance_to(at("12:40"))
        assert [clock(run.scheduled_for) for run in world.runs("job")] == ["12:05", "12:20", "12:25"]


def test_a_schedule_whose_spec_is_exhausted_is_completed_and_can_be_edited_back_to_life() -> None:
    with a_world(Job(), at=[at("12:05")]) as world:
        world.advance_to(at("12:06"))
        assert world.app.schedules.get("job").standing == "completed"
        world.app.schedules.patch("job", at=[at("12:05"), at("12:30")])
        assert world.app.schedules.get("job").standing == "active"
        world.advance_to(at("12:31"))
        assert [clock(run.scheduled_for) for run in world.runs("job")] == ["12:05", "12:30"]


def test_the_last_result_and_the_last_failure_are_handed_to_the_next_run() -> None:
    """Temporal's chain: ok, fail, ok, ok, fail."""
    seen: list[tuple[Any, str | None]] = []

    async def graph(input: Any, ctx: Context) -> int:
        seen.append((ctx.last_result, ctx.last_failure and ctx.last_failure.splitlines()[0]))
        if len(seen) in (2, 5):
            raise RuntimeError(f"run {len(seen)}")
        return len(seen)

    with a_world(graph, every="5m") as world:
        world.advance_to(at("12:31"))
        assert seen == [
            (None, None),
            (1, None),
            (1, "RuntimeError: run 2"),
            (3, None),
            (4, None),
            (4, "RuntimeError: run 5"),
        ]


def test_last_failure_is_judged_at_the_end_of_a_chain_and_timeouts_count() -> None:
    job = Job(10, 0)
    with a_world(job, every="15m", timeout="1m") as world:
        world.advance_to(at("12:31"))
        assert job.seen[1].last_failure == "it ran longer than its timeout"


def test_a_result_that_cannot_be_kept_makes_no_failure_of_a_success() -> None:
    async def odd(input: Any, ctx: Context) -> object:
        return object()

    with a_world(odd, cron="5 12 * * *") as world:
        world.advance_to(at("12:06"))
        (run,) = world.runs("job")
        assert (run.status, run.result) == ("success", None)
        assert run.error is not None
        assert run.error.startswith("the result was not kept")


def test_a_function_that_cancels_itself_is_aborted() -> None:
    async def gives_up(input: Any, ctx: Context) -> None:
        raise asyncio.CancelledError

    with a_world(gives_up, cron="5 12 * * *") as world:
        world.advance(minutes(6))
        (run,) = world.runs("job")
        assert (run.status, run.reason) == ("error", "aborted")
        assert run.ended_at == at("12:05") + timedelta()
