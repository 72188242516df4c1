"""Workflows started from outside: accepted, never, or again; and under one key one run."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from foliot import Foliot, Unavailable
from foliot.services.launching import Acceptance, Started
from foliot.testing import World, virtual
from tests.dags import a_dag, act, manual, scheduled
from tests.sdk.worlds import START

WHEN = "2026-11-15T12:00:00Z"


@pytest.fixture
def world() -> Iterator[World]:
    app = Foliot("sqlite:///not-used.db")

    @app.action("do")
    def do(input: Any) -> Any:
        return input

    with virtual(app, START) as world:
        app.workflows.deploy(a_dag([manual(), act("a", "do")], "start > a", workflow_id="invoices"))
        yield world


def start(world: World, **options: Any) -> Started:
    given: dict[str, Any] = {
        "workflow_id": "invoices",
        "version": 1,
        "user_id": "ann",
        "scheduled_for": WHEN,
        "idempotency_key": "k1",
    }
    return world.app.launcher.start(**given | options)


def test_an_accepted_start_is_a_run_that_a_worker_takes_up(world: World) -> None:
    started = start(world)
    assert started.verdict is Acceptance.ACCEPTED
    assert started.run_id is not None
    world.advance(seconds=1)
    run = world.app.runs.get(started.run_id)
    assert run.status == "success"
    assert world.app.grants.get(world.app.schedules.get(run.schedule).grant).user == "ann"


def test_a_workflow_is_handed_what_it_was_started_with(world: World) -> None:
    asked = {name: f"{{{{ inputs.{name} }}}}" for name in ("source", "user_id", "scheduled_for", "idempotency_key")}
    nodes = [manual(), act("a", "do", input_template={**asked, "tick": "{{ trigger.scheduled_for }}"})]
    world.app.workflows.deploy(a_dag(nodes, "start > a", workflow_id="invoices"))
    run_id = start(world, version=2).run_id
    assert run_id is not None
    world.advance(seconds=1)
    run = world.app.runs.get(run_id)
    handed = {"source": "schedule", "user_id": "ann", "scheduled_for": WHEN, "idempotency_key": "k1"}
    (node,) = (node for node in world.app.workflows.nodes(run_id) if node.node == "a")
    assert node.output == {**handed, "tick": WHEN}
    assert run.input["inputs"] == handed
    # Its own key and moment are those of its slot.
    assert run.idempotency_key.startswith(run.schedule)


def test_a_trigger_is_not_called_as_what_is_started_from_outside_is(world: World) -> None:
    nodes = [scheduled("launched"), act("a", "do")]
    deployed = world.app.workflows.deploy(a_dag(nodes, "launched > a", workflow_id="invoices"), user="ann")
    run_id = start(world, version=2).run_id
    assert run_id is not None
    assert world.app.runs.get(run_id).schedule not in deployed.created


def test_told_again_under_the_same_key_it_is_the_same_run(world: World) -> None:
    first = start(world)
    world.advance(seconds=1)
    assert start(world) == first
    world.advance(seconds=1)
    assert len(world.app.runs.list()) == 1


def test_each_key_is_a_run_of_its_own_and_they_do_not_wait_for_each_other(world: World) -> None:
    assert start(world).run_id != start(world, idempotency_key="k2").run_id
    world.advance(seconds=1)
    assert [run.status for run in world.app.runs.list()] == ["success", "success"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"workflow_id": "receipts"}, "there is no workflow 'receipts' in version 1: deploy it first"),
        ({"version": 9}, "there is no workflow 'invoices' in version 9: deploy it first"),
        ({"version": "1.0.0"}, "version takes a whole number"),
        ({"user_id": ""}, "a user takes"),
        ({"scheduled_for": "soon"}, "scheduled_for takes"),
        ({"idempotency_key": ""}, "a start takes a version and an idempotency_key"),
    ],
)
def test_what_can_never_start_says_so_and_leaves_nothing_behind(
    world: World, options: dict[str, Any], why: str
) -> None:
    started = start(world, **options)
    assert started.verdict is Acceptance.NEVER
    assert why in (started.why or "")
    assert world.app.runs.list() == []
    assert world.app.requests.list() == []


def test_what_would_only_be_skipped_is_not_accepted_and_its_key_stays_free(world: World) -> None:
    started = start(world)
    grant = world.app.schedules.get((started.run_id or "").split(":")[0]).grant
    world.app.grants.revoke(grant)
    refused = start(world, idempotency_key="k2")
    assert (refused.verdict, "grant_revoked" in (refused.why or "")) == (Acceptance.NEVER, True)
    assert [request.key for request in world.app.requests.list()] == ["k1"]


def test_the_moment_that_it_is_for_is_what_the_trigger_says(world: World) -> None:
    started = start(world, scheduled_for="2026-11-15T09:00:00Z")
    world.advance(seconds=1)
    trigger = world.app.workflows.nodes(started.run_id or "")[0]
    assert trigger.output["scheduled_for"] == "2026-11-15T09:00:00Z"


def test_a_key_that_was_used_for_another_start_is_never_accepted(world: World) -> None:
    start(world)
    started = start(world, scheduled_for="2026-11-16T12:00:00Z")
    assert (started.verdict, "'k1' was used for something else" in (started.why or "")) == (Acceptance.NEVER, True)


def test_while_the_database_is_away_it_is_to_be_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(act: Any) -> None:
        raise Unavailable("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(world.app.parts.database, "write", away)
        assert start(world) == Started(Acceptance.AGAIN, why="the database is away")
    assert start(world).verdict is Acceptance.ACCEPTED


def test_of_many_starts_at_once_under_one_key_one_is_a_run(database_url: str) -> None:
    app = Foliot(database_url)
    app.workflows.deploy(a_dag([manual(), act("a", "do")], "start > a", workflow_id="invoices"))
    with ThreadPoolExecutor(8) as pool:
        started = list(pool.map(lambda _: app.launcher.start("invoices", 1, "ann", WHEN, "k1"), range(24)))
    verdicts = {each.verdict for each in started}
    assert Acceptance.ACCEPTED in verdicts
    assert verdicts <= {Acceptance.ACCEPTED, Acceptance.AGAIN}
    assert len({each.run_id for each in started if each.run_id}) == 1
    assert len(app.runs.list()) == 1
    app.close()


def test_a_start_is_all_or_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Died(Exception):
        pass

    def die(*_: Any) -> None:
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr("foliot.stores.requests.KeptRequests.insert_request", die)
        with pytest.raises(Died):
            start(world)
    assert (world.app.runs.list(), world.app.requests.list(), world.app.schedules.list()) == ([], [], [])
    assert start(world).verdict is Acceptance.ACCEPTED
