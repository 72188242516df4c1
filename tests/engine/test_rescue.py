"""Workers die at any moment: no slot is lost, none is run twice but by redelivery, and a zombie changes nothing."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import create_engine

from foliot import Context
from foliot.domain.instants import MICROSECONDS
from foliot.stores.transaction import SqlTransaction
from foliot.testing import World
from tests.databases import PostgresqlServer
from tests.engine.invariants import Books, check_books, check_decision_counts
from tests.engine.timelines import Failing, Job, a_world, at, clock, register_elsewhere, timeline


@pytest.fixture
def postgresql_url(postgresql_server: PostgresqlServer) -> str:
    return postgresql_server.new_database()


def holder_of(world: World, run_id: str) -> int:
    """The number, in this world, of the worker that holds the run."""
    index = [run.id for run in world.runs()].index(run_id)
    worker = Books(world).runs[index]["worker"]
    return next(number for number in (0, 1) if world.engine(number).worker == worker)


def let_lease_run_out(world: World, worker: int) -> None:
    """As if the worker had not looked at the database for longer than its lease."""
    ref, now = world.engine(worker).worker, int(world.now.timestamp()) * MICROSECONDS

    def act(tx: SqlTransaction) -> None:
        tx.cx.exec_driver_sql(f"UPDATE workers SET lease_until = {now - 1} WHERE ref = {ref}")

    world.app.parts.database.write(act)
    world.engine(1 - worker).poke()
    world.advance()


def test_a_restarted_process_delivers_its_run_again_with_the_same_id_attempt_and_key(database_url: str) -> None:
    job = Job(7)
    with a_world(job, database=database_url, cron="5 * * * *") as world:
        world.advance_to(at("12:06"))
        world.kill()
        world.advance_to(at("12:08"))
        world.restart()
        world.advance_to(at("12:20"))
        assert timeline(world) == ["12:05 success 12:05-12:15"]
        assert job.deliveries == ["job:2026-11-15T12:05:00Z~1"] * 2
        assert {(ctx.attempt, ctx.idempotency_key) for ctx in job.seen} == {(1, "job:2026-11-15T12:05:00Z")}
        (run,) = Books(world).runs
        assert (run["losses"], run["token"] > 1) == (1, True)


def test_on_sqlite_old_leases_are_void_at_once() -> None:
    with a_world(Job(7), cron="5 * * * *") as world:
        world.advance_to(at("12:06"))
        world.kill()
        world.restart()
        assert world.engine().counters.rescued == 1
        assert world.engine().in_hand == 1


def test_at_process_start_rescue_comes_before_sweep() -> None:
    """The slot of 12:10 meets the rescued run of 12:05, not a schedule that seems free."""
    with a_world(Job(20), every="5m") as world:
        world.advance_to(at("12:06"))
        world.kill()
        world.advance_to(at("12:10:30"))
        world.restart()
        assert timeline(world) == ["12:05 running 12:05-", "12:10 skipped overlap"]


def test_a_run_is_lost_at_the_third_loss() -> None:
    job = Job(7)
    with a_world(job, cron="5 12 * * *") as world:
        world.advance_to(at("12:06"))
        for losses in (1, 2):
            world.kill()
            world.restart()
            assert world.runs("job")[0].losses == losses
        world.kill()
        world.restart()
        assert timeline(world) == ["12:05 error lost 12:05-12:06"]
        assert len(job.seen) == 3


def test_a_lost_run_is_a_failure_that_a_retry_policy_may_take_up() -> None:
    job = Job(7, 7, 7, 0)
    with a_world(job, cron="5 12 * * *", retry=2) as world:
        world.advance_to(at("12:06"))
        for _ in range(3):
            world.kill()
            world.restart()
        world.advance(minutes=1)
        assert [line.split()[:3] for line in timeline(world)] == [
            ["12:05", "error", "lost"],
            ["12:05", "~2", "success"],
        ]


def test_a_lost_run_frees_the_schedule_for_what_waits() -> None:
    with a_world(Job(20, 20, 20, 1), every="5m", overlap="buffer_one") as world:
        world.advance_to(at("12:11"))
        for _ in range(3):
            world.kill()
            world.restart()
        assert timeline(world) == ["12:05 error lost 12:05-12:11", "12:10 running 12:11-"]


def test_a_killed_worker_is_rescued_by_the_other_within_its_lease(postgresql_url: str) -> None:
    job = Job(7)
    with a_world(job, database=postgresql_url, workers=2, cron="5 12 * * *") as world:
        world.advance_to(at("12:06:02"))
        (run,) = world.runs("job")
        dead = holder_of(world, run.id)
        world.kill(dead)
        world.advance(seconds=24)
        assert len(job.seen) == 1, "its lease still holds"
        world.advance(seconds=7)
        assert job.deliveries == [run.id] * 2
        (row,) = Books(world).runs
        assert (row["attempt"], row["losses"], row["token"] > 1) == (1, 1, True)
        assert row["worker"] == world.engine(1 - dead).worker
        world.advance_to(at("12:14"))
        assert [run.status for run in world.runs("job")] == ["success"]


def test_a_worker_that_renews_its_lease_keeps_its_run(postgresql_url: str) -> None:
    job = Job(30)
    with a_world(job, database=postgresql_url, workers=2, cron="5 12 * * *") as world:
        world.advance_to(at("12:36"))
        assert (len(job.seen), timeline(world)) == (1, ["12:05 success 12:05-12:35"])


def test_a_zombie_is_fenced_and_its_late_report_is_refused(postgresql_url: str) -> None:
    """Its lease ran out while it was not looking; the other has the run; its own success is not recorded."""

    async def answers(input: Any, ctx: Context) -> int:
        answers_given.append(ctx.run_id)
        await asyncio.sleep(62)
        return len(answers_given)

    answers_given: list[str] = []
    with a_world(answers, database=postgresql_url, workers=2, cron="5 12 * * *") as world:
        world.advance_to(at("12:05:58"))
        (run,) = world.runs("job")
        zombie = holder_of(world, run.id)
        let_lease_run_out(world, zombie)
        assert holder_of(world, run.id) == 1 - zombie
        world.advance_to(at("12:06:03"))
        assert world.runs("job")[0].status == "running"
        assert world.engine(zombie).counters.fenced == 1
        world.advance_to(at("12:08"))
        (run,) = world.runs("job")
        assert (run.status, run.attempt, clock(run.ended_at) if run.ended_at else None) == ("success", 1, "12:07")


def test_a_fenced_worker_goes_on_under_a_new_number(postgresql_url: str) -> None:
    with a_world(Job(1), database=postgresql_url, workers=2, every="5m") as world:
        world.advance_to(at("12:05:58"))
        zombie = holder_of(world, world.runs("job")[0].id)
        number = world.engine(zombie).worker
        let_lease_run_out(world, zombie)
        world.advance(seconds=10)
        assert world.engine(zombie).worker != number
        world.kill(1 - zombie)
        world.advance(minutes=12)
        assert {run.status for run in world.runs("job")} <= {"success", "running"}


def test_a_report_for_a_run_that_is_over_is_refused_and_counted_as_no_end() -> None:
    async def ends_itself(input: Any, ctx: Context) -> str:
        world.app.runs.terminate(ctx.run_id)
        return "too late"

    with a_world(ends_itself, cron="5 12 * * *") as world:
        world.advance_to(at("12:06"))
        (run,) = world.runs("job")
        assert (run.status, run.reason, run.result) == ("cancelled", "terminated", None)
        assert world.engine().counters.refused == 1
        check_decision_counts(world, [world.engine().counters, world.app.parts.shop.counts])


@pytest.mark.parametrize("moment", ["12:04:59", "12:05", "12:05:30", "12:06", "12:09:59", "12:10", "12:11"])
def test_killed_at_any_moment_and_restarted_nothing_is_lost_and_nothing_doubled(moment: str) -> None:
    job = Job(1)
    with a_world(job, every="5m", overlap="buffer_all", catchup="all") as world:
        world.advance_to(at(moment))
        world.kill()
        check_books(world)
        world.advance(minutes=3)
        world.restart()
        world.advance_to(at("12:25"))
        runs = world.runs("job")
        assert [run.status for run in runs[:-1]] == ["success"] * 3 or len(runs) == 5
        assert [clock(run.scheduled_for) for run in runs] == ["12:05", "12:10", "12:15", "12:20", "12:25"]
        redelivered = len(job.deliveries) - len(set(job.deliveries))
        assert redelivered == sum(run.losses for run in runs)


def test_a_storm_of_kills_loses_no_slot() -> None:
    job = Job(0.3)
    with a_world(job, every="1m", overlap="buffer_all", catchup="all") as world:
        for seconds in (17, 59, 61, 3, 45, 60, 77, 12, 118, 60):
            world.advance(seconds=seconds)
            world.kill()
            world.restart()
        world.advance_to(at("12:20:30"))
        runs = world.runs("job")
        assert [run.status for run in runs] == ["success"] * 20
        assert len(job.deliveries) - len(set(job.deliveries)) == sum(run.losses for run in runs)


def test_a_retry_that_waits_survives_a_restart() -> None:
    with a_world(Failing(1), cron="5 12 * * *", retry={"attempts": 2, "backoff": "5m"}) as world:
        world.advance_to(at("12:06"))
        world.kill()
        world.advance_to(at("12:08"))
        world.restart()
        world.advance_to(at("12:12"))
        assert [run.status for run in world.runs("job")] == ["error", "success"]


def test_a_run_that_was_asked_to_stop_is_not_delivered_again_after_its_worker_died() -> None:
    job = Job(7)
    with a_world(job, cron="5 12 * * *") as world:
        world.advance_to(at("12:06"))
        world.kill()
        world.app.runs.cancel("job:2026-11-15T12:05:00Z~1")
        world.restart()
        world.advance(minutes=10)
        assert timeline(world) == ["12:05 cancelled cancelled_by_user 12:05-12:06"]
        assert len(job.seen) == 1


def test_a_worker_leaves_what_it_has_no_graph_for_to_one_that_has(postgresql_url: str) -> None:
    """The rescuer frees a schedule whose target it does not know: the waiting slot is not started by it."""
    job = Job(20)
    with a_world(job, database=postgresql_url, every="5m", overlap="buffer_one", settled=False) as world:
        world.advance_to(at("12:11"))
        register_elsewhere(world, "python:elsewhere")
        world.app.schedules.patch("job", target="elsewhere")
        world.app.runs.terminate("job:2026-11-15T12:05:00Z~1")
        world.advance(minutes=1)
        assert timeline(world) == ["12:05 cancelled terminated 12:05-12:11", "12:10 pending"]


def test_the_end_of_a_run_does_not_start_here_what_belongs_to_another_target() -> None:
    with a_world(Job(7), every="5m", overlap="buffer_one", settled=False) as world:
        world.advance_to(at("12:11"))
        register_elsewhere(world, "python:elsewhere")
        world.app.schedules.patch("job", target="elsewhere")
        world.advance_to(at("12:13"))
        assert timeline(world) == ["12:05 success 12:05-12:12", "12:10 pending"]


def test_the_third_loss_of_a_run_does_not_start_here_what_belongs_to_another_target() -> None:
    with a_world(Job(20), every="5m", overlap="buffer_one", settled=False) as world:
        world.advance_to(at("12:11"))
        for _ in range(2):
            world.kill()
            world.restart()
        register_elsewhere(world, "python:elsewhere")
        world.app.schedules.patch("job", target="elsewhere")
        world.kill()
        world.restart()
        assert timeline(world) == ["12:05 error lost 12:05-12:11", "12:10 pending"]


class _SlowAnswer:
    """A database whose answer to the next start takes so many seconds; the commit is in time."""

    def __init__(self, world: World, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> None:
        self._database: Any = world.app.parts.database
        self._world = world
        self._seconds = seconds
        self._meanwhile = meanwhile

    def write(self, act: Any) -> Any:
        result = self._database.write(act)
        if self._seconds and getattr(result, "launches", None):
            self._world._time.selector.time += self._seconds
            self._seconds = 0.0
            self._meanwhile()
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def test_a_worker_that_was_away_for_longer_than_its_lease_begins_nothing_that_it_launched(postgresql_url: str) -> None:
    job = Job(1)
    with a_world(job, database=postgresql_url, cron="5 * * * *") as world:
        engine = world.engine()
        engine.database = _SlowAnswer(world, 2 * engine.settings.lease / MICROSECONDS)
        world.advance_to(at("12:10"))
        assert timeline(world) == ["12:05 success 12:05-12:07"]
        assert len(job.deliveries) == 1
        (run,) = Books(world).runs
        assert (run["losses"], run["token"]) == (0, 3)


class Elsewhere:
    """Another transaction, which holds the schedule `job` until it is over."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url)
        self._connection = self._engine.connect()

    def hold(self) -> None:
        of_the_job = "SELECT ref FROM schedules WHERE id = 'job'"
        self._connection.exec_driver_sql(f"SELECT ref FROM cursors WHERE ref = ({of_the_job}) FOR UPDATE")

    def let_go(self) -> None:
        self._connection.close()
        self._engine.dispose()


@pytest.fixture
def elsewhere(postgresql_url: str) -> Iterator[Elsewhere]:
    other = Elsewhere(postgresql_url)
    yield other
    other.let_go()


@pytest.mark.parametrize("has_others", [False, True])
def test_what_cannot_be_handed_back_yet_is_kept_under_a_lease_until_it_can(
    has_others: bool, postgresql_url: str, elsewhere: Elsewhere
) -> None:
    """Somebody holds its schedule just then. The worker has other runs, begins and ends them, and keeps its lease."""
    job = Job(1)
    with a_world(job, database=postgresql_url, cron="5 12 * * *") as world:
        if has_others:
            world.app.graph("other")(Job(0.1))
            world.app.schedules.create("other", every="7s")
        world.advance_to(at("12:04:59"))
        engine = world.engine()
        engine.database = _SlowAnswer(world, 2 * engine.settings.lease / MICROSECONDS, elsewhere.hold)
        while world.now < at("12:08"):
            world.advance(seconds=1)
            check_books(world)
        assert job.deliveries == []
        elsewhere.let_go()
        world.advance(minutes=2)
        assert [run.status for run in world.runs("job")] == ["success"]
        assert (len(job.deliveries), Books(world).runs[0]["losses"]) == (1, 0)


def test_what_a_leaving_worker_could_not_hand_back_is_taken_from_it_by_its_lease(
    postgresql_url: str, elsewhere: Elsewhere
) -> None:
    job = Job(1)
    with a_world(job, database=postgresql_url, cron="5 12 * * *") as world:
        engine = world.engine()
        engine.database = _SlowAnswer(world, 2 * engine.settings.lease / MICROSECONDS, elsewhere.hold)
        world.advance_to(at("12:07"))
        world.stop()
        world.advance(seconds=10)
        elsewhere.let_go()
        check_books(world)
        world.restart()
        world.advance(minutes=3)
        assert [run.status for run in world.runs("job")] == ["success"]
        assert (len(job.deliveries), Books(world).runs[0]["losses"]) == (1, 1)


def test_a_leaving_worker_waits_a_moment_for_a_schedule_that_somebody_holds(
    postgresql_url: str, elsewhere: Elsewhere
) -> None:
    job = Job(7)
    with a_world(job, database=postgresql_url, cron="5 12 * * *") as world:
        world.advance_to(at("12:06"))
        elsewhere.hold()
        world.stop()
        world.advance(seconds=31)
        elsewhere.let_go()
        world.advance(seconds=4)
        assert (Books(world).runs[0]["worker"], Books(world).runs[0]["losses"]) == (None, 0)
        world.restart()
        world.advance(minutes=8)
        assert [run.status for run in world.runs("job")] == ["success"]
