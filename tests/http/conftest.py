"""A service over a real database, and clients of people who may more or less."""

from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from foliot import Foliot
from foliot.domain.pace import Pace
from foliot.testing import World, virtual
from tests.databases import KINDS
from tests.diet import every_day
from tests.http.clients import People, asking


@pytest.fixture(params=every_day(KINDS, first=1))
def database_kind(request: pytest.FixtureRequest) -> str:
    """Routes say the same whatever they ask: every day on SQLite, and on PostgreSQL where its file says so.

    All of them on both in `make test-all`.
    """
    return str(request.param)


@pytest.fixture
def program(database_url: str) -> Iterator[Foliot]:
    """A program with a graph or two."""
    app = Foliot(database_url, name="shop")

    @app.graph("digest")
    def digest(input: object, ctx: object) -> object:
        return input

    yield app
    app.close()


@pytest.fixture
def world(program: Foliot, database_url: str) -> Iterator[World]:
    """The program at work from noon on, under a clock that moves only when told to. To be asked for before `people`."""
    with virtual(program, "2026-11-15T12:00:00Z", database=database_url) as found:
        yield found


@pytest.fixture
def people(program: Foliot) -> People:
    """Clients of an admin, of members and of a viewer."""
    http = program.parts.http(Pace(1e6, 10**6))
    return People(program, lambda: asking(http))


@pytest.fixture
def client_of(people: People) -> Callable[[str], TestClient]:
    return people.client
