"""The workflows store over the network."""

from typing import Any

from foliot import Foliot
from foliot.testing import World
from tests.dags import a_dag, act, manual, scheduled
from tests.http.clients import People

WORKFLOWS = "/api/v1/workflows"
FLOW = a_dag([manual(), act("send")], "start > send")


def test_a_workflow_is_deployed_in_versions(people: People) -> None:
    first = people.ann.post(WORKFLOWS, json=FLOW)
    assert (first.status_code, first.json()["version"]) == (201, 1)
    assert people.ann.post(WORKFLOWS, json=FLOW).json()["version"] == 1
    second = people.ann.post(WORKFLOWS, json=a_dag([scheduled(), act("send")], "tick > send")).json()
    assert (second["version"], len(second["created"])) == (2, 1)
    mine = people.ann.get(f"/api/v1/schedules/{second['created'][0]}")
    assert (mine.status_code, mine.json()["target"]) == (200, "dag:flow")
    assert [line["version"] for line in people.ann.get(f"{WORKFLOWS}/flow/versions").json()["items"]] == [2, 1]
    assert people.ann.get(f"{WORKFLOWS}/flow").json()["version"] == 2
    assert people.ann.get(f"{WORKFLOWS}/flow/versions/1").json()["dag"]["nodes"][0]["id"] == "start"
    assert people.ann.get(f"{WORKFLOWS}/flow/versions/3").status_code == 404
    page = people.ann.get(f"{WORKFLOWS}/flow/versions", params={"limit": 1}).json()
    rest = people.ann.get(f"{WORKFLOWS}/flow/versions", params={"after": page["next"]}).json()
    assert [line["version"] for line in rest["items"]] == [1]


def test_a_workflow_belongs_to_its_first_deployer_and_is_missing_to_others(people: People) -> None:
    people.ann.post(WORKFLOWS, json=FLOW)
    assert people.bob.post(WORKFLOWS, json=FLOW).status_code == 409
    for path in ("flow", "flow/versions", "flow/versions/1"):
        assert people.bob.get(f"{WORKFLOWS}/{path}").status_code == 404
        assert people.root.get(f"{WORKFLOWS}/{path}").status_code == 200
    assert people.bob.get(WORKFLOWS).json()["items"] == []
    assert [line["owner"] for line in people.root.get(WORKFLOWS).json()["items"]] == ["ann"]
    assert people.root.post(WORKFLOWS, json=a_dag([manual(), act("x")], "start > x")).json()["version"] == 2
    assert people.ann.get(f"{WORKFLOWS}/flow").json()["version"] == 2


def test_a_workflow_is_deployed_for_somebody_else_by_admins_only(people: People) -> None:
    ann, theirs = people.ann, {**FLOW, "user_id": "ann"}
    assert people.bob.post(WORKFLOWS, json=theirs).status_code == 403
    assert people.root.post(WORKFLOWS, json=theirs).status_code == 201
    assert ann.post(WORKFLOWS, json=theirs).status_code == 201
    assert ann.get(f"{WORKFLOWS}/flow").json()["created_by"] == "root"
    assert ann.post(WORKFLOWS, json={**FLOW, "user_id": 5}).status_code == 422


def test_nobody_schedules_a_workflow_that_they_do_not_see(people: People) -> None:
    people.ann.post(WORKFLOWS, json=FLOW)
    said = {"name": "mine", "cron": "0 9 * * *", "target": "dag:flow"}
    foreign = people.bob.post("/api/v1/schedules", json=said)
    missing = people.bob.post("/api/v1/schedules", json={**said, "target": "dag:none"})
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert foreign.json()["detail"] == missing.json()["detail"].replace("none", "flow")
    assert people.bob.post("/api/v1/schedules", json={**said, "target": "python:digest"}).status_code == 201
    assert people.bob.patch("/api/v1/schedules/mine", json={"target": "dag:flow"}).status_code == 404
    assert people.ann.post("/api/v1/schedules", json={**said, "name": "anns"}).status_code == 201
    assert people.root.post("/api/v1/schedules", json={**said, "name": "roots"}).status_code == 201


def test_workflows_are_listed_page_by_page(people: People) -> None:
    for name in ("b", "a", "c"):
        people.ann.post(WORKFLOWS, json={**FLOW, "workflow_id": name})
    first = people.ann.get(WORKFLOWS, params={"limit": 2}).json()
    rest = people.ann.get(WORKFLOWS, params={"limit": 2, "after": first["next"]}).json()
    assert [line["id"] for line in first["items"] + rest["items"]] == ["a", "b", "c"]


def test_a_run_of_a_workflow_shows_its_nodes(program: Foliot, world: World, people: People) -> None:
    @program.action("send")
    def send(input: Any, ctx: Any) -> str:
        return "sent"

    people.ann.post(WORKFLOWS, json=FLOW)
    body = {"name": "flow", "cron": "0 9 * * *", "target": "dag:flow"}
    assert people.ann.post("/api/v1/schedules", json=body).status_code == 201
    run = people.ann.post("/api/v1/schedules/flow/trigger", json={}).json()["id"]
    world.advance(seconds=1)
    detail = people.ann.get(f"/api/v1/runs/{run}").json()
    assert (detail["status"], [(node["node"], node["status"]) for node in detail["nodes"]]) == (
        "success",
        [("start", "DONE"), ("send", "DONE")],
    )


def test_what_no_workflow_could_be_is_refused(people: People) -> None:
    bodies: tuple[Any, ...] = ({}, {"workflow_id": "x"}, {"workflow_id": "\0", "nodes": [], "edges": []}, [], "x", 5)
    for body in bodies:
        assert people.ann.post(WORKFLOWS, json=body).status_code == 422, body
    for path in ("%00", "x" * 2000, "flow/versions/0", f"flow/versions/{2**70}"):
        assert people.ann.get(f"{WORKFLOWS}/{path}").status_code == 422
