"""Processes to be killed, and none of them left behind."""

from collections.abc import Iterator

import pytest

from tests.crash.nursery import Nursery
from tests.databases import PostgresqlServer, a_postgresql_server


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    home = Nursery(tmp_path_factory.mktemp("nursery") / "log")
    try:
        yield home
    finally:
        home.close()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    """One for the crash tests alone: dozens of databases at once, written and thrown away in a hurry."""
    with a_postgresql_server() as server:
        server.hurry()
        yield server
