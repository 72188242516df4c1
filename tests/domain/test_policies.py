from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.policies import (
    FAILURES,
    RETRYABLE,
    CatchUp,
    Overlap,
    Policies,
    Retry,
    overlap_of,
    policies_of,
    read_policies,
)
from foliot.domain.runs import Reason
from tests.builders import HOUR, MINUTE, SECOND


def test_the_defaults_are_those_that_are_promised() -> None:
    policies = policies_of()
    assert policies == Policies()
    assert policies.overlap is Overlap.SKIP
    assert policies.catchup is CatchUp.NONE
    assert (policies.window, policies.cap) == (None, 100)
    assert policies.grace == MINUTE
    assert policies.lookahead == MINUTE
    assert policies.buffer == 1000
    assert (policies.timeout, policies.retry, policies.limit) == (None, None, None)
    assert not policies.pause_on_failure


class TestAsPeopleWriteThem:
    def test_every_policy_can_be_said(self) -> None:
        assert policies_of(
            overlap="buffer_all",
            buffer=5,
            catchup="spread",
            catchup_window="2h",
            catchup_cap=7,
            grace=0,
            lookahead=timedelta(minutes=5),
            timeout=1.5,
            retry=3,
            limit=9,
            pause_on_failure=True,
        ) == Policies(
            overlap=Overlap.BUFFER_ALL,
            buffer=5,
            catchup=CatchUp.SPREAD,
            window=2 * HOUR,
            cap=7,
            grace=0,
            lookahead=5 * MINUTE,
            timeout=3 * SECOND // 2,
            retry=Retry(3),
            limit=9,
            pause_on_failure=True,
        )

    @pytest.mark.parametrize(
        ("said", "meant"),
        [
            ("allow", Overlap.ALLOW_ALL),
            ("Allow", Overlap.ALLOW_ALL),
            ("queue", Overlap.BUFFER_ALL),
            ("coalesce", Overlap.BUFFER_ONE),
            ("Forbid", Overlap.SKIP),
            ("Replace", Overlap.CANCEL_OTHER),
            *((str(overlap), overlap) for overlap in Overlap),
        ],
    )
    def test_an_overlap_policy_goes_by_its_own_name_and_by_those_of_others(self, said: str, meant: Overlap) -> None:
        assert overlap_of(said) is meant
        assert policies_of(overlap=said).overlap is meant

    def test_no_overlap_policy_stays_none(self) -> None:
        assert overlap_of(None) is None

    def test_fire_immediately_means_all(self) -> None:
        assert policies_of(catchup="fire_immediately").catchup is CatchUp.ALL

    def test_a_window_without_a_mode_means_all_within_it(self) -> None:
        assert policies_of(catchup_window="1h") == Policies(catchup=CatchUp.ALL, window=HOUR)

    def test_a_window_on_top_of_other_policies_leaves_their_mode(self) -> None:
        base = Policies(catchup=CatchUp.LAST)
        assert policies_of(base, catchup_window="1h") == Policies(catchup=CatchUp.LAST, window=HOUR)

    def test_what_is_not_said_stays_as_it_is(self) -> None:
        base = Policies(overlap=Overlap.ALLOW_ALL, limit=3, pause_on_failure=True)
        assert policies_of(base, grace="5s") == Policies(
            overlap=Overlap.ALLOW_ALL, limit=3, pause_on_failure=True, grace=5 * SECOND
        )

    def test_what_is_switched_off_is_off(self) -> None:
        assert not policies_of(Policies(pause_on_failure=True), pause_on_failure=False).pause_on_failure
        assert policies_of(Policies(), grace="0s").grace == 0

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"overlap": "queue_one"}, "overlap takes 'skip', 'buffer_one'"),
            ({"overlap": []}, "overlap takes"),
            ({"catchup": "some"}, "catchup takes 'none', 'last', 'all', 'spread', got 'some'"),
            ({"buffer": 0}, "buffer takes a whole number from 1"),
            ({"buffer": True}, "buffer takes a whole number"),
            ({"catchup_cap": 1.5}, "catchup_cap takes a whole number"),
            ({"limit": -1}, "limit takes a whole number"),
            ({"limit": 10**9 + 1}, "limit takes a whole number"),
            ({"grace": -1}, "grace takes a duration from 0 to 230 years, got -1"),
            ({"grace": True}, "grace takes a duration such as"),
            ({"grace": [1]}, "grace takes a duration such as"),
            ({"grace": "soon"}, "grace takes a duration such as"),
            ({"grace": float("nan")}, "grace takes a duration from 0"),
            ({"grace": float("inf")}, "grace takes a duration from 0"),
            ({"grace": timedelta(days=366 * 231)}, "grace takes a duration from 0"),
            ({"catchup_window": 0}, "catchup_window takes more than 0, got 0: leave it out to have its default"),
            ({"timeout": "0"}, "timeout takes more than 0"),
            ({"lookahead": 0}, "lookahead takes more than 0"),
            ({"pause_on_failure": "yes"}, "pause_on_failure takes true or false, got 'yes'"),
            ({"retry": 1}, "retry takes 2 to 1000 attempts"),
            ({"retry": True}, "retry takes 2 to 1000 attempts"),
            ({"retry": 2.5}, "retry takes a number of attempts, or a mapping"),
            ({"retry": {"backoff": 1}}, "retry takes a number of attempts, or a mapping"),
            ({"retry": {"attempts": 3, "jitter": 1}}, "retry takes a number of attempts, or a mapping"),
            ({"retry": {"attempts": 1001}}, "retry takes 2 to 1000 attempts"),
            ({"retry": {"attempts": 3, "factor": 0}}, "retry takes a whole factor from 1 to 10"),
            ({"retry": {"attempts": 3, "factor": True}}, "retry takes a whole factor from 1 to 10"),
            ({"retry": {"attempts": 3, "backoff": -1}}, "retry backoff takes a duration"),
            ({"retry": {"attempts": 3, "longest": "x"}}, "retry longest takes a duration"),
            ({"retry": {"attempts": 3, "reasons": ["overlap"]}}, "retry takes the reasons aborted, .* got 'overlap'"),
            ({"retry": {"attempts": 3, "reasons": "timeout"}}, "retry takes reasons as a list, got 'timeout'"),
            ({"retry": {"attempts": 3, "reasons": 5}}, "retry takes reasons as a list, got 5"),
            ({"retry": {"attempts": 3, "reasons": [[]]}}, "retry takes the reasons"),
        ],
    )
    def test_what_cannot_be_meant_is_refused_by_name(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(Invalid, match=message):
            policies_of(**wrong)


class TestRetry:
    def test_a_number_is_all_attempts_with_the_default_backoff(self) -> None:
        assert policies_of(retry=3).retry == Retry(3, 10 * SECOND, 2, 10 * MINUTE, RETRYABLE)

    def test_every_part_can_be_said(self) -> None:
        said = {"attempts": 5, "backoff": "1s", "factor": 3, "longest": "1m", "reasons": ["timeout", "aborted"]}
        assert policies_of(retry=said).retry == Retry(5, SECOND, 3, MINUTE, (Reason.ABORTED, Reason.TIMEOUT))

    def test_reasons_are_kept_once_each_and_in_order(self) -> None:
        said = [*FAILURES, *FAILURES]
        assert policies_of(retry={"attempts": 2, "reasons": said}).retry == Retry(2, reasons=tuple(sorted(FAILURES)))

    def test_attempts_include_the_first_one(self) -> None:
        retry = Retry(3)
        assert [retry.allows(attempt, Reason.INTERNAL) for attempt in (1, 2, 3, 4)] == [True, True, False, False]

    @pytest.mark.parametrize("reason", RETRYABLE)
    def test_what_may_go_better_the_next_time_is_retried_by_default(self, reason: Reason) -> None:
        assert Retry(2).allows(1, reason)

    @pytest.mark.parametrize("reason", sorted(set(FAILURES) - set(RETRYABLE)))
    def test_what_will_fail_again_is_retried_only_when_it_is_named(self, reason: Reason) -> None:
        assert not Retry(2).allows(1, reason)
        assert Retry(2, reasons=(reason,)).allows(1, reason)

    def test_a_reason_that_is_not_named_is_not_retried(self) -> None:
        assert not Retry(2, reasons=(Reason.TIMEOUT,)).allows(1, Reason.INTERNAL)

    def test_the_wait_doubles_from_ten_seconds_up_to_ten_minutes_and_up_to_a_fifth_more(self) -> None:
        for attempt, base in enumerate([10, 20, 40, 80, 160, 320, 600, 600], 1):
            waits = [Retry(9).wait_after(attempt, f"digest {number}") for number in range(200)]
            assert base * SECOND <= min(waits) < base * 1.01 * SECOND
            assert base * 1.19 * SECOND < max(waits) <= base * 1.2 * SECOND

    def test_the_wait_of_one_slot_is_the_same_every_time_and_another_for_another_slot(self) -> None:
        assert Retry(3).wait_after(1, "digest:1") == Retry(3).wait_after(1, "digest:1")
        assert Retry(3).wait_after(1, "digest:1") != Retry(3).wait_after(1, "digest:2")

    def test_the_thousandth_attempt_waits_no_longer_than_the_longest(self) -> None:
        assert Retry(1000, factor=10).wait_after(999, "digest") <= 12 * MINUTE

    def test_without_backoff_the_next_attempt_is_due_at_once(self) -> None:
        assert Retry(3, backoff=0).wait_after(2, "digest") == 0


counts = st.integers(1, 10**9)
lengths = st.integers(0, 10**15)
retries = st.builds(
    Retry,
    st.integers(2, 1000),
    lengths,
    st.integers(1, 10),
    lengths,
    st.sets(st.sampled_from(FAILURES)).map(lambda reasons: tuple(sorted(reasons))),
)
all_policies = st.builds(
    Policies,
    overlap=st.sampled_from(Overlap),
    buffer=counts,
    catchup=st.sampled_from(CatchUp),
    window=st.none() | lengths,
    cap=counts,
    grace=lengths,
    lookahead=lengths,
    timeout=st.none() | lengths,
    retry=st.none() | retries,
    limit=st.none() | counts,
    pause_on_failure=st.booleans(),
)


class TestAsText:
    @given(all_policies)
    def test_policies_survive_being_written(self, policies: Policies) -> None:
        read = read_policies(policies.as_text())
        assert read == policies
        assert isinstance(read.overlap, Overlap)
        assert isinstance(read.catchup, CatchUp)

    def test_only_what_differs_from_the_defaults_is_written(self) -> None:
        assert Policies().as_text() == "{}"
        assert Policies(overlap=Overlap.ALLOW_ALL, grace=0).as_text() == '{"grace":0,"overlap":"allow_all"}'

    def test_reasons_are_written_in_one_order_however_they_were_said(self) -> None:
        one = policies_of(retry={"attempts": 2, "reasons": ["timeout", "lost"]})
        other = policies_of(retry={"attempts": 2, "reasons": ("lost", "timeout")})
        assert one.as_text() == other.as_text()
