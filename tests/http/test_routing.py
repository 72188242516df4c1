"""How a request comes to its handler: guarded before it is parsed, and in a thread unless it takes a moment."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from foliot.clock import SystemClock
from foliot.domain.access import Right
from foliot.domain.pace import Pace
from foliot.http.application import application
from foliot.http.asking import Asked, AskedByService, answered, needs
from foliot.http.routing import _AT_ONCE as AT_ONCE
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


_begun = threading.Semaphore(0)
_over = threading.Event()


@router.get("/endless")
@needs(Right.READ)
def endless(asked: Asked) -> object:
    """Takes as long as the longest audit."""
    _begun.release()
    return answered(str(_over.wait(30)).lower())


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


def test_however_many_take_long_it_is_still_told_who_comes_and_how_the_process_is(
    client: TestClient, people: People
) -> None:
    """Sixteen audits kept everybody out, and the process was taken for dead."""
    _over.clear()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            stuck = [threads.submit(client.get, "/endless") for _ in range(AT_ONCE)]
            assert all(_begun.acquire(timeout=20) for _ in stuck)
            assert client.get("/readyz").status_code == 200
            assert client.get("/loop", headers={"Authorization": "Bearer nobody's"}).status_code == 401
            assert not any(each.done() for each in stuck)
        finally:
            _over.set()
        assert [each.result().json() for each in stuck] == [True] * AT_ONCE


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
