"""Actions: what the nodes of a workflow do outside of it, each tried as often and for as long as it may be."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid, NotFound
from foliot.domain.events import ErrorCode, Final
from foliot.domain.node_states import Place
from foliot.domain.nodes import Action, HttpCall
from foliot.domain.reader import named
from foliot.execution.context import Asked, Cancelled, Context, LimitExceeded
from foliot.execution.executing import failure_of
from foliot.executors.answers import code_for, quote, usages_of, without_usages
from foliot.executors.http import Outbound
from foliot.executors.messages import in_a_header
from foliot.executors.python import Function, PythonExecutor, RegisteredFunction, registered

_RETRIED = (ErrorCode.INTERNAL, ErrorCode.PROVIDER_UNAVAILABLE, ErrorCode.RATE_LIMIT, ErrorCode.TIMEOUT)
"""What may go better the next time."""


class ActionContext:
    """An action, as its own code sees it."""

    __slots__ = ("_place", "attempt", "idempotency_key", "run")

    def __init__(self, run: Context, place: Place, key: str, attempt: int) -> None:
        self.run = run
        """The run that it is part of."""
        self.idempotency_key = key
        """The same for every attempt and every delivery: hand it to whatever must not happen twice."""
        self.attempt = attempt
        """Of this node."""
        self._place = place

    @property
    def node(self) -> str:
        return self._place.node

    @property
    def path(self) -> tuple[int, ...]:
        """Which iteration of each loop around it, the outermost first."""
        return self._place.path

    @property
    def cancelled(self) -> bool:
        """Whether the run was asked to stop."""
        return self.run.cancelled

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger that knows the run and the node."""
        return logging.LoggerAdapter(
            logging.getLogger("foliot.run"), {"run_id": self.run.run_id, "node": str(self._place)}
        )

    def heartbeat(self, progress: Any = None) -> None:
        """Say how far it has come, and stop here when the run was asked to."""
        self.run.heartbeat(None if progress is None else {"node": str(self._place), "progress": progress})

    def report_usage(
        self,
        unit: str,
        *,
        model: str | None = None,
        tokens: int | None = None,
        cost: object = None,
        source: str = "foliot",
    ) -> None:
        """Say that a billable call was made, as `ctx.report_usage` of a run does; the unit is this attempt's own."""
        again = f"~{self.attempt}" if self.attempt > 1 else ""
        self.run.report_usage(f"{self._place}/{unit}{again}", model=model, tokens=tokens, cost=cost, source=source)


class ActionOutcome(NamedTuple):
    """What an action came to."""

    attempts: int
    output: Any = None
    failure: Final | None = None


class _CallFailedError(Exception):
    """A call over HTTP was answered with a failure."""

    def __init__(self, code: ErrorCode, words: str) -> None:
        super().__init__(words)
        self.code = code


class Actions:
    """The actions of one program."""

    def __init__(self, functions: PythonExecutor, caller: Callable[[], Outbound]) -> None:
        self._functions = functions
        """Who calls functions, on the loop or in threads."""
        self._caller = caller
        """Who makes calls over HTTP."""
        self._actions: dict[str, RegisteredFunction] = {}

    def register(self, name: str, function: Function) -> None:
        known = self._actions.get(named(name, "an action takes a name"))
        if known is not None and known.function is not function:
            raise Invalid(f"an action takes a name of its own, got {name!r} for a second function: rename one of them")
        self._actions[name] = registered(f"action {name!r}", function)

    async def perform(
        self, action: Action, given: Any, context: Callable[[int], ActionContext], interruptible: Callable[[bool], None]
    ) -> ActionOutcome:
        """Do it, and again while it fails of what may go better; whoever asked it to stop is let through."""
        attempt = 0
        while True:
            attempt += 1
            try:
                output = await self._within(
                    action.timeout_ms, self._call(action, given, context(attempt), interruptible)
                )
            except (asyncio.CancelledError, Cancelled, LimitExceeded):
                raise
            except Asked:
                context(attempt).run.withdraw_question()
                words = "an action of a workflow cannot ask a person: have a graph ask, and let it start the workflow"
                return ActionOutcome(attempt, failure=Final(ErrorCode.INVALID_REQUEST, words=words))
            except BaseException as error:  # Whatever its code raises, the action has failed.
                failure = _failure(error)
                is_last = attempt > action.retry.retries or context(attempt).run.is_over_limit
                if is_last or failure.error not in _RETRIED:
                    return ActionOutcome(attempt, failure=failure)
            else:
                return ActionOutcome(attempt, output)
            await asyncio.sleep(action.retry.wait_after(attempt))

    async def _within(self, timeout_ms: int, work: Any) -> Any:
        try:
            async with asyncio.timeout(timeout_ms / 1000) as limit:
                return await work
        except TimeoutError as error:
            if limit.expired():
                raise TimeoutError(f"it took longer than its {timeout_ms:,} ms") from error
            raise

    async def _call(
        self, action: Action, given: Any, context: ActionContext, interruptible: Callable[[bool], None]
    ) -> Any:
        if isinstance(action.does, HttpCall):
            return await self._call_http(given, context, action.timeout_ms / 1000)
        found = self._actions.get(action.does)
        if found is None:
            there = ", ".join(sorted(self._actions)) or "none"
            raise NotFound(f"no action {action.does!r} is registered here: there are {there}")
        return await self._functions.invoke(found, given, context, interruptible)

    async def _call_http(self, given: Mapping[str, Any], context: ActionContext, timeout: float) -> Any:
        body = given["body"]
        key = in_a_header(context.idempotency_key)
        headers = {"Idempotency-Key": key, "Content-Type": "application/json", **given["headers"]}
        written = b"" if body is None else json.dumps(body).encode()
        answer = await self._caller().call(given["method"], given["url"], headers, written, timeout)
        said = answer.json
        _report(context, said)
        code = code_for(answer.status)
        if code is None:
            return {"status": answer.status, "body": without_usages(said)}
        raise _CallFailedError(code, f"{given['method']} {given['url']} answered {answer.status}: {quote(answer)}")


def _report(context: ActionContext, said: Any) -> None:
    """Have what an answer says that it has used charged; that it cannot be makes no failure of the call."""
    usages, wrong = usages_of(said)
    place = Place(context.node, context.path)
    try:
        for unit, _, model, tokens, cost in usages:
            # Whoever answers knows by the key whether it is the same call once more, and names it accordingly.
            context.run.report_usage(f"{place}/{unit}", model=model, tokens=tokens, cost=cost)
    except Invalid as refusal:
        wrong = f"what it used was not charged: {refusal}"
    if wrong is not None:
        context.log.warning(wrong)


def _failure(error: BaseException) -> Final:
    if isinstance(error, _CallFailedError):
        return Final(error.code, words=str(error))
    return failure_of(error, inside=3)
