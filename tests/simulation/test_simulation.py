"""A sample of the simulation, small enough for every day; `make simulate` lives through a thousand days."""

import os
import subprocess
import sys
from collections import Counter
from itertools import chain

import pytest

from tests.databases import PostgresqlServer
from tests.diet import every_day
from tests.simulation.__main__ import ENOUGH, LEAST_EXECUTIONS, is_whole, seeds_of
from tests.simulation.day import simulate

SAMPLE = ((1, 2), (3, 4), (10, 11, 25), (5, 6), (7, 8, 9))
"""By case, so that they are spread over processes; the last of the third one is a day without faults."""
EACH_CASE = ("rescued", "engine: fenced", "slots", "settled")


@pytest.mark.parametrize("seeds", every_day(SAMPLE, first=1), ids=str)
def test_a_day_of_faults_loses_doubles_and_forgets_nothing(seeds: tuple[int, ...]) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds:
        day = simulate(seed)
        assert not day.problems, "\n".join([f"make simulate SEEDS={seed},", *day.lines, *day.problems])
        assert day.counts["executions"] >= LEAST_EXECUTIONS
        counts.update(day.counts)
    assert not [what for what in EACH_CASE if not counts[what]], counts


def test_a_seed_is_the_same_day_every_time_and_another_seed_another_day() -> None:
    first = simulate(2, hours=2)
    assert simulate(2, hours=2).hash == first.hash
    assert simulate(3, hours=2).hash != first.hash
    code = "from tests.simulation.day import simulate; print(simulate(2, hours=2).hash)"
    other_process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other_process.stdout.strip() == first.hash


def test_a_day_on_postgresql(postgresql_server: PostgresqlServer) -> None:
    day = simulate(7, postgresql_server.new_database(), hours=5)
    assert not day.problems, "\n".join([*day.lines, *day.problems])
    assert day.counts["executions"]


def test_seeds_are_a_number_or_a_list() -> None:
    assert seeds_of("3") == [0, 1, 2]
    assert seeds_of("7,8") == [7, 8]
    assert seeds_of("7,") == [7]
    assert len(set(chain(*SAMPLE))) == 12


def test_what_a_part_of_the_simulation_finds_is_not_kept() -> None:
    assert is_whole(seeds_of(str(ENOUGH)), "both")
    assert not is_whole(seeds_of(str(ENOUGH)), "sqlite")
    assert not is_whole(seeds_of(str(ENOUGH - 1)), "both")
    assert not is_whole([seed + 1 for seed in range(ENOUGH)], "both")
