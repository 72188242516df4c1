"""Zones come from the tzdata package for the oracles too, hypothesis has two speeds, and databases are real."""

import ast
import functools
import gc
import logging
import signal
import sys
import zoneinfo
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from foliot.stores.blanks import write_blank
from tests.databases import KINDS, PostgresqlServer, a_postgresql_server
from tests.together import Together

zoneinfo.reset_tzpath(to=[])
# Whoever runs the tests in the background of a script has them, and all their children, ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

if sys.version_info < (3, 11, 8):
    # There, garbage whose end is logged in the midst of a parse makes that parse fail (CPython's gh-106905):
    # Hypothesis reads the source of its state machines, and failed by chance.
    def _undisturbed(parse: Callable[..., ast.AST]) -> Callable[..., ast.AST]:
        @functools.wraps(parse)
        def parse_alone(*args: object, **options: object) -> ast.AST:
            collecting = gc.isenabled()
            gc.disable()
            try:
                return parse(*args, **options)
            finally:
                if collecting:
                    gc.enable()

        return parse_alone

    ast.parse = _undisturbed(ast.parse)  # type: ignore[assignment]

settings.register_profile(
    "quick", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("quick")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together | None:
    return Together(config, log) if config.getvalue("dist") == "loadgroup" else None


class _Failures(logging.Handler):
    """What the engine has failed on: it goes on, so a test would not notice."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and "a turn has failed" in record.getMessage():
            self.found.append(record)


@pytest.fixture(autouse=True)
def no_turn_fails(request: pytest.FixtureRequest) -> Iterator[None]:
    """An engine that survives a defect does not hide it."""
    failures = _Failures()
    log = logging.getLogger("foliot.engine")
    log.addHandler(failures)
    yield
    log.removeHandler(failures)
    if failures.found and request.node.get_closest_marker("poison") is None:
        raise AssertionError("a turn has failed") from failures.found[0].exc_info[1]  # type: ignore[index]


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
    write_blank(file := tmp_path / "test.db")
    return f"sqlite:///{file}"
