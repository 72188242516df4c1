"""`http:` against a real server: what a run sends, what it makes of answers, and how often it asks."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from foliot import Invalid
from foliot.domain.events import DONE, SUCCEEDED, ErrorCode, Event, Failed, Final, UsageReport
from foliot.domain.questions import AtExpiry
from foliot.domain.runs import OnUnknown
from foliot.domain.signing import callback_token, is_signed, is_token_of
from foliot.execution.context import Context
from foliot.execution.executing import Request
from foliot.executors.answers import backoff
from foliot.executors.endpoints import Endpoint, endpoint_of
from foliot.executors.http import HttpExecutor
from foliot.executors.outbound import GuardedCaller
from foliot.ports import Control, Launch
from tests.builders import DAY, NOON, SECOND, a_launch
from tests.executors.receiver import LOOPBACK, PATIENCE, Reply, Seen, a_free_port, a_receiver

SECRET = "canary-4711-secret"
TARGET = "http:billing"


class Noon:
    """A clock that has stopped."""

    def now(self) -> int:
        return NOON

    def steady(self) -> float:
        return 0.0


class Waits(list[float]):
    """Instead of waiting, it is noted how long."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def an_endpoint(url: str, **changes: Any) -> Endpoint:
    options: dict[str, Any] = {
        "secret": None,
        "secret_env": None,
        "headers": None,
        "timeout": "5s",
        "retries": 3,
        "callback": False,
        "callback_within": "1d",
        "on_unknown": "redeliver",
    }
    return endpoint_of("billing", url, **{**options, **changes})


def performed(executor: HttpExecutor, launch: Launch) -> tuple[list[Event], Final]:
    """All that the executor said of the run, and what it came to."""

    async def main() -> tuple[list[Event], Final]:
        control = Control()
        execution = executor.run(Request(launch.target, launch.input, Context(launch, control), control))
        return [event async for event in execution.stream], await execution.final

    return asyncio.run(main())


def what_becomes_of(
    url: str, waits: Waits | None = None, launch: Launch | None = None, **options: Any
) -> tuple[list[Event], Final]:
    executor = HttpExecutor(LOOPBACK, clock=Noon(), wait=Waits() if waits is None else waits)
    executor.register(an_endpoint(url, **options))
    return performed(executor, launch or a_launch(TARGET))


def keys(seen: Sequence[Seen]) -> set[str]:
    return {one.headers["idempotency-key"] for one in seen}


def test_a_run_is_sent_with_all_that_its_receiver_may_want_to_know() -> None:
    launch = a_launch(TARGET, input='{"month":"10"}', labels={"team": "möney"}, attempt=2, due_at=NOON + SECOND)
    with a_receiver(Reply(200, '{"sent": 3}')) as receiver:
        events, final = what_becomes_of(
            receiver.url("/hook?a=b"), launch=launch, secret=SECRET, headers={"Authorization": "Bearer abc"}
        )
        (seen,) = receiver.seen
    assert (events, final) == ([DONE], Final(result='{"sent":3}'))
    trace = Context(launch, Control()).trace_id
    assert (seen.method, seen.path) == ("POST", "/hook?a=b")
    assert seen.json == {
        "run_id": "digest:2026-11-15T12:00:00Z~2",
        "schedule": "digest",
        "scheduled_for": "2026-11-15T12:00:00Z",
        "due_at": "2026-11-15T12:00:01Z",
        "attempt": 2,
        "idempotency_key": "digest:2026-11-15T12:00:00Z",
        "trace_id": trace,
        "input": {"month": "10"},
        "labels": {"team": "möney"},
    }
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["idempotency-key"] == "digest:2026-11-15T12:00:00Z"
    assert (seen.headers["foliot-run-id"], seen.headers["foliot-attempt"]) == ("digest:2026-11-15T12:00:00Z~2", "2")
    assert seen.headers["authorization"] == "Bearer abc"
    assert seen.headers["user-agent"].startswith("foliot/")
    version, handed_on, span, flags = seen.headers["traceparent"].split("-")
    assert (version, handed_on, len(span), flags) == ("00", trace, 16, "01")


def test_the_signature_is_verified_with_the_secret_and_with_no_other() -> None:
    with a_receiver() as receiver:
        what_becomes_of(receiver.url(), secret=SECRET)
        what_becomes_of(receiver.url())
        signed, unsigned = receiver.seen
    header = signed.headers["foliot-signature"]
    assert is_signed(signed.body, header, [SECRET], NOON // SECOND)
    assert not is_signed(signed.body, header, ["another secret, as long"], NOON // SECOND)
    assert not is_signed(signed.body + b" ", header, [SECRET], NOON // SECOND)
    assert "foliot-signature" not in unsigned.headers


def test_a_secret_of_the_environment_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_receiver() as receiver:
        executor = HttpExecutor(LOOPBACK, clock=Noon())
        executor.register(an_endpoint(receiver.url(), secret_env="BILLING_SECRET"))
        for secret in (SECRET, "the one that replaces it"):
            monkeypatch.setenv("BILLING_SECRET", secret)
            performed(executor, a_launch(TARGET))
            seen = receiver.seen[-1]
            assert is_signed(seen.body, seen.headers["foliot-signature"], [secret], NOON // SECOND)
        monkeypatch.setenv("BILLING_SECRET", "short")
        assert performed(executor, a_launch(TARGET))[1].error is ErrorCode.INVALID_REQUEST
        monkeypatch.delenv("BILLING_SECRET")
        final = performed(executor, a_launch(TARGET))[1]
        assert final.words == "http:billing takes its secret from BILLING_SECRET, which the environment does not have"
        assert len(receiver.seen) == 2


def test_an_error_of_the_server_is_repeated_with_the_same_key_until_it_goes_well() -> None:
    waits = Waits()
    with a_receiver(Reply(500), Reply(503), Reply(200, '"ok"')) as receiver:
        events, final = what_becomes_of(receiver.url(), waits, secret=SECRET)
        assert (events, final) == ([DONE], Final(result='"ok"'))
        assert len(receiver.seen) == 3
        assert keys(receiver.seen) == {"digest:2026-11-15T12:00:00Z"}
        assert len({one.body for one in receiver.seen}) == 1
        assert len({one.headers["traceparent"] for one in receiver.seen}) == 3
    assert waits == [backoff(call, "digest:2026-11-15T12:00:00Z~1") for call in (0, 1)]


def test_attempts_and_redeliveries_have_the_same_key_and_attempts_other_run_ids() -> None:
    with a_receiver() as receiver:
        for attempt, token in ((1, 1), (1, 2), (2, 3)):
            what_becomes_of(receiver.url(), launch=a_launch(TARGET, attempt=attempt, token=token))
        first, again, second = receiver.seen
    assert keys((first, again, second)) == {"digest:2026-11-15T12:00:00Z"}
    assert first.body == again.body
    assert first.headers["foliot-run-id"] != second.headers["foliot-run-id"]


def test_it_is_not_repeated_more_often_than_it_may() -> None:
    waits = Waits()
    with a_receiver(Reply(500, "out of order")) as receiver:
        events, final = what_becomes_of(receiver.url(), waits, retries=2)
        assert len(receiver.seen) == 3
        assert final == Final(ErrorCode.PROVIDER_UNAVAILABLE, words="POST 127.0.0.1 answered 500: out of order")
        assert events == [Failed(ErrorCode.PROVIDER_UNAVAILABLE), DONE]
        what_becomes_of(receiver.url(), retries=0)
        assert len(receiver.seen) == 4
    assert len(waits) == 2


def test_who_is_called_too_often_says_when_to_come_again() -> None:
    waits = Waits()
    with a_receiver(Reply(429, "", {"Retry-After": "7"}), Reply(409, "", {"Retry-After": "0"}), Reply()) as receiver:
        assert what_becomes_of(receiver.url(), waits)[1] == SUCCEEDED
    assert waits[0] == 7.0
    assert waits[1] == backoff(1, "digest:2026-11-15T12:00:00Z~1")


def test_a_wait_that_is_too_long_ends_the_delivery() -> None:
    waits = Waits()
    with a_receiver(Reply(429, "", {"Retry-After": "86400"})) as receiver:
        final = what_becomes_of(receiver.url(), waits)[1]
        assert (final.error, len(receiver.seen), waits) == (ErrorCode.RATE_LIMIT, 1, [])


def test_a_request_that_is_wrong_is_not_repeated() -> None:
    with a_receiver(Reply(422, '{"detail": "no month"}')) as receiver:
        final = what_becomes_of(receiver.url())[1]
        assert len(receiver.seen) == 1
    words = 'POST 127.0.0.1 answered 422: {"detail": "no month"}'
    assert final == Final(ErrorCode.INVALID_REQUEST, words=words)


def test_a_redirect_is_an_error_and_is_not_followed() -> None:
    with a_receiver() as other, a_receiver(Reply(302, "", {"Location": other.url()})) as receiver:
        final = what_becomes_of(receiver.url())[1]
        assert not other.seen
    assert final.error is ErrorCode.INVALID_REQUEST
    assert "redirects are not followed" in (final.words or "")


def test_a_network_that_is_down_is_tried_again_and_then_unavailable() -> None:
    waits = Waits()
    final = what_becomes_of(f"http://127.0.0.1:{a_free_port()}/", waits)[1]
    assert (final.error, len(waits)) == (ErrorCode.PROVIDER_UNAVAILABLE, 3)


def test_a_slow_answer_is_a_timeout() -> None:
    with a_receiver() as receiver:
        receiver.hold()
        final = what_becomes_of(receiver.url(), timeout=0.2, retries=1)[1]
        assert len(receiver.seen) == 2
    assert final == Final(ErrorCode.TIMEOUT, words="POST 127.0.0.1 did not answer within 0.2 s")


def test_who_wants_a_person_asked_is_not_called_again_when_nobody_knows_what_happened() -> None:
    with a_receiver() as receiver:
        receiver.hold()
        assert what_becomes_of(receiver.url(), timeout=2, on_unknown="hold")[1].error is ErrorCode.TIMEOUT
        assert len(receiver.seen) == 1
    with a_receiver(Reply(500), Reply()) as receiver:
        assert what_becomes_of(receiver.url(), on_unknown="hold")[1] == SUCCEEDED


def test_a_private_address_is_refused_before_anything_is_sent() -> None:
    waits = Waits()
    with a_receiver() as receiver:
        executor = HttpExecutor(clock=Noon(), wait=waits)
        executor.register(an_endpoint(receiver.url()))
        final = performed(executor, a_launch(TARGET))[1]
        assert (final.error, receiver.seen, waits) == (ErrorCode.INVALID_REQUEST, [], [])
    assert "127.0.0.1, which is loopback" in (final.words or "")


def test_a_long_answer_is_a_success_whose_result_is_not_kept() -> None:
    with a_receiver(Reply(200, b"x" * 1_000_001)) as receiver:
        final = what_becomes_of(receiver.url())[1]
    assert final == Final(words="the result was not kept: the answer has more than 1,000,000 bytes")


def test_an_endpoint_that_nobody_registered_is_not_found() -> None:
    events, final = performed(HttpExecutor(), a_launch("http:nobody"))
    assert events == [Failed(ErrorCode.NOT_FOUND), DONE]
    assert final.words == "no endpoint http:nobody is registered here"


def test_usage_is_reported_before_the_end() -> None:
    body = {"n": 1, "foliot_usage": {"usage": [{"unit": "call-1", "cost": "0.01"}]}}
    with a_receiver(Reply(200, json.dumps(body))) as receiver:
        events, final = what_becomes_of(receiver.url())
    assert [type(event) for event in events] == [UsageReport, type(DONE)]
    assert final == Final(result='{"n":1}')


def using(*units: str, **more: Any) -> str:
    return json.dumps({**more, "foliot_usage": {"usage": [{"unit": unit, "cost": "0.01"} for unit in units]}})


def test_what_every_answer_says_was_used_is_reported_also_when_another_call_follows() -> None:
    """Only what the last answer said was charged."""
    replies = Reply(503, using("a")), Reply(503, using("a", "b")), Reply(200, using("c", n=1))
    with a_receiver(*replies) as receiver:
        events, final = what_becomes_of(receiver.url())
    assert [event.usage.unit for event in events if isinstance(event, UsageReport)] == ["a", "b", "c"]
    assert final == Final(result='{"n":1}')


def test_what_was_used_is_reported_before_the_next_call_is_waited_for() -> None:
    async def main(url: str) -> Event:
        async def wait(seconds: float) -> None:
            raise AssertionError("it is not reported yet")

        executor = HttpExecutor(LOOPBACK, clock=Noon(), wait=wait)
        executor.register(an_endpoint(url))
        launch, control = a_launch(TARGET), Control()
        execution = executor.run(Request(TARGET, None, Context(launch, control), control))
        event = await anext(execution.stream)
        await execution.stream.aclose()  # type: ignore[attr-defined]
        assert executor.room(TARGET) == 256
        return event

    with a_receiver(Reply(503, using("a"))) as receiver:
        assert isinstance(asyncio.run(main(receiver.url())), UsageReport)


def test_who_answers_202_will_report_later_and_is_known_by_its_token() -> None:
    with a_receiver(lambda seen: Reply(202, seen.body)) as receiver:
        events, final = what_becomes_of(receiver.url(), secret=SECRET, callback=True, callback_within="2d")
        token = receiver.seen[0].json["callback"]["token"]
    assert token == callback_token(SECRET, "digest:2026-11-15T12:00:00Z~1")
    assert events == [DONE]
    question = final.question
    assert question is not None
    assert (final.error, final.result) == (None, None)
    assert (question.kind, question.expires_in, question.at_expiry) == ("callback", 2 * DAY, AtExpiry.FAIL)
    assert question.reference is not None
    assert is_token_of(token, question.reference)
    assert token not in repr(final)
    assert json.loads(question.data or "")["endpoint"] == TARGET


def test_the_token_is_the_same_for_every_delivery_of_an_attempt() -> None:
    with a_receiver(Reply(202)) as receiver:
        for attempt in (1, 1, 2):
            what_becomes_of(receiver.url(), secret=SECRET, callback=True, launch=a_launch(TARGET, attempt=attempt))
        tokens = [seen.json["callback"]["token"] for seen in receiver.seen]
    assert tokens[0] == tokens[1] != tokens[2]


@pytest.mark.parametrize(("status", "callback"), [(200, True), (201, True), (202, False)])
def test_any_other_good_answer_ends_the_run_at_once(status: int, callback: bool) -> None:
    with a_receiver(Reply(status, '"done"')) as receiver:
        final = what_becomes_of(receiver.url(), secret=SECRET, callback=callback)[1]
        assert ("callback" in receiver.seen[0].json) == callback
    assert final == Final(result='"done"')


def test_cancelling_ends_a_call_and_a_wait() -> None:
    async def main() -> None:
        with a_receiver(Reply(503)) as receiver:
            waiting = asyncio.Event()

            async def wait(seconds: float) -> None:
                waiting.set()
                await asyncio.Event().wait()

            for holds in (True, False):
                executor = HttpExecutor(LOOPBACK, clock=Noon(), wait=wait)
                executor.register(an_endpoint(receiver.url()))
                if holds:
                    receiver.hold()
                control = Control()
                launch = a_launch(TARGET)
                execution = executor.run(Request(TARGET, None, Context(launch, control), control))
                task = asyncio.ensure_future(_heard(execution.stream))
                if holds:
                    assert await asyncio.to_thread(receiver.wait_for_calls)
                    assert executor.room(TARGET) == 255
                else:
                    await asyncio.wait_for(waiting.wait(), PATIENCE)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert executor.room(TARGET) == 256
                receiver.go_on()

    async def _heard(stream: Any) -> None:
        async for _ in stream:
            """Nothing is said before its end."""

    asyncio.run(main())


def test_an_executor_can_be_closed_and_asked_again() -> None:
    with a_receiver() as receiver:
        executor = HttpExecutor(LOOPBACK)
        executor.register(an_endpoint(receiver.url()))
        for _ in range(2):
            assert performed(executor, a_launch(TARGET))[1] == SUCCEEDED
            executor.close()
        assert len(receiver.seen) == 2


def test_others_can_make_guarded_calls_too() -> None:
    async def main(url: str) -> tuple[int, Any]:
        answer = await HttpExecutor(LOOPBACK).caller.call("GET", url, {}, b"", 5.0)
        return answer.status, answer.json

    with a_receiver(Reply(200, "[1]")) as receiver:
        assert asyncio.run(main(receiver.url())) == (200, [1])
        assert receiver.seen[0].method == "GET"


def test_what_an_executor_offers_is_what_was_registered() -> None:
    executor = HttpExecutor(LOOPBACK)
    assert executor.targets() == []
    endpoint = an_endpoint("https://example.com/hook", on_unknown="hold")
    assert executor.register(endpoint) == TARGET == executor.register(endpoint)
    assert (executor.targets(), executor.on_unknown(TARGET)) == ([TARGET], OnUnknown.HOLD)
    with pytest.raises(Invalid, match="an endpoint takes a name of its own, got 'http:billing' twice"):
        executor.register(an_endpoint("https://example.com/other"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"secret": "short"}, "a secret takes text of 16"),
        ({"secret": SECRET, "secret_env": "A"}, "secret or secret_env, got both"),
        ({"secret_env": ""}, "secret_env takes the name"),
        ({"callback": True}, "callback=True takes a secret too"),
        ({"headers": {"Idempotency-Key": "1"}}, "header Idempotency-Key is set by Foliot"),
        ({"headers": {"foliot-run-id": "1"}}, "header foliot-run-id is set by Foliot"),
        ({"headers": {"Host": "1"}}, "belongs to the connection"),
        ({"timeout": 0}, "timeout takes more than 0"),
        ({"callback": True, "secret": SECRET, "callback_within": "0s"}, "callback_within takes more than 0"),
        ({"retries": -1}, "retries takes a whole number from 0 to 20"),
        ({"retries": True}, "retries takes a whole number"),
        ({"on_unknown": "ask"}, "on_unknown takes"),
    ],
)
def test_an_endpoint_that_cannot_be_called_is_refused_when_it_is_registered(options: Any, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        an_endpoint("https://example.com/", **options)


def test_nothing_that_is_secret_is_shown() -> None:
    endpoint = an_endpoint(f"https://example.com/{SECRET}", secret=SECRET, headers={"X-Key": SECRET})
    executor = HttpExecutor(LOOPBACK, caller=GuardedCaller(LOOPBACK))
    executor.register(endpoint)
    assert SECRET not in repr(endpoint) + repr(executor) + repr(executor.__dict__)
    assert "example.com" in repr(endpoint)


def test_an_answer_that_quotes_the_secret_is_kept_without_it(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level("DEBUG")
    for status in (200, 400):
        with a_receiver(Reply(status, json.dumps({"you": f"are {SECRET}!"}))) as receiver:
            final = what_becomes_of(receiver.url(), secret=SECRET)[1]
        assert SECRET not in repr(final)
        assert "are ***!" in repr(final)
    assert SECRET not in caplog.text


def test_an_answer_that_quotes_a_credential_is_kept_without_it_however_it_is_written() -> None:
    secret = 'with "quotes" and ümlauts'
    said = {"plain": secret, "header": "Bearer 0123456789abcdef", "kind": "text/plain"}
    for body in (json.dumps(said), json.dumps(said, ensure_ascii=False)):
        with a_receiver(Reply(200, body)) as receiver:
            headers = {"Authorization": "Bearer 0123456789abcdef", "Accept": "text/plain"}
            final = what_becomes_of(receiver.url(), secret=secret, headers=headers)[1]
        assert json.loads(final.result or "") == {"plain": "***", "header": "Bearer ***", "kind": "text/plain"}
