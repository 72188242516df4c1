"""The last moments before a slot, by the real clock: an idle worker naps through them, and is never early."""

import asyncio
import time
from pathlib import Path
from unittest.mock import patch

import pytest

import foliot.engine.loop
from foliot import Context, Foliot


@pytest.mark.parametrize("is_idle", [True, False], ids=["idle", "with a run in hand"])
def test_only_an_idle_worker_naps_and_no_slot_starts_before_its_time(tmp_path: Path, is_idle: bool) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'naps.db'}")
    early: list[float] = []
    naps: list[float] = []

    @app.graph("noted")
    async def noted(input: object, ctx: Context) -> None:
        early.append(ctx.due_at.timestamp() - time.time())

    @app.graph("long")
    async def long(input: object) -> None:
        await asyncio.sleep(60)

    def napped(seconds: float) -> None:
        naps.append(seconds)
        time.sleep(seconds)

    async def main() -> None:
        async with app, asyncio.timeout(30):
            if not is_idle:
                app.schedules.create("occupied", target="long", manual=True)
                app.schedules.trigger("occupied")
                while not app.runs.list(status="running"):
                    await asyncio.sleep(0.01)
            for number in range(5):
                app.schedules.create(f"often {number}", target="noted", every="1s", jitter="900ms")
            while len(early) < 5 or (is_idle and not naps):
                await asyncio.sleep(0.01)
            for run in app.runs.list(status="running"):
                app.runs.cancel(run.id)

    with patch.object(foliot.engine.loop, "time", type("_", (), {"sleep": napped})):
        asyncio.run(main())
    assert max(early) <= 0
    assert bool(naps) == is_idle
    assert all(nap <= 0.0002 for nap in naps)
