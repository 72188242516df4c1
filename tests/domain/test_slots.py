import subprocess
import sys
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid, Spec
from foliot.domain.runs import Kind
from foliot.domain.slots import JitterMode, SlotKey, fraction_of, jittered, read_run_id, run_id
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


class TestIdentity:
    SLOT = SlotKey("digest", Kind.SLOT, NOON * SECOND)
    MANUAL = SlotKey("digest", Kind.MANUAL, NOON * SECOND + 1)
    BACKFILL = SlotKey("digest", Kind.BACKFILL, NOON * SECOND, 7)

    def test_a_slot_is_named_by_its_schedule_and_its_nominal_time(self) -> None:
        assert str(self.SLOT) == "digest:2026-11-15T12:00:00Z"

    def test_a_manual_run_is_named_by_the_instant_of_its_trigger(self) -> None:
        assert str(self.MANUAL) == "digest:manual:2026-11-15T12:00:00.000001Z"

    def test_a_backfilled_slot_is_named_by_its_backfill_too(self) -> None:
        assert str(self.BACKFILL) == "digest:backfill:7:2026-11-15T12:00:00Z"

    def test_attempts_at_a_slot_share_its_key_and_have_a_name_each(self) -> None:
        assert run_id(self.SLOT, 1) == "digest:2026-11-15T12:00:00Z~1"
        assert run_id(self.SLOT, 2) == "digest:2026-11-15T12:00:00Z~2"

    @given(
        st.builds(
            SlotKey,
            st.sampled_from(["digest", "manual", "backfill", "slot", "a.b_c-1"]),
            st.sampled_from([Kind.SLOT, Kind.MANUAL]),
            st.integers(0, 7_258_118_399_999_999),
            st.just(0),
        )
        | st.builds(
            SlotKey,
            st.sampled_from(["digest", "manual", "backfill"]),
            st.just(Kind.BACKFILL),
            st.integers(0, 7_258_118_399_999_999),
            st.integers(1, 10**18 - 1),
        ),
        st.integers(1, 1000),
    )
    def test_a_run_id_names_its_slot_and_its_attempt_and_no_other(self, key: SlotKey, attempt: int) -> None:
        assert read_run_id(run_id(key, attempt)) == (key, attempt)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "digest",
            "digest~1",
            "digest:2026-11-15T12:00:00Z",
            "digest:2026-11-15T12:00:00Z~",
            "digest:2026-11-15T12:00:00Z~one",
            "digest:2026-11-15T12:00:00Z~-1",
            "digest:2026-11-15T12:00:00Z~1_0",
            "digest:2026-11-15T12:00:00Z~ 1",
            "digest:2026-11-15T12:00:00Z~١",
            "digest:2026-11-15T12:00:00Z~" + "9" * 19,
            "digest:2026-11-15T12:00:00~1",
            "digest:yesterday~1",
            "digest:manual:~1",
            "digest:manual~1",
            "digest:backfill:2026-11-15T12:00:00Z~1",
            "digest:backfill:x:2026-11-15T12:00:00Z~1",
            "digest:backfill:7~1",
            "digest:2200-01-01T00:00:00Z~1",
            None,
        ],
    )
    def test_any_other_text_is_refused_with_an_example(self, text: str) -> None:
        with pytest.raises(Invalid, match="a run id looks like 'digest:2026-11-15T09:00:00Z~1'"):
            read_run_id(text)


@given(st.text(), st.integers())
def test_a_fraction_is_below_its_bound_and_never_changes(key: str, nominal: int) -> None:
    assert 0 <= fraction_of(key, nominal) < 2**64
    assert fraction_of(key, nominal) == fraction_of(key, nominal)
