"""Virtual time: an event loop that does not wait, and a clock that shows what time it is there."""

import asyncio
import math
import selectors
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from foliot.domain.instants import MICROSECONDS

_HALF_A_MICROSECOND = 5e-7
_NANOSECOND = 1e-9
_MOST_STUBBORN = 100
"""So often what goes on after it was cancelled is cancelled again when its world ends."""


class _Selector(selectors.DefaultSelector):
    """Instead of waiting, time passes: the loop asks for the next event, and it is that time already."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.horizon = 0.0
        self.reached: Callable[[], None] = lambda: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # A timer for the horizon itself is due there, whatever a sum of fractions makes of it.
        if timeout is None or self.time + timeout > self.horizon + _HALF_A_MICROSECOND:
            self.time = max(self.time, self.horizon)
            self.reached()
        elif timeout > 0:
            self.time += timeout
        return super().select(0)


class _NoThreads(ThreadPoolExecutor):
    """What is handed to a thread is done at once: virtual time would not wait for it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:
            done.set_exception(error)
        return done


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that lives in virtual time."""

    def __init__(self, selector: _Selector) -> None:
        super().__init__(selector)
        self._virtual = selector
        self.set_default_executor(_NoThreads())

    def time(self) -> float:
        return self._virtual.time

    @property
    def _clock_resolution(self) -> float:
        """What is due by then is run: a span so long that there is a later moment, also months from the beginning.

        With the library's own, a nanosecond, there is none from 2**24 seconds on, and what is due now never is.
        """
        return max(_NANOSECOND, math.ulp(self._virtual.time))

    @_clock_resolution.setter
    def _clock_resolution(self, _: float) -> None:
        """That of the machine's clock does not matter here."""


class VirtualClock:
    """The wall clock of the virtual world: its loop's time, and whatever steps the clock was set by."""

    def __init__(self, start: int, selector: _Selector) -> None:
        self.start = start
        self._selector = selector

    def now(self) -> int:
        return self.start + round(self._selector.time * MICROSECONDS)

    def steady(self) -> float:
        return self._selector.time


class VirtualTime:
    """Time that passes only when told to, and then at once."""

    def __init__(self, start: int) -> None:
        self.selector = _Selector()
        self.clock = VirtualClock(start, self.selector)
        self.loop: asyncio.AbstractEventLoop = _Loop(self.selector)
        self.selector.reached = self.loop.stop

    def pass_until(self, seconds: float) -> None:
        """Let everything happen until so many seconds after the beginning."""
        self.selector.horizon = seconds
        self.loop.run_forever()

    def cut_off(self) -> None:
        """Whatever is under way is cancelled, at this very moment."""
        for _ in range(_MOST_STUBBORN):
            left = asyncio.all_tasks(self.loop)
            if not left:
                return
            for task in left:
                task.cancel()
            self.loop.run_forever()
