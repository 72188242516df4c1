"""Storms: processes killed, stopped and cut off at random for some seconds, and then nothing is lost or doubled."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.nursery import Nursery
from tests.crash.storm import Storm, blow_on_sqlite, outlived_by_others
from tests.databases import PostgresqlServer

_SECONDS = 8.0
_LEAST = 120
"""Runs that must succeed, lest nothing was tried."""
_KILLS, _STOPS = 10, 2

pytestmark = pytest.mark.slow


def for_a_while(storm: Storm, stops: int = 0) -> Callable[[], bool]:
    """And, on a machine that is busy, until enough was done."""
    storm.wait_until_declared()
    over = time.monotonic() + _SECONDS

    def goes_on() -> bool:
        woken = sum(disturbance.what == "wake" for disturbance in storm.disturbances)
        return time.monotonic() < over or storm.kills < _KILLS or woken < stops

    return goes_on


def test_a_sqlite_process_killed_again_and_again_loses_nothing_and_doubles_nothing(
    nursery: Nursery, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'storm.db'}"
    storm = Storm(nursery, url, tmp_path / "evidence", plan="many", workers=1, seed=1)
    blow_on_sqlite(storm, for_a_while(storm), 0.3, 1.2)
    report = storm.settle_down(_LEAST)
    print(report)
    assert report.problems == []
    assert report.figures["kills"] >= _KILLS
    assert report.figures["redelivered"] > 0
    assert report.figures["ended by themselves"] == 0


def test_postgresql_workers_killed_frozen_and_cut_off_lose_nothing_and_double_nothing(
    nursery: Nursery, postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    url = postgresql_server.new_database()
    storm = Storm(nursery, url, tmp_path / "evidence", plan="many", workers=3, seed=2)
    goes_on = for_a_while(storm, _STOPS)
    while goes_on():
        for blow in (storm.kill_one, storm.stop_one, storm.kill_one, storm.cut_connection):
            storm.pause(0.2, 0.7)
            blow()
    report = storm.settle_down(_LEAST)
    print(report)
    assert report.problems == []
    assert report.figures["kills"] >= _KILLS
    assert report.figures["stops"] >= _STOPS
    assert outlived_by_others(report.figures) > 0
    assert report.figures["redelivered"] > 0
    assert report.figures["connections cut"] > 0
