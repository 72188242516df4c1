"""What may be asked of people, and what an answer, or none, makes of a run."""

from typing import Any

import pytest

from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.domain.questions import AtExpiry, Question, Verdict, feedback_of, question_of, verdict_of
from foliot.domain.runs import Reason, Status
from foliot.domain.settlement import answered, unanswered


def test_a_question_stands_for_seven_days_and_is_rejected_then_unless_told_otherwise() -> None:
    assert question_of("approval") == Question("approval", None, (), 7 * 86_400 * MICROSECONDS, AtExpiry.REJECT)


def test_a_question_has_what_it_was_given() -> None:
    question = question_of("approval", {"b": 1, "a": 2}, who=["ann", "bob"], expires_in="2h", at_expiry="approve")
    expected = Question("approval", '{"a":2,"b":1}', ("ann", "bob"), 7_200 * MICROSECONDS, AtExpiry.APPROVE)
    assert question == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": ""}, "a question takes a kind"),
        ({"kind": "callback"}, "other than callback and unknown_outcome, got 'callback'"),
        ({"who": "ann"}, "who takes a list of users"),
        ({"who": [""]}, "a user takes"),
        ({"expires_in": 0}, "expires_in takes more than 0"),
        ({"expires_in": "soon"}, "soon"),
        ({"at_expiry": "shrug"}, "at_expiry takes 'reject', 'approve', 'fail', got 'shrug'"),
        ({"data": object()}, "data takes what JSON can say"),
        ({"data": "x" * 300_000}, "at most 256,000 characters"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_remedy(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Invalid, match=said):
        question_of(**{"kind": "approval"} | given)


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_is_one_of_three_words(verdict: Verdict) -> None:
    assert verdict_of(str(verdict)) is verdict
    with pytest.raises(Invalid, match="a decision is 'approve', 'revise', 'reject', got 'maybe'"):
        verdict_of("maybe")


def test_feedback_is_short() -> None:
    assert feedback_of({"tone": "warmer"}) == '{"tone":"warmer"}'
    assert feedback_of(None) is None
    with pytest.raises(Invalid, match="at most 64,000"):
        feedback_of("x" * 70_000)


def test_a_rejection_ends_the_run_and_every_other_verdict_lets_it_go_on() -> None:
    ending = answered(Verdict.REJECT)
    assert ending is not None
    assert (ending.status, ending.reason) == (Status.CANCELLED, Reason.REJECTED)
    assert answered(Verdict.APPROVE) is None
    assert answered(Verdict.REVISE) is None


def test_what_nobody_answers_is_rejected_approved_or_failed_as_the_question_says() -> None:
    rejected, failed = unanswered(AtExpiry.REJECT), unanswered(AtExpiry.FAIL)
    assert rejected is not None
    assert failed is not None
    assert (rejected.status, rejected.reason) == (Status.CANCELLED, Reason.DECISION_EXPIRED)
    assert (failed.status, failed.reason) == (Status.ERROR, Reason.TIMEOUT)
    assert unanswered(AtExpiry.APPROVE) is None
