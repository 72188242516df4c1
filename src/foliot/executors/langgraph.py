"""`langgraph:name`: graphs of the LangGraph package; each run is a thread of theirs, which outlives its worker.

The package is an extra, and is imported when the first run begins.
"""

import asyncio
import inspect
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from enum import StrEnum
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from foliot.domain.durations import Span
from foliot.domain.errors import Invalid, NotFound
from foliot.domain.events import DONE, Event, Failed, Final
from foliot.domain.questions import Question, question_of
from foliot.domain.runs import OnUnknown
from foliot.domain.schedule import target_of
from foliot.execution.executing import Execution, Executor, Request
from foliot.executors.checkpoints import Checkpoints, MemoryCheckpoints, StoredCheckpoints
from foliot.executors.graph_failures import failed

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

PROVIDER = "langgraph"
_LACKING = "langgraph: targets need the langgraph package, which is not here: pip install 'foliot[langgraph]'"


class Thread(StrEnum):
    """Which runs continue one conversation."""

    SLOT = "slot"
    """Each run has its own."""
    SCHEDULE = "schedule"
    """All runs of a schedule share one: what was said stays in it, and it grows."""


class RegisteredGraph(NamedTuple):
    """A graph, and how it is run."""

    target: str
    source: Any
    thread: Thread
    recursion_limit: int | None
    callbacks: tuple[Any, ...]
    on_unknown: OnUnknown
    asks: Callable[[str, Any], Question]
    """Of a kind and data, whom and until when the options say."""


class LangGraphExecutor:
    """The LangGraph graphs of one program."""

    def __init__(self, url: str) -> None:
        self.checkpoints: Checkpoints = StoredCheckpoints(url)
        self._registered: dict[str, RegisteredGraph] = {}
        self._graphs: dict[str, Pregel[Any, Any, Any, Any]] = {}

    def relocate(self, url: str) -> None:
        """Keep checkpoints beside that database from now on."""
        self.checkpoints = StoredCheckpoints(url)

    def register(
        self,
        name: str,
        graph: Any,
        *,
        thread: str = "slot",
        recursion_limit: int | None = None,
        callbacks: Sequence[Any] = (),
        on_unknown: OnUnknown = OnUnknown.REDELIVER,
        who: Iterable[str] = (),
        expires_in: Span | None = None,
        at_expiry: str = "reject",
    ) -> str:
        """The target that the graph is from now on."""
        if not isinstance(name, str):
            raise Invalid(f"a graph takes a name, as in app.langgraph('agent', graph), got {name!r:.80}")
        target = target_of(f"{PROVIDER}:{name}")
        known = self._registered.get(target)
        if known is not None and known.source is not graph:
            raise Invalid(f"a graph takes a name of its own, got {name!r} for a second one: rename one of them")
        if thread not in list(Thread):
            raise Invalid(f"thread takes {', '.join(map(repr, map(str, Thread)))}, got {thread!r}")
        if recursion_limit is not None and (type(recursion_limit) is not int or recursion_limit < 1):
            raise Invalid(f"recursion_limit takes a number of steps from 1, got {recursion_limit!r}")
        if isinstance(callbacks, str) or not isinstance(callbacks, Sequence):
            raise Invalid(f"callbacks takes a list of LangChain's callback handlers, got {callbacks!r:.80}")
        _check(name, graph)
        # Once for all: what can be gone through once only is there for every question.
        asked = tuple(who) if isinstance(who, Iterable) and not isinstance(who, str) else who
        asks = partial(question_of, who=asked, expires_in=expires_in, at_expiry=at_expiry)
        asks("approval")
        self._registered[target] = RegisteredGraph(
            target, graph, Thread(thread), recursion_limit, tuple(callbacks), on_unknown, asks
        )
        return target

    def targets(self) -> Sequence[str]:
        return list(self._registered)

    def room(self, target: str) -> int | None:  # noqa: ARG002
        return None

    def on_unknown(self, target: str) -> OnUnknown:
        return self._registered[target].on_unknown

    def run(self, request: Request) -> Execution:
        final: asyncio.Future[Final] = asyncio.get_running_loop().create_future()
        return Execution(self._stream(request, final), final)

    async def _stream(self, request: Request, final: asyncio.Future[Final]) -> AsyncIterator[Event]:
        came_to = Final()
        try:
            async with aclosing(self._told(request)) as told:
                async for event in told:
                    if isinstance(event, Final):
                        came_to = event
                    else:
                        yield event
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:  # Whatever its code raises, the run has ended.
            came_to = failed(error)
        final.set_result(came_to)
        if came_to.error is not None:
            yield Failed(came_to.error)
        yield DONE

    async def _told(self, request: Request) -> AsyncGenerator[Event | Final]:
        """What happens in the run, and last what it came to."""
        registered = self._registered.get(request.target)
        if registered is None:
            raise NotFound(f"no graph {request.target} is registered here")
        conversation = await _imported("foliot.executors.graph_conversation")
        graph = self._graphs.get(request.target)
        if graph is None:
            graph = self._graphs[request.target] = await _compiled(registered.target, registered.source)
        async with (
            conversation.kept(graph, self.checkpoints) as graph,
            aclosing(conversation.held(graph, registered, request)) as told,
        ):
            async for event in told:
                yield event

    def close(self) -> None:
        """Nothing to let go of: checkpoints are closed when no run needs them."""


@contextmanager
def in_memory(executors: Iterable[Executor]) -> Iterator[None]:
    """Checkpoints of graphs are kept in memory meanwhile: a virtual clock waits for no database of theirs."""
    graphs = [executor for executor in executors if isinstance(executor, LangGraphExecutor)]
    before = [executor.checkpoints for executor in graphs]
    for executor in graphs:
        executor.checkpoints = MemoryCheckpoints()
    try:
        yield
    finally:
        for executor, checkpoints in zip(graphs, before, strict=True):
            executor.checkpoints = checkpoints


def _check(name: str, graph: Any) -> None:
    """Refuse what no run could begin with, without importing anything."""
    try:
        is_here = find_spec("langgraph.pregel") is not None
    except (ImportError, ValueError):
        is_here = False
    if not is_here:
        raise NotFound(_LACKING)
    if isinstance(graph, str):
        module, _, attribute = graph.partition(":")
        if not all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
            raise Invalid(f"the path of a graph is package.module:attribute, got {graph!r}")
    elif not callable(graph) and not hasattr(graph, "compile") and not hasattr(graph, "astream"):
        raise Invalid(
            f"graph {name!r} takes a StateGraph, a compiled one, a function that makes one, or its path as text,"
            f" got {graph!r}"
        )


async def _compiled(target: str, source: Any) -> "Pregel[Any, Any, Any, Any]":
    """The graph that the source is, makes or names."""
    from langgraph.pregel import Pregel  # noqa: PLC0415

    found = await _at(source) if isinstance(source, str) else source
    if callable(found):
        found = found()
    if inspect.isawaitable(found):
        found = await found
    if hasattr(found, "compile"):
        found = found.compile()
    if not isinstance(found, Pregel):
        raise Invalid(f"{target} takes a StateGraph, or a compiled one, got {found!r}")
    return found


async def _at(path: str) -> Any:
    name, _, attribute = path.partition(":")
    try:
        found: Any = await _imported(name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise NotFound(
            f"there is no module {error.name!r} for the graph {path!r}: name one that is installed"
        ) from error
    except AttributeError as error:
        raise NotFound(f"there is no {attribute!r} in {name!r} for the graph {path!r}: {error}") from error
    return found


async def _imported(name: str) -> Any:
    """The module; one that is new is read on a thread, for that may take seconds."""
    try:
        return import_module(name) if name in sys.modules else await asyncio.to_thread(import_module, name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("langgraph", "langchain_core"):
            raise
        raise NotFound(_LACKING) from error
