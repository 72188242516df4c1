"""Executions that were asked for from outside, over the network."""

import asyncio

from foliot import Foliot
from tests.diet import on_both_every_day
from tests.http.clients import People

pytestmark = on_both_every_day

REQUESTS = "/api/v1/requests"


def test_requests_are_listed_found_and_decided_about_by_admins(people: People, program: Foliot) -> None:
    async def execute() -> None:
        for key in ("one", "team/two"):
            await program.execute("digest", {"x": 1}, key=key)

    asyncio.run(execute())
    first = people.root.get(REQUESTS, params={"limit": 1}).json()
    rest = people.root.get(REQUESTS, params={"after": first["next"]}).json()
    assert [request["key"] for request in first["items"] + rest["items"]] == ["team/two", "one"]
    assert "result" not in first["items"][0]
    assert people.root.get(REQUESTS, params={"stage": "held"}).json() == {"items": [], "next": None}
    found = people.root.get(f"{REQUESTS}/team%2Ftwo").json()
    assert (found["stage"], found["status"], found["result"]) == ("done", "success", {"x": 1})
    held = people.root.post(f"{REQUESTS}/team%2Ftwo/decision", json={"verdict": "approve"})
    assert held.status_code == 409
    assert people.root.post(f"{REQUESTS}/one/decision", json={"verdict": "revise"}).status_code == 422
    assert people.root.get(f"{REQUESTS}/none").status_code == 404
    assert people.ann.get(f"{REQUESTS}/one").status_code == 403
