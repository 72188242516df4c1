"""Versions of workflows and the states of their nodes, on both databases."""

from typing import Any

import pytest

from foliot.domain.node_states import NodeStatus
from foliot.rows import NodeRow
from tests.builders import HOUR, NOON, SECOND
from tests.stores.stage import Stage


def a_version(stage: Stage, workflow_id: str = "flow", version: int = 1, dag: str = "{}") -> int:
    return stage.write(lambda tx: tx.insert_workflow(workflow_id, version, dag, "hash", "ann", "ann")).ref


def a_node(workflow: int, node: str = "a", **changes: Any) -> NodeRow:
    row = NodeRow(
        "once:1~1", workflow, "ann", node, "", "RUNNING", 1, "[1]", None, None, None, None, None, "key", NOON, None
    )
    return row._replace(**changes)


def ended(row: NodeRow, status: str = "DONE", **changes: Any) -> NodeRow:
    given: dict[str, Any] = {"status": status, "output": '{"x":1}', "ended_at": NOON + SECOND}
    return row._replace(**given | changes)


def save(stage: Stage, row: NodeRow) -> NodeRow:
    return stage.write(lambda tx: tx.save_node(row))


def test_a_version_is_found_by_its_number_and_the_latest_without_one(stage: Stage) -> None:
    for version, dag in ((1, "one"), (2, "two")):
        a_version(stage, "flow", version, dag)
    a_version(stage, "other", 7, "three")
    found = stage.read(lambda tx: [tx.workflow("flow", 1), tx.workflow("flow", None), tx.workflow("flow", 3)])
    assert [row and row.dag for row in found] == ["one", "two", None]
    assert [(row.id, row.version) for row in stage.read(lambda tx: tx.list_workflows())] == [("flow", 2), ("other", 7)]
    assert [row.version for row in stage.read(lambda tx: tx.workflow_versions("flow"))] == [2, 1]


def test_a_version_is_there_once(stage: Stage) -> None:
    a_version(stage)
    with pytest.raises(Exception, match=r"UNIQUE|contended"):
        a_version(stage)


def test_a_node_is_recorded_when_it_begins_and_again_when_it_ends(stage: Stage) -> None:
    row = a_node(a_version(stage))
    save(stage, row)
    end = ended(row, started_at=NOON + HOUR, input="not what it began with")
    assert stage.write(lambda tx: tx.save_node(end)) is end
    assert stage.read(lambda tx: tx.node_states(row.run)) == [ended(row)]


def test_the_first_end_stands(stage: Stage) -> None:
    row = a_node(a_version(stage))
    stage.write(lambda tx: tx.save_node(ended(row)))
    for later in (ended(row, "ERROR", output=None, error="late"), row):
        assert save(stage, later) == ended(row)
    assert stage.read(lambda tx: tx.node_states(row.run)) == [ended(row)]


def test_iterations_of_a_node_are_recorded_apart_in_the_order_in_which_they_came(stage: Stage) -> None:
    workflow = a_version(stage)
    rows = [a_node(workflow, path=path) for path in ("1", "0", "0.0")]
    stage.write(lambda tx: [tx.save_node(row) for row in rows])
    stage.write(lambda tx: tx.save_node(a_node(workflow, run="another")))
    assert stage.read(lambda tx: tx.node_states("once:1~1")) == rows


def test_an_earlier_success_is_found_by_user_workflow_node_key_and_age(stage: Stage) -> None:
    first, second = a_version(stage), a_version(stage, version=2)
    other = a_version(stage, "other")
    done = ended(a_node(first))
    stage.write(lambda tx: tx.save_node(done))
    for row in (
        ended(a_node(second, run="failed"), "ERROR"),
        ended(a_node(second, run="reused", attempt=0), ended_at=NOON + HOUR),
        a_node(second, run="running"),
        ended(a_node(other, run="elsewhere")),
    ):
        save(stage, row)

    def found(
        workflow_id: str = "flow", node: str = "a", key: str = "key", since: int = NOON, user: str = "ann"
    ) -> NodeRow | None:
        return stage.read(lambda tx: tx.cached_node(user, workflow_id, node, key, since))

    assert found() == done
    assert [found(node="b"), found(key="other"), found(since=NOON + SECOND), found("absent"), found(user="bob")] == [
        None
    ] * 5


def test_old_states_are_removed(stage: Stage) -> None:
    workflow = a_version(stage)
    stage.write(
        lambda tx: [tx.save_node(a_node(workflow, node, started_at=NOON + at)) for node, at in (("a", 0), ("b", 5))]
    )
    assert stage.write(lambda tx: tx.remove_node_states(NOON + 5)) == 1
    assert [row.node for row in stage.read(lambda tx: tx.node_states("once:1~1"))] == ["b"]


@pytest.mark.parametrize("status", list(NodeStatus))
def test_every_status_can_be_written(stage: Stage, status: NodeStatus) -> None:
    row = a_node(a_version(stage), status=str(status))
    assert save(stage, row) is row
