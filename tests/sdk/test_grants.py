"""Nothing starts without permission: each way of not having it is a skip of its own, and the schedule goes on."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from foliot import Conflict, Denied, Foliot, Invalid, NotFound
from foliot.testing import World, virtual
from tests.sdk.worlds import START, at

JOB = "graph:execute:python:job"


def an_app() -> Foliot:
    app = Foliot("sqlite:///not-used.db")

    @app.graph("job")
    async def job(input: Any, ctx: Any) -> None:
        """Nothing to do."""

    @app.graph("other")
    async def other(input: Any, ctx: Any) -> None:
        """Nothing to do."""

    return app


@pytest.fixture
def world() -> Iterator[World]:
    with virtual(an_app(), START) as world:
        yield world


def create(world: World, name: str = "digest", **options: Any) -> str:
    """A schedule of every five minutes; the id of its grant."""
    return world.app.schedules.create(name, **{"target": "job", "every": "5m"} | options).grant


def fates(world: World, name: str = "digest") -> list[str]:
    """What became of each slot, oldest first."""
    return [f"{run.status} {run.reason or ''}".strip() for run in world.runs(name)]


def advance(world: World, slots: int = 1) -> None:
    for _ in range(slots):
        world.advance(minutes=5)


def test_a_program_that_knows_no_users_has_one_grant_for_all_that_it_runs(world: World) -> None:
    first, second = create(world, "first"), create(world, "second", target="other")
    assert first == second
    (grant,) = world.app.grants.list()
    assert (grant.user, grant.scopes, grant.expires_at, grant.revoked_at) == ("local", ("graph:execute:*",), None, None)
    advance(world)
    assert fates(world, "first") == fates(world, "second") == ["success"]


def test_a_schedule_of_a_user_gets_a_grant_for_its_target_alone(world: World) -> None:
    mine, hers = create(world, "mine", user="ann"), create(world, "hers", user="eve", target="other")
    assert mine != hers
    grant = world.app.grants.get(mine)
    assert (grant.user, grant.scopes) == ("ann", (JOB,))
    assert [found.id for found in world.app.grants.list("eve")] == [hers]
    advance(world)
    assert fates(world, "mine") == fates(world, "hers") == ["success"]


def test_a_schedule_takes_its_own_grant_with_it_and_no_other(world: World) -> None:
    own, shared = create(world, "own", user="ann"), create(world, "free")
    world.app.schedules.delete("own")
    world.app.schedules.delete("free")
    assert world.app.grants.get(own).revoked_at == START
    assert world.app.grants.get(shared).revoked_at is None


def test_a_schedule_that_is_created_again_gets_a_new_grant(world: World) -> None:
    before = create(world, user="ann")
    world.app.schedules.delete("digest")
    after = create(world, user="ann")
    assert before != after
    advance(world)
    assert fates(world) == ["success"]


def test_an_own_grant_follows_its_schedule_to_another_target(world: World) -> None:
    grant = create(world, user="ann")
    world.app.schedules.patch("digest", target="other")
    assert world.app.grants.get(grant).scopes == ("graph:execute:python:other",)
    advance(world)
    assert fates(world) == ["success"]


def test_a_revoked_grant_skips_each_slot_until_the_schedule_has_another(world: World) -> None:
    grant = create(world, user="ann")
    advance(world)
    world.app.grants.revoke(grant)
    advance(world, 2)
    another = world.app.grants.create(JOB, user="ann")
    world.app.schedules.patch("digest", grant=another.id)
    advance(world)
    assert fates(world) == ["success", "skipped grant_revoked", "skipped grant_revoked", "success"]


def test_a_clock_that_is_set_back_makes_an_expired_grant_good_again(world: World) -> None:
    grant = world.app.grants.create(JOB, user="ann", expires_at=at("12:08:00")).id
    create(world, grant=grant)
    advance(world, 2)
    world.step_clock(timedelta(minutes=-5))
    world.app.schedules.trigger("digest")
    world.advance(seconds=1)
    assert fates(world) == ["success", "success", "skipped grant_expired"], "the trigger was at 12:05, by the clock"


def test_a_revoked_grant_cannot_be_changed_and_what_to_do_is_said(world: World) -> None:
    """To extend one succeeded, and it stayed revoked."""
    grants, grant = world.app.grants, create(world)
    grants.revoke(grant)
    revoked = grants.get(grant)
    changes: list[Callable[[], Any]] = [
        lambda: grants.extend(grant, at("13:00")),
        lambda: grants.rescope(grant, JOB),
        lambda: grants.allow(grant, {"credits": 5}),
        lambda: grants.change(grant, expires_at=None),
    ]
    for change in changes:
        with pytest.raises(Conflict, match=f"{grant} was revoked at .*: `grants.create` makes another"):
            change()
    assert grants.get(grant) == revoked


def test_an_expired_grant_skips_each_slot_until_it_is_extended(world: World) -> None:
    grant = world.app.grants.create(JOB, user="ann", expires_at=at("12:10:00")).id
    create(world, grant=grant)
    advance(world, 3)
    world.app.grants.extend(grant, at("13:00"))
    advance(world)
    assert fates(world) == ["success", "skipped grant_expired", "skipped grant_expired", "success"]


def test_a_grant_for_something_else_skips_each_slot_until_it_covers_the_target(world: World) -> None:
    grant = world.app.grants.create(["graph:execute:python:*"], user="ann").id
    create(world, grant=grant)
    world.app.grants.rescope(grant, "graph:execute:python:other")
    advance(world)
    world.app.grants.rescope(grant, [JOB])
    advance(world)
    assert fates(world) == ["skipped grant_scope", "success"]


def test_a_revocation_lets_finish_what_runs_unless_it_says_otherwise() -> None:
    app = an_app()

    @app.graph("long")
    async def long(input: Any, ctx: Any) -> None:
        await asyncio.sleep(60 * 2)

    with virtual(app, START) as world:
        gentle = create(world, "gentle", target="long", user="ann")
        harsh = create(world, "harsh", target="long", user="ann")
        world.advance(minutes=5, seconds=30)
        app.grants.revoke(gentle)
        app.grants.revoke(harsh, stop=True)
        world.advance(minutes=4)
        assert fates(world, "gentle") == ["success"]
        assert fates(world, "harsh") == ["cancelled cancelled_by_user"]


def test_a_persons_trigger_needs_permission_too_and_says_so_at_once(world: World) -> None:
    world.app.grants.revoke(create(world))
    run = world.app.schedules.trigger("digest")
    assert (run.status, run.reason) == ("skipped", "grant_revoked")


def test_a_backfill_without_permission_skips_its_slots(world: World) -> None:
    grant = create(world)
    world.app.schedules.pause("digest")
    advance(world, 3)
    world.app.grants.revoke(grant)
    world.app.schedules.resume("digest")
    world.app.schedules.backfill("digest", at("12:05"), at("12:10"), which="all")
    world.advance(seconds=10)
    runs = [run for run in world.runs("digest") if run.kind == "backfill"]
    assert [(run.status, run.reason) for run in runs] == [("skipped", "grant_revoked")] * 2
    (backfill,) = world.app.schedules.backfills("digest")
    assert backfill.ended_at is not None


def test_a_retry_whose_permission_is_gone_is_skipped_and_the_schedule_goes_on() -> None:
    app = an_app()

    @app.graph("broken")
    async def broken(input: Any, ctx: Any) -> None:
        raise RuntimeError("it is broken")

    with virtual(app, START) as world:
        grant = create(world, target="broken", user="ann", retry=3)
        world.advance(minutes=5, seconds=2)
        app.grants.revoke(grant)
        world.advance(minutes=1)
        app.schedules.patch("digest", grant=app.grants.create("graph:execute:python:*").id, retry=None)
        advance(world)
        assert fates(world) == ["error internal", "skipped grant_revoked", "error internal"]
        assert app.schedules.get("digest").running == 0


def test_a_slot_that_waits_is_judged_again_when_its_turn_comes() -> None:
    app = an_app()

    @app.graph("long")
    async def long(input: Any, ctx: Any) -> None:
        await asyncio.sleep(60 * 7)

    with virtual(app, START) as world:
        grant = create(world, target="long", overlap="buffer_all")
        world.advance(minutes=11)
        app.grants.revoke(grant)
        world.advance(minutes=3)
        assert fates(world)[:2] == ["success", "skipped grant_revoked"]
        assert app.schedules.get("digest").held == 0


def test_a_slot_that_was_not_permitted_does_not_count_against_the_limit(world: World) -> None:
    grant = world.app.grants.create(JOB).id
    create(world, grant=grant, limit=1)
    world.app.grants.rescope(grant, "graph:execute:python:other")
    advance(world, 2)
    world.app.grants.rescope(grant, JOB)
    advance(world, 2)
    assert fates(world) == ["skipped grant_scope", "skipped grant_scope", "success"]


def test_repeated_refusals_raise_attention_once_and_a_start_ends_it(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "foliot.books")
    grant = world.app.grants.create(JOB).id
    create(world, grant=grant)
    world.app.grants.rescope(grant, "graph:execute:python:other")
    advance(world, 2)
    assert not world.app.schedules.get("digest").needs_attention
    advance(world, 4)
    assert world.app.schedules.get("digest").needs_attention
    assert len([record for record in caplog.records if "needs attention" in record.message]) == 1
    world.app.grants.rescope(grant, JOB)
    advance(world)
    assert not world.app.schedules.get("digest").needs_attention


@pytest.mark.parametrize(
    ("kind", "words", "options"),
    [
        (Denied, "does not cover python:job", {"grant": "grant-1"}),
        (Denied, "is not ann's", {"grant": "grant-1", "user": "ann", "target": "other"}),
        (NotFound, "there is no grant 'grant-9'", {"grant": "grant-9"}),
        (Invalid, "a grant's id is", {"grant": "permit"}),
        (Invalid, "a user takes", {"user": ""}),
    ],
)
def test_a_schedule_that_would_not_be_permitted_is_not_created(
    world: World, kind: type[Exception], words: str, options: dict[str, Any]
) -> None:
    world.app.grants.create("graph:execute:python:other", user="eve")
    with pytest.raises(kind, match=words):
        create(world, **options)
    assert world.app.schedules.list() == []
    assert len(world.app.grants.list()) == 1


def test_a_schedule_cannot_move_to_a_target_that_its_grant_does_not_cover(world: World) -> None:
    create(world, grant=world.app.grants.create(JOB).id)
    with pytest.raises(Denied, match="does not cover python:other"):
        world.app.schedules.patch("digest", target="other")
    assert world.app.schedules.get("digest").target == "python:job"


def test_a_grant_that_is_over_before_it_begins_is_refused(world: World) -> None:
    with pytest.raises(Invalid, match="a moment to come"):
        world.app.grants.create(JOB, expires_at=START - timedelta(seconds=1))


def test_a_declared_schedule_keeps_the_grant_that_somebody_gave_it() -> None:
    app = an_app()
    app.schedule("declared", every="5m")(lambda: None)
    with virtual(app, START) as world:
        grant = app.grants.create("graph:execute:python:*", user="ann").id
        app.schedules.patch("declared", grant=grant)
        app.declare()
        assert app.schedules.get("declared").grant == grant
        advance(world)
        assert fates(world, "declared") == ["success"]


def test_a_long_backfill_without_permission_is_over_soon(world: World) -> None:
    grant = create(world, every="1m")
    world.app.schedules.pause("digest")
    world.advance(hours=10)
    world.app.grants.revoke(grant)
    world.app.schedules.backfill("digest", START, world.now, which="all")
    world.advance(seconds=1)
    (backfill,) = world.app.schedules.backfills("digest")
    assert (backfill.started, backfill.running, backfill.ended_at is not None) == (0, 0, True)
    assert len(world.app.runs.list("digest", kind="backfill", reason="grant_revoked", limit=1000)) == 601


def test_an_upsert_for_another_user_is_denied_and_says_whose_it_is(world: World) -> None:
    world.app.schedules.upsert("digest", target="job", every="5m", user="ann")
    with pytest.raises(Denied, match="which is ann's and not bob's: give it a grant of bob's"):
        world.app.schedules.upsert("digest", target="job", every="5m", user="bob")


@pytest.mark.parametrize("target", ["*", "python:*", "http:*", "a*", "python:*:x"])
def test_a_target_that_is_a_wildcard_mints_no_grant(world: World, target: str) -> None:
    app = world.app
    create(world, "plain", user="eve")
    before = app.grants.list()
    asks: list[Callable[[], object]] = [
        lambda: app.schedules.create("star", target=target, every="1h", user="eve"),
        lambda: app.schedules.upsert("star", target=target, every="1h", user="eve"),
        lambda: app.schedules.patch("plain", target=target),
        lambda: app.graph(target.partition(":")[2] or target)(print),
        lambda: app.endpoint(target.partition(":")[2] or target, "https://example.org"),
        lambda: app.schedule("star", every="1h")(target),
    ]
    for ask in asks:
        with pytest.raises(Invalid, match=r"without \*"):
            ask()
    assert app.grants.list() == before


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_who_revokes_what_a_run_began_by_stops_it_whatever_its_schedule_runs_by_now(state: str) -> None:
    app = an_app()

    @app.graph("long")
    async def long(input: Any, ctx: Any) -> None:
        if state == "waiting":
            ctx.ask("approval")
        await asyncio.sleep(3600)

    with virtual(app, START) as world:
        old = create(world, target="long", user="ann")
        advance(world)
        (run,) = world.runs("digest")
        assert run.status == state
        app.schedules.patch("digest", grant=app.grants.create("graph:execute:python:*", user="bob").id)
        app.grants.revoke(old, stop=True)
        world.advance(seconds=1)
        assert fates(world)[0] == "cancelled cancelled_by_user"


@pytest.mark.parametrize("end", ["revoke", "expire", "rescope"])
def test_a_local_grant_that_no_longer_holds_is_followed_by_one_for_everybody(world: World, end: str) -> None:
    grants, dead = world.app.grants, world.app.grants.local().id
    if end == "revoke":
        grants.revoke(dead)
    elif end == "expire":
        grants.extend(dead, world.now)
    else:
        grants.rescope(dead, JOB)
    live = create(world)
    assert live != dead
    assert grants.local().id == live
