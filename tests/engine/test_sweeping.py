"""Which slots a schedule owes when it is looked at, and what their lateness makes of them."""

from datetime import timedelta

import pytest

from foliot.domain.runs import Reason
from foliot.engine.settings import EngineSettings
from foliot.testing import World
from tests.databases import PostgresqlServer
from tests.engine.invariants import Books
from tests.engine.timelines import START, Job, a_world, at, clock, register_elsewhere, timeline


def swept_to(world: World) -> str:
    return clock(world.app.schedules.get("job").swept_to)


def down(world: World, **length: float) -> None:
    """No worker for so long; then there is one again."""
    world.kill()
    world.advance(timedelta(**length))
    world.restart()


def test_slots_start_on_time_and_the_cursor_stands_on_the_last_one_not_on_now() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:12"))
        assert timeline(world) == ["12:05 success 12:05-12:05", "12:10 success 12:10-12:10"]
        assert swept_to(world) == "12:10"


def test_a_schedule_created_on_a_slot_begins_with_the_next_one() -> None:
    with a_world(Job(), every="5m") as world:
        world.advance_to(at("12:05"))
        world.app.schedules.create("other", target="job", every="5m")
        world.advance_to(at("12:10"))
        assert timeline(world, "other") == ["12:10 success 12:10-12:10"]


def test_with_jitter_the_cursor_stops_before_a_slot_that_is_not_due_yet() -> None:
    with a_world(Job(), cron="0 * * * *", jitter="30m") as world:
        world.advance_to(at("13:00"))
        due = world.app.schedules.get("job").next_at
        assert due is not None
        assert at("13:00") < due < at("13:30")
        assert (timeline(world), swept_to(world)) == ([], "12:00")
        world.advance_to(due)
        assert [(clock(run.scheduled_for), run.started_at) for run in world.runs("job")] == [("13:00", due)]


def test_with_jitter_around_a_slot_may_start_before_its_nominal_time_and_the_cursor_leads() -> None:
    with a_world(Job(), cron="0 * * * *", jitter="20m", jitter_mode="around") as world:
        world.advance_to(at("20:30"))
        runs = world.runs("job")
        assert [clock(run.scheduled_for) for run in runs] == [f"{hour}:00" for hour in range(13, 21)]
        early = [run for run in runs if run.due_at < run.scheduled_for]
        assert early
        assert all(run.started_at == run.due_at for run in runs)
        assert all(abs(run.due_at - run.scheduled_for) <= timedelta(minutes=20) for run in runs)
        nominal = early[-1].scheduled_for
        assert world.app.schedules.explain("job", nominal).verdict == "ran"


def test_due_times_around_stay_within_half_the_gap_to_each_neighbour() -> None:
    with a_world(Job(), every="10m", jitter="3h", jitter_mode="around") as world:
        world.advance(hours=5)
        runs = world.runs("job")
        assert all(abs(run.due_at - run.scheduled_for) <= timedelta(minutes=5) for run in runs)
        assert [run.due_at for run in runs] == sorted(run.due_at for run in runs)
        assert {run.status for run in runs} == {"success"}


def test_every_slot_within_grace_starts_in_order_under_overlap() -> None:
    with a_world(Job(), every="20s", overlap="buffer_all") as world:
        down(world, seconds=60)
        world.advance(seconds=1)
        assert timeline(world) == [
            "12:00:20 success 12:01-12:01",
            "12:00:40 success 12:01-12:01",
            "12:01 success 12:01-12:01",
        ]


def test_a_slot_exactly_at_the_end_of_the_grace_is_on_time_and_one_older_is_missed() -> None:
    with a_world(Job(), every="30s", grace="60s", overlap="allow_all") as world:
        down(world, seconds=120)
        assert timeline(world) == [
            "12:00:30 skipped missed",
            "12:01 success 12:02-12:02",
            "12:01:30 success 12:02-12:02",
            "12:02 success 12:02-12:02",
        ]


def test_grace_counts_from_the_due_time_not_from_the_nominal_time() -> None:
    with a_world(Job(), cron="0 * * * *", jitter="50m") as world:
        due = world.app.schedules.get("job").next_at
        assert due is not None
        world.kill()
        world.advance_to(due + timedelta(seconds=59))
        world.restart()
        assert [run.status for run in world.runs("job")] == ["success"]


@pytest.mark.parametrize(
    ("catchup", "lines"),
    [
        ("none", ["12:30 skipped missed", "13:30 skipped missed", "14:30 skipped missed"]),
        ("last", ["12:30 skipped missed", "13:30 skipped missed", "14:30 success 15:00-15:00"]),
        ("all", ["12:30 success 15:00-15:00", "13:30 success 15:00-15:00", "14:30 success 15:00-15:00"]),
        ("spread", ["12:30 success 15:00-15:00", "13:30 success 15:00:20-15:00:20", "14:30 success 15:00:40-15:00:40"]),
    ],
)
def test_three_hours_down_with_each_mode(catchup: str, lines: list[str], database_url: str) -> None:
    with a_world(Job(), database=database_url, cron="30 * * * *", catchup=catchup, overlap="buffer_all") as world:
        down(world, hours=3)
        world.advance(seconds=59)
        assert timeline(world) == lines
        world.advance_to(at("15:31"))
        assert timeline(world)[3:] == ["15:30 success 15:30-15:30"]


def test_catch_up_is_none_unless_somebody_asks() -> None:
    with a_world(Job(), cron="30 * * * *") as world:
        down(world, hours=3)
        assert {run.reason for run in world.runs("job")} == {Reason.MISSED}


def test_catch_up_last_starts_none_when_one_is_within_grace() -> None:
    with a_world(Job(), cron="0 * * * *", catchup="last") as world:
        down(world, hours=3, seconds=30)
        assert timeline(world) == ["13:00 skipped missed", "14:00 skipped missed", "15:00 success 15:00:30-15:00:30"]


def test_catch_up_all_takes_only_slots_within_its_window() -> None:
    """Temporal's case: hourly at :17, six hours asleep, a window of an hour: one run, five missed."""
    with a_world(Job(), cron="17 * * * *", catchup_window="1h") as world:
        down(world, hours=6)
        assert timeline(world) == [
            *(f"{hour}:17 skipped missed" for hour in range(12, 17)),
            "17:17 success 18:00-18:00",
        ]


def test_the_cap_bounds_one_sweep_and_never_moves_the_cursor_past_what_it_did_not_record() -> None:
    with a_world(Job(), every="1m", catchup="all", catchup_cap=10, overlap="allow_all") as world:
        down(world, minutes=35)
        world.advance(seconds=1)
        assert [run.status for run in world.runs("job")] == ["success"] * 35


def test_a_spread_backlog_keeps_its_nominal_keys_and_its_due_times_are_fixed_once() -> None:
    with a_world(Job(), cron="30 * * * *", catchup="spread", lookahead="6m", overlap="buffer_all") as world:
        down(world, hours=3)
        planned = {run.id: run.due_at for run in world.runs("job")}
        assert [clock(due) for due in planned.values()] == ["15:00", "15:02", "15:04"]
        down(world, minutes=1)
        world.advance(minutes=6)
        assert {run.id: run.due_at for run in world.runs("job")} == planned
        assert next(run.idempotency_key for run in world.runs("job")) == "job:2026-11-15T12:30:00Z"
        assert [clock(run.started_at) for run in world.runs("job") if run.started_at] == ["15:01", "15:02", "15:04"]


def test_overlap_of_a_spread_slot_is_judged_at_its_new_due_time() -> None:
    with a_world(Job(3), cron="30 * * * *", catchup="spread", lookahead="6m", overlap="skip") as world:
        down(world, hours=3)
        world.advance(minutes=10)
        assert timeline(world) == [
            "12:30 success 15:00-15:03",
            "13:30 skipped overlap",
            "14:30 success 15:04-15:07",
        ]


def test_ninety_nine_misses_are_rows_and_a_hundred_are_one_gap() -> None:
    with a_world(Job(), every="1m", grace="0s") as world:
        down(world, minutes=99, seconds=30)
        assert len(world.runs("job", reason="missed")) == 99
        assert world.app.runs.gaps("job") == []
        down(world, minutes=100)
        (gap,) = world.app.runs.gaps("job")
        assert (clock(gap.first), clock(gap.last), gap.size, gap.reason) == ("13:40", "15:19", 100, "missed")
        assert world.app.schedules.explain("job", at("14:00")).reason == "missed"


def test_a_year_of_missed_minutes_is_one_gap_row() -> None:
    with a_world(Job(), every="1m", covers=False) as world:
        down(world, days=365)
        (gap,) = world.app.runs.gaps("job")
        assert gap.size + len(world.runs("job")) == 365 * 24 * 60
        assert {run.status for run in world.runs("job")} <= {"success", "skipped"}


def test_an_edit_between_nominal_and_due_keeps_the_slot_with_its_old_due_time_and_the_new_target() -> None:
    old, new = Job(), Job()
    with a_world(old, cron="0 * * * *", jitter="40m") as world:
        world.app.graph("new")(new)
        due = world.app.schedules.get("job").next_at
        assert due is not None
        world.advance_to(at("13:00"))
        world.app.schedules.patch("job", cron="30 15 * * *", target="new")
        world.advance_to(due)
        assert [(clock(run.scheduled_for), run.started_at) for run in world.runs("job")] == [("13:00", due)]
        assert (len(old.seen), len(new.seen)) == (0, 1)
        world.advance_to(at("15:30"))
        assert [clock(run.scheduled_for) for run in world.runs("job")] == ["13:00", "15:30"]


def test_an_edit_never_fires_slots_before_it() -> None:
    """Temporal's case: from every hour to every 20 s at 01:07:10, the next is 01:07:20."""
    with a_world(Job(), every="1h") as world:
        world.advance_to(at("13:07:10"))
        world.app.schedules.patch("job", every="20s")
        world.advance_to(at("13:07:45"))
        assert [clock(run.scheduled_for) for run in world.runs("job")] == ["13:00", "13:07:20", "13:07:40"]


def test_an_edit_after_a_downtime_first_judges_what_was_owed_under_the_old_rules() -> None:
    with a_world(Job(), cron="30 * * * *", catchup="all", overlap="buffer_all") as world:
        world.kill()
        world.advance(hours=3)
        world.app.schedules.patch("job", cron="15 * * * *", catchup="none")
        world.restart()
        world.advance_to(at("15:16"))
        assert [clock(run.scheduled_for) for run in world.runs("job", status="success")] == [
            "12:30",
            "13:30",
            "14:30",
            "15:15",
        ]


def test_an_edit_of_cron_zone_or_input_takes_effect() -> None:
    job = Job()
    with a_world(job, cron="0 15 * * *", input={"n": 1}) as world:
        world.app.schedules.patch("job", cron="0 15 * * *", timezone="Europe/Berlin", input={"n": 2})
        world.advance_to(at("14:01"))
        assert (timeline(world), job.inputs) == (["14:00 success 14:00-14:00"], [{"n": 2}])


def test_an_unchanged_edit_changes_nothing() -> None:
    with a_world(Job(), every="5m") as world:
        before = world.app.schedules.get("job")
        world.advance(minutes=1)
        after = world.app.schedules.upsert("job", every="5m")
        assert (after.token, after.updated_at) == (before.token, before.updated_at)


def test_exclusions_and_bounds_are_never_slots() -> None:
    with a_world(Job(), every="10m", start_at=at("12:15"), end_at=at("12:40")) as world:
        world.advance(hours=1)
        assert [clock(run.scheduled_for) for run in world.runs("job")] == ["12:20", "12:30", "12:40"]
        assert world.app.schedules.get("job").standing == "completed"


def test_a_manual_only_schedule_has_no_slots_and_is_active() -> None:
    with a_world(Job(), manual=True) as world:
        world.advance(hours=1)
        assert (timeline(world), world.app.schedules.get("job").standing) == ([], "active")
        world.app.schedules.trigger("job")
        world.advance()
        assert timeline(world) == ["13:00 success 13:00-13:00"]


def test_the_clock_change_shifts_a_slot_of_the_night_and_collapses_to_one() -> None:
    """On 2027-03-28 in Berlin 02:30 does not exist: it fires once, at 03:00 summer time."""
    begin = START.replace(year=2027, month=3, day=27)
    job = Job()
    with a_world(job, start=begin, cron="30 2 * * *", timezone="Europe/Berlin") as world:
        world.advance(days=2)
        assert [f"{ctx.scheduled_for:%d %H:%M}" for ctx in job.seen] == ["28 01:00", "29 00:30"]


def test_nothing_is_looked_at_while_nothing_is_due() -> None:
    with a_world(Job(), cron="0 0 1 1 *", settings=EngineSettings(prune_every=10**15)) as world:
        world.advance(minutes=1)
        turns = world.engine().counters.turns
        world.advance(days=30)
        assert world.engine().counters.turns == turns


def test_slots_of_a_target_that_another_program_has_registered_are_left_alone() -> None:
    with a_world(Job(), every="5m", covers=False, settled=False) as world:
        register_elsewhere(world, "langgraph:poet")
        world.app.schedules.create("other", target="langgraph:poet", every="5m")
        world.advance(minutes=20)
        assert world.runs("other") == []
        assert clock(world.app.schedules.get("other").swept_to) == "12:00"


def test_a_slot_starts_exactly_once_with_two_workers(postgresql_server: PostgresqlServer) -> None:
    job = Job(1)
    with a_world(job, database=postgresql_server.new_database(), workers=2, every="5m") as world:
        world.advance(minutes=20)
        assert len(job.deliveries) == len(set(job.deliveries)) == 4
        assert len(Books(world).workers) == 2
