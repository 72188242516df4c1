"""Sync functions in a limited number of threads: no more are begun than there are threads, and a free one is found."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from foliot.engine.settings import EngineSettings
from foliot.execution.context import Cancelled, Context
from foliot.executors.python import PythonExecutor
from foliot.services.views import Run
from foliot.wiring import Parts

THREADS = 2


class _Bench:
    """Real threads, whose function waits until it is told to end."""

    def __init__(self, folder: Path, runs: int, **options: str) -> None:
        self.end = threading.Event()
        self.ended: list[Run] = []
        self.executor = PythonExecutor(threads=THREADS)
        self.executor.register("wait", lambda: self.end.wait(60))
        self.parts = Parts(f"sqlite:///{folder / 'threads.db'}", {"python": self.executor})
        names = [f"s{number}" for number in range(runs)]
        self.parts.verbs.schedules.create_many(
            {"name": name, "target": "python:wait", "every": "1h", **options} for name in names
        )
        for name in names:
            self.parts.verbs.schedules.trigger(name)

    def work(self, settings: EngineSettings, watch: Callable[[], bool]) -> None:
        """Run an engine until what is watched for has come about."""

        async def main() -> None:
            engine = self.parts.engine("threads", settings)
            task = asyncio.get_running_loop().create_task(engine.run())
            async with asyncio.timeout(60):
                while not watch():
                    await asyncio.sleep(0.01)
            self.end.set()
            engine.stop()
            await task

        asyncio.run(main())
        self.ended = self.parts.verbs.runs.list(limit=100)
        self.executor.close()
        self.parts.close()

    def count(self, status: str) -> int:
        return len(self.parts.verbs.runs.list(status=status, limit=100))


@pytest.mark.parametrize("inline", [True, False])
def test_no_more_runs_are_begun_than_there_are_threads(tmp_path: Path, inline: bool) -> None:
    bench = _Bench(tmp_path, runs=4 * THREADS)
    seen: list[int] = []

    def watch() -> bool:
        if len(seen) < 20:
            seen.extend([running] if (running := bench.count("running")) else [])
        else:
            bench.end.set()
        return bench.count("success") == 4 * THREADS

    bench.work(EngineSettings(inline=inline), watch)
    assert max(seen) == THREADS


def test_a_thread_that_was_given_up_on_is_used_again_soon_after_it_is_free(tmp_path: Path) -> None:
    bench = _Bench(tmp_path, runs=2 * THREADS, timeout="0.2s")

    def watch() -> bool:
        if bench.count("error") == THREADS:
            bench.end.set()
        return bench.count("success") == THREADS

    # It would find out at its next look, but that is far.
    bench.work(EngineSettings(look=3_600_000_000), watch)


def test_a_thread_whose_run_has_timed_out_is_told_so_at_its_next_heartbeat(tmp_path: Path) -> None:
    bench = _Bench(tmp_path, runs=1, target="python:beat", timeout="0.1s")
    told: list[str] = []

    def beat(input: None, ctx: Context) -> None:
        try:
            while not bench.end.wait(0.01):
                ctx.heartbeat()
        except Cancelled as order:
            told.append(str(order))

    bench.executor.register("beat", beat)
    bench.work(EngineSettings(), lambda: bool(told))
    (run,) = bench.ended
    assert told == [f"{run.id} was asked to stop"]
    assert (run.status, run.reason) == ("error", "timeout")
