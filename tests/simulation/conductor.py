"""Virtual time for several processes: each has an event loop of its own, and who is stepped next is drawn."""

import asyncio
import heapq
from asyncio import events
from collections import deque
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

MICROSECONDS = 1_000_000
_STANDSTILL = 100_000
"""So many callbacks without a moment passing, and something turns in a circle."""
_QUICKEST, _SLOWEST = 0.001, 0.02
"""How long a transaction takes on a good day, there and back each."""


class Killed(BaseException):
    """The process is dead: nothing of it may go on."""


class VirtualLoop(asyncio.BaseEventLoop):
    """The event loop of one process. It never runs by itself: the conductor steps it."""

    _ready: deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, conductor: "Conductor", complain: Callable[[str], None]) -> None:
        super().__init__()
        self._conductor = conductor
        self._complain = complain
        self.slowness: Callable[[], float] = lambda: 0.0
        """How much longer than usual the database takes now, on each way."""

    def time(self) -> float:
        return self._conductor.time

    def next_moment(self) -> float | None:
        """When it has something to do: now, later or never."""
        if self._ready:
            return self.time()
        while self._scheduled and self._scheduled[0].cancelled():
            heapq.heappop(self._scheduled)
        return self._scheduled[0].when() if self._scheduled else None

    def step(self) -> None:
        """Run the next callback: within one process they come in order, as asyncio promises."""
        while self._scheduled and self._scheduled[0].when() <= self.time():
            timer = heapq.heappop(self._scheduled)
            if not timer.cancelled():
                self._ready.append(timer)
        if not self._ready:
            return
        handle = self._ready.popleft()
        if handle.cancelled():
            return
        events._set_running_loop(self)
        try:
            handle._run()
        finally:
            events._set_running_loop(None)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        """What a thread would do is done at a later moment of the virtual time, and answered at another."""
        answer = self.create_future()
        chance = self._conductor.chance

        def give(result: Any, error: BaseException | None) -> None:
            if answer.done():
                return
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)

        def act() -> None:
            outcome: tuple[Any, BaseException | None]
            try:
                outcome = (func(*args), None)
            except Killed:
                raise
            except BaseException as error:
                outcome = (None, error)
            self.call_later(chance.uniform(_QUICKEST, _SLOWEST) + self.slowness(), give, *outcome)

        self.call_later(chance.uniform(_QUICKEST, _SLOWEST) + self.slowness(), act)
        return answer

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, Killed):
            self._complain(f"{context.get('message')}: {error!r}")

    def throw_away(self) -> None:
        """As the memory of a dead process: no callback is run, no task goes on."""
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            coroutine = task.get_coro()
            self._ready.clear()
            if coroutine is not None:
                _close(coroutine)
        self.close()

    def _write_to_self(self) -> None:
        """Nobody sleeps."""


def _close(coroutine: Any) -> None:
    for _ in range(10):
        try:
            coroutine.close()
        except RuntimeError:
            continue
        return


class Process:
    """Something that lives on a loop of its own, and can be frozen or killed at any await."""

    def __init__(self, conductor: "Conductor", name: str) -> None:
        self.conductor = conductor
        self.name = name
        self.loop = VirtualLoop(conductor, lambda said: conductor.complain(f"{name}: {said}"))
        self.is_dead = False
        self.frozen_until = 0.0
        self._arrest: tuple[int, Callable[[], None]] | None = None
        self.skew = 0
        """How far its wall clock is ahead, in microseconds."""

    def now(self) -> int:
        """Its wall clock."""
        return self.conductor.real_now() + self.skew

    def steady(self) -> float:
        return self.conductor.time

    def next_moment(self) -> float | None:
        if self.is_dead:
            return None
        moment = self.loop.next_moment()
        return None if moment is None else max(moment, self.frozen_until)

    def step(self) -> None:
        if self._arrest is not None:
            steps, act = self._arrest
            self._arrest = (steps - 1, act) if steps else None
            if not steps:
                act()
                return
        self.loop.step()
        if self.is_dead:
            self.bury()

    def arrest(self, steps: int, act: Callable[[], None]) -> None:
        """Do that to it before one of its next callbacks: at any await that it may be at then."""
        self._arrest = (steps, act)

    def die(self) -> None:
        self.is_dead = True
        self.bury()

    def bury(self) -> None:
        if not self.loop.is_closed():
            self.loop.throw_away()


class Conductor:
    """One time for all: whoever has something to do is stepped, in an order that is drawn; then time moves on."""

    def __init__(self, chance: Random, start: int) -> None:
        self.chance = chance
        self.time = 0.0
        self.start = start
        self.processes: list[Process] = []
        self.problems: list[str] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def real_now(self) -> int:
        """What a perfect wall clock would show, in microseconds."""
        return self.start + round(self.time * MICROSECONDS)

    def complain(self, problem: str) -> None:
        self.problems.append(problem)

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.time + seconds, next(self._numbers), act))

    def run_until(self, end: float) -> None:
        """Let everything happen until then, or until there is a problem."""
        standing = 0
        while not self.problems:
            moments = [(moment, process) for process in self.processes if (moment := process.next_moment()) is not None]
            ready = [process for moment, process in moments if moment <= self.time]
            if ready:
                standing += 1
                if standing > _STANDSTILL:
                    self.complain(f"time stands still: {[process.name for process in ready]} turn in a circle")
                (ready[0] if len(ready) == 1 else self.chance.choice(ready)).step()
                continue
            coming = [moment for moment, _ in moments] + [event[0] for event in self._events[:1]]
            moment = min(coming, default=end + 1)
            if moment > end:
                self.time = max(self.time, end)
                return
            standing = 0 if moment > self.time else standing + 1
            self.time = max(self.time, moment)
            if self._events and self._events[0][0] <= self.time:
                heapq.heappop(self._events)[2]()
