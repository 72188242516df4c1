"""The last moments before a slot, by the real clock: an idle worker naps through them, and is never early."""

import asyncio
import time
from pathlib import Path

from foliot import Context, Foliot
from foliot.engine.settings import EngineSettings


def test_a_worker_that_naps_is_never_early_and_leaves_the_loop_to_others_meanwhile(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'naps.db'}")
    early: list[float] = []
    others = 0

    @app.graph("noted")
    async def noted(input: object, ctx: Context) -> None:
        early.append(ctx.due_at.timestamp() - time.time())

    async def main() -> None:
        nonlocal others
        # It naps through every second, not only the end of it.
        engine = app.parts.engine("napping", EngineSettings(nap_within=1_000_000))
        working = asyncio.get_running_loop().create_task(engine.run())
        async with asyncio.timeout(30):
            while len(early) < 10:
                await asyncio.sleep(0)
                others += 1
        engine.stop()
        await working

    for number in range(5):
        app.schedules.create(f"often {number}", target="noted", every="1s", jitter="900ms")
    asyncio.run(main())
    app.close()
    assert max(early) <= 0
    assert others > 100
