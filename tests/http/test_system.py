"""What the service says of itself."""

from foliot.testing import World
from tests.http.clients import People


def test_the_service_says_what_it_is_made_of_and_who_works_for_it(world: World, people: People) -> None:
    found = people.root.get("/api/v1/system").json()
    assert found["database"]["kind"] in ("sqlite", "postgresql")
    assert (found["database"]["schema_version"], found["now"]) == ("0002", "2026-11-15T12:00:00Z")
    assert found["database"]["url"] is not None
    assert [(worker["running"], worker["name"]) for worker in found["workers"]] == [
        (0, engine["name"]) for engine in found["engines"]
    ]
    assert people.ann.get("/api/v1/system").json()["database"]["url"] is None
