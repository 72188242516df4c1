"""What a provider gives is made sound in the gate: its mistakes are ends of its own runs, and of nobody else's."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot import Foliot, Invalid
from foliot.domain.questions import AtExpiry, Question
from foliot.domain.runs import Reason, Status
from foliot.domain.settlement import Outcome
from foliot.execution.reception import outcome_of
from foliot.providers import DONE, ErrorCode, Final, OnUnknown, Request, performed, success_of
from foliot.testing import virtual
from tests.execution.providers import Own, a_program, telling, what_became_of
from tests.sdk.worlds import START


class Unwritable(Exception):
    """One whose words cannot be had."""

    def __str__(self) -> str:
        raise Unwritable

    __repr__ = __str__


@pytest.mark.parametrize(
    ("final", "words"),
    [
        (Final(ErrorCode.INTERNAL, words="caf\udce9"), "caf\\udce9"),
        (Final(ErrorCode.INTERNAL, words="a\0b"), "a\\0b"),
        (Final(ErrorCode.INTERNAL, words=ValueError("x")), "x"),  # type: ignore[arg-type]
        (Final(ErrorCode.INTERNAL, words=Unwritable()), "a Unwritable that cannot be written"),  # type: ignore[arg-type]
        (Final(ErrorCode.INTERNAL, words="x" * 5_000_000), "x" * 8000),
        (Final("overlap"), "str 'overlap', which is none of invalid_request, not_found"),  # type: ignore[arg-type]
        (Final("whatever", words="w\udce9"), "provider_unavailable: w\\udce9"),  # type: ignore[arg-type]
        (Final(["internal"]), "list"),  # type: ignore[arg-type]
        (Final(Unwritable()), "Unwritable that cannot be shown"),  # type: ignore[arg-type]
        (Final(question="may I?"), "what cannot be asked: a question is what `question_of` makes, got str"),  # type: ignore[arg-type]
        (Final(question=Question("")), "asks what cannot be asked: a question takes a kind"),
        (Final(question=Question("unknown_outcome")), "asks what cannot be asked: a question takes a kind"),
        (Final(question=Question("approval", "{")), "asks what cannot be asked"),
        (Final(question=Question("approval", "NaN")), "asks what cannot be asked"),
        (Final(question=Question("approval", expires_in=10**40)), "asks what cannot be asked"),
        (Final(question=Question("approval", expires_in="1d")), "asks what cannot be"),  # type: ignore[arg-type]
        (Final(question=Question("approval", who="ann")), "asks what cannot be asked: who"),  # type: ignore[arg-type]
        (Final(question=Question("approval", at_expiry="no")), "asks what cannot be"),  # type: ignore[arg-type]
        (Final(question=Question("approval", reference="\udce9")), "asks what cannot be asked"),
        (Final(question=Question("approval", reference="a\0")), "asks what cannot be asked"),
        ({"a": 1}, "came to dict {'a': 1}, and not to a Final"),
        (("internal",), "and not to a Final"),
    ],
    ids=range(22),
)
def test_what_cannot_be_kept_is_an_internal_error_that_says_what_is_wrong(final: Any, words: str) -> None:
    status, reason, result, error, question = outcome_of(final)
    assert (status, reason, result, question) == (Status.ERROR, Reason.INTERNAL, None, None)
    assert error is not None
    assert len(error) <= 8000
    assert words in error


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (b'{"a":1}', "JSON text, got bytes"),
        (5, "JSON text, got int"),
        ("{", "Expecting"),
        ("NaN", "got NaN"),
        ('[1, "a", -Infinity]', "got -Infinity"),
        ('"' + "x" * 3_000_000 + '"', "at most 1,000,000 characters"),
        ("[" * 100_000, "not kept"),
    ],
)
def test_a_result_that_cannot_be_kept_makes_no_failure_of_what_went_well(result: Any, why: str) -> None:
    outcome = outcome_of(Final(result=result))
    assert (outcome.status, outcome.result) == (Status.SUCCESS, None)
    assert "the result was not kept" in (outcome.error or "")
    assert why in (outcome.error or "")


@pytest.mark.parametrize(
    ("result", "kept"),
    [('"\ud800"', "\ud800"), ('"\\u0000é"', "\0é"), ('{"b": 1, "a": [null]}', {"b": 1, "a": [None]})],
)
def test_a_result_is_kept_whatever_signs_are_in_it(result: str, kept: Any) -> None:
    outcome = outcome_of(Final(result=result, words="said"))
    assert (outcome.status, json.loads(outcome.result or ""), outcome.error) == (Status.SUCCESS, kept, "said")
    assert outcome.result is not None
    outcome.result.encode()


@pytest.mark.parametrize(
    "final",
    [
        Final(ErrorCode.INTERNAL, words="caf\udce9"),
        Final(result=b"1"),  # type: ignore[arg-type]
        Final(result='"\ud800"'),
        Final(words=ValueError()),  # type: ignore[arg-type]
        Final(question="x"),  # type: ignore[arg-type]
    ],
    ids=["words", "bytes", "signs", "object", "question"],
)
def test_a_bad_final_is_the_end_of_its_own_run_and_nobody_elses(final: Final) -> None:
    run = what_became_of(Own(final))
    expected = "success" if final.error is None and final.question is None else "error"
    assert (str(run.status), run.losses) == (expected, 0)


def test_a_question_that_an_executor_has_made_itself_is_asked() -> None:
    question = Question("callback", '{"a":1}', ("ann",), 5, AtExpiry.FAIL, "here")
    assert outcome_of(Final(question=question)) == Outcome(Status.WAITING, question=question)


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), Unwritable(), ValueError("\udce9")]
)
def test_whatever_a_stream_raises_only_its_run_has_failed(error: BaseException | None) -> None:
    async def told() -> AsyncIterator[Any]:
        if error is not None:
            raise error
        yield DONE

    run = what_became_of(telling(told))
    assert (str(run.status), str(run.reason)) == ("error", "internal")
    assert type(error).__name__ in (run.error or "")


@pytest.mark.parametrize("given", [None, 5, (1, 2)])
def test_whatever_run_gives_back_only_its_run_has_failed(given: Any) -> None:
    class Giving(Own):
        def run(self, request: Request) -> Any:
            return given

    run = what_became_of(Giving())
    assert (str(run.status), str(run.reason)) == ("error", "internal")


def test_work_that_returns_no_final_has_failed() -> None:
    class Working(Own):
        def run(self, request: Request) -> Any:
            async def work() -> Any:
                return None

            return performed(work)

    assert "came to NoneType None, and not to a Final" in (what_became_of(Working()).error or "")


@pytest.mark.parametrize("room", [RuntimeError("room"), "many", 2.5, [1]])
def test_a_room_that_is_none_limits_nothing_and_is_said_once(room: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Roomy(Own):
        def room(self, target: str) -> Any:
            if isinstance(room, Exception):
                raise room
            return room

    assert str(what_became_of(Roomy()).status) == "success"
    said = [record.message for record in caplog.records if "room of the provider 'own'" in record.message]
    assert len(said) == 1


@pytest.mark.parametrize(
    "targets",
    [RuntimeError("t"), None, 5, [5], [["own:x"]], "own:x", ["own:x y", "python:good", "python:other", "x" * 300]],
)
def test_targets_that_are_none_are_not_run_and_it_is_said_once(targets: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Listing(Own):
        def targets(self) -> Any:
            if isinstance(targets, Exception):
                raise targets
            return targets

    app = a_program(Listing())
    with virtual(app, START) as world:
        app.schedules.create("good", target="good", every="1h")
        app.schedules.create("bad", target="own:x", every="1h")
        world.advance(hours=3)
        assert [str(run.status) for run in world.runs("good")] == ["success"] * 3
        assert app.parts.gate.targets() == ["python:good", "dag:*"]
    said = [record.message for record in caplog.records if "targets of the provider 'own'" in record.message]
    assert len(said) == 1


def test_what_is_sound_among_targets_is_run() -> None:
    class Listing(Own):
        def targets(self) -> Any:
            return [5, "own:x", "\udce9"]

    assert str(what_became_of(Listing()).status) == "success"


@pytest.mark.parametrize(
    ("on_unknown", "status", "complaints"),
    [
        ("hold", "waiting", 0),
        (OnUnknown.HOLD, "waiting", 0),
        ("redeliver", "success", 0),
        ("HOLD", "waiting", 1),
        (None, "waiting", 1),
        (["hold"], "waiting", 1),
        (RuntimeError("nobody knows"), "waiting", 1),
    ],
)
def test_unless_a_provider_says_redeliver_a_person_is_asked_about_a_lost_run(
    on_unknown: Any, status: str, complaints: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Slow(Own):
        def on_unknown(self, target: str) -> Any:
            if isinstance(on_unknown, Exception):
                raise on_unknown
            return on_unknown

        def run(self, request: Request) -> Any:
            async def work() -> Final:
                await asyncio.sleep(60)
                return success_of(1)

            return performed(work)

    app = a_program(Slow())
    with virtual(app, START) as world:
        app.schedules.create("bad", target="own:x", manual=True)
        run = app.schedules.trigger("bad")
        world.advance(seconds=5)
        world.kill()
        world.restart()
        world.advance(minutes=5)
        assert str(app.runs.get(run.id).status) == status
    said = [record.message for record in caplog.records if "on_unknown of the provider 'own'" in record.message]
    assert len(said) == complaints


class Bare:
    """Nothing of an executor."""


class Waiting(Own):
    """One that would be waited for."""

    async def run(self, request: Request) -> Any:
        return None


class Short(Own):
    """One that forgot an argument."""

    def room(self) -> Any:  # type: ignore[override]
        return None


class Flat(Own):
    """One whose targets are there already."""

    targets: Any = "own:x"


@pytest.mark.parametrize(
    ("executor", "why"),
    [
        (Own, r"takes an object, got the class Own: give Own\(\)"),
        (Bare(), "lacks targets, room, on_unknown, run, close: see how-to"),
        (Waiting(), "takes a plain run, got an async one: see how-to"),
        (Short(), "takes a room of 1 arguments: see how-to"),
        (Flat(), "lacks targets: see how-to"),
        (None, "lacks targets"),
    ],
)
def test_what_is_no_executor_is_refused_when_it_is_registered(executor: Any, why: str) -> None:
    app = Foliot("sqlite:///not-used.db")
    with pytest.raises(Invalid, match=f"the executor of 'own' {why}"):
        app.provider("own", executor)
    assert "own" not in app.executors
