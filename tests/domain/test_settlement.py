from dataclasses import replace

import pytest

from foliot.domain.policies import FAILURES, Policies, Retry
from foliot.domain.questions import AtExpiry, Question
from foliot.domain.runs import Kind, Order, Reason, Status
from foliot.domain.settlement import Memory, Outcome, Settlement, is_given_up, outcome_text, read_outcome, settle
from tests.builders import NOON, SECOND, an_ended_run

FAILED = Outcome(Status.ERROR, Reason.INTERNAL, error="boom")
RETRYING = Policies(retry=Retry(3))
NOTHING = Settlement(None, Memory.NOTHING, pauses=False, gives_back=False)


def test_a_success_is_remembered_for_the_next_run() -> None:
    assert settle(an_ended_run(), Outcome(Status.SUCCESS, result="1"), Policies(pause_on_failure=True), NOON) == (
        Settlement(None, Memory.RESULT, pauses=False, gives_back=False)
    )


def test_a_failure_without_a_retry_policy_is_remembered_at_once() -> None:
    assert settle(an_ended_run(), FAILED, Policies(), NOON) == Settlement(
        None, Memory.FAILURE, pauses=False, gives_back=False
    )


class TestRetry:
    def test_a_failure_that_is_retried_is_neither_remembered_nor_a_reason_to_pause(self) -> None:
        settlement = settle(an_ended_run(), FAILED, replace(RETRYING, pause_on_failure=True), NOON)
        assert settlement == NOTHING._replace(retry_at=settlement.retry_at)
        assert settlement.retry_at is not None
        assert NOON + 10 * SECOND <= settlement.retry_at <= NOON + 12 * SECOND

    def test_each_attempt_waits_longer_than_the_one_before(self) -> None:
        waits = [settle(an_ended_run(attempt), FAILED, RETRYING, NOON).retry_at or 0 for attempt in (1, 2)]
        assert waits[1] - NOON >= 20 * SECOND > waits[0] - NOON

    def test_the_failure_of_the_last_attempt_ends_the_chain(self) -> None:
        assert settle(an_ended_run(3), FAILED, replace(RETRYING, pause_on_failure=True), NOON) == Settlement(
            None, Memory.FAILURE, pauses=True, gives_back=False
        )

    def test_the_success_of_a_later_attempt_is_remembered(self) -> None:
        assert settle(an_ended_run(2), Outcome(Status.SUCCESS), RETRYING, NOON).memory is Memory.RESULT

    def test_a_reason_that_the_policy_does_not_name_ends_the_chain(self) -> None:
        outcome = Outcome(Status.ERROR, Reason.INVALID_REQUEST)
        assert settle(an_ended_run(), outcome, RETRYING, NOON).retry_at is None

    @pytest.mark.parametrize("order", Order)
    def test_a_run_that_was_told_to_stop_is_not_tried_again(self, order: Order) -> None:
        assert settle(an_ended_run(order=order), FAILED, RETRYING, NOON).retry_at is None

    @pytest.mark.parametrize("kind", Kind)
    def test_runs_of_every_kind_are_retried(self, kind: Kind) -> None:
        assert settle(an_ended_run(kind=kind), FAILED, RETRYING, NOON).retry_at is not None


class TestPauseOnFailure:
    @pytest.mark.parametrize("reason", sorted(FAILURES))
    def test_every_failure_pauses_lost_and_timeout_among_them(self, reason: Reason) -> None:
        assert settle(an_ended_run(), Outcome(Status.ERROR, reason), Policies(pause_on_failure=True), NOON).pauses

    @pytest.mark.parametrize(
        "reason", [Reason.CANCELLED_BY_USER, Reason.CANCELLED_BY_POLICY, Reason.TERMINATED, Reason.REJECTED]
    )
    def test_a_cancelled_run_is_no_failure(self, reason: Reason) -> None:
        outcome = Outcome(Status.CANCELLED, reason)
        assert settle(an_ended_run(), outcome, replace(RETRYING, pause_on_failure=True), NOON) == NOTHING


class TestLimit:
    SKIPPED = Outcome(Status.SKIPPED, Reason.INSUFFICIENT_CREDITS)

    def test_a_slot_that_the_gate_skipped_is_given_back(self) -> None:
        assert settle(an_ended_run(), self.SKIPPED, Policies(pause_on_failure=True), NOON) == NOTHING._replace(
            gives_back=True
        )

    @pytest.mark.parametrize("kind", [Kind.MANUAL, Kind.BACKFILL])
    def test_what_was_free_is_not_given_back(self, kind: Kind) -> None:
        assert settle(an_ended_run(kind=kind), self.SKIPPED, Policies(), NOON) == NOTHING

    def test_a_slot_whose_first_attempt_ran_is_not_given_back_when_the_gate_skips_its_retry(self) -> None:
        assert settle(an_ended_run(attempt=2), self.SKIPPED, RETRYING, NOON) == NOTHING


def test_a_run_is_given_up_at_its_third_loss() -> None:
    assert [is_given_up(losses) for losses in (0, 1, 2, 3, 4)] == [False, False, False, True, True]


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Status.SUCCESS, result='{"a":1}'),
        Outcome(Status.ERROR, Reason.TIMEOUT, error="too slow"),
        Outcome(Status.WAITING, question=Question("approval", '{"draft":1}', ("ann",), 7, AtExpiry.FAIL, "place")),
    ],
)
def test_an_outcome_is_read_as_it_was_written(outcome: Outcome) -> None:
    assert read_outcome(outcome_text(outcome)) == outcome
