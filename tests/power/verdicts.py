"""What is in the files after a power failure, against what had been promised before it."""

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from foliot import Foliot
from foliot.domain.durations import parse_duration
from foliot.domain.runs import FINAL
from foliot.testing import virtual
from tests.engine.invariants import check_books, check_nothing_is_stuck
from tests.engine.timelines import START
from tests.power.disk import Crashes, Kept, Operation, Sync, Truncate, Write
from tests.power.story import FILE, NOTHING, SCHEDULES, Promise, Story, an_app, state_of, url_of

_GOES_ON_FOR = timedelta(minutes=30)


class Point(NamedTuple):
    """A moment at which the power fails: after so many operations."""

    operations: int
    kept: Kept


class Fate(StrEnum):
    KEPT = "kept"
    LOST = "lost"
    """Books that were true once, before something was acknowledged that they do not have."""
    CORRUPT = "corrupt"
    """A file that is broken, or books that never were."""


class Verdict(NamedTuple):
    point: Point
    fate: Fate
    commits: int = 0
    """How many acknowledged ones are lost."""
    what: str = ""

    def __str__(self) -> str:
        where = f"after operation {self.point.operations}, keeping {self.point.kept}"
        return f"{self.fate} {where}: {self.what or f'{self.commits} commits'}"


def points_of(story: Story, number: int, chance: random.Random) -> list[Point]:
    """Spread over all operations, most of them right before and after syncs and in the midst of checkpoints."""
    operations = story.operations
    files_come_and_go = {i for i, op in enumerate(operations) if not isinstance(op, Write | Truncate | Sync)}
    checkpoints = {i for i, op in enumerate(operations) if op.file == FILE}
    syncs = {i for i, op in enumerate(operations) if isinstance(op, Sync)}
    strata = [_around(files_come_and_go, operations), _around(checkpoints, operations), _around(syncs, operations)]
    strata.append([*range(len(operations) + 1)])
    found: dict[Point, None] = {}
    for place, stratum in enumerate(strata):
        points = [Point(count, kept) for count in stratum for kept in Kept]
        chance.shuffle(points)
        found |= dict.fromkeys(points[: (number - len(found)) // (len(strata) - place)])
    left = (Point(count, kept) for count in range(len(operations) + 1) for kept in Kept)
    while len(found) < number and (point := next(left, None)):
        found[point] = None
    return sorted(found)


def _around(places: set[int], operations: Sequence[Operation]) -> list[int]:
    """Before the operation, after it and after the next one."""
    return sorted({count for place in places for count in (place, place + 1, place + 2) if count <= len(operations)})


def judge(story: Story, points: Sequence[Point], folder: Path, chance: random.Random) -> Iterator[Verdict]:
    """Each point in order, its files rebuilt in the folder, where they are left until the next."""
    crashes = Crashes(story.operations)
    promises = _of_changes(story.promises)
    for point in points:
        crashes.advance(point.operations)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, content in crashes.files(point.kept, chance).items():
            (folder / name).write_bytes(content)
        yield _judged(point, promises, folder / FILE)


def _of_changes(promises: Sequence[Promise]) -> list[Promise]:
    """Without those that promise no more than the one before."""
    return [promise for i, promise in enumerate(promises) if i == 0 or promise.state != promises[i - 1].state]


def promised_at(promises: Sequence[Promise], operations: int) -> int:
    """The number of the last promise that was made by then."""
    return max(number for number, promise in enumerate(promises) if promise.operations <= operations)


def _judged(point: Point, promises: Sequence[Promise], file: Path) -> Verdict:
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as cx:
            said = [text for (text,) in cx.execute("PRAGMA integrity_check")]
            if said != ["ok"]:
                return Verdict(point, Fate.CORRUPT, what=said[0])
            state = state_of(cx.execute)
            unruly = [] if state == NOTHING else slots_not_recorded_once(cx)
    except sqlite3.DatabaseError as error:
        return Verdict(point, Fate.CORRUPT, what=str(error))
    last = promised_at(promises, point.operations)
    # The commit in flight may be there already: nobody was told that it is not.
    if state not in (promise.state for promise in promises[last : last + 2]):
        earlier = [number for number in range(last) if promises[number].state == state]
        if not earlier:
            return Verdict(point, Fate.CORRUPT, what="part of a transaction")
        return Verdict(point, Fate.LOST, last - earlier[-1])
    return Verdict(point, Fate.CORRUPT, what=unruly[0]) if unruly else Verdict(point, Fate.KEPT)


def slots_not_recorded_once(cx: sqlite3.Connection) -> list[str]:
    """Slots up to the cursor of a schedule as it was created that have no record, or several."""
    found = []
    ask = "SELECT c.swept_to, s.created_at, s.ref FROM schedules s JOIN cursors c USING (ref) WHERE s.id = ? AND %s"
    for name, options in SCHEDULES.items():
        for swept_to, created_at, ref in cx.execute(ask % "s.spec_since = s.created_at", (name,)):
            of_it = "FROM runs WHERE kind = 'slot' AND attempt = 1 AND schedule_ref = ?"
            records = Counter(nominal_at for (nominal_at,) in cx.execute(f"SELECT nominal_at {of_it}", (ref,)))
            gaps = cx.execute("SELECT first_at, last_at FROM gaps WHERE schedule_ref = ?", (ref,)).fetchall()
            step = parse_duration("every", options["every"]) // timedelta(microseconds=1)
            for slot in range(created_at - created_at % step + step, swept_to + 1, step):
                number = records[slot] + sum(first <= slot <= last for first, last in gaps)
                if number != 1:
                    found.append(f"the slot {slot} of {name} is recorded {number} times")
    return found


def go_on(story: Story, point: Point, folder: Path) -> int:
    """A new process on the files that are left does all that is owed, and nothing again: how many runs it began."""
    before = Foliot(url_of(folder))
    final = {run.id: run for run in before.runs.list(limit=10_000) if run.status in FINAL}
    before.close()
    at = story.promises[promised_at(story.promises, point.operations)].at
    begun: list[str] = []
    with virtual(an_app(begun), START + timedelta(seconds=at + 1), database=url_of(folder)) as world:
        world.advance(_GOES_ON_FOR)
        check_books(world)
        check_nothing_is_stuck(world)
        after = {run.id: run for run in world.runs()}
    assert {name: after.get(name) for name in final} == final, "what was final has changed"
    assert len(begun) == len(set(begun)), "a run was begun twice"
    assert not set(begun) & set(final), "a run that was over was begun again"
    return len(begun)
