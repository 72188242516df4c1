"""Zones come from the tzdata package for the oracles too, hypothesis has two speeds, and databases are real."""

import zoneinfo
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.databases import KINDS, PostgresqlServer, a_postgresql_server

zoneinfo.reset_tzpath(to=[])

settings.register_profile(
    "quick", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    with a_postgresql_server() as server:
        server.hurry()
        yield server


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes URLs of empty databases, of the kind that the test is run on."""
    if database_kind == "postgresql":
        server: PostgresqlServer = request.getfixturevalue("postgresql_server")
        return server.new_database
    numbers = iter(range(1000))
    return lambda: f"sqlite:///{tmp_path / f'test{next(numbers)}.db'}"


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with nothing in it; a test that asks for it runs on SQLite and on PostgreSQL."""
    if database_kind == "postgresql":
        server: PostgresqlServer = request.getfixturevalue("postgresql_server")
        return server.ready_database()
    return f"sqlite:///{tmp_path / 'test.db'}"
