"""How a request comes to its handler: guarded before it is parsed, and in a thread unless it takes a moment."""

import threading
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from foliot.clock import SystemClock
from foliot.domain.access import Right
from foliot.domain.pace import Pace
from foliot.http.application import application
from foliot.http.asking import Asked, AskedByService, answered, needs
from foliot.http.routing import brief, router_at
from tests.diet import on_both_every_day
from tests.http.clients import People

router = router_at()


def here() -> str:
    return threading.current_thread().name


@router.get("/long")
@needs(Right.READ)
def long(asked: Asked) -> object:
    """May wait for the database."""
    return answered(f'"{here()}"')


@router.get("/short")
@needs(Right.READ)
@brief(lambda given: given["count"] < 10)
def short(asked: Asked, count: int) -> object:
    """Takes a moment when little is asked for."""
    return answered(f'"{here()}"')


@router.get("/loop")
@needs(Right.READ)
async def loop(asked: Asked) -> object:
    """Where requests are read."""
    return answered(f'"{here()}"')


@pytest.fixture
def client(people: People) -> Iterator[TestClient]:
    served: object = people.someone().app
    http = application(served.state.service, SystemClock(), Pace(1e6, 10**6), [router])  # type: ignore[attr-defined]
    headers = {"Authorization": people.ann.headers["authorization"]}
    with TestClient(http, headers=headers) as found:
        yield found


@on_both_every_day
def test_what_takes_a_moment_is_done_at_once_where_nothing_is_waited_for(
    client: TestClient, database_kind: str
) -> None:
    on_the_loop = client.get("/loop").json()
    assert client.get("/long").json().startswith("foliot-api")
    assert client.get("/short?count=10").json().startswith("foliot-api")
    assert (client.get("/short?count=9").json() == on_the_loop) == (database_kind == "sqlite")


def test_nothing_of_a_request_is_parsed_before_it_is_known_who_asks(people: People) -> None:
    unreadable = {"content": b"{", "headers": {"Content-Type": "application/json"}}
    assert people.nobody.post("/api/v1/schedules", **unreadable).status_code == 401  # type: ignore[arg-type]
    assert people.eve.post("/api/v1/schedules", **unreadable).status_code == 403  # type: ignore[arg-type]
    assert people.ann.post("/api/v1/schedules", **unreadable).status_code == 400  # type: ignore[arg-type]


def test_a_route_that_asks_twice_who_is_there_cannot_be_made() -> None:
    def torn(asked: Asked, by_service: AskedByService) -> None:
        """Whom would it let in?"""

    with pytest.raises(ValueError, match="/torn asks 2 times who is there"):
        router_at().add_api_route("/torn", torn)
