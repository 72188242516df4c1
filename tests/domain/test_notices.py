"""What is told, when, in which words, and how often it is tried."""

import json
from typing import Any

import pytest

from foliot import Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.domain.notices import (
    LONGEST_WAIT,
    MOST_TRIES,
    TEST,
    Envelope,
    Event,
    Notice,
    Subscriber,
    Tally,
    delivery_id,
    events_of,
    is_for,
    message_of,
    next_try,
    of_budget,
    of_end,
    of_misses,
    of_question,
    secret_env_of,
    sentence,
    tally_of,
)
from foliot.domain.questions import CALLBACK, UNKNOWN_OUTCOME, Question
from foliot.domain.runs import Kind, Reason, Status
from foliot.domain.settlement import Memory, Outcome
from foliot.domain.slots import SlotKey

NOON = 1_794_744_000 * MICROSECONDS
SLOT = SlotKey("job", Kind.SLOT, NOON)
FAILURE = Outcome(Status.ERROR, Reason.TIMEOUT, error="it ran longer\n  File 'secret.py'")
WELL = Outcome(Status.SUCCESS)
HOUR = 3600 * MICROSECONDS


def ended(outcome: Outcome, memory: Memory, had_failed: bool, kind: Kind = Kind.SLOT) -> Notice | None:
    return of_end(SLOT._replace(kind=kind), 2, outcome, memory, had_failed=had_failed)


@pytest.mark.parametrize("had_failed", [False, True])
def test_every_failure_is_told_with_its_reason_and_the_first_line_of_its_error(had_failed: bool) -> None:
    notice = ended(FAILURE, Memory.FAILURE, had_failed)
    assert notice is not None
    assert notice.event is Event.RUN_FAILED
    assert notice.data == {
        "run": "job:2026-11-15T12:00:00Z~2",
        "kind": "slot",
        "scheduled_for": "2026-11-15T12:00:00Z",
        "attempt": 2,
        "reason": "timeout",
        "error": "it ran longer",
    }


def test_a_long_error_is_cut() -> None:
    notice = ended(FAILURE._replace(error="x" * 5000), Memory.FAILURE, False)
    assert notice is not None
    assert len(notice.data["error"]) == 1000


def test_success_is_told_only_after_a_failure_and_not_of_a_backfill() -> None:
    told = ended(WELL, Memory.RESULT, True)
    assert told is not None
    assert told.event is Event.RUN_RECOVERED
    assert ended(WELL, Memory.RESULT, False) is None
    assert ended(WELL, Memory.RESULT, True, Kind.BACKFILL) is None


def test_a_failure_in_a_backfill_is_told() -> None:
    assert ended(FAILURE, Memory.FAILURE, False, Kind.BACKFILL) is not None


def test_what_is_skipped_or_cancelled_is_nobodys_failure() -> None:
    assert ended(Outcome(Status.CANCELLED, Reason.TERMINATED), Memory.NOTHING, True) is None


def test_misses_are_told_as_one_with_their_number() -> None:
    tally = tally_of([(NOON, NOON, 1), (NOON + HOUR, NOON + 3 * HOUR, 180), (NOON - HOUR, NOON - HOUR, 1)])
    assert tally == Tally(182, NOON - HOUR, NOON + 3 * HOUR)
    assert tally_of([]) is None
    assert of_misses(Tally(1, NOON, NOON)).data == {
        "count": 1,
        "first_at": "2026-11-15T12:00:00Z",
        "last_at": "2026-11-15T12:00:00Z",
    }


def test_a_spent_budget_is_told_when_it_first_keeps_something_from_starting() -> None:
    assert of_budget(Tally(1, NOON, NOON), 0) is not None
    assert of_budget(Tally(1, NOON, NOON), 1) is None


def test_a_question_is_told_unless_it_is_asked_of_no_person() -> None:
    notice = of_question(SLOT, 1, Question("approval", who=("ann", "bob")), NOON + HOUR)
    assert notice is not None
    assert notice.data["who"] == ["ann", "bob"]
    assert of_question(SLOT, 1, Question(UNKNOWN_OUTCOME), NOON) is not None
    assert of_question(SLOT, 1, Question(CALLBACK), NOON) is None


@pytest.mark.parametrize(
    ("notice", "said"),
    [
        (
            ended(FAILURE, Memory.FAILURE, False),
            "job: job:2026-11-15T12:00:00Z~2 failed (timeout: it ran longer)",
        ),
        (
            ended(FAILURE._replace(error=None), Memory.FAILURE, False),
            "job: job:2026-11-15T12:00:00Z~2 failed (timeout)",
        ),
        (
            ended(WELL, Memory.RESULT, True),
            "job: job:2026-11-15T12:00:00Z~2 went well again, after a failure",
        ),
        (of_misses(Tally(1, NOON, NOON)), "job: the slot of 2026-11-15T12:00:00Z was missed"),
        (
            of_misses(Tally(1440, NOON, NOON + HOUR)),
            "job: 1,440 slots from 2026-11-15T12:00:00Z to 2026-11-15T13:00:00Z were missed",
        ),
        (
            of_budget(Tally(1, NOON, NOON), 0),
            "job: the slot of 2026-11-15T12:00:00Z was not started, for the budget is spent",
        ),
        (
            of_question(SLOT, 1, Question("approval"), NOON + HOUR),
            "job: job:2026-11-15T12:00:00Z~1 waits for a decision until 2026-11-15T13:00:00Z",
        ),
        (
            of_question(SLOT, 1, Question("approval", who=("ann", "bob")), NOON + HOUR),
            "job: job:2026-11-15T12:00:00Z~1 waits for a decision of ann, bob until 2026-11-15T13:00:00Z",
        ),
    ],
)
def test_each_is_said_in_a_sentence(notice: Notice | None, said: str) -> None:
    assert notice is not None
    assert sentence(notice.event, "job", notice.data) == said


def test_a_message_is_the_same_each_time_and_names_itself() -> None:
    notice = of_misses(Tally(1, NOON, NOON))
    delivery = delivery_id("w", 7)
    body = message_of(delivery, notice.event, Envelope("w", "ann", "job", NOON), notice.data)
    assert json.loads(body) == {
        "id": "w-7",
        "webhook": "w",
        "event": "run.missed",
        "at": "2026-11-15T12:00:00Z",
        "owner": "ann",
        "schedule": "job",
        "text": "job: the slot of 2026-11-15T12:00:00Z was missed",
        "data": notice.data,
    }
    assert b"Foliot can reach this address" in message_of("w-t", TEST, Envelope("w", "ann", None, NOON), {})


@pytest.mark.parametrize(
    ("owner", "hears_all", "event", "at", "is_told"),
    [
        ("ann", False, Event.RUN_FAILED, NOON, True),
        ("ann", False, Event.RUN_FAILED, NOON - 1, False),
        ("ann", False, Event.RUN_MISSED, NOON, False),
        ("bob", False, Event.RUN_FAILED, NOON, False),
        ("bob", True, Event.RUN_FAILED, NOON, True),
        ("bob", True, Event.RUN_MISSED, NOON, False),
    ],
)
def test_who_is_told(owner: str, hears_all: bool, event: Event, at: int, is_told: bool) -> None:
    subscriber = Subscriber("ann", frozenset({"run.failed"}), hears_all, since=NOON)
    assert is_for(subscriber, owner, event, at) is is_told


def tried(tries: int, status: int | None = 500, wait: float | None = None) -> int | None:
    at = next_try("w-1", tries, NOON, status=status, asked_to_wait=wait)
    return None if at is None else at - NOON


def test_waits_grow_and_in_the_end_it_is_given_up_within_a_day() -> None:
    waits = [tried(number) or 0 for number in range(1, MOST_TRIES)]
    for wait, least in zip(waits, (10, 30, 90, 270, 810, 2430, 7290, *(21_600,) * 3), strict=True):
        assert least <= wait / MICROSECONDS <= 1.1 * least
    assert 20 * HOUR <= sum(waits) <= 24 * HOUR
    assert tried(MOST_TRIES) is None


def test_a_receiver_may_ask_for_a_longer_wait_but_not_for_ever() -> None:
    assert tried(1, 503, 900.0) == 900 * MICROSECONDS
    assert tried(1, 503, 1.0) == tried(1)
    assert tried(1, 503, 1e12) == LONGEST_WAIT


def test_one_that_is_gone_is_not_asked_again() -> None:
    assert tried(1, 410) is None
    assert tried(1, None) is not None


def test_events_are_some_of_the_list_in_its_order() -> None:
    assert events_of(["run.missed", "run.failed", "run.failed"]) == (Event.RUN_FAILED, Event.RUN_MISSED)
    assert events_of("run.waiting") == (Event.RUN_WAITING,)


@pytest.mark.parametrize("given", [[], (), "", "run.started", ["run.failed", "run.started"], None, 7, [7], [[]]])
def test_other_events_are_refused_with_the_list(given: Any) -> None:
    with pytest.raises(Invalid, match=r"events take one or more of 'run\.failed'"):
        events_of(given)


@pytest.mark.parametrize("given", ["FOLIOT_WEBHOOK_A", "FOLIOT_WEBHOOK_SHOP_2"])
def test_a_secret_is_named_by_a_variable_of_its_own(given: str) -> None:
    assert secret_env_of(given) == given


@pytest.mark.parametrize(
    "given",
    ["HOME", "FOLIOT_DATABASE", "FOLIOT_WEBHOOK_", "FOLIOT_WEBHOOK_a", "XFOLIOT_WEBHOOK_A", "FOLIOT_WEBHOOK_A\n", 7],
)
def test_no_other_variable_can_be_tried_out_as_a_secret(given: Any) -> None:
    with pytest.raises(Invalid, match="secret_env takes the name of an environment variable"):
        secret_env_of(given)
