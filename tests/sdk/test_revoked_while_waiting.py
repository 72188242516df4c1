"""A run that has asked and lost its permission: it does not go on, and with `stop` nobody waits for an answer."""

from collections.abc import Iterator

import pytest

from foliot.testing import World
from tests.sdk.test_waiting import Editor, a_world, asked, decide


@pytest.fixture
def world() -> Iterator[World]:
    yield from a_world(Editor(), user="ann", overlap="buffer_all")


def revoke(world: World, *, stop: bool) -> None:
    world.app.grants.revoke(world.app.schedules.get("edit").grant, stop=stop)


def test_with_stop_what_waits_is_cancelled_at_once_and_its_question_withdrawn(world: World) -> None:
    run = asked(world)
    revoke(world, stop=True)
    ended = world.app.runs.get(run.id)
    assert (ended.status, ended.reason) == ("cancelled", "cancelled_by_user")
    assert world.app.runs.questions(run.id)[0].closed_at is not None
    assert world.app.schedules.get("edit").running == 0


def test_with_stop_what_stood_behind_it_is_judged_and_does_not_start(world: World) -> None:
    asked(world)
    world.advance(hours=2)
    assert [str(run.status) for run in world.runs("edit")] == ["waiting", "pending", "pending"]
    revoke(world, stop=True)
    world.advance(hours=1)
    fates = [str(run.reason) for run in world.runs("edit")]
    assert fates == ["cancelled_by_user", "grant_revoked", "grant_revoked", "grant_revoked"]
    assert world.app.schedules.get("edit").held == 0


def test_with_stop_all_that_wait_are_cancelled() -> None:
    for world in a_world(Editor(), user="ann", overlap="allow_all"):
        asked(world)
        world.advance(hours=2)
        revoke(world, stop=True)
        assert [str(run.reason) for run in world.runs("edit")] == ["cancelled_by_user"] * 3
        assert world.app.schedules.get("edit").running == 0


def test_without_stop_it_waits_on_and_is_not_let_go_on_when_it_is_answered(world: World) -> None:
    run = asked(world)
    revoke(world, stop=False)
    world.advance(minutes=1)
    assert world.app.runs.get(run.id).status == "waiting"
    decide(world, run, "approve")
    world.advance(seconds=1)
    ended = world.app.runs.get(run.id)
    assert (ended.status, ended.reason) == ("skipped", "grant_revoked")
    assert ended.started_at is not None
    assert len(world.app.runs.receipts(run.id)) == 1
    assert "and was not let go on" in world.app.schedules.explain("edit", run.scheduled_for).sentence


def test_of_a_run_that_waits_is_explained_for_whom_and_until_when() -> None:
    for world in a_world(Editor(who=["ann"], expires_in="2h")):
        explained = world.app.schedules.explain("edit", asked(world).scheduled_for)
        assert (explained.verdict, explained.reason) == ("held", None)
        assert "for ann to answer 'approval' until 2026-11-15T15:00:00Z" in explained.sentence
