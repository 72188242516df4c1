"""How an execution is listened to: done is the end, whatever comes after it, and a failure that was told stands."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.credits import Usage
from foliot.providers import (
    DONE,
    ErrorCode,
    Execution,
    Failed,
    Final,
    Request,
    StatusNote,
    TextDelta,
    UsageReport,
    question_of,
    success_of,
    usage_of,
)
from foliot.testing import virtual
from tests.execution.providers import Own, a_program, telling, what_became_of
from tests.sdk.worlds import START

PAID = UsageReport(usage_of("call", cost="0.001"))


def saying(*events: Any, final: Any = None) -> Own:
    async def told() -> AsyncIterator[Any]:
        for event in events:
            yield event

    return telling(told, success_of(1) if final is None else final)


def receipts(provider: Own) -> tuple[str, str | None, list[str]]:
    """Status and error of its run, and what was charged for."""
    app = Foliot("sqlite:///not-used.db")
    app.provider("own", provider)
    with virtual(app, START) as world:
        app.schedules.create("bad", target="own:x", manual=True)
        run = app.schedules.trigger("bad").id
        world.advance(seconds=1)
        found = app.runs.get(run)
        return str(found.status), found.error, [receipt.unit for receipt in app.runs.receipts(run)]


def complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if "of the provider 'own'" in record.message]


@pytest.mark.parametrize("late", [DONE, PAID, Failed(ErrorCode.INTERNAL), TextDelta("x"), None])
def test_what_comes_after_done_is_not_heard_and_said_once(late: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert receipts(saying(DONE, late, late)) == ("success", None, [])
    assert complaints(caplog) == [
        "the stream after Done of the provider 'own': nothing comes after it,"
        f" got {type(late).__name__}, which is not heard"
    ]


@pytest.mark.parametrize(("said", "shown"), [("half of it", "half of it"), (5, "5"), ("a\0b", "a\\0b")])
def test_a_status_is_the_progress_of_its_run(said: Any, shown: str) -> None:
    async def told() -> AsyncIterator[Any]:
        yield StatusNote("not yet begun")
        yield TextDelta("is for nobody yet")
        yield StatusNote(said)
        await asyncio.sleep(60)
        yield DONE

    app = a_program(telling(told))
    with virtual(app, START) as world:
        app.schedules.create("slow", target="own:x", manual=True)
        run = app.schedules.trigger("slow").id
        world.advance(seconds=30)
        assert app.runs.get(run).progress == shown
        world.advance(seconds=60)
        assert app.runs.get(run).status == "success"


def test_what_a_stream_raises_after_done_is_not_heard() -> None:
    async def told() -> AsyncIterator[Any]:
        yield DONE
        raise SystemExit(3)

    assert str(what_became_of(telling(told)).status) == "success"


def test_a_stream_that_does_not_end_after_done_is_closed_in_a_quarter_of_a_minute() -> None:
    closed = []

    async def told() -> AsyncIterator[Any]:
        try:
            yield DONE
            await asyncio.sleep(10**6)
        finally:
            closed.append(True)

    run = what_became_of(telling(told, success_of(1)), within=15)
    assert (str(run.status), run.result, closed) == ("success", 1, [True])


class Late(Own):
    """Says what it came to so many seconds after done, while its stream goes on for so many."""

    def __init__(self, final_after: float, stream_for: float) -> None:
        super().__init__()
        self.final_after, self.stream_for = final_after, stream_for

    def run(self, request: Request) -> Any:
        async def stream() -> AsyncIterator[Any]:
            yield DONE
            await asyncio.sleep(self.stream_for)

        final: asyncio.Future[Final] = asyncio.get_running_loop().create_future()

        def settle() -> None:
            if not final.done():
                final.set_result(Final())

        asyncio.get_running_loop().call_later(self.final_after, settle)
        return Execution(stream(), final)


@pytest.mark.parametrize(
    ("final_after", "stream_for", "status"),
    [(14, 0, "success"), (16, 0, "error"), (14, 10, "success"), (16, 10, "error"), (14, 1000, "success")],
)
def test_the_quarter_of_a_minute_counts_from_done(final_after: float, stream_for: float, status: str) -> None:
    run = what_became_of(Late(final_after, stream_for), within=15)
    assert (str(run.status), str(run.reason)) == (status, "None" if status == "success" else "finalization_lost")


def test_a_final_that_raises_timeout_was_not_waited_for_too_long() -> None:
    class Raising(Own):
        def run(self, request: Request) -> Any:
            async def final() -> Final:
                raise TimeoutError("no answer")

            return Execution(self.told(), final())

    run = what_became_of(Raising())
    assert (str(run.reason), (run.error or "").splitlines()[0]) == ("timeout", "TimeoutError: no answer")


@pytest.mark.parametrize("final", [success_of(1), Final(question=question_of("approval"))], ids=["success", "question"])
def test_a_failure_that_was_told_stands(final: Final) -> None:
    run = what_became_of(saying(Failed(ErrorCode.RATE_LIMIT), DONE, final=final))
    assert (str(run.status), str(run.reason), run.result) == ("error", "rate_limit", None)


def test_the_final_says_more_of_a_failure_than_the_stream() -> None:
    final = Final(ErrorCode.TIMEOUT, words="after a while")
    run = what_became_of(saying(Failed(ErrorCode.INTERNAL), DONE, final=final))
    assert (str(run.reason), run.error) == ("timeout", "after a while")


def test_a_failure_of_no_code_is_an_internal_one() -> None:
    run = what_became_of(saying(Failed("overlap"), DONE))  # type: ignore[arg-type]
    assert str(run.reason) == "internal"
    assert "str 'overlap', which is no error code" in (run.error or "")


def test_between_a_failure_and_done_nothing_is_heard(caplog: pytest.LogCaptureFixture) -> None:
    status, _, charged = receipts(saying(PAID, Failed(ErrorCode.INTERNAL), UsageReport(usage_of("late")), DONE))
    assert (status, charged) == ("error", ["call"])
    assert complaints(caplog) == [
        "the stream after Failed of the provider 'own': Done comes next, got UsageReport, which is not heard"
    ]


@pytest.mark.parametrize("usage", ["nonsense", None, Usage(""), Usage("u", tokens=-1), Usage("u", cost="much")])  # type: ignore[arg-type]
def test_usage_that_cannot_be_charged_ends_the_run_and_the_rest_is_charged(usage: Any) -> None:
    status, error, charged = receipts(saying(PAID, UsageReport(usage), UsageReport(usage_of("more")), DONE))
    assert (status, charged) == ("error", ["call"])
    assert "its executor reports what cannot be charged: " in (error or "")


def test_a_stream_that_cannot_be_closed_keeps_nobody_from_going_on(caplog: pytest.LogCaptureFixture) -> None:
    async def told() -> AsyncIterator[Any]:
        try:
            yield UsageReport("nonsense")  # type: ignore[arg-type]
        finally:
            await asyncio.sleep(10**6)

    class Bare(Own):
        def run(self, request: Request) -> Any:
            return Execution(told(), asyncio.get_running_loop().create_future())

    assert str(what_became_of(Bare(), within=15).reason) == "internal"
    assert "could not be closed, TimeoutError" in complaints(caplog)[0]
