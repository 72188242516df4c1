"""A process that dies in the midst of a transaction, or right after its commit, loses nothing and doubles nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.doom import PLACES
from tests.crash.fail_points import Stage, play_all, sqlite_stage
from tests.crash.nursery import Nursery
from tests.crash.scene import Point, points_of
from tests.databases import PostgresqlServer
from tests.diet import every_day

HEART = ("launch", "charge", "settle")
"""Where a slot, and money, passes: tried every day on a server too, where several processes work beside each other."""

SELDOM = ("handled", "telling", "in trouble")
"""What has most boundaries, or waits longest at them: at those of the heart they are tried every day, below."""
ABOUT = sorted(PLACES, key=lambda about: about in SELDOM)


def postgresql_stage(server: PostgresqlServer, nursery: Nursery, folder: Path) -> Stage:
    return Stage("postgresql", nursery, folder, server.new_database, lambda url: None)


@pytest.mark.parametrize("about", every_day(ABOUT, first=len(ABOUT) - len(SELDOM)))
def test_a_crash_at_any_boundary_loses_nothing_and_doubles_nothing(
    about: str, nursery: Nursery, tmp_path: Path
) -> None:
    _play(sqlite_stage(nursery, tmp_path), points_of(about))


def test_nor_does_one_at_the_heart_of_a_worker_on_postgresql(
    postgresql_server: PostgresqlServer, nursery: Nursery, tmp_path: Path
) -> None:
    points = [point for about in PLACES for point in points_of(about) if point.boundary in HEART]
    _play(postgresql_stage(postgresql_server, nursery, tmp_path), points)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("about", PLACES)
def test_nor_does_one_at_any_boundary_on_postgresql(
    about: str, postgresql_server: PostgresqlServer, nursery: Nursery, tmp_path: Path
) -> None:
    _play(postgresql_stage(postgresql_server, nursery, tmp_path), points_of(about))


@pytest.fixture
def stage(database_kind: str, new_database_url: Callable[[], str], nursery: Nursery, tmp_path: Path) -> Stage:
    return Stage(database_kind, nursery, tmp_path, new_database_url, lambda url: None)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("hit", [2, 3])
@pytest.mark.parametrize("about", PLACES)
def test_nor_does_one_at_its_second_or_third_time(about: str, hit: int, stage: Stage) -> None:
    _play(stage, points_of(about, (hit,)))


def _play(stage: Stage, points: list[Point]) -> None:
    played = list(play_all([(stage, point) for point in points]))
    problems = [problem for scene in played for problem in scene.problems()]
    assert problems == [], stage.log()
    assert {scene.point for scene in played} == set(points)
