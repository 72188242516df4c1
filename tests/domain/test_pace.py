"""Pace: bursts are granted, the long run is bounded, and nobody waits longer than they must."""

from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.pace import Pace, draw, full

PACE = Pace(per_second=10, burst=5)


def test_a_burst_is_granted_and_then_one_at_a_time() -> None:
    bucket = full(PACE, 0.0)
    granted = []
    for _ in range(7):
        bucket, is_granted, wait = draw(bucket, PACE, 0.0)
        granted.append(is_granted)
    assert granted == [True] * 5 + [False] * 2
    assert wait == 0.1
    assert draw(bucket, PACE, 0.1).is_granted


def test_time_that_goes_back_gives_and_takes_nothing() -> None:
    bucket = draw(full(PACE, 100.0), PACE, 100.0).bucket
    assert draw(bucket, PACE, 50.0).bucket.left == bucket.left - 1


@given(st.lists(st.floats(0, 1), max_size=200))
def test_no_more_are_granted_than_the_burst_and_what_time_has_added(gaps: list[float]) -> None:
    now, bucket, granted = 0.0, full(PACE, 0.0), 0
    for gap in gaps:
        now += gap
        bucket, is_granted, _ = draw(bucket, PACE, now)
        granted += is_granted
    assert granted <= PACE.burst + now * PACE.per_second + 1e-6
