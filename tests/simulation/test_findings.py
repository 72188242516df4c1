"""What the simulation has found, each as small as it can be told."""

from datetime import UTC, datetime
from decimal import Decimal

from foliot import Context, Foliot
from foliot.domain.credits import Pricing
from foliot.testing import virtual

START = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_an_edit_of_a_paused_schedule_that_had_no_starts_left_records_no_slots_that_it_never_owed() -> None:
    app = Foliot("sqlite:///not-used.db")
    app.graph("job")(lambda: None)
    with virtual(app, START) as world:
        app.schedules.create("once", target="job", every="10m", limit=1)
        world.advance(hours=1)
        app.schedules.pause("once")
        world.advance(hours=1)
        app.schedules.patch("once", every="5m")
        assert [run.status for run in world.runs("once")] == ["success"]


def an_app(*costs: str) -> Foliot:
    """Its runs cost so many USD, one after another; ten million credits are one."""
    app = Foliot("sqlite:///not-used.db", pricing=Pricing(markup=Decimal(1)))
    left = list(costs)

    @app.graph("agent")
    def agent(input: None, ctx: Context) -> None:
        ctx.report_usage("call", cost=left.pop(0))

    return app


def test_a_budget_that_is_found_spent_at_the_end_of_a_pause_pauses_its_schedule_anew() -> None:
    app = an_app("0.00001", "0.00001")
    with virtual(app, START) as world:
        budget = {"credits": 100, "per": "hour", "when_spent": "pause"}
        app.schedules.create("digest", target="agent", every="10m", catchup="last", budget=budget)
        world.advance(minutes=35)
        app.schedules.resume("digest")
        world.advance(seconds=1)
        assert [str(run.reason or run.status) for run in world.runs("digest")] == ["success", *["over_budget"] * 2]
        assert app.schedules.get("digest").note == "its budget is spent"
        world.advance(minutes=40)
        app.schedules.resume("digest")
        world.advance(seconds=1)
        assert world.runs("digest")[-1].status == "success"


def test_runs_that_mostly_cost_nothing_are_not_free_to_a_budget() -> None:
    app = an_app("0", "0", "0", "0.00001", "0", "0")
    with virtual(app, START) as world:
        app.schedules.create("digest", target="agent", every="10m", budget={"credits": 100, "per": "day"})
        world.advance(minutes=60)
        fates = [str(run.reason or run.status) for run in world.runs("digest")]
        assert fates == ["success"] * 4 + ["over_budget"] * 2


def test_a_budget_that_is_spent_in_the_midst_of_a_sweep_pauses_its_schedule() -> None:
    app = an_app("0.00001", "0.00001")
    with virtual(app, START) as world:
        budget = {"credits": 200, "per": "day", "when_spent": "pause"}
        app.schedules.create("digest", target="agent", every="10m", overlap="allow_all", catchup="all", budget=budget)
        world.advance(minutes=10)
        app.schedules.pause("digest")
        world.advance(minutes=20)
        app.schedules.resume("digest")
        world.advance(seconds=1)
        assert [str(run.reason or run.status) for run in world.runs("digest")] == ["success", "success", "over_budget"]
        assert app.schedules.get("digest").note == "its budget is spent"
