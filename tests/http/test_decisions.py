"""What waits for a person, and what that person says."""

from typing import Any

import pytest

from foliot import Context, Foliot
from foliot.services import decisions
from foliot.testing import World
from tests.http.clients import People

DECISIONS = "/api/v1/decisions"


@pytest.fixture
def asking(program: Foliot, world: World, people: People) -> World:
    """Ann's runs ask: one whoever sees it, one Bob, one for a report of its target."""

    @program.graph("asks")
    def asks(input: Any, ctx: Context) -> Any:
        if ctx.decision is None:
            ctx.ask("approval", {"draft": input["secret"]}, who=input["who"], expires_in=input["expires_in"])
        return {"said": ctx.decision.feedback}

    for name, who, expires_in in (("open", [], "2d"), ("bobs", ["bob"], "1d")):
        given = {"who": who, "secret": name, "expires_in": expires_in}
        body = {"name": name, "cron": "0 9 * * *", "target": "python:asks", "input": given}
        assert people.ann.post("/api/v1/schedules", json=body).status_code == 201
        world.app.schedules.trigger(name)
    world.advance(seconds=1)
    return world


def waiting(people: People, who: str, **params: Any) -> list[str]:
    answer = people.client(who).get(DECISIONS, params=params)
    assert answer.status_code == 200, answer.text
    return [item["schedule"] for item in answer.json()["items"]]


def run_of(world: World, schedule: str) -> str:
    return world.runs(schedule)[0].id


def test_everybody_is_shown_what_they_may_answer(asking: World, people: People) -> None:
    assert waiting(people, "ann") == ["open"]
    assert waiting(people, "bob") == ["bobs"]
    assert waiting(people, "root") == ["open"]
    assert waiting(people, "eve") == []
    (item,) = people.bob.get(DECISIONS).json()["items"]
    assert (item["run"], item["kind"], item["data"]) == (run_of(asking, "bobs"), "approval", {"draft": "bobs"})
    asking.advance(days=1)
    assert (waiting(people, "bob"), waiting(people, "ann")) == ([], ["open"])


def test_who_is_named_answers_though_the_run_is_somebody_elses(asking: World, people: People) -> None:
    run = run_of(asking, "bobs")
    assert people.ann.post(f"/api/v1/runs/{run}/decision", json={"verdict": "approve"}).status_code == 403
    assert people.bob.get(f"/api/v1/runs/{run}").status_code == 404
    told = people.bob.post(f"/api/v1/runs/{run}/decision", json={"verdict": "approve", "feedback": {"x": 1}})
    assert (told.status_code, told.json()["status"], told.json()["decided_by"]) == (200, "pending", "bob")
    assert "secret" not in told.text
    asking.advance(seconds=1)
    detail = people.ann.get(f"/api/v1/runs/{run}").json()
    assert (detail["status"], detail["result"]) == ("success", {"said": {"x": 1}})
    assert [(asked["verdict"], asked["decided_by"]) for asked in detail["questions"]] == [("approve", "bob")]
    late = people.bob.post(f"/api/v1/runs/{run}/decision", json={"verdict": "reject"})
    assert (late.status_code, late.json()["code"]) == (409, "conflict")


def test_nobody_else_knows_that_something_waits(asking: World, people: People) -> None:
    run = run_of(asking, "open")
    foreign = people.bob.post(f"/api/v1/runs/{run}/decision", json={"verdict": "approve"})
    missing = people.bob.post(f"/api/v1/runs/{run.replace('open', 'none')}/decision", json={"verdict": "approve"})
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert people.eve.post(f"/api/v1/runs/{run}/decision", json={"verdict": "approve"}).status_code == 403
    assert people.ann.post(f"/api/v1/runs/{run}/decision", json={"verdict": "maybe"}).status_code == 422


def test_a_decision_told_twice_is_told_once(asking: World, people: People) -> None:
    run = run_of(asking, "open")
    said = {"verdict": "revise", "feedback": "shorter", "id": "d1"}
    for _ in range(2):
        assert people.ann.post(f"/api/v1/runs/{run}/decision", json=said).status_code == 200
    other = people.ann.post(f"/api/v1/runs/{run}/decision", json={**said, "verdict": "approve"})
    assert other.status_code == 409


def test_pages_of_what_waits_have_it_all(asking: World, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    asking.app.schedules.trigger("open", overlap="allow_all")
    asking.advance(seconds=1)
    for limit, look, most in ((1, 2000, 10**6), (50, 1, 10**6), (50, 2000, 1)):
        monkeypatch.setattr(decisions, "_LOOKED_AT", look)
        monkeypatch.setattr(decisions, "_TOLD_AT_ONCE", most)
        found: list[str] = []
        params: dict[str, Any] = {"limit": limit}
        while True:
            page = people.ann.get(DECISIONS, params=params).json()
            found += [item["run"] for item in page["items"]]
            if page["next"] is None:
                break
            params["after"] = page["next"]
        assert len(found) == len(set(found)) == 2
