import subprocess
import sys
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from foliot import Spec
from foliot.domain.slots import JitterMode, jittered
from tests.builders import at

NOON = at("2026-11-15T12:00:00Z")
SECOND = 1_000_000


def test_without_jitter_a_slot_is_due_at_its_nominal_time() -> None:
    assert Spec(cron=("0 12 * * *",)).compile().due_at(NOON, "mail") == NOON * SECOND


def test_jitter_is_the_same_in_every_process_whatever_its_hash_seed() -> None:
    program = (
        "from foliot.domain.slots import *; "
        f"print(jittered('mail', {NOON}, 30 * MICROSECONDS, JitterMode.AFTER, None, None))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{NOON * SECOND + 28_702_711}\n"}


def test_two_schedules_of_the_same_spec_are_due_at_different_moments() -> None:
    times = Spec(cron=("0 12 * * *",), jitter=timedelta(minutes=30)).compile()
    assert len({times.due_at(NOON, f"schedule {number}") for number in range(100)}) == 100


@given(st.text(), st.integers(0, 7_000_000_000), st.integers(0, 10**12), st.none() | st.integers(1, 10**6))
def test_jitter_after_stays_below_the_span_and_the_next_slot(
    key: str, nominal: int, span: int, until_next: int | None
) -> None:
    due = jittered(key, nominal, span, JitterMode.AFTER, None, until_next)
    bound = span if until_next is None else min(span, until_next * SECOND)
    assert 0 <= due - nominal * SECOND < max(bound, 1)


@given(
    st.text(),
    st.integers(0, 7_000_000_000),
    st.integers(0, 10**12),
    st.none() | st.integers(1, 10**6),
    st.none() | st.integers(1, 10**6),
)
def test_jitter_around_stays_within_the_span_and_half_way_to_each_neighbour(
    key: str, nominal: int, span: int, since_previous: int | None, until_next: int | None
) -> None:
    due = jittered(key, nominal, span, JitterMode.AROUND, since_previous, until_next)
    before = span if since_previous is None else min(span, since_previous * SECOND // 2)
    after = span if until_next is None else min(span, until_next * SECOND // 2)
    assert -before <= due - nominal * SECOND < max(after, 1)


@given(st.sampled_from(["after", "around"]), st.integers(1, 7200), st.text(max_size=20))
def test_jittered_slots_keep_their_order(mode: str, span: int, key: str) -> None:
    times = Spec(
        cron=("*/7 * * * *", "13 */5 * * *"), timezone="Europe/Berlin", jitter=timedelta(seconds=span), jitter_mode=mode
    ).compile()
    due = [times.due_at(instant, key) for instant in times.between(NOON, NOON + 86_400)]
    assert due == sorted(set(due))
