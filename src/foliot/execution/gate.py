"""The gate inside one process: permission, credit, the executor of the provider, and what was used is charged.

The leased run row is the idempotency record.
"""

import asyncio
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from foliot.domain.credits import Usage
from foliot.domain.errors import Invalid, NotFound, Unavailable
from foliot.domain.grants import Grant
from foliot.domain.runs import Order, Reason, Status
from foliot.domain.schedule import json_text
from foliot.domain.settlement import Outcome
from foliot.execution.context import Cancelled, Context, slot_of
from foliot.execution.permission import Permission
from foliot.execution.till import Bill, Till
from foliot.ports import Control, Launch

_SUCCESS = Outcome(Status.SUCCESS)
_LONGEST_ERROR = 8000


class Executor(Protocol):
    """A provider of targets, seen from the gate."""

    def targets(self) -> Sequence[str]: ...

    def room(self, target: str) -> int | None: ...

    async def run(self, target: str, input: str | None, context: Context, control: Control) -> Any:
        """Run the target's code and return what it returned; what it raises is its failure."""


class LocalGate:
    """Routes each run to the executor of its provider, and turns what happens into an outcome."""

    def __init__(self, executors: Mapping[str, Executor], permission: Permission, till: Till) -> None:
        self._executors = executors
        self._permission = permission
        self._till = till

    def targets(self) -> Sequence[str]:
        if len(self._executors) == 1:
            (executor,) = self._executors.values()
            return executor.targets()
        return [target for executor in self._executors.values() for target in executor.targets()]

    def room(self, target: str) -> int | None:
        return self._executors[target.partition(":")[0]].room(target)

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        grant = await self._permission.grant_of(launch)
        refusal = self._permission.refusal(grant, launch)
        if refusal is not None or grant is None:
            return Outcome(Status.SKIPPED, refusal)
        if not await self._till.has_enough(launch, grant.account):
            return Outcome(Status.SKIPPED, Reason.INSUFFICIENT_CREDITS)
        if launch.limits is not None:
            control.meter = self._till.meter(launch.limits)
        try:
            outcome = await self._route(launch, control)
            if control.exceeded is None:
                return outcome
            return Outcome(Status.ERROR, Reason.RUN_LIMIT, error=f"it has used {control.exceeded}")
        finally:
            if control.usages:
                await self._charge(launch, control.usages, grant)

    async def _charge(self, launch: Launch, usages: Sequence[Usage], grant: Grant) -> None:
        """Also when the run was cancelled, and not interrupted by it: what was used is owed."""
        run = slot_of(launch)
        bills = [Bill(launch.ref, str(run), launch.attempt, grant.account, usage) for usage in usages]
        await asyncio.shield(self._till.take(bills))

    async def _route(self, launch: Launch, control: Control) -> Outcome:
        executor = self._executors.get(launch.target.partition(":")[0])
        if executor is None:
            return Outcome(Status.ERROR, Reason.NOT_FOUND, error=f"nobody here runs {launch.target}")
        try:
            result = await executor.run(launch.target, launch.input, Context(launch, control), control)
        except Cancelled as stopped:
            by_user = control.order is Order.CANCEL_BY_USER
            reason = Reason.CANCELLED_BY_USER if by_user else Reason.CANCELLED_BY_POLICY
            return Outcome(Status.CANCELLED, reason, error=_writable(str(stopped)))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # Whatever its code raises, the run has ended.
            return _failure(error)
        return _SUCCESS if result is None else _success(result)


def _success(result: Any) -> Outcome:
    """A result that cannot be kept does not make a failure of what went well."""
    try:
        return Outcome(Status.SUCCESS, result=json_text("result", result))
    except Invalid as refusal:
        return Outcome(Status.SUCCESS, error=f"the result was not kept: {refusal}")


def _failure(error: BaseException) -> Outcome:
    match error:
        case Invalid():
            reason = Reason.INVALID_REQUEST
        case NotFound():
            reason = Reason.NOT_FOUND
        case Unavailable():
            reason = Reason.PROVIDER_UNAVAILABLE
        case _:
            reason = Reason.INTERNAL
    said = f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_tb(error.__traceback__)[2:])
    return Outcome(Status.ERROR, reason, error=_writable(f"{said}\n{trace}".strip())[:_LONGEST_ERROR])


def _writable(text: str) -> str:
    """What any database takes: an error may quote the undecodable name of a file."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
