"""The power fails: SQLite has all that the store acknowledged. A sample; `make power` does it at 500 points."""

import random

import pytest

from tests.diet import every_day
from tests.power.disk import Crashes, Create, Delete, Kept, Operation, Sync, SyncFolder, Truncate, Write
from tests.power.proof import MODES, Mode, fail
from tests.power.verdicts import Fate

STORE, SHORT_LOG, NORMAL, OFF = MODES
CHANCE = random.Random(1)
A_FILE: list[Operation] = [Create("f"), SyncFolder("f"), Write("f", 0, b"safe"), Sync("f")]


@pytest.mark.parametrize("mode", every_day([STORE, SHORT_LOG], first=1), ids=["as-it-is", "many-checkpoints"])
def test_nothing_that_was_acknowledged_is_lost_when_the_power_fails(mode: Mode) -> None:
    result = fail(mode, points=60, continued=3, seed=2)
    assert result.problems == []
    assert result.fates == {Fate.KEPT: 60}
    assert sum(result.begun) > 100


@pytest.mark.parametrize("mode", every_day([NORMAL, OFF], first=1), ids=["normal", "off"])
def test_a_store_that_syncs_less_is_seen_to_lose_what_it_acknowledged(mode: Mode) -> None:
    result = fail(mode, points=60, continued=0, seed=2)
    assert result.fates[Fate.LOST] > 0
    assert result.worst > 0


def files(operations: list[Operation], kept: Kept) -> dict[str, bytes]:
    crashes = Crashes(operations)
    crashes.advance(len(operations))
    return crashes.files(kept, CHANCE)


def test_the_disk_keeps_what_was_synced_and_forgets_the_rest() -> None:
    assert files([*A_FILE, Write("f", 4, b" and not"), Truncate("f", 2)], Kept.NONE) == {"f": b"safe"}
    assert files([*A_FILE, Write("f", 6, b"too"), Sync("f")], Kept.NONE) == {"f": b"safe\0\0too"}
    assert files([*A_FILE, Truncate("f", 2), Sync("f")], Kept.NONE) == {"f": b"sa"}


def test_the_disk_may_keep_any_part_of_what_was_not_synced() -> None:
    writes: list[Operation] = [Write("f", 4, b"1"), Write("f", 5, b"2")]
    halves = {files([*A_FILE, *writes], Kept.HALF)["f"] for _ in range(100)}
    assert halves == {b"safe", b"safe1", b"safe\x002", b"safe12"}
    sectors = {files([*A_FILE, Write("f", 0, b"x" * 1024)], Kept.TORN)["f"] for _ in range(100)}
    assert {content.count(b"x") for content in sectors} == {0, 512, 1024}


def test_the_disk_may_forget_names_until_their_folder_is_synced() -> None:
    assert files([Create("f"), Write("f", 0, b"safe"), Sync("f")], Kept.NONE) == {}
    assert files([*A_FILE, Delete("f")], Kept.NONE) == {"f": b"safe"}
    assert files([*A_FILE, Delete("f"), SyncFolder("f")], Kept.NONE) == {}
