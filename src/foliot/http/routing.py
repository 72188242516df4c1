"""How a request comes to its handler: it is known who asks, then what was sent is parsed, then it is carried out.

A handler takes an `Annotated[Ask, GuardedBy(...)]` to know who asks. The framework could find that out as one of its
dependencies; but it would parse the request before, and takes longer for that than most handlers do for all they do.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_args

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from foliot.courtesy import INTERPRETER

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

Guard = Callable[[Request], Coroutine[Any, Any, Any]]
"""Lets in who may ask, and says who it is."""
_REQUEST = "request"
"""The parameter that a handler has in place of who asks, unless it has one of its own."""
_BRIEF = "__foliot_brief__"
_AT_ONCE = 16
"""Handlers that are carried out at once. There is one interpreter: with more of them each would only wait longer."""
_THREADS = ThreadPoolExecutor(_AT_ONCE, "foliot-api")
_AT_THE_DOOR = 4
_DOOR = ThreadPoolExecutor(_AT_THE_DOOR, "foliot-door")
"""For looks that take a moment and that all others wait for: who comes, and whether this process is well. However many
handlers take long, these do not wait behind them."""


class GuardedBy(NamedTuple):
    """In the annotation of a parameter: it is what the guard gives."""

    guard: Guard


def brief(when: Callable[[Mapping[str, Any]], bool] = lambda _: True) -> Callable[[F], F]:
    """Declare that a read takes a moment, for such parameters: from a file of this process it is done at once.

    To hand it to a thread, and to be handed what it found, takes longer than such a read itself. Of a server it might
    have to wait for an answer: there a thread does.
    """

    def declare(handler: F) -> F:
        setattr(handler, _BRIEF, when)
        return handler

    return declare


async def in_thread(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Carry it out where it may wait, and nobody for it."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, partial(act, *args, **kwargs))


async def at_the_door(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a look that nobody who takes long may be in the way of."""
    return await asyncio.get_running_loop().run_in_executor(_DOOR, partial(act, *args, **kwargs))


class GuardedRoute(APIRoute):
    """A route whose guard is asked before anything of the request is parsed. ValueError for one that has several."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        guards = [guard for _, guard in _guarded(endpoint)]
        if len(guards) > 1:
            raise ValueError(f"{path} asks {len(guards)} times who is there: take one Ask")
        self.guard = guards[0] if guards else None
        """Who is asked; None: whoever comes is let in."""
        super().__init__(path, _handled(endpoint), **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler, guard = super().get_route_handler(), self.guard
        if guard is None:
            return handler

        async def guarded(request: Request) -> Response:
            request.state.asked = await guard(request)
            return await handler(request)

        return guarded


def router_at(prefix: str = "", **options: Any) -> APIRouter:
    """A router of such routes."""
    return APIRouter(prefix=prefix, route_class=GuardedRoute, **options)


def _guarded(endpoint: Callable[..., Any]) -> Iterator[tuple[str, Guard]]:
    """Which of its parameters is given by which guard."""
    for name, parameter in signature(endpoint).parameters.items():
        for said in get_args(parameter.annotation)[1:]:
            if isinstance(said, GuardedBy):
                yield name, said.guard


def _handled(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """The handler as the framework is to see it: the request in place of who asks, and no thread."""
    guarded = [name for name, _ in _guarded(endpoint)]
    said = signature(endpoint)
    seen = [parameter for name, parameter in said.parameters.items() if name not in guarded]
    request = next((parameter.name for parameter in seen if parameter.annotation is Request), None)
    # What needs no guard tells how this process is.
    waits = in_thread if guarded else at_the_door
    carry_out = endpoint if iscoroutinefunction(endpoint) else partial(waits, endpoint)
    is_brief: Callable[[Mapping[str, Any]], bool] = getattr(endpoint, _BRIEF, lambda _: False)

    @wraps(endpoint)
    async def handled(**given: Any) -> Any:
        came_with: Request = given[request] if request else given.pop(_REQUEST)
        for name in guarded:
            given[name] = came_with.state.asked
        if came_with.app.state.service.is_local and is_brief(given):
            with INTERPRETER.reading():
                return endpoint(**given)
        return await carry_out(**given)

    if request is None:
        seen.append(Parameter(_REQUEST, Parameter.KEYWORD_ONLY, annotation=Request))
    handled.__signature__ = said.replace(parameters=seen)  # type: ignore[attr-defined]
    return handled
