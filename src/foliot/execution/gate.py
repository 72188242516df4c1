"""The gate inside one process: permission, credit, the executor of the provider, and what was used is charged.

The leased run row is the idempotency record.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from foliot.domain.errors import NotFound
from foliot.domain.runs import OnUnknown, Reason, Status
from foliot.domain.settlement import Outcome
from foliot.execution.asking import Asking
from foliot.execution.bounds import over_limit, within_limits
from foliot.execution.context import Context
from foliot.execution.executing import Checking, Executor, Request, failure_of
from foliot.execution.listening import Complain, heard
from foliot.execution.observation import observed
from foliot.execution.permission import Permission
from foliot.execution.reception import outcome_of
from foliot.execution.tab import Tab
from foliot.execution.till import Till
from foliot.ports import Control, Launch, Transaction


class _Route(NamedTuple):
    """Who executes a target, and who is told when he does not keep his promises."""

    executor: Executor
    complain: Complain


class LocalGate:
    """Routes each run to the executor of its provider, and turns what happens into an outcome."""

    def __init__(self, executors: Mapping[str, Executor], permission: Permission, till: Till) -> None:
        self._executors = executors
        self._permission = permission
        self._till = till
        self._asking = Asking()
        self._found: dict[str, _Route] = {}
        """By target, once somebody here was found who runs it: that takes a while where there are many."""

    def targets(self) -> Sequence[str]:
        return [name for each, executor in self._executors.items() for name in self._asking.targets(each, executor)]

    def room(self, target: str) -> int | None:
        provider = target.partition(":")[0]
        return self._asking.room(provider, self._executors[provider], target)

    def find(self, target: str) -> OnUnknown:
        """What the target wants done when nobody knows whether it was executed; NotFound when nobody here runs it."""
        if not self.runs(target):
            raise NotFound(f"nobody here runs {target}: register it, or ask where it is registered")
        return self.on_unknown(target)

    def runs(self, target: str) -> bool:
        """Whether somebody here can execute the target."""
        provider = target.partition(":")[0]
        executor = self._executors.get(provider)
        targets = () if executor is None else self._asking.targets(provider, executor)
        return target in targets or f"{provider}:*" in targets

    def on_unknown(self, target: str) -> OnUnknown:
        provider = target.partition(":")[0]
        return self._asking.on_unknown(provider, self._executors[provider], target)

    def check_request(self, tx: Transaction, target: str, input: str | None) -> None:
        """A refusal when the target's executor knows that it could not carry out such a request from outside."""
        executor = self._executors[target.partition(":")[0]]
        if isinstance(executor, Checking):
            executor.check_request(tx, target, input)

    def report_digest(self, target: str, run_id: str) -> str | None:
        provider = target.partition(":")[0]
        return self._asking.report_digest(provider, self._executors[provider], target, run_id)

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        """Seen from outside to inside: observed, permitted, payable, executed, charged."""
        context = Context(launch, control)
        return await observed(launch, context, self._permitted(launch, context, control))

    async def _permitted(self, launch: Launch, context: Context, control: Control) -> Outcome:
        refusal = await self._permission.refusal(launch)
        if refusal is not None:
            return Outcome(Status.SKIPPED, refusal)
        if not await self._till.has_enough(launch):
            return Outcome(Status.SKIPPED, Reason.INSUFFICIENT_CREDITS)
        if launch.limits is not None:
            control.meter = await self._till.meter(launch, launch.limits)
            control.exceeded = control.meter.exceeded
            if control.exceeded is not None:
                return over_limit(control.exceeded)
        work = self._route(launch, context, control)
        if launch.limits is not None:
            work = within_limits(work, control)
        tab = Tab(launch, self._till)
        control.noted = tab.note
        try:
            outcome = await work
            if control.question is None or control.exceeded is not None:
                return outcome
            return Outcome(Status.WAITING, question=control.question)
        finally:
            if control.usages:
                await tab.close(control)

    async def _route(self, launch: Launch, context: Context, control: Control) -> Outcome:
        route = self._found.get(launch.target) or self._look_for(launch.target)
        if route is None:
            return Outcome(Status.ERROR, Reason.NOT_FOUND, error=self._orphaned(launch.target))
        control.is_begun = True
        try:
            execution = route.executor.run(Request(launch.target, launch.input, context, control))
            return await heard(execution, context, control, route.complain)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # An executor must not raise; what it has begun is not to be launched again.
            return outcome_of(failure_of(error))

    def _look_for(self, target: str) -> _Route | None:
        if not self.runs(target):
            return None
        provider = target.partition(":")[0]
        route = _Route(self._executors[provider], partial(self._asking.complain, provider))
        self._found[target] = route
        return route

    def _orphaned(self, target: str) -> str:
        provider = target.partition(":")[0]
        if provider in self._executors:
            remedy = "register it in a program that works on this database"
        else:
            remedy = f"there is no provider {provider!r}, only {', '.join(sorted(self._executors))}; add it"
        return f"nobody here runs {target}: {remedy}, or give the schedule another target"
