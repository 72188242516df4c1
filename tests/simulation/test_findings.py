"""What the simulation has found, each as small as it can be told."""

from datetime import UTC, datetime

from foliot import Foliot
from foliot.testing import virtual


def test_an_edit_of_a_paused_schedule_that_had_no_starts_left_records_no_slots_that_it_never_owed() -> None:
    app = Foliot("sqlite:///not-used.db")
    app.graph("job")(lambda: None)
    with virtual(app, datetime(2026, 11, 15, 12, tzinfo=UTC)) as world:
        app.schedules.create("once", target="job", every="10m", limit=1)
        world.advance(hours=1)
        app.schedules.pause("once")
        world.advance(hours=1)
        app.schedules.patch("once", every="5m")
        assert [run.status for run in world.runs("once")] == ["success"]
