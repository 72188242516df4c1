"""`Foliot`: graphs and schedules declared beside each other, and a worker that runs them."""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from foliot.domain.credits import Pricing, read_pricing, usage_of
from foliot.domain.durations import Span
from foliot.domain.errors import Conflict, Invalid
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import on_unknown_of
from foliot.domain.schedule import Standing, name_of, slug_of, target_of, target_said
from foliot.domain.spec import Interval, Spec
from foliot.engine.collector import calm_collector
from foliot.engine.loop import Engine
from foliot.engine.settings import EngineSettings
from foliot.execution.asking import check_executor
from foliot.execution.bounds import bounds_of
from foliot.execution.executing import Executor
from foliot.execution.requests import Executed
from foliot.execution.wanted import wanted_of
from foliot.executors.carrying import LetterCarrier, guarded_caller
from foliot.executors.dag import PROVIDER as DAG
from foliot.executors.dag import DagExecutor
from foliot.executors.endpoints import PROVIDER as HTTP
from foliot.executors.endpoints import endpoint_of
from foliot.executors.http import HttpExecutor
from foliot.executors.langgraph import PROVIDER as LANGGRAPH
from foliot.executors.langgraph import LangGraphExecutor
from foliot.executors.python import PROVIDER, PythonExecutor
from foliot.services.accounts import AccountVerbs
from foliot.services.configuration import stored_of
from foliot.services.grants import GrantVerbs
from foliot.services.launching import RunLauncher
from foliot.services.requests import RequestVerbs
from foliot.services.runs import RunVerbs
from foliot.services.schedules import ScheduleVerbs
from foliot.services.webhooks import WebhookVerbs
from foliot.services.workflows import WorkflowVerbs
from foliot.serving import Server, attend, work
from foliot.settings import database_url, engine_settings, http_allow, pace_of, pricing_of, stall_limit, trace_url
from foliot.settings.sources import read_settings, without_password
from foliot.wiring import Parts

if TYPE_CHECKING:
    from fastapi import FastAPI

log = logging.getLogger("foliot")

F = TypeVar("F", bound=Callable[..., Any])
G = TypeVar("G", bound=Callable[..., Any] | str)

DECLARED_NO_MORE = "deploy"
"""Who paused a schedule that vanished from its program."""


class Foliot:
    """A program's graphs and schedules, its database, and the verbs on it.

    Nothing is opened before it is needed. `name` says whose the declared schedules are.
    """

    def __init__(
        self,
        database: str | None = None,
        *,
        name: str = "foliot",
        settings: EngineSettings | None = None,
        pricing: Pricing | None = None,
    ) -> None:
        self.name = slug_of(name)
        self.url = database_url(database)
        self.settings = settings or engine_settings()
        self.pricing = pricing_of() if pricing is None else read_pricing(pricing)
        self.functions = PythonExecutor(self.settings.threads)
        allowed = http_allow()
        self.endpoints = HttpExecutor(allowed)
        self._carrier = LetterCarrier(lambda: guarded_caller(allowed))
        self._langgraphs = LangGraphExecutor(self.url)
        self.dags = DagExecutor(self.functions, lambda: self.parts.records, lambda: self.endpoints.caller)
        self.executors: dict[str, Executor] = {
            PROVIDER: self.functions,
            LANGGRAPH: self._langgraphs,
            DAG: self.dags,
            HTTP: self.endpoints,
        }
        """By provider."""
        self._graphs: dict[Any, str] = {}
        self._declared: dict[str, dict[str, Any]] = {}
        self._parts: Parts | None = None
        self._opening = threading.Lock()
        self._embedded: tuple[Engine, asyncio.Task[None], Callable[[], None]] | None = None

    def graph(self, name: str, *, on_unknown: str = "redeliver") -> Callable[[F], F]:
        """Register a function, sync or async, of (input, ctx) as the target `python:name`.

        `on_unknown` says what is done when its worker died: `redeliver` runs it once more, `hold` asks a person.
        """
        if not isinstance(name, str):
            raise Invalid(f"graph takes a name, as in @app.graph('digest'), got {name!r}")

        def register(function: F) -> F:
            self.functions.register(name, function, on_unknown_of(on_unknown))
            if isinstance(function, Hashable):
                self._graphs[function] = name
            return function

        return register

    def endpoint(
        self,
        name: str,
        url: str,
        *,
        secret: str | None = None,
        secret_env: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: Span = "30s",
        retries: int = 3,
        callback: bool = False,
        callback_within: Span = "1d",
        on_unknown: str = "redeliver",
    ) -> str:
        """Register a URL as the target `http:name`, which is returned: each run of it is a POST.

        With a secret, given or in the environment variable `secret_env`, it is signed. Within one delivery a call is
        repeated up to `retries` times. With `callback` the endpoint may answer 202 and report within `callback_within`.
        """
        endpoint = endpoint_of(
            name,
            url,
            secret=secret,
            secret_env=secret_env,
            headers=headers,
            timeout=timeout,
            retries=retries,
            callback=callback,
            callback_within=callback_within,
            on_unknown=on_unknown,
        )
        return self.endpoints.register(endpoint)

    def langgraph(
        self,
        name: str,
        graph: Any,
        *,
        thread: str = "slot",
        recursion_limit: int | None = None,
        callbacks: Sequence[Any] = (),
        on_unknown: str = "redeliver",
        who: Iterable[str] = (),
        expires_in: Span | None = None,
        at_expiry: str = "reject",
    ) -> str:
        """Register a LangGraph graph, a function that makes one or the path of either as the target `langgraph:name`.

        `thread` says which runs go on with one conversation: each `slot` has its own, or a `schedule` has one for all.
        `who`, `expires_in` and `at_expiry` are for the questions that the graph asks by `interrupt`.
        """
        return self._langgraphs.register(
            name,
            graph,
            thread=thread,
            recursion_limit=recursion_limit,
            callbacks=callbacks,
            on_unknown=on_unknown_of(on_unknown),
            who=who,
            expires_in=expires_in,
            at_expiry=at_expiry,
        )

    def action(self, name: str) -> Callable[[F], F]:
        """Register a function, sync or async, of (input, ctx) for the nodes of workflows that name it."""
        if not isinstance(name, str):
            raise Invalid(f"action takes a name, as in @app.action('send'), got {name!r}")

        def register(function: F) -> F:
            self.dags.register(name, function)
            return function

        return register

    def provider(self, name: str, executor: Executor) -> None:
        """Let an executor of your own run the targets `name:...`; it keeps the promises of `Executor`."""
        if not isinstance(name, str) or ":" in name:
            raise Invalid(f"a provider takes a name without a colon, such as 'mine', got {name!r}")
        target_of(f"{name}:any")
        if name in self.executors:
            raise Invalid(f"a provider takes a name of its own, got {name!r}, which is there: choose another")
        check_executor(name, executor)
        self.executors[name] = executor

    def schedule(
        self,
        name: str | None = None,
        *,
        cron: str | tuple[str, ...] | list[str] | None = None,
        every: Span | Interval | None = None,
        at: datetime | str | list[datetime | str] | None = None,
        spec: Spec | None = None,
        timezone: str | None = None,
        gap: str | None = None,
        fold: str | None = None,
        start_at: datetime | str | None = None,
        end_at: datetime | str | None = None,
        jitter: Span | None = None,
        jitter_mode: str | None = None,
        manual: bool | None = None,
        overlap: str | None = None,
        buffer: int | None = None,
        catchup: str | None = None,
        catchup_window: Span | None = None,
        catchup_cap: int | None = None,
        lookahead: Span | None = None,
        grace: Span | None = None,
        retry: int | Mapping[str, Any] | None = None,
        timeout: Span | None = None,
        limit: int | None = None,
        pause_on_failure: bool | None = None,
        budget: Mapping[str, Any] | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_credits: int | None = None,
        input: Any = None,
        labels: Mapping[str, str] | None = None,
        memo: Any = None,
    ) -> Callable[[G], G]:
        """Declare a schedule of the graph below it, or of a target; created or changed when the program starts."""
        if name is not None and not isinstance(name, str):
            raise Invalid(f"schedule takes options, as in @app.schedule(cron='0 9 * * *'), got {name!r}")
        options = {key: value for key, value in locals().items() if key not in ("self", "name") and value is not None}

        def declare(function: G) -> G:
            self._declare(name, self._graph_of(function), options)
            return function

        return declare

    def _graph_of(self, function: Any) -> str:
        """The target given, or the name of a function; one that is not yet registered is from now on."""
        if isinstance(function, str):
            return target_of(function)
        if not callable(function):
            raise Invalid(f"schedule takes a function below it, or a target as text, got {function!r:.80}")
        graph = self._graphs.get(function) if isinstance(function, Hashable) else None
        if graph is None:
            graph = getattr(function, "__name__", "")
            self.graph(graph)(function)
        return graph

    def _declare(self, name: str | None, graph: str, options: dict[str, Any]) -> None:
        title = name or graph.partition(":")[2] or graph
        if slug_of(title) in map(slug_of, self._declared):
            remedy = "give each a name of its own" if name else "give the second one a name"
            raise Invalid(f"a schedule named {title!r} is declared twice: {remedy}")
        declared = {**options, "target": graph if ":" in graph else f"python:{graph}"}
        stored_of(title, declared)
        self._declared[title] = declared

    @property
    def shown_url(self) -> str:
        """The database, without its password."""
        return without_password(self.url)

    @property
    def schedules(self) -> ScheduleVerbs:
        return self.parts.verbs.schedules

    @property
    def runs(self) -> RunVerbs:
        return self.parts.verbs.runs

    def report_usage(
        self,
        run_id: str,
        unit: str,
        *,
        model: str | None = None,
        tokens: int | None = None,
        cost: object = None,
        source: str = "foliot",
        key: str | None = None,
    ) -> str:
        """Charge for a call of a run, also long after its end: `now`, or `before` when it was, or `deferred`.

        Of several requests with that run id, `key` names one; else the oldest whose cost of that call is not known.
        """
        usage = usage_of(unit, source=source, model=model, tokens=tokens, cost=cost)
        return str(self.parts.till.report(name_of("a run id", run_id), usage, key))

    async def execute(
        self,
        target: str,
        input: Any = None,
        *,
        key: str,
        grant: str | None = None,
        run_id: str | None = None,
        attempt: int = 1,
        caller: str = "local",
        timeout: Span | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_credits: int | None = None,
    ) -> Executed:
        """Execute a target once under that key, and say what it came to; told again, it is answered from memory.

        `timeout` and the limits are for this execution, as a schedule has them for each run; they do not go by the key.
        InProgress, a Conflict that says when to ask again, while somebody else is at it.
        """
        bounds = bounds_of(timeout=timeout, max_calls=max_calls, max_tokens=max_tokens, max_credits=max_credits)
        permit = self.grants.local().id if grant is None else grant
        options: dict[str, Any] = {"key": key, "run_id": run_id, "attempt": attempt, "caller": caller}
        wanted = wanted_of(target_said(target), input, grant=permit, bounds=bounds, **options)
        return await self.parts.requests.execute(wanted._replace(is_local=grant is None))

    @property
    def requests(self) -> RequestVerbs:
        return self.parts.verbs.requests

    def trace_url(self, run_id: str) -> str | None:
        """Where the run's trace can be looked at, when FOLIOT_TRACE_URL says how; None when it does not."""
        return trace_url(self.runs.trace_id(run_id))

    @property
    def accounts(self) -> AccountVerbs:
        return self.parts.verbs.accounts

    @property
    def grants(self) -> GrantVerbs:
        return self.parts.verbs.grants

    @property
    def launcher(self) -> RunLauncher:
        return self.parts.verbs.launcher

    @property
    def webhooks(self) -> WebhookVerbs:
        return self.parts.verbs.webhooks

    @property
    def workflows(self) -> WorkflowVerbs:
        return self.parts.verbs.workflows

    @property
    def parts(self) -> Parts:
        parts = self._parts
        if parts is None:
            with self._opening:
                parts = self._parts = self._parts or Parts(
                    self.url, self.executors, pricing=self.pricing, carrier=self._carrier
                )
        return parts

    @property
    def inhabited(self) -> Parts | None:
        """The parts that are open now, if any are."""
        return self._parts

    def inhabit(self, parts: Parts | None) -> None:
        """Work on these parts until told otherwise: how a test puts the app into a world of its own."""
        self._parts = parts

    def relocate(self, database: str) -> None:
        """Work on that database instead of the one that the program names; before anything of it is used."""
        if self._parts is not None:
            raise Conflict(f"{self.name} has opened {self.shown_url} already: let the program use nothing of it before")
        self.url = database_url(database)
        self._langgraphs.relocate(self.url)

    def declare(self) -> None:
        """Make the database's schedules what this program declares, and pause those that it no longer does."""
        for name, options in self._declared.items():
            if not self.parts.gate.runs(options["target"]):
                warning = "nobody here runs %s: runs of %r fail as not_found until a program registers it"
                log.warning(warning, options["target"], name)
            found = self.schedules.upsert(name, app=self.name, **options)
            if found.standing is Standing.PAUSED and found.paused_by == DECLARED_NO_MORE:
                self.schedules.resume(name)
        kept = {slug_of(name) for name in self._declared}
        for schedule in self.schedules.list(app=self.name):
            # A pause that ends by itself would let go on what is no longer there.
            if schedule.id not in kept and (not schedule.paused or schedule.paused_until is not None):
                note = f"no longer declared by {self.name}"
                self.schedules.pause(schedule.id, note, by=DECLARED_NO_MORE)

    def asgi(self) -> "FastAPI":
        """The API as an ASGI application: to be mounted in another one, or served by a server of yours."""
        return self.parts.http(pace_of(read_settings()))

    def run(self, ready: Callable[[], None] | None = None, server: Server | None = None) -> None:
        """Work until interrupted. The first signal lets runs finish, the second stops at once.

        `ready` is called when the work begins; a server listens from then on, and takes no more requests at the first
        signal.
        """
        try:
            with calm_collector():
                asyncio.run(self.serve(ready, server))
        except Exception:
            if self.functions.is_busy:
                log.exception("the worker has ended")
                _exit_beside_threads(1)
            raise
        if self.functions.is_busy:
            _exit_beside_threads(0)

    async def serve(self, ready: Callable[[], None] | None = None, server: Server | None = None) -> None:
        """Declare, then work until a signal or cancellation; Unavailable when the server ended by itself."""
        engine = self.parts.engine(self.name, self.settings)
        self.declare()
        deaf = self.parts.listen()
        try:
            await work(engine, self.parts.requests, ready, server, stall_limit())
        finally:
            deaf()
            self._leave(engine)

    async def attend(self, server: Server, ready: Callable[[], None] | None = None) -> None:
        """Declare, then answer requests until a signal, beside workers in other processes.

        Workers may be such that have no code, and no declarations. Unavailable when it ended by itself.
        """
        try:
            self.declare()
            await attend(server, self.parts.requests, self.settings.stop_grace / MICROSECONDS, ready)
        finally:
            self._close_all()

    async def __aenter__(self) -> "Foliot":
        """Work inside a program that has its own loop, beside what it does."""
        if self._embedded is not None:
            raise Conflict(f"{self.name} is at work already: enter it once, and leave it before entering it again")
        engine = self.parts.engine(self.name, replace(self.settings, inline=False, nap_within=0))
        await asyncio.get_running_loop().run_in_executor(None, self.declare)
        working = asyncio.get_running_loop().create_task(engine.run())
        working.add_done_callback(_say_why_it_ended)
        self._embedded = (engine, working, self.parts.listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._embedded is not None
        engine, working, deaf = self._embedded
        engine.stop()
        await working
        await self.parts.requests.finish(engine.grace_left)
        deaf()
        self._leave(engine)
        self._embedded = None

    def _leave(self, engine: Engine) -> None:
        self.parts.engines.remove(engine)
        self._close_all()

    def _close_all(self) -> None:
        for provider, executor in self.executors.items():
            try:
                executor.close()
            except Exception:  # The others and the database are let go of all the same.
                log.exception("the executor of %r could not be closed", provider)
        self.close()

    def close(self) -> None:
        """Let go of the database; it is opened again when it is needed."""
        if self._parts is not None:
            self._parts.close()


def _exit_beside_threads(code: int) -> None:
    """A thread cannot be stopped, and Python would wait for it; its run keeps its lease until that runs out."""
    logging.shutdown()
    sys.stdout.flush()
    os._exit(code)


def _say_why_it_ended(working: asyncio.Task[None]) -> None:
    """A worker that dies inside another program must not do so in silence."""
    if not working.cancelled() and (error := working.exception()) is not None:
        log.error("the worker has ended", exc_info=error)
