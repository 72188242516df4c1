"""Every fail point: each commit and dispatch, before and after, the first, second and third time: `make crashes`."""

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tests.crash import servers
from tests.crash.doom import PLACES
from tests.crash.nursery import Nursery
from tests.crash.scene import Crash, Point, Scene, plan_for, points_of
from tests.crash.story import Report
from tests.databases import KINDS, a_postgresql_server
from tests.proof.findings import Finding, keep

HITS = (1, 2, 3)
AT_ONCE = 14
"""Scenes mostly wait: so many do it beside each other."""
_FINISHED_WITHIN = 10.0
_TOLD = 10_000

NewDatabase = Callable[[], str]
DropDatabase = Callable[[str], None]


class Played(NamedTuple):
    """A scene that is over."""

    database: str
    point: Point
    crash: Crash

    def problems(self) -> list[str]:
        return [f"{self.database}, {self.point}: {problem}" for problem in self.crash.problems]


class Stage:
    """Where scenes of one kind of database are played."""

    def __init__(self, kind: str, nursery: Nursery, folder: Path, make: NewDatabase, drop: DropDatabase) -> None:
        self.kind = kind
        self._nursery = nursery
        self._folder = folder
        self._make = make
        self._drop = drop
        self._numbers = count(1)

    def play(self, point: Point) -> Played:
        url = self._make()
        evidence = self._folder / f"evidence-{self.kind}-{next(self._numbers)}"
        scene = Scene(self._nursery, url, evidence, plan_for(point.boundary))
        try:
            crash = scene.crash(point)
        except AssertionError as error:
            crash = Crash([-signal.SIGKILL], Report([f"failed: {error}"], {}))
        finally:
            scene.end()
        self._drop(url)
        return Played(self.kind, point, crash)

    def log(self) -> str:
        """The last that its processes said."""
        return self._nursery.log()[-_TOLD:]


def play_all(scenes: Iterable[tuple[Stage, Point]], at_once: int = AT_ONCE) -> Iterator[Played]:
    """Each on a database of its own, as they come to their ends."""
    with ThreadPoolExecutor(at_once) as pool:
        for future in as_completed([pool.submit(stage.play, point) for stage, point in scenes]):
            yield future.result()


def sqlite_stage(nursery: Nursery, folder: Path) -> Stage:
    numbers = count(1)
    return Stage(
        "sqlite", nursery, folder, lambda: f"sqlite:///{folder / f'scene{next(numbers)}.db'}", lambda url: None
    )


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.fail_points", description=__doc__)
    parser.add_argument("--database", choices=KINDS, help="one of them only")
    parser.add_argument("--boundary", action="append", help="one of them only; may be given again")
    parser.add_argument("--hits", default="1,2,3", help="which times of coming there, such as 1,3")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="scenes beside each other")
    options = parser.parse_args(words)
    hits = tuple(map(int, options.hits.split(",")))
    points = [
        point
        for about in PLACES
        for point in points_of(about, hits)
        if options.boundary is None or point.boundary in options.boundary
    ]
    began = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crash-")))
        nursery = Nursery(folder / "log")
        stack.callback(nursery.close)
        stages = []
        if options.database != "postgresql":
            stages.append(sqlite_stage(nursery, folder))
        if options.database != "sqlite":
            server = stack.enter_context(a_postgresql_server())
            server.hurry()
            stages.append(
                Stage("postgresql", nursery, folder, server.new_database, lambda url: servers.drop(server, url))
            )
        scenes = [(stage, point) for point in points for stage in stages]
        print(f"{len(scenes)} scenes: {len(points)} fail points on {' and '.join(stage.kind for stage in stages)}")
        played = list(_told(play_all(scenes, options.at_once), len(scenes), began))
        if any(scene.problems() for scene in played):
            print(stages[0].log())
    return _report(played, time.monotonic() - began, is_whole=options.database is None and options.boundary is None)


def _told(played: Iterator[Played], total: int, began: float) -> Iterator[Played]:
    """The same, and a line every ten seconds."""
    next_line = 0.0
    problems = 0
    for done, scene in enumerate(played, 1):
        for problem in scene.problems():
            print(problem, flush=True)
        problems += len(scene.problems())
        seconds = time.monotonic() - began
        if seconds >= next_line or done == total:
            print(f"{seconds:5.0f} s  {done}/{total} scenes, {problems} problems", flush=True)
            next_line = seconds + _FINISHED_WITHIN
        yield scene


def _report(played: Sequence[Played], seconds: float, *, is_whole: bool) -> int:
    problems = [problem for scene in played for problem in scene.problems()]
    sums: Counter[str] = Counter()
    for scene in played:
        sums.update(scene.crash.report.figures)
    figures: dict[str, int | float | str] = {
        "boundaries": len({scene.point.boundary for scene in played}),
        "fail points": len({scene.point for scene in played}),
        "scenes": len(played),
    }
    for name in ("kills", "slots", "executions", "succeeded", "redelivered", "given up", "lost", "doubled"):
        figures[name] = sums[name]
    print("\n".join(f"{number:>8}  {name}" for name, number in figures.items()))
    print("\n".join(problems) or "no problems")
    if is_whole:
        keep(Finding("crashes", "make crashes", round(seconds, 1), figures, problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
