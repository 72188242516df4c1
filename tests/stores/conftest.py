"""An empty stage for each test, on both databases or on the one that it is about.

The database behind it is shared: to make one takes longer than most tests do.
"""

from collections.abc import Iterator

import pytest

from tests.databases import PostgresqlServer
from tests.stores.stage import Stage


@pytest.fixture(scope="session")
def shared_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(f"sqlite:///{tmp_path_factory.mktemp('stage') / 'foliot.db'}")
    yield stage
    stage.close()


@pytest.fixture(scope="session")
def shared_postgresql(postgresql_server: PostgresqlServer) -> Iterator[Stage]:
    stage = Stage(postgresql_server.new_database())
    yield stage
    stage.close()


@pytest.fixture
def sqlite(shared_sqlite: Stage) -> Stage:
    shared_sqlite.clear()
    return shared_sqlite


@pytest.fixture
def postgresql(shared_postgresql: Stage) -> Stage:
    shared_postgresql.clear()
    return shared_postgresql


@pytest.fixture
def stage(database_kind: str, request: pytest.FixtureRequest) -> Stage:
    found: Stage = request.getfixturevalue(database_kind)
    return found
