"""People in the loop: a run asks, waits without a worker, and goes on or ends as somebody decides, once."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from foliot import Conflict, Denied, Foliot, Invalid
from foliot.services.views import Run
from foliot.testing import World, virtual
from tests.sdk.worlds import START, at

NINE_DAYS = timedelta(days=9)


class Editor:
    """A graph that drafts, asks, and publishes what was approved."""

    def __init__(self, **asking: Any) -> None:
        self.asking = asking
        self.seen: list[Any] = []

    def __call__(self, input: Any, ctx: Any) -> dict[str, Any]:
        self.seen.append(ctx.decision)
        ctx.report_usage("draft", cost="0.001")
        if ctx.decision is None or ctx.decision.verdict == "revise":
            ctx.ask("approval", {"draft": len(self.seen)}, **self.asking)
        return {"published": len(self.seen)}


def a_world(editor: Editor, **options: Any) -> Iterator[World]:
    app = Foliot("sqlite:///not-used.db")
    app.graph("edit")(editor)
    with virtual(app, START) as world:
        app.schedules.create("edit", **{"target": "edit", "every": "1h"} | options)
        yield world


@pytest.fixture
def editor() -> Editor:
    return Editor()


@pytest.fixture
def world(editor: Editor) -> Iterator[World]:
    yield from a_world(editor)


def asked(world: World) -> Run:
    """The run that waits."""
    world.advance_to(at("13:00:01"))
    (run,) = world.app.runs.list("edit", status="waiting")
    return run


def decide(world: World, run: Run, verdict: str, **options: Any) -> Run:
    world.app.runs.decide(run.id, verdict, **options)
    world.advance(seconds=1)
    return world.app.runs.get(run.id)


def test_a_run_that_asks_waits_with_its_question_and_holds_no_worker(world: World) -> None:
    run = asked(world)
    (question,) = world.app.runs.questions(run.id)
    assert (question.kind, question.data) == ("approval", {"draft": 1})
    assert question.expires_at == at("13:00") + timedelta(days=7)
    assert (question.verdict, question.closed_at) == (None, None)
    assert run.ended_at is None
    assert world.engine().in_hand == 0


def test_an_approved_run_goes_on_with_the_decision_and_succeeds(world: World, editor: Editor) -> None:
    run = decide(world, asked(world), "approve", by="ann")
    assert (run.status, run.result, run.attempt) == ("success", {"published": 2}, 1)
    assert [None if d is None else (d.verdict, d.by) for d in editor.seen] == [None, ("approve", "ann")]


def test_a_run_that_is_to_be_revised_hears_why_and_may_ask_again(world: World, editor: Editor) -> None:
    run = asked(world)
    assert decide(world, run, "revise", feedback={"tone": "warmer"}).status == "waiting"
    assert editor.seen[-1].feedback == {"tone": "warmer"}
    assert decide(world, run, "approve").status == "success"
    assert [question.verdict for question in world.app.runs.questions(run.id)] == ["revise", "approve"]


def test_what_is_used_in_each_round_is_charged_and_in_each_but_once(world: World) -> None:
    run = asked(world)
    decide(world, run, "revise")
    decide(world, run, "approve")
    assert [receipt.unit for receipt in world.app.runs.receipts(run.id)] == ["draft", "draft@1", "draft@2"]


def test_a_rejected_run_is_over_and_no_failure(world: World, editor: Editor) -> None:
    run = decide(world, asked(world), "reject", by="ann", feedback="no")
    assert (run.status, run.reason) == ("cancelled", "rejected")
    assert len(editor.seen) == 1
    world.advance_to(at("14:00:01"))
    assert [run.status for run in world.runs("edit")] == ["cancelled", "waiting"]


def test_a_decision_told_twice_is_told_once(world: World, editor: Editor) -> None:
    run = asked(world)
    for _ in range(2):
        decide(world, run, "approve", by="ann", id="click-1")
    assert len(editor.seen) == 2


def test_a_decision_told_again_does_not_answer_the_next_question(world: World) -> None:
    run = asked(world)
    decide(world, run, "revise", by="ann", id="click-1")
    assert decide(world, run, "revise", by="ann", id="click-1").status == "waiting"
    assert [question.verdict for question in world.app.runs.questions(run.id)] == ["revise", None]


def test_another_decision_under_the_same_id_is_a_conflict(world: World) -> None:
    run = asked(world)
    decide(world, run, "revise", id="click-1")
    with pytest.raises(Conflict, match=r"decision 'click-1' about .* was to revise"):
        world.app.runs.decide(run.id, "approve", id="click-1")


def test_who_comes_second_hears_what_was_decided(world: World) -> None:
    run = asked(world)
    decide(world, run, "approve", by="ann")
    with pytest.raises(Conflict, match="does not wait any more: it is success, approve by ann"):
        world.app.runs.decide(run.id, "reject", by="bob")


def test_only_those_who_may_decide_do() -> None:
    for world in a_world(Editor(who=["ann"])):
        run = asked(world)
        with pytest.raises(Denied, match=r"'bob' may not decide about .*: ask ann"):
            world.app.runs.decide(run.id, "approve", by="bob")
        assert decide(world, run, "approve", by="ann").status == "success"


def test_a_run_that_asked_nothing_takes_no_decision(world: World) -> None:
    run = world.app.schedules.trigger("edit", overlap="allow_all")
    with pytest.raises(Conflict, match="has asked nothing"):
        world.app.runs.decide(run.id, "approve")
    with pytest.raises(Invalid, match="a decision is"):
        world.app.runs.decide(run.id, "perhaps")


@pytest.mark.parametrize(
    ("at_expiry", "status", "reason"),
    [
        ("reject", "cancelled", "decision_expired"),
        ("approve", "success", None),
        ("fail", "error", "timeout"),
    ],
)
def test_a_question_that_nobody_answers_in_time_ends_as_it_says(
    at_expiry: str, status: str, reason: str | None
) -> None:
    for world in a_world(Editor(expires_in="90s", at_expiry=at_expiry)):
        run = asked(world)
        world.advance_to(at("13:01:29"))
        assert world.app.runs.get(run.id).status == "waiting"
        world.advance_to(at("13:01:31"))
        run = world.app.runs.get(run.id)
        assert (run.status, run.reason) == (status, reason)
        assert run.ended_at is not None
        assert run.ended_at - at("13:01:30") < timedelta(seconds=1)


def test_an_answer_that_comes_too_late_is_refused(world: World) -> None:
    run = asked(world)
    world.stop()
    world.advance(NINE_DAYS)
    with pytest.raises(Conflict, match="has expired"):
        world.app.runs.decide(run.id, "approve")


def test_a_waiting_run_occupies_its_schedule(world: World) -> None:
    asked(world)
    world.advance_to(at("14:00:01"))
    assert [run.reason for run in world.runs("edit")] == [None, "overlap"]


@pytest.mark.parametrize(
    ("overlap", "reason"), [("cancel_other", "cancelled_by_policy"), ("terminate_other", "terminated")]
)
def test_a_waiting_run_gives_way_where_the_policy_says_so(overlap: str, reason: str) -> None:
    for world in a_world(Editor(), overlap=overlap):
        run = asked(world)
        world.advance_to(at("14:00:01"))
        assert [run.reason for run in world.runs("edit")] == [reason, None]
        (question,) = world.app.runs.questions(run.id)
        assert question.closed_at == at("14:00")


@pytest.mark.parametrize("verb", ["cancel", "terminate"])
def test_a_person_may_end_what_waits(world: World, verb: str) -> None:
    run = asked(world)
    assert getattr(world.app.runs, verb)(run.id).status == "cancelled"
    with pytest.raises(Conflict, match="does not wait any more: it is cancelled"):
        world.app.runs.decide(run.id, "approve")


def test_what_waits_is_over_when_its_schedule_is_deleted(world: World) -> None:
    run = asked(world)
    world.app.schedules.delete("edit")
    assert world.app.runs.get(run.id).reason == "schedule_deleted"


def test_an_answered_run_needs_permission_like_any_other() -> None:
    for world in a_world(Editor(), user="ann"):
        run = asked(world)
        world.app.grants.revoke(world.app.schedules.get("edit").grant)
        assert decide(world, run, "approve").reason == "grant_revoked"


def test_a_run_that_swallows_its_own_question_waits_all_the_same() -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.graph("stubborn")
    def stubborn(input: Any, ctx: Any) -> str:
        with suppress(Exception):
            ctx.ask("approval")
        return "done anyway"

    with virtual(app, START) as world:
        app.schedules.create("stubborn", target="stubborn", every="1h")
        world.advance_to(at("13:00:01"))
        assert [run.status for run in world.runs("stubborn")] == ["waiting"]


def test_a_question_that_cannot_be_asked_is_a_failure_that_says_why() -> None:
    for world in a_world(Editor(at_expiry="shrug")):
        world.advance_to(at("13:00:01"))
        (run,) = world.runs("edit")
        assert run.reason == "invalid_request"
        assert "at_expiry takes" in (run.error or "")


def test_a_run_asked_to_stop_does_not_wait_for_anybody() -> None:
    app = Foliot("sqlite:///not-used.db")

    @app.graph("slow")
    async def slow(input: Any, ctx: Any) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ctx.ask("approval")

    with virtual(app, START) as world:
        app.schedules.create("slow", target="slow", every="1h")
        world.advance_to(at("13:00:01"))
        (run,) = world.runs("slow")
        app.runs.cancel(run.id)
        world.advance(seconds=5)
        assert app.runs.get(run.id).reason == "cancelled_by_user"


class TestOfWhatNobodyKnows:
    """A run whose worker died while its code may have been at work."""

    @staticmethod
    def after_a_death(on_unknown: str) -> Iterator[tuple[World, list[int]]]:
        app = Foliot("sqlite:///not-used.db")
        begun: list[int] = []

        @app.graph("pay", on_unknown=on_unknown)
        async def pay(input: Any, ctx: Any) -> str:
            begun.append(1)
            await asyncio.sleep(10)
            return "paid"

        with virtual(app, START) as world:
            app.schedules.create("pay", target="pay", every="1h")
            world.advance_to(at("13:00:05"))
            world.kill()
            world.restart()
            world.advance(seconds=40)
            yield world, begun

    def test_it_is_delivered_once_more_unless_told_otherwise(self) -> None:
        for world, begun in self.after_a_death("redeliver"):
            assert [run.status for run in world.runs("pay")] == ["success"]
            assert len(begun) == 2

    def test_it_is_held_for_a_person_where_the_target_says_so(self) -> None:
        for world, begun in self.after_a_death("hold"):
            (run,) = world.runs("pay")
            assert run.status == "waiting"
            assert len(begun) == 1
            (question,) = world.app.runs.questions(run.id)
            assert (question.kind, question.data) == ("unknown_outcome", {"losses": 1})

    def test_a_person_may_have_it_run_once_more(self) -> None:
        for world, begun in self.after_a_death("hold"):
            (run,) = world.runs("pay")
            world.app.runs.decide(run.id, "approve", by="ann")
            world.advance(seconds=20)
            assert world.app.runs.get(run.id).result == "paid"
            assert len(begun) == 2

    def test_a_person_may_say_that_it_is_done_with(self) -> None:
        for world, begun in self.after_a_death("hold"):
            (run,) = world.runs("pay")
            assert world.app.runs.decide(run.id, "reject", by="ann").reason == "rejected"
            assert len(begun) == 1

    def test_having_it_run_once_more_is_no_answer_to_what_its_code_asks_and_costs_nothing_twice(self) -> None:
        app = Foliot("sqlite:///not-used.db")
        seen: list[Any] = []

        @app.graph("pay", on_unknown="hold")
        async def pay(input: Any, ctx: Any) -> str:
            seen.append(ctx.decision)
            ctx.report_usage("look", cost="0.001")
            if len(seen) == 1:
                await asyncio.sleep(10)
            if ctx.decision is None:
                ctx.ask("approval", {"pay": 1000})
            return "paid"

        with virtual(app, START) as world:
            app.schedules.create("pay", target="pay", every="1h")
            world.advance_to(at("13:00:05"))
            world.kill()
            world.restart()
            world.advance(seconds=40)
            (run,) = world.runs("pay")
            app.report_usage(run.id, "look", cost="0.001")
            assert decide(world, run, "approve", by="ops").status == "waiting"
            assert seen == [None, None]
            assert [receipt.unit for receipt in app.runs.receipts(run.id)] == ["look"]
            assert decide(world, run, "approve", by="ann").result == "paid"
            assert seen[-1].by == "ann"
            assert [receipt.unit for receipt in app.runs.receipts(run.id)] == ["look", "look@1"]

    def test_what_is_done_then_is_one_of_two_things(self) -> None:
        with pytest.raises(Invalid, match="on_unknown takes 'redeliver', 'hold', got 'guess'"):
            Foliot("sqlite:///not-used.db").graph("pay", on_unknown="guess")(lambda: None)


@pytest.mark.parametrize(
    ("verdict", "options", "words"),
    [
        ("revise", {"feedback": "again", "by": "ann"}, "other feedback"),
        ("revise", {"feedback": "short", "by": "bob"}, "another person"),
        ("approve", {"feedback": "short", "by": "ann"}, "another verdict"),
        ("reject", {"by": "bob"}, "another verdict and other feedback and another person"),
    ],
)
def test_another_decision_under_the_same_id_hears_what_is_other(
    world: World, verdict: str, options: dict[str, Any], words: str
) -> None:
    run = asked(world)
    decide(world, run, "revise", feedback="short", by="ann", id="click-1")
    with pytest.raises(Conflict, match=f"was to revise by ann, and now has {words}: give another one another id"):
        decide(world, run, verdict, id="click-1", **options)


@pytest.mark.parametrize(
    ("at_expiry", "words"),
    [
        ("reject", "it is cancelled, for its question expired at 2026-11-15T13:30:00Z. `runs.retry` makes another"),
        ("fail", "it is error, for its question expired at 2026-11-15T13:30:00Z. `runs.retry` makes another attempt"),
        ("approve", "it is success, approve by expiry, for its question expired at 2026-11-15T13:30:00Z"),
    ],
)
def test_who_answers_after_the_end_hears_that_it_was_the_end(at_expiry: str, words: str) -> None:
    for world in a_world(Editor(expires_in="30m", at_expiry=at_expiry)):
        run = asked(world)
        world.advance(minutes=40)
        with pytest.raises(Conflict) as refusal:
            decide(world, run, "approve", by="ann")
        assert words in str(refusal.value)
        assert at_expiry != "approve" or "retry" not in str(refusal.value)


def test_a_slot_that_waits_for_a_person_is_not_skipped_and_the_refusal_says_what_ends_it(world: World) -> None:
    asked(world)
    with pytest.raises(Conflict, match=r"is waiting: it has begun and asked a person\. `runs\.decide` answers it"):
        world.app.schedules.skip("edit", at("13:00:00"))
