"""Deploying a workflow: its versions, and the schedules that its triggers are."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from foliot import Foliot, Invalid, NotFound
from foliot.services.workflows import Deployed, schedule_id_of
from foliot.testing import World, virtual
from tests.dags import Json, a_dag, act, manual, scheduled
from tests.sdk.worlds import START, at

TICK = schedule_id_of("local", "flow", "tick")
TOCK = schedule_id_of("local", "flow", "tock")


@pytest.fixture
def world() -> Iterator[World]:
    app = Foliot("sqlite:///not-used.db")
    app.action("a")(lambda given: given)
    with virtual(app, START) as world:
        yield world


def a_flow(*triggers: Json, given: Any = None) -> Json:
    return a_dag([*triggers, act("a", input_template=given)], *(f"{trigger['id']} > a" for trigger in triggers))


def deploy(world: World, *triggers: Json, given: Any = None, **more: Any) -> Deployed:
    return world.app.workflows.deploy(a_flow(*triggers, given=given), **more)


def test_the_triggers_of_a_workflow_are_schedules_that_fire_it(world: World) -> None:
    deployed = deploy(world, scheduled(), manual(), given="{{ trigger.node }} {{ trigger.scheduled_for }}")
    assert deployed == ("flow", 1, [TICK], [], [], [])
    schedule = world.app.schedules.get(TICK)
    assert (schedule.target, schedule.input) == ("dag:flow", {"version": 1, "trigger": "tick"})
    world.advance(minutes=6)
    (run,) = world.runs(TICK)
    assert (run.status, run.result["nodes"]) == ("success", {"tick": "DONE", "start": "SKIPPED", "a": "DONE"})
    (state,) = [state for state in world.app.workflows.nodes(run.id) if state.node == "a"]
    assert state.input == "tick 2026-11-15T12:05:00Z"


def test_the_policies_of_a_trigger_are_those_of_its_schedule(world: World) -> None:
    options: Json = {
        "overlap_policy": "queue",
        "catchup_policy": "fire_immediately",
        "jitter_ms": 2000,
        "timezone": "Asia/Tokyo",
    }
    deploy(world, scheduled(cron="0 0 9 * * *", start_at="2026-12-01T00:00:00Z", **options))
    schedule = world.app.schedules.get(TICK)
    assert (schedule.policies.overlap, schedule.policies.catchup) == ("buffer_all", "all")
    assert (schedule.spec.jitter.total_seconds(), schedule.spec.jitter_mode) == (2, "around")
    assert world.app.schedules.times(TICK, count=1)[0].isoformat() == "2026-12-01T00:00:00+00:00"


def test_the_same_content_is_the_same_version_and_changes_nothing(world: World) -> None:
    deploy(world, scheduled())
    before = world.app.schedules.get(TICK)
    assert deploy(world, scheduled()) == ("flow", 1, [], [], [TICK], [])
    assert world.app.schedules.get(TICK) == before
    assert [version.version for version in world.app.workflows.versions("flow")] == [1]


def test_an_edit_is_a_new_version_and_changes_the_schedule_that_is_there(world: World) -> None:
    deploy(world, scheduled())
    assert deploy(world, scheduled(cron="*/2 * * * *"), by="ann") == ("flow", 2, [], [TICK], [], [])
    assert [schedule.id for schedule in world.app.schedules.list()] == [TICK]
    world.advance(minutes=5)
    assert [f"{run.scheduled_for:%H:%M}" for run in world.runs(TICK)] == ["12:02", "12:04"]
    assert world.app.schedules.get(TICK).input == {"version": 2, "trigger": "tick"}
    versions = world.app.workflows.versions("flow")
    assert [(version.version, version.created_by) for version in versions] == [(2, "ann"), (1, "local")]


def test_a_trigger_that_is_gone_pauses_its_schedule_and_goes_on_when_it_is_back(world: World) -> None:
    deploy(world, scheduled(), scheduled("tock"))
    assert deploy(world, scheduled()).paused == [TOCK]
    schedule = world.app.schedules.get(TOCK)
    assert (schedule.paused, schedule.paused_by, schedule.note) == (
        True,
        "deploy",
        "its trigger is no longer in the workflow",
    )
    assert deploy(world, scheduled(), given=1).paused == []
    world.advance_to(at("12:06"))
    assert len(world.runs(TICK)) == 1
    assert world.runs(TOCK) == []
    assert TOCK in deploy(world, scheduled(), scheduled("tock")).updated
    assert not world.app.schedules.get(TOCK).paused


def test_a_pause_that_ends_by_itself_does_not_bring_back_a_trigger_that_is_gone(world: World) -> None:
    deploy(world, scheduled(), scheduled("tock"))
    world.app.schedules.pause(TOCK, "holiday", until=at("12:30"))
    assert deploy(world, scheduled()).paused == [TOCK]
    world.advance_to(at("13:30"))
    assert [run.status for run in world.runs(TOCK) if run.status != "skipped"] == []


def test_what_a_person_has_paused_stays_paused_whatever_is_deployed(world: World) -> None:
    deploy(world, scheduled())
    world.app.schedules.pause(TICK, "holiday")
    deploy(world, scheduled(cron="*/2 * * * *"))
    deploy(world, manual())
    deploy(world, scheduled())
    schedule = world.app.schedules.get(TICK)
    assert (schedule.paused, schedule.paused_by, schedule.note) == (True, "user", "holiday")


def test_what_a_workflow_has_no_word_for_stays_when_it_is_deployed_again(world: World) -> None:
    """A budget was gone after each deployment."""
    deploy(world, scheduled())
    said: dict[str, Any] = {"budget": {"credits": 5, "per": "day"}, "retry": 2, "labels": {"team": "a"}}
    world.app.schedules.patch(TICK, **said)
    policies = world.app.schedules.get(TICK).policies
    deploy(world, scheduled(cron="*/2 * * * *"))
    schedule = world.app.schedules.get(TICK)
    assert (schedule.policies.budget, schedule.policies.retry) == (policies.budget, policies.retry)
    assert (schedule.labels, schedule.policies.budget is None) == ({"team": "a"}, False)
    assert schedule.input == {"version": 2, "trigger": "tick"}


def test_a_schedule_that_was_deleted_by_hand_is_made_anew(world: World) -> None:
    deploy(world, scheduled())
    world.app.schedules.delete(TICK)
    assert deploy(world, scheduled()).created == [TICK]


def test_each_user_has_schedules_of_their_own_by_grants_of_their_own(world: World) -> None:
    deploy(world, scheduled())
    hers = schedule_id_of("ann", "flow", "tick")
    assert deploy(world, scheduled(), user="ann") == ("flow", 1, [hers], [], [], [])
    assert world.app.grants.get(world.app.schedules.get(hers).grant).user == "ann"
    assert deploy(world, manual(), user="ann").paused == [hers]
    assert not world.app.schedules.get(TICK).paused


def test_the_id_of_a_schedule_is_the_same_in_every_process() -> None:
    program = "from foliot.services.workflows import schedule_id_of; print(schedule_id_of('ann', 'flow', 'tick'))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert said == schedule_id_of("ann", "flow", "tick") == "dag-flow-tick-6b0ad3dcd9be"


def test_ids_of_schedules_differ_where_user_workflow_or_trigger_does_and_are_never_too_long() -> None:
    long = "x" * 100
    ids = {
        schedule_id_of(user, flow, node) for user in "ab" for flow in ("f", "f-g", long) for node in ("t", "g-t", long)
    }
    assert len(ids) == 18
    assert max(map(len, ids)) <= 100


def test_a_workflow_that_is_wrong_changes_nothing(world: World) -> None:
    deploy(world, scheduled())
    with pytest.raises(Invalid, match="node 'tick': schedule: cron field 'minute'"):
        deploy(world, scheduled(cron="99 * * * *"))
    with pytest.raises(Invalid, match="JSON text"):
        world.app.workflows.deploy("{")
    assert world.app.workflows.get("flow").version == 1


def test_a_workflow_may_be_given_as_json_text_and_is_given_back_as_it_was_written(world: World) -> None:
    document = a_flow(scheduled())
    world.app.workflows.deploy(json.dumps(document))
    assert world.app.workflows.get("flow").dag == document
    world.app.workflows.deploy(a_flow(manual()))
    assert world.app.workflows.get("flow", 1).dag == document
    assert [(one.id, one.version) for one in world.app.workflows.list()] == [("flow", 2)]
    with pytest.raises(NotFound, match="there is no workflow 'flow' in version 3"):
        world.app.workflows.get("flow", 3)
    with pytest.raises(NotFound, match="there is no workflow 'absent'"):
        world.app.workflows.get("absent")


def test_going_back_to_what_it_was_is_a_version_of_its_own(world: World) -> None:
    assert [deploy(world, scheduled(), given=given).version for given in (1, 2, 1)] == [1, 2, 3]
