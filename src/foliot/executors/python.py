"""`python:name`: functions that a program has registered, sync ones in threads, async ones on the loop."""

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid, NotFound
from foliot.domain.events import Final
from foliot.domain.runs import OnUnknown
from foliot.domain.schedule import target_of
from foliot.execution.executing import Execution, Request, failure_of, performed, success_of

PROVIDER = "python"
Function = Callable[..., Any]

_THREADS = "foliot-run"
_IN_A_THREAD: ContextVar[bool] = ContextVar("in a thread of ours", default=False)


class RegisteredFunction(NamedTuple):
    """A function, and how it is called."""

    function: Function
    is_async: bool
    parameters: int
    on_unknown: OnUnknown


class PythonExecutor:
    """The functions of one program."""

    def __init__(self, threads: int = 64, *, inline: bool = False) -> None:
        self._functions: dict[str, RegisteredFunction] = {}
        self._threads = threads
        self._busy = 0
        self._counting = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._inline = inline
        """Sync functions on the loop itself: under a virtual clock no time passes in them."""

    def register(self, name: str, function: Function, on_unknown: OnUnknown = OnUnknown.REDELIVER) -> str:
        """The target that the function is from now on."""
        target = target_of(f"{PROVIDER}:{name}")
        known = self._functions.get(target)
        if known is not None and known.function is not function:
            raise Invalid(f"a graph takes a name of its own, got {name!r} for a second function: rename one of them")
        self._functions[target] = registered(f"graph {name!r}", function, on_unknown)
        return target

    @property
    def is_inline(self) -> bool:
        return self._inline

    @is_inline.setter
    def is_inline(self, inline: bool) -> None:
        self._inline = inline

    def targets(self) -> Sequence[str]:
        return list(self._functions)

    def room(self, target: str) -> int | None:
        return None if self._inline or self._functions[target].is_async else self._threads - self._busy

    def on_unknown(self, target: str) -> OnUnknown:
        return self._functions[target].on_unknown

    def run(self, request: Request) -> Execution:
        return performed(lambda: self._perform(request))

    async def _perform(self, request: Request) -> Final:
        try:
            result = await self._call(request)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # Whatever its code raises, the run has ended.
            return failure_of(error, inside=2)
        return success_of(result)

    async def _call(self, request: Request) -> Any:
        target, given, context, control = request
        found = self._functions.get(target)
        if found is None:
            raise NotFound(f"no graph {target} is registered here")

        def interruptible(is_so: bool) -> None:
            control.interruptible = is_so

        return await self.invoke(found, None if given is None else json.loads(given), context, interruptible)

    async def invoke(
        self, found: RegisteredFunction, given: Any, context: Any, interruptible: Callable[[bool], None]
    ) -> Any:
        """Call it with (input, ctx), on the loop or in a thread; who waits is told while it cannot be interrupted."""
        arguments = (given, context)[: found.parameters]
        if found.is_async:
            return await found.function(*arguments)
        if self._inline:
            result = found.function(*arguments)
        else:
            interruptible(False)
            try:
                result = await self._in_thread(found.function, arguments)
            finally:
                interruptible(True)
        # A plain function may have wrapped an async one.
        return await result if inspect.isawaitable(result) else result

    async def _in_thread(self, function: Function, arguments: tuple[Any, ...]) -> Any:
        with self._counting:
            # In the thread too it is known what it is part of, such as the span of its run.
            future = self._submit(copy_context().run, _called, function, arguments)
            self._busy += 1
        # The thread is free when its function has returned, also when nobody waits for it any more.
        future.add_done_callback(self._free)
        result, error = await asyncio.wrap_future(future)
        if isinstance(error, StopIteration):
            raise RuntimeError("StopIteration was raised") from error  # A coroutine cannot raise it.
        if error is not None:
            raise error
        return result

    def _submit(self, *call: Any) -> "Future[Any]":
        """A thread of its own for what a function in a thread waits for: all of the pool's may be waiting so."""
        if _IN_A_THREAD.get():
            alone = ThreadPoolExecutor(1, thread_name_prefix=_THREADS)
            future = alone.submit(*call)
            alone.shutdown(wait=False)
            return future
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix=_THREADS)
        return self._pool.submit(*call)

    @property
    def is_busy(self) -> bool:
        """Whether a function is at work in a thread, waited for or not."""
        return self._busy > 0

    def _free(self, _: object) -> None:
        with self._counting:
            self._busy -= 1

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def registered(what: str, function: Function, on_unknown: OnUnknown = OnUnknown.REDELIVER) -> RegisteredFunction:
    """Invalid, for what it is, when it cannot be called with (input, ctx), or the first of them, or with nothing."""
    return RegisteredFunction(function, _is_async(function), _parameters(what, function), on_unknown)


def _called(function: Function, arguments: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
    """What it returned, or what it raised: as values, because some exceptions do not survive the way to the loop."""
    _IN_A_THREAD.set(True)
    try:
        return function(*arguments), None
    except BaseException as error:
        return None, error


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _parameters(what: str, function: Function) -> int:
    """How many of (input, ctx) the function takes."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise Invalid(f"{what} takes a function that returns, got a generator: nobody would go through it")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise Invalid(f"{what} takes a function, got {function!r}") from None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 2
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in positional if p.default is p.empty]
    keyword_needed = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if len(needed) > 2 or keyword_needed:
        raise Invalid(f"{what} takes a function of (input, ctx), got {inspect.signature(function)}")
    return min(len(positional), 2)
