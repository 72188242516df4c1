"""The verbs on schedules and runs: tokens, patches, lists, times."""

from typing import Any

import pytest

from foliot import Conflict, Invalid, NotFound
from foliot.testing import World, virtual
from tests.sdk.worlds import START, a_program, at


@pytest.fixture
def world(database_url: str) -> Any:
    with virtual(a_program(), START, database=database_url) as world:
        yield world


def test_replace_takes_the_token_and_describes_the_schedule_as_a_whole(world: World) -> None:
    verbs = world.app.schedules
    created = verbs.create("a", target="job", every="5m", overlap="allow_all", labels={"team": "mail"})
    replaced = verbs.replace("a", token=created.token, target="job", every="10m")
    assert (replaced.policies.overlap, replaced.labels, replaced.token) == ("skip", {}, created.token + 1)
    with pytest.raises(Conflict, match=r"was changed meanwhile \(token 2, yours 1\): read it and try again"):
        verbs.replace("a", token=created.token, target="job", every="5m")


def test_every_change_raises_the_token(world: World) -> None:
    verbs = world.app.schedules
    tokens = [verbs.create("a", target="job", every="5m").token]
    tokens.append(verbs.patch("a", every="6m").token)
    tokens.append(verbs.pause("a").token)
    tokens.append(verbs.resume("a").token)
    assert tokens == sorted(set(tokens))


def test_patch_checks_the_token_only_when_it_is_given(world: World) -> None:
    verbs = world.app.schedules
    created = verbs.create("a", target="job", every="5m")
    verbs.patch("a", overlap="allow_all")
    with pytest.raises(Conflict, match="was changed meanwhile"):
        verbs.patch("a", token=created.token, overlap="skip")
    assert verbs.get("a").policies.overlap == "allow_all"


def test_patch_changes_only_what_is_given_and_none_puts_it_back_to_its_default(world: World) -> None:
    verbs = world.app.schedules
    verbs.create(
        "a", target="job", every="5m", overlap="allow_all", timeout="1m", retry=3, input=1, memo={"by": "me"}, limit=9
    )
    patched = verbs.patch("a", overlap="buffer_one")
    assert (patched.policies.timeout, patched.input, patched.memo, patched.remaining) == (
        60_000_000,
        1,
        {"by": "me"},
        9,
    )
    patched = verbs.patch("a", timeout=None, retry=None, input=None, memo=None, limit=None)
    assert (patched.policies.timeout, patched.policies.retry, patched.input, patched.memo, patched.remaining) == (
        None,
        None,
        None,
        None,
        None,
    )
    assert patched.policies.overlap == "buffer_one"


def test_a_conflict_a_missing_one_and_a_name_twice_are_told_apart(world: World) -> None:
    verbs = world.app.schedules
    verbs.create("a", target="job", every="5m")
    with pytest.raises(Conflict, match="there is a schedule 'a' already: change that one"):
        verbs.create("A", target="job", every="5m")
    with pytest.raises(Invalid, match="schedules take different names, got 'b' more than once"):
        verbs.create_many([{"name": "b", "every": "5m"}, {"name": "B", "every": "5m"}])
    for verb in (verbs.get, verbs.pause, verbs.resume, verbs.trigger, verbs.delete, verbs.times, verbs.backfills):
        with pytest.raises(NotFound, match="there is no schedule 'c'"):
            verb("c")


def test_several_are_created_all_or_none(world: World) -> None:
    verbs = world.app.schedules
    with pytest.raises(Invalid):
        verbs.create_many([{"name": "a", "every": "5m"}, {"name": "b", "every": "five"}])
    assert verbs.list() == []
    created = verbs.create_many({"name": f"s{number}", "every": "5m", "target": "job"} for number in range(3))
    assert verbs.list() == created


def test_lists_are_by_id_and_filtered_by_app_target_and_labels(world: World) -> None:
    verbs = world.app.schedules
    verbs.create("b", target="job", every="5m", labels={"team": "mail", "size": "s"})
    verbs.create("a", target="job", every="5m", labels={"team": "mail"})
    verbs.create("c", target="langgraph:poet", every="5m")
    verbs.upsert("d", app="shop", target="job", every="5m")

    def ids(**wanted: Any) -> list[str]:
        return [schedule.id for schedule in verbs.list(**wanted)]

    assert ids() == ["a", "b", "c", "d"]
    assert ids(labels={"team": "mail"}) == ["a", "b"]
    assert ids(labels={"team": "mail", "size": "s"}) == ["b"]
    assert ids(target="langgraph:poet") == ["c"]
    assert ids(app="shop") == ["d"]
    assert ids(limit=2) == ["a", "b"]
    assert ids(after="b", limit=1) == ["c"]


def test_times_lists_what_the_spec_names_after_now_or_in_a_range(world: World) -> None:
    verbs = world.app.schedules
    verbs.create("a", target="job", cron="*/20 * * * *")
    assert verbs.times("a", count=3) == [at("12:20"), at("12:40"), at("13:00")]
    assert verbs.times("a", at("11:20"), at("12:00")) == [at("11:20"), at("11:40"), at("12:00")]
    with pytest.raises(Invalid, match="count takes 1 to 100,000, got 0"):
        verbs.times("a", count=0)


def test_runs_are_listed_newest_first_and_filtered(world: World) -> None:
    world.app.schedules.create("a", target="job", every="5m")
    world.advance_to(at("12:16"))
    world.app.schedules.trigger("a")
    world.advance()
    runs = world.app.runs

    def clocks(**wanted: Any) -> list[str]:
        return [f"{run.scheduled_for:%H:%M}" for run in runs.list("a", **wanted)]

    assert clocks() == ["12:16", "12:15", "12:10", "12:05"]
    assert clocks(kind="manual") == ["12:16"]
    assert clocks(status="success", limit=2, offset=1) == ["12:15", "12:10"]
    assert clocks(since=at("12:10"), until=at("12:15")) == ["12:15", "12:10"]
    assert clocks(reason="overlap") == []
    assert runs.get("a:2026-11-15T12:05:00Z~1").status == "success"
    for wrong in ({"status": "done"}, {"kind": "auto"}, {"reason": "no"}, {"limit": 0}):
        with pytest.raises(Invalid, match="takes"):
            runs.list("a", **wrong)


def test_the_ledger_of_a_deleted_schedule_stays(world: World) -> None:
    world.app.schedules.create("a", target="job", every="5m")
    world.advance_to(at("12:06"))
    world.app.schedules.delete("a")
    assert len(world.app.runs.list("a")) == 1
    assert world.app.schedules.explain("a", at("12:05")).verdict == "ran"
    with pytest.raises(NotFound):
        world.app.schedules.delete("a")


def test_moments_carry_their_offset(world: World) -> None:
    world.app.schedules.create("a", target="job", every="5m")
    with pytest.raises(Invalid, match="instant takes a moment with its offset"):
        world.app.schedules.explain("a", "2026-11-15T12:05:00")
    assert world.app.schedules.explain("a", "2026-11-15T13:05:00+01:00").verdict == "future"
