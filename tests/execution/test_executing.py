"""What the gate makes of what executors say, and of what they fail to say."""

import asyncio
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import pytest

from foliot import Foliot, Invalid, NotFound, Unavailable
from foliot.domain.credits import Pricing, Usage, usage_of
from foliot.domain.events import DONE, ErrorCode, Event, Failed, Final, StatusNote, TextDelta, UsageReport
from foliot.domain.runs import OnUnknown
from foliot.execution.executing import Execution, Request, code_of, failure_of, performed, success_of
from foliot.testing import virtual
from tests.sdk.worlds import START

Say = Callable[[], AsyncIterator[Event]]


class Talker:
    """An executor that says what a test tells it to."""

    def __init__(self, say: Say, final: Final | None = None) -> None:
        self.say, self.final = say, final
        self.begun = 0

    def targets(self) -> list[str]:
        return ["python:talk"]

    def room(self, target: str) -> int | None:
        return None

    def on_unknown(self, target: str) -> OnUnknown:
        return OnUnknown.REDELIVER

    def close(self) -> None:
        """It holds nothing."""

    def run(self, request: Request) -> Execution:
        final: asyncio.Future[Final] = asyncio.get_running_loop().create_future()

        async def stream() -> AsyncIterator[Event]:
            self.begun += 1
            async for event in self.say():
                yield event
            if self.final is not None:
                final.set_result(self.final)

        return Execution(stream(), final)


def told(*events: Event) -> Say:
    async def say() -> AsyncIterator[Event]:
        for event in events:
            yield event

    return say


def what_became_of(talker: Talker, **options: Any) -> tuple[str, str | None, int]:
    """Status and reason of a run that the talker executed, and what was charged for it."""
    app = Foliot("sqlite:///not-used.db", pricing=Pricing(markup=Decimal(1)))
    with virtual(app, START) as world:
        app.parts.gate._executors = {"python": talker}
        app.schedules.create("digest", target="talk", every="5m", **options)
        world.advance(minutes=6)
        run = world.runs("digest")[0]
        return str(run.status), run.reason and str(run.reason), -app.accounts.get().balance


def test_an_execution_begins_when_it_is_listened_to() -> None:
    async def main() -> list[str]:
        seen: list[str] = []

        async def work() -> Final:
            seen.append("begun")
            return Final()

        execution = performed(work)
        await asyncio.sleep(0)
        seen.append("not listened to")
        seen += [type(event).__name__ async for event in execution.stream]
        assert await execution.final == Final()
        return seen

    assert asyncio.run(main()) == ["not listened to", "begun", "Done"]


def test_a_failure_is_told_and_then_done() -> None:
    async def main() -> list[Event]:
        async def work() -> Final:
            return Final(ErrorCode.RATE_LIMIT)

        return [event async for event in performed(work).stream]

    assert asyncio.run(main()) == [Failed(ErrorCode.RATE_LIMIT), DONE]


def test_what_is_heard_to_the_end_counts_and_usage_is_charged() -> None:
    usage = UsageReport(Usage("call", cost=Decimal("0.00001")))
    talker = Talker(told(TextDelta("a"), usage, StatusNote("half"), DONE), Final())
    assert what_became_of(talker) == ("success", None, 100)
    assert talker.begun == 1


@pytest.mark.parametrize("code", list(ErrorCode))
def test_each_code_is_a_reason(code: ErrorCode) -> None:
    assert what_became_of(Talker(told(Failed(code), DONE), Final(code))) == ("error", str(code), 0)


def test_a_stream_that_ends_without_done_has_lost_its_end() -> None:
    assert what_became_of(Talker(told(TextDelta("a")), Final())) == ("error", "finalization_lost", 0)


def test_a_stream_that_uses_more_than_its_run_may_is_not_heard_any_further() -> None:
    heard: list[int] = []

    async def say() -> AsyncIterator[Event]:
        for number in range(5):
            heard.append(number)
            yield UsageReport(usage_of(f"call-{number}", cost="0.00001"))
        yield DONE

    assert what_became_of(Talker(say, Final()), max_calls=2) == ("error", "run_limit", 300)
    assert heard == [0, 1, 2]


def test_an_executor_that_raises_has_failed_and_is_not_asked_again() -> None:
    async def say() -> AsyncIterator[Event]:
        yield TextDelta("a")
        raise Unavailable("in the midst of it")

    talker = Talker(say, Final())
    assert what_became_of(talker) == ("error", "provider_unavailable", 0)
    assert talker.begun == 1


def test_who_does_not_say_what_it_came_to_within_a_quarter_of_a_minute_has_lost_its_end() -> None:
    assert what_became_of(Talker(told(DONE))) == ("error", "finalization_lost", 0)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Invalid("x"), ErrorCode.INVALID_REQUEST),
        (NotFound("x"), ErrorCode.NOT_FOUND),
        (Unavailable("x"), ErrorCode.PROVIDER_UNAVAILABLE),
        (TimeoutError(), ErrorCode.TIMEOUT),
        (KeyError("x"), ErrorCode.INTERNAL),
        (KeyboardInterrupt(), ErrorCode.INTERNAL),
    ],
)
def test_what_an_exception_means_is_judged_once(error: BaseException, code: ErrorCode) -> None:
    assert code_of(error) is code
    assert failure_of(error).error is code


@pytest.mark.parametrize(("result", "final"), [(None, Final()), ({"a": 1}, Final(result='{"a":1}'))])
def test_a_result_is_kept_as_json(result: Any, final: Final) -> None:
    assert success_of(result) == final


def test_a_result_that_cannot_be_kept_is_no_failure() -> None:
    final = success_of(object())
    assert (final.error, final.result) == (None, None)
    assert "was not kept" in (final.words or "")
