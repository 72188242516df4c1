"""What an answer means: one code for each status, and whether it may go better after a while."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.credits import Usage
from foliot.domain.events import SUCCEEDED, ErrorCode, Final
from foliot.executors.answers import LONGEST_WAIT, backoff, code_for, judge, wait_asked_for
from foliot.executors.outbound import HttpAnswer

NOW = 1_794_744_000.0
"""2026-11-15T12:00:00Z."""
NAMES = st.sampled_from(["usage", "unit", "model", "tokens", "cost", "other"])


def objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(NAMES, values)


def an_answer(status: int = 200, body: str = "", **headers: str) -> HttpAnswer:
    return HttpAnswer(status, {name.replace("_", "-"): value for name, value in headers.items()}, body.encode())


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (200, None),
        (204, None),
        (299, None),
        (301, "invalid_request"),
        (302, "invalid_request"),
        (400, "invalid_request"),
        (401, "invalid_request"),
        (402, "insufficient_credits"),
        (403, "invalid_request"),
        (404, "not_found"),
        (405, "invalid_request"),
        (408, "timeout"),
        (409, "invalid_request"),
        (410, "not_found"),
        (418, "invalid_request"),
        (422, "invalid_request"),
        (429, "rate_limit"),
        (500, "provider_unavailable"),
        (503, "provider_unavailable"),
        (599, "provider_unavailable"),
    ],
)
def test_each_status_has_its_code(status: int, code: str | None) -> None:
    assert code_for(status) == code


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_what_may_go_better_is_repeated(status: int) -> None:
    assert judge("POST a", an_answer(status), NOW).again == 0.0


@pytest.mark.parametrize("status", [200, 302, 400, 401, 402, 403, 404, 409, 422])
def test_what_will_not_go_better_is_not_repeated(status: int) -> None:
    assert judge("POST a", an_answer(status), NOW).again is None


@pytest.mark.parametrize("status", [409, 429, 503])
def test_who_says_when_to_come_again_is_called_again_then(status: int) -> None:
    judged = judge("POST a", an_answer(status, retry_after="7"), NOW)
    assert judged.again == 7.0


@pytest.mark.parametrize("status", [409, 429, 503])
def test_who_asks_for_more_than_a_minute_is_not_called_again_within_the_delivery(status: int) -> None:
    judged = judge("POST a", an_answer(status, retry_after="3600"), NOW)
    assert judged.again is None
    assert "(it asks to wait 3600 s)" in (judged.final.words or "")


def test_a_conflict_that_will_pass_is_not_the_requests_fault() -> None:
    assert judge("POST a", an_answer(409, retry_after="1"), NOW).final.error is ErrorCode.PROVIDER_UNAVAILABLE


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("0", 0.0),
        ("120", 120.0),
        ("Sun, 15 Nov 2026 12:00:30 GMT", 30.0),
        ("Sun, 15 Nov 2026 11:00:00 GMT", 0.0),
        ("Sun, 15 Nov 2026 12:00:30 -0000", 30.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("٣", None),
    ],
)
def test_a_wait_is_a_number_of_seconds_or_a_moment(said: str, wait: float | None) -> None:
    assert wait_asked_for({"retry-after": said}, NOW) == wait
    assert wait_asked_for({}, NOW) is None


@given(st.text(max_size=60))
def test_no_wait_breaks_the_reader(said: str) -> None:
    wait = wait_asked_for({"retry-after": said}, NOW)
    assert wait is None or wait >= 0


@given(st.integers(0, 50), st.text("abc~:", max_size=10))
def test_waits_grow_are_bounded_and_never_change(call: int, key: str) -> None:
    wait = backoff(call, key)
    assert wait == backoff(call, key)
    assert min(0.5 * 2**call, 30.0) <= wait <= min(0.75 * 2**call, 45.0) <= LONGEST_WAIT


def test_not_everybody_comes_again_at_the_same_time() -> None:
    assert len({backoff(0, f"digest:{number}") for number in range(20)}) == 20


def test_a_failure_is_told_with_the_call_the_status_and_the_beginning_of_the_body() -> None:
    final = judge("POST example.com", an_answer(422, "no\0 such " + "x" * 1000), NOW).final
    assert final.words == "POST example.com answered 422: no\\0 such " + "x" * 491
    assert judge("POST example.com", an_answer(500), NOW).final.words == "POST example.com answered 500"


@pytest.mark.parametrize(
    ("body", "final"),
    [
        ("", SUCCEEDED),
        ("null", SUCCEEDED),
        ('{"b": 2, "a": 1}', Final(result='{"a":1,"b":2}')),
        ("[1]", Final(result="[1]")),
        ("done", Final(result='"done"')),
    ],
)
def test_what_a_good_answer_says_is_the_result(body: str, final: Final) -> None:
    assert judge("POST a", an_answer(200, body), NOW).final == final


def test_a_result_that_was_cut_off_is_not_kept() -> None:
    final = judge("POST a", HttpAnswer(200, {}, b"[1, 2", is_cut=True), NOW).final
    assert (final.error, final.result) == (None, None)
    assert final.words == "the result was not kept: the answer has more than 5 bytes"


def test_what_it_used_is_read_and_is_no_part_of_the_result() -> None:
    usage = '{"usage": [{"unit": "a", "model": "large", "tokens": 7, "cost": "0.01"}, {"unit": "b"}]}'
    judged = judge("POST a", an_answer(200, f'{{"n": 1, "foliot_usage": {usage}}}'), NOW)
    assert judged.final == Final(result='{"n":1}')
    assert judged.usages == [Usage("a", model="large", tokens=7, cost=Decimal("0.01")), Usage("b")]


def test_what_a_failure_used_is_owed_too() -> None:
    judged = judge("POST a", an_answer(400, '{"foliot_usage": {"usage": [{"unit": "a"}]}}'), NOW)
    assert (judged.final.error, judged.usages) == (ErrorCode.INVALID_REQUEST, [Usage("a")])


@pytest.mark.parametrize(
    "usage",
    [
        "7",
        "[]",
        '{"usage": 7}',
        '{"usage": [7]}',
        '{"usage": [{"model": "a"}]}',
        '{"usage": [{"unit": ""}]}',
        '{"usage": [{"unit": "a", "cost": -1}]}',
        '{"usage": [{"unit": "a", "tokens": true}]}',
        '{"usage": [{"unit": "a", "source": "other"}]}',
        '{"usage": [' + ",".join(['{"unit": "a"}'] * 1001) + "]}",
    ],
)
def test_usage_that_cannot_be_read_is_told_and_the_run_is_a_success_all_the_same(usage: str) -> None:
    judged = judge("POST a", an_answer(200, f'{{"n": 1, "foliot_usage": {usage}}}'), NOW)
    assert (judged.final.error, judged.final.result, judged.usages) == (None, '{"n":1}', ())
    assert "what it used was not charged: " in (judged.final.words or "")


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | objects(x), max_leaves=5))
def test_whatever_is_answered_is_judged(said: Any) -> None:
    for body in (json.dumps(said), json.dumps({"foliot_usage": said})):
        assert judge("POST a", an_answer(200, body), NOW).final.error is None
