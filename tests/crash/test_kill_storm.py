"""Storms: processes killed, stopped and cut off at random for twenty seconds, and then nothing is lost or doubled."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.nursery import Nursery
from tests.crash.storm import Storm, blow_on_sqlite
from tests.databases import PostgresqlServer

_SECONDS = 20.0
_LEAST = 200
"""Runs that must succeed: mostly it is six hundred."""

pytestmark = pytest.mark.xdist_group("storm")


def for_a_while() -> Callable[[], bool]:
    over = time.monotonic() + _SECONDS
    return lambda: time.monotonic() < over


def test_a_sqlite_process_killed_again_and_again_loses_nothing_and_doubles_nothing(
    nursery: Nursery, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'storm.db'}"
    storm = Storm(nursery, url, tmp_path / "evidence", plan="many", workers=1, seed=1)
    blow_on_sqlite(storm, for_a_while(), 0.4, 1.6)
    report = storm.settle_down(_LEAST)
    print(report)
    assert report.problems == []
    assert report.figures["kills"] >= 10
    assert report.figures["redelivered"] > 0
    assert report.figures["ended by themselves"] == 0


def test_postgresql_workers_killed_frozen_and_cut_off_lose_nothing_and_double_nothing(
    nursery: Nursery, postgresql_server: PostgresqlServer, tmp_path: Path
) -> None:
    url = postgresql_server.new_database()
    storm = Storm(nursery, url, tmp_path / "evidence", plan="many", workers=3, seed=2)
    goes_on = for_a_while()
    while goes_on():
        for blow in (storm.kill_one, storm.stop_one, storm.kill_one, storm.cut_connection):
            storm.pause(0.2, 0.7)
            blow()
    report = storm.settle_down(_LEAST)
    print(report)
    assert report.problems == []
    assert report.figures["kills"] >= 10
    assert report.figures["stops"] >= 2
    assert report.figures["fenced after a freeze"] > 0
    assert report.figures["redelivered"] > 0
    assert report.figures["connections cut"] > 0
