"""`dag:workflow`: workflows from the store, node by node, each end recorded before what follows it begins."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from foliot.domain.credits import Usage
from foliot.domain.errors import Invalid
from foliot.domain.events import DONE, ErrorCode, Event, Failed, Final, StatusNote
from foliot.domain.instants import instant_of, rfc3339
from foliot.domain.node_states import NodeState, NodeStatus, Place
from foliot.domain.nodes import Action
from foliot.domain.policies import count_of
from foliot.domain.progression import Ending, Progression, Ready
from foliot.domain.runs import OnUnknown
from foliot.domain.schedule import json_text
from foliot.domain.workflows import Workflow, workflow_from_text
from foliot.execution.context import Cancelled, Context, LimitExceeded, kept_as
from foliot.execution.executing import Execution, Request, failure_of, success_of
from foliot.execution.records import Records
from foliot.executors.actions import ActionContext, ActionOutcome, Actions
from foliot.executors.http import Outbound
from foliot.executors.journal import Entry, Journal, find_workflow
from foliot.executors.python import Function, PythonExecutor
from foliot.ports import Transaction

PROVIDER = "dag"


class WorkflowInput(NamedTuple):
    """What the input of a run asks for."""

    version: int | None
    trigger: str | None
    inputs: Any


class DagExecutor:
    """The workflows of a database, with the actions of one program."""

    def __init__(
        self, functions: PythonExecutor, records: Callable[[], Records], caller: Callable[[], Outbound]
    ) -> None:
        self.actions = Actions(functions, caller)
        self._records = records

    def register(self, name: str, function: Function) -> None:
        self.actions.register(name, function)

    def targets(self) -> Sequence[str]:
        return [f"{PROVIDER}:*"]

    def room(self, target: str) -> int | None:  # noqa: ARG002
        return None

    def on_unknown(self, target: str) -> OnUnknown:  # noqa: ARG002
        return OnUnknown.REDELIVER

    def check_request(self, tx: Transaction, target: str, input: str | None) -> None:
        wanted = workflow_input_of(input)
        row = find_workflow(tx, _workflow_id(target), wanted.version)
        workflow_from_text(row.dag).first_trigger(wanted.trigger)

    def close(self) -> None:
        """It holds nothing: threads are the functions' own."""

    def run(self, request: Request) -> Execution:
        final: asyncio.Future[Final] = asyncio.get_running_loop().create_future()

        async def stream() -> AsyncIterator[Event]:
            context = request.context
            run = _Run(request, self.actions, Journal(self._records(), kept_as(context), context.user))
            try:
                async for event in run.events():
                    yield event
                came_to = run.final()
            except (Exception, LimitExceeded) as error:  # What the workflow could not do is what it came to.
                came_to = failure_of(error)
            finally:
                await run.stop()
            final.set_result(came_to)
            if came_to.error is not None:
                yield Failed(came_to.error)
            yield DONE

        return Execution(stream(), final)


class _Run:
    """One delivery of a run of a workflow."""

    def __init__(self, request: Request, actions: Actions, journal: Journal) -> None:
        self._request = request
        self._context: Context = request.context
        self._actions = actions
        self._journal = journal
        self._tasks: dict[asyncio.Task[ActionOutcome], Entry] = {}
        self._threads = 0
        self._progression: Progression
        self._inputs: Any = None
        self._left: list[Ready] = []
        """What ran when an earlier delivery was cut off."""

    async def events(self) -> AsyncIterator[Event]:
        """Go on until nothing is left to do; say which nodes begin and end."""
        wanted = workflow_input_of(self._request.input)
        workflow_id = _workflow_id(self._request.target)
        begun = await self._journal.begin(workflow_id, wanted.version, wanted.trigger, self._tick(wanted.inputs))
        self._inputs = wanted.inputs
        self._resume(begun.workflow, begun.entries)
        ended: list[Entry] = []
        while True:
            self._check_stop()
            ended, notes = await self._advance(ended, begun.workflow.defaults.max_parallelism)
            for note in notes:
                yield StatusNote(note)
            if self._progression.is_over:
                return
            if self._tasks and not ended:
                ended = await self._next_ended()

    def final(self) -> Final:
        verdict: Ending = self._progression.verdict()
        if verdict.failed is None:
            statuses = {node: str(status) for node, status in verdict.nodes.items()}
            return success_of({"outputs": verdict.outputs, "nodes": statuses})
        state = self._progression.states[verdict.failed]
        return Final(state.reason or ErrorCode.INTERNAL, words=f"node {verdict.failed.node!r} failed: {state.error}")

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _tick(self, inputs: Any) -> dict[str, Any]:
        context = self._context
        scheduled_for = rfc3339(instant_of(context.scheduled_for, "scheduled_for"))
        if isinstance(inputs, dict) and isinstance(inputs.get("scheduled_for"), str):
            # Who keeps the time elsewhere says for which moment it is.
            scheduled_for = inputs["scheduled_for"]
        return {"scheduled_for": scheduled_for, "schedule_id": context.schedule, "run_id": context.run_id}

    def _resume(self, workflow: Workflow, entries: Sequence[Entry]) -> None:
        """Go by the record; actions that ran when it was cut off are executed again, under the same keys."""
        self._progression = Progression(workflow, {entry.place: entry.state for entry in entries}, self._inputs)
        here = {entry.place for entry in self._tasks.values()}
        self._left = []
        self._owe(usage for entry in entries if entry.state.is_over for usage in entry.usages)
        for place, state, _, given, key, *_ in entries:
            action = workflow.nodes[place.node].data
            if isinstance(action, Action) and not state.is_over and place not in here:
                self._left.append(Ready(place, action, given, key))

    def _owe(self, usages: Iterable[Usage]) -> None:
        """What earlier deliveries have used, and perhaps did not live to pay for; who was paid is not paid again."""
        known = {usage.unit for usage in self._request.control.usages or ()}
        for usage in usages:
            if usage.unit not in known:
                self._context.note_usage(usage)

    def _check_stop(self) -> None:
        if self._request.control.exceeded is not None:
            raise LimitExceeded(f"{self._context.run_id} has used {self._request.control.exceeded}")
        if self._context.cancelled:
            raise Cancelled(f"{self._context.run_id} was asked to stop")

    async def _advance(self, ended: Sequence[Entry], most: int) -> tuple[list[Entry], list[str]]:
        """Record these ends, all that follows from them, and what begins now; then begin it.

        What is given back has ended already: an earlier success stands for it.
        """
        run = self._progression
        run.states |= {entry.place: entry.state for entry in ended}
        step = run.step()
        beginning = [self._beginning(ready) for ready in (*self._left, *step.ready)[: most - len(self._tasks)]]
        decided = [Entry(place, state) for place, state in step.decided.items()]
        kept = await self._journal.keep([*ended, *decided, *beginning])
        if not kept.is_ours:
            # Another delivery of the run has been at work: what it has recorded is what happened.
            self._resume(run.workflow, await self._journal.look())
            return [], []
        begun = {entry.place for entry in beginning}
        self._left = [ready for ready in self._left if ready.place not in begun]
        done = []
        for entry in beginning:
            run.states[entry.place] = entry.state
            if entry.place in kept.earlier:
                state = run.settle(entry.place, kept.earlier[entry.place])
                done.append(entry._replace(state=state, attempt=0, cache_ms=0))
            else:
                self._begin(entry)
        notes = [f"node {entry.place} {entry.state.status}" for entry in (*ended, *decided, *beginning)]
        return done, notes

    def _beginning(self, ready: Ready) -> Entry:
        key = ready.key or self._key(ready.place, ready.input)
        state = NodeState(NodeStatus.RUNNING)
        return Entry(ready.place, state, input=ready.input, key=key, cache_ms=ready.action.cache_ms)

    def _key(self, place: Place, given: Any) -> str:
        """The same for the same work in the same slot: in every delivery, attempt and process."""
        digest = blake2b((json_text("input", given) or "").encode(), digest_size=8).hexdigest()
        return f"{self._context.idempotency_key}/{place}/{digest}"

    def _begin(self, entry: Entry) -> None:
        action, key = self._progression.workflow.nodes[entry.place.node].data, entry.key
        assert isinstance(action, Action)
        assert key is not None

        def context(attempt: int) -> ActionContext:
            return ActionContext(self._context, entry.place, key, attempt)

        work = self._actions.perform(action, entry.input, context, self._interruptible)
        self._tasks[asyncio.get_running_loop().create_task(work)] = entry

    def _interruptible(self, is_so: bool) -> None:
        """The run can be interrupted when no action of it is in a thread."""
        self._threads += -1 if is_so else 1
        self._request.control.interruptible = self._threads == 0

    async def _next_ended(self) -> list[Entry]:
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        # In the order in which they began: a set has none.
        finished = [(task, entry) for task, entry in self._tasks.items() if task in done]
        for task, _ in finished:
            del self._tasks[task]
        return [self._ended(entry, task.result()) for task, entry in finished]

    def _ended(self, entry: Entry, attempted: ActionOutcome) -> Entry:
        if attempted.failure is None:
            state = self._progression.settle(entry.place, attempted.output)
        else:
            state = NodeState(NodeStatus.ERROR, reason=attempted.failure.error, error=attempted.failure.words)
        own = f"{entry.place}/"
        used = tuple(usage for usage in self._request.control.usages or () if usage.unit.startswith(own))
        return entry._replace(state=state, attempt=attempted.attempts, cache_ms=0, usages=used)


def _workflow_id(target: str) -> str:
    return target.partition(":")[2]


def workflow_input_of(given: str | None) -> WorkflowInput:
    """Invalid unless it is {version, trigger, inputs}, or a part of that."""
    found = None if given is None else json.loads(given)
    found = {} if found is None else found
    if not isinstance(found, dict) or set(found) - {"version", "trigger", "inputs"}:
        raise Invalid(f"the input of a workflow is an object of version, trigger and inputs, got {given!r:.120}")
    version, trigger = count_of("version", found.get("version")), found.get("trigger")
    if trigger is not None and not isinstance(trigger, str):
        raise Invalid(f"trigger takes the id of a node, got {trigger!r:.80}")
    return WorkflowInput(version, trigger, found.get("inputs"))
