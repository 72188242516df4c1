"""The program says when it is at work, and is told when what was then done to its database is over."""

import asyncio
import json
import sys
from typing import Any

from tests.faults.program import Program


async def live(url: str) -> dict[str, Any]:
    program = Program(url)
    async with program.app:
        await program.at_work()
        print("at work", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        recovered = await program.seconds_until_it_works_again()
        await program.at_work()
        is_alive = program.is_alive()
    return {"recovered": recovered, "alive": is_alive, **program.seen()}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(live(sys.argv[1]))))
