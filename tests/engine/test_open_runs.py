"""What is still open is never tidied away, however old it is."""

from foliot.engine.settings import EngineSettings
from tests.builders import HOUR, MINUTE
from tests.engine.timelines import Job, a_world, at, clock


def test_a_run_that_goes_on_is_kept_though_all_around_it_are_old_enough_to_go() -> None:
    settings = EngineSettings(
        keep_for=HOUR, keep_runs=1, prune_every=HOUR // 4, heartbeat=10 * MINUTE, lease=HOUR, look=HOUR
    )
    with a_world(Job(9 * 60, 0), settings=settings, every="10m", overlap="allow_all") as world:
        world.advance_to(at("20:05"))
        first, *others = world.runs("job")
        assert (clock(first.scheduled_for), first.status) == ("12:10", "running")
        assert len(others) < 12
        world.advance_to(at("21:15"))
        assert world.engine().counters.refused == 0
