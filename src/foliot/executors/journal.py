"""The journal: what is recorded of a workflow's run, so that it goes on where it was, whoever takes it up."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from foliot.domain.credits import Usage, read_usages, usages_text
from foliot.domain.errors import NotFound
from foliot.domain.events import ErrorCode
from foliot.domain.instants import rfc3339
from foliot.domain.node_states import NodeState, NodeStatus, Place, path_text, read_path
from foliot.domain.schedule import json_text
from foliot.domain.workflows import Workflow, workflow_from_text
from foliot.execution.records import Records
from foliot.ports import Transaction
from foliot.rows import NodeRow, WorkflowRow


class Entry(NamedTuple):
    """What is to be recorded of a place."""

    place: Place
    state: NodeState
    attempt: int = 1
    """0: it was not executed, an earlier success stands for it."""
    input: Any = None
    key: str | None = None
    cache_ms: int = 0
    """So long an earlier success under the same key stands for its execution."""
    usages: tuple[Usage, ...] = ()
    """What it used: owed also by a delivery that finds it done."""


class Begun(NamedTuple):
    """A run, as it stands."""

    workflow: Workflow
    entries: list[Entry]


class Kept(NamedTuple):
    """What became of entries."""

    is_ours: bool
    """False: somebody else has recorded another end of one of them, and nothing after it was written."""
    earlier: dict[Place, Any]
    """The outputs of earlier successes, for what is about to be executed."""


class Journal:
    """The records of one run. The database is waited for, however long it is away."""

    def __init__(self, records: Records, run: str, user: str) -> None:
        self._records = records
        self._run = run
        self._user = user
        self._workflow: WorkflowRow | None = None

    async def begin(self, workflow_id: str, version: int | None, trigger: str | None, tick: dict[str, Any]) -> Begun:
        """The run as it was left; if it is new, with its trigger fired. From then on it keeps its version."""

        def act(tx: Transaction) -> tuple[WorkflowRow, Workflow, list[NodeRow]]:
            rows = tx.node_states(self._run)
            row = tx.workflow_at(rows[0].workflow_ref) if rows else find_workflow(tx, workflow_id, version)
            workflow = workflow_from_text(row.dag)
            if not rows:
                fired = workflow.first_trigger(trigger)
                output = {"node": fired, **tick, "triggered_at": rfc3339(tx.now)}
                entry = Entry(Place(fired), NodeState(NodeStatus.DONE, output))
                rows = [tx.save_node(self._row(row, entry, tx.now))]
            return row, workflow, rows

        self._workflow, workflow, rows = await self._records.write_surely(act, self._run)
        return Begun(workflow, [_entry(row) for row in rows])

    async def look(self) -> list[Entry]:
        """What is recorded now."""
        rows = await self._records.read_surely(lambda tx: tx.node_states(self._run), self._run)
        return [_entry(row) for row in rows]

    async def keep(self, entries: Sequence[Entry]) -> Kept:
        """Record them in this order, in one transaction."""
        workflow = self._workflow
        assert workflow is not None

        def act(tx: Transaction) -> Kept:
            earlier = {}
            for entry in entries:
                row = self._row(workflow, entry, tx.now)
                if tx.save_node(row) is not row:
                    return Kept(False, {})
                if entry.cache_ms and entry.key is not None:
                    since = tx.now - entry.cache_ms * 1000
                    found = tx.cached_node(self._user, workflow.id, entry.place.node, entry.key, since)
                    if found is not None:
                        earlier[entry.place] = _read(found.output)
            return Kept(True, earlier)

        return await self._records.write_surely(act, self._run) if entries else Kept(True, {})

    def _row(self, workflow: WorkflowRow, entry: Entry, now: int) -> NodeRow:
        state = entry.state
        return NodeRow(
            run=self._run,
            workflow_ref=workflow.ref,
            user_id=self._user,
            node=entry.place.node,
            path=path_text(entry.place.path),
            status=str(state.status),
            attempt=entry.attempt,
            input=json_text("input", entry.input),
            output=json_text("output", state.output),
            vars=json_text("vars", dict(state.vars)) if state.vars else None,
            reason=None if state.reason is None else str(state.reason),
            error=state.error,
            usages=usages_text(entry.usages),
            idempotency_key=entry.key,
            started_at=now,
            ended_at=now if state.is_over else None,
        )


def find_workflow(tx: Transaction, workflow_id: str, version: int | None) -> WorkflowRow:
    """In that version, or the latest; NotFound when there is none."""
    row = tx.workflow(workflow_id, version)
    if row is None:
        which = "" if version is None else f" in version {version}"
        raise NotFound(f"there is no workflow {workflow_id!r}{which}: deploy it first")
    return row


def _entry(row: NodeRow) -> Entry:
    state = NodeState(
        NodeStatus(row.status),
        _read(row.output),
        _read(row.vars) or {},
        None if row.reason is None else ErrorCode(row.reason),
        row.error,
    )
    place, usages = Place(row.node, read_path(row.path)), read_usages(row.usages)
    return Entry(place, state, row.attempt, _read(row.input), row.idempotency_key, usages=usages)


def _read(text: str | None) -> Any:
    return None if text is None else json.loads(text)
