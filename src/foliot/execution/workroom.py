"""The workroom: a loop of its own on which requests are executed, so that nobody else's loop waits for them."""

import asyncio
import threading
from concurrent.futures import Future
from contextlib import suppress

from foliot.domain.settlement import Outcome
from foliot.execution.bounds import STOPS_WITHIN
from foliot.execution.requests import Requests, UnderWay
from foliot.execution.wanted import Wanted

_LOOK_EVERY = 0.5
"""Seconds between looks at what another process executes."""


class Workroom:
    """Where a process that listens has requests executed: neither its server's loop nor its engine's waits for them."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._opening = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._begun: dict[str, Future[Outcome]] = {}
        """By key, what is under way here."""

    async def begin(self, wanted: Wanted, within: float) -> Outcome | UnderWay:
        """Have it executed; what it comes to within so many seconds, once it is on record that it was begun.

        Refusals as `Requests.carry_out` has them.
        """
        loop = asyncio.get_running_loop()
        accepted = asyncio.Event()
        working = self._requests.carry_out(wanted, lambda: _tell(loop, accepted))
        begun = asyncio.run_coroutine_threadsafe(working, self._room())
        self._begun.setdefault(wanted.key, begun)
        begun.add_done_callback(lambda ended: self._ended(wanted.key, ended, loop, accepted))
        await accepted.wait()
        return await self._within(begun, within) or UnderWay(self._requests.progress_of(wanted.key))

    async def await_end(self, run_id: str, key: str | None, within: float) -> Outcome | UnderWay:
        """What an execution comes to within so many seconds, wherever it is under way; nothing is begun."""
        loop = asyncio.get_running_loop()
        over = loop.time() + within
        while True:
            known = await self._requests.look(run_id, key)
            left = over - loop.time()
            if isinstance(known, Outcome) or left <= 0:
                return known
            here = None if key is None else self._begun.get(key)
            if here is None:
                await asyncio.sleep(min(_LOOK_EVERY, left))
            elif (outcome := await self._within(here, left)) is not None:
                return outcome

    def close(self) -> None:
        """Cut off what is under way here, which `Requests.finish` gave its time; it is opened again when needed."""
        with self._opening:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(2 * STOPS_WITHIN)

    async def _within(self, begun: "Future[Outcome]", seconds: float) -> Outcome | None:
        ended = asyncio.wrap_future(begun)
        # Who stops waiting does not end it, and whatever it raises then is heard by whoever asks next.
        ended.add_done_callback(lambda future: future.cancelled() or future.exception())
        done, _ = await asyncio.wait({ended}, timeout=seconds)
        return ended.result() if done else None

    def _ended(
        self, key: str, ended: "Future[Outcome]", loop: asyncio.AbstractEventLoop, accepted: asyncio.Event
    ) -> None:
        if self._begun.get(key) is ended:
            del self._begun[key]
        _tell(loop, accepted)

    def _room(self) -> asyncio.AbstractEventLoop:
        with self._opening:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_live, args=(self._loop,), name="foliot-gate", daemon=True)
                self._thread.start()
            return self._loop


def _tell(loop: asyncio.AbstractEventLoop, accepted: asyncio.Event) -> None:
    # Who asked may be gone, and the loop with it.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(accepted.set)


def _live(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=STOPS_WITHIN))
    loop.close()
