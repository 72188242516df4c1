"""The tab of a run: what it has used, paid about a second after it was reported, and the rest at its end."""

import asyncio
import logging
from contextlib import suppress

from foliot.execution.charging import Bill
from foliot.execution.context import run_of
from foliot.execution.till import Till
from foliot.ports import Control, Launch

log = logging.getLogger("foliot.execution")

_PAID_WITHIN = 1.0
"""Seconds for which what was used is known to this process alone."""


class Tab:
    """What one run has used and not paid for yet.

    It is told the run's control and does not keep it, which knows the tab: most runs leave no circle behind.
    """

    __slots__ = ("_launch", "_loop", "_paid", "_paying", "_till", "_timer")

    def __init__(self, launch: Launch, till: Till) -> None:
        self._launch = launch
        self._till = till
        self._loop = asyncio.get_running_loop()
        self._paid = 0
        """So many of the calls that were reported."""
        self._paying: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def note(self, control: Control) -> None:
        """A call was reported, from whatever thread, perhaps by code that works on after the end of its run."""
        if self._timer is not None:
            return
        if self._is_here():
            self._arm(control)
        else:
            # A thread may go on when the loop is no more.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._arm, control)

    async def close(self, control: Control) -> None:
        """Pay the rest. That it cannot be charged undoes nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            await self._pay(control)
        except Exception:
            log.critical("not all calls of %s could be charged", run_of(self._launch), exc_info=True)

    def _is_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def _arm(self, control: Control) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(_PAID_WITHIN, self._begin_paying, control)

    def _begin_paying(self, control: Control) -> None:
        self._timer = None
        if self._paying is None or self._paying.done():
            self._paying = self._loop.create_task(self._pay_some(control))
        else:
            # The database is waited for.
            self._arm(control)

    async def _pay_some(self, control: Control) -> None:
        try:
            await self._pay(control)
        except Exception as error:  # It is tried again with the next call, or at the end.
            log.warning("what %s has used is not charged yet: %s", run_of(self._launch), error)

    async def _pay(self, control: Control) -> None:
        """Also when the run was cancelled or is no longer ours: what was used is owed, and charged once."""
        usages = (control.usages or ())[self._paid :]
        if not usages or control.is_dead:
            return
        launch, run = self._launch, run_of(self._launch)
        until = self._paid + len(usages)
        await self._till.take([Bill(launch.ref, run, launch.attempt, launch.grant.account, usage) for usage in usages])
        self._paid = max(self._paid, until)
