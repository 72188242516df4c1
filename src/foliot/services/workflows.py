"""The verbs on workflows: each deployed version is kept, and its triggers are schedules."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from foliot.books.entries import Entries
from foliot.domain.delivery import RequestStage, payer_key
from foliot.domain.errors import Conflict, Invalid, NotFound
from foliot.domain.events import ErrorCode
from foliot.domain.grants import LOCAL
from foliot.domain.instants import moment_of
from foliot.domain.node_states import NodeStatus
from foliot.domain.policies import count_of, limit_of
from foliot.domain.runs import FINAL
from foliot.domain.schedule import name_of, slug_of, text_of, user_of
from foliot.domain.slots import read_run_id
from foliot.domain.workflows import Workflow as Dag
from foliot.domain.workflows import read_workflow
from foliot.lines import WorkflowLine
from foliot.ports import Transaction
from foliot.rows import NodeRow, ScheduleFilter, WorkflowRow
from foliot.services.creating import WantedSchedule, put_schedule
from foliot.services.desk import Desk
from foliot.services.editing import pause_schedule, registered_form, resume_schedule
from foliot.services.permission import wish_of
from foliot.services.stretches import Stretch, stretch_of

DEPLOY = "deploy"
"""Who pauses the schedule of a trigger that is gone, and resumes it when it is back."""
_LONGEST_NAME = 38
"""Of a workflow and of a trigger in the id of a schedule: both, and what tells them from others, fit in."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A version of a workflow."""

    id: str
    version: int
    dag: Mapping[str, Any]
    hash: str
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class WorkflowSummary:
    """A version of a workflow as lists show it: without its document."""

    id: str
    owner: str
    version: int
    hash: str
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class NodeState:
    """What is recorded of one node of a run."""

    node: str
    path: str
    """In which iteration of the loops around it, such as `2` or `2.0`; empty outside of loops."""
    status: NodeStatus
    attempt: int
    input: Any
    output: Any
    reason: str | None
    error: str | None
    idempotency_key: str | None
    started_at: datetime
    ended_at: datetime | None


Workflows = list[Workflow]
NodeStates = list[NodeState]


class Deployed(NamedTuple):
    """What a deploy has changed: the ids of schedules."""

    workflow_id: str
    version: int
    created: list[str]
    updated: list[str]
    unchanged: list[str]
    paused: list[str]


class WorkflowVerbs:
    """What may be asked of workflows. One is named by its `workflow_id`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def deploy(self, dag: Mapping[str, Any] | str, *, user: str | None = None, by: str | None = None) -> Deployed:
        """Keep it as a new version, unless it is the latest already, and make its triggers the user's schedules.

        All of it or nothing. A trigger that is gone pauses its schedule; back again, it goes on. The user is the
        caller, unless somebody else is named whom they act for.
        """
        document = _document(dag)
        read = read_workflow(document)
        user = self._desk.user(user)
        if document.get("user_id") not in (None, user):
            theirs = f"is of the user {document['user_id']!r:.80}"
            raise Invalid(f"the workflow {read.id!r} {theirs}, and is deployed for {user!r}: leave out its user_id")
        user, author = user_of(user), text_of("by", by) or user

        def act(tx: Transaction, entries: Entries) -> Deployed:
            self._desk.check_known(tx, user)
            entries.note("workflow.deploy", "workflow", read.id, hash=read.hash)
            version = _saved(self._desk, tx, read, user, author)
            deployed = Deployed(read.id, version, [], [], [], [])
            kept = self._register(tx, entries, read, version, user, deployed)
            _pause_the_rest(self._desk, tx, entries, _owner(user, read.id), kept, deployed)
            return deployed

        return self._desk.write(act)

    def get(self, workflow_id: str, version: int | None = None) -> Workflow:
        """That version, or the latest; NotFound when there is none."""
        name_of("workflow_id", workflow_id)
        count_of("version", version)

        def act(tx: Transaction) -> Workflow:
            row = tx.workflow(workflow_id, version)
            if row is None or not self._desk.principal.sees(row.owner):
                which = "" if version is None else f" in version {version}"
                raise NotFound(f"there is no workflow {workflow_id!r}{which}: `workflows.list()` shows those that are")
            return _view(row)

        return self._desk.read(act)

    def page(self, *, after: str = "", limit: int = 100) -> Stretch[WorkflowSummary]:
        """The latest version of each without its document, by id from the one after that, and where the rest begins."""
        limit_of(limit)
        owner = self._desk.principal.seen_owner

        def act(tx: Transaction) -> Stretch[WorkflowSummary]:
            found = tx.workflows_after(owner, text_of("after", after) or "", limit + 1)
            return stretch_of(found, limit, _summary, lambda row: (row.id,))

        return self._desk.read(act)

    def version_page(
        self, workflow_id: str, *, before: int | None = None, limit: int = 100
    ) -> Stretch[WorkflowSummary]:
        """Its versions without their documents, the newest first; NotFound when there is none."""
        limit_of(limit)
        latest = self.get(workflow_id)

        def act(tx: Transaction) -> Stretch[WorkflowSummary]:
            last = latest.version + 1 if before is None else before
            found = tx.versions_before(workflow_id, last, limit + 1)
            return stretch_of(found, limit, _summary, lambda row: (row.version,))

        return self._desk.read(act)

    def list(self) -> Workflows:
        """The latest version of each, by id."""
        return self._desk.read(lambda tx: self._seen(tx.list_workflows()))

    def _seen(self, rows: Iterable[WorkflowRow]) -> Workflows:
        return [_view(row) for row in rows if self._desk.principal.sees(row.owner)]

    def versions(self, workflow_id: str) -> Workflows:
        """All versions, the newest first."""
        name_of("workflow_id", workflow_id)
        return self._desk.read(lambda tx: self._seen(tx.workflow_versions(workflow_id)))

    def nodes(self, run_id: str) -> NodeStates:
        """How far a run has come: what is recorded of its nodes, in the order in which they were reached."""
        name_of("a run id", run_id)

        def act(tx: Transaction) -> NodeStates:
            places = {run_id: _is_over(self._desk, tx, run_id)}
            for row in tx.requests_of_run(run_id):
                if not self._desk.principal.sees(row.caller):
                    continue
                places[payer_key(row.key)] = row.stage == RequestStage.DONE
            return [_node_view(row, over) for name, over in places.items() for row in tx.node_states(name)]

        return self._desk.read(act)

    def _register(
        self, tx: Transaction, entries: Entries, dag: Dag, version: int, user: str, deployed: Deployed
    ) -> set[str]:
        """Make the schedules of its triggers what they are said to be; the ids of these."""
        kept = set()
        for node, trigger in dag.triggers.items():
            if trigger.schedule is None:
                continue
            schedule_id = schedule_id_of(user, dag.id, node)
            kept.add(schedule_id)
            options = {**trigger.schedule, "target": f"dag:{dag.id}", "input": {"version": version, "trigger": node}}
            before = tx.schedule(schedule_id)
            wish = wish_of(None if user == LOCAL else user, None)
            stored = registered_form(self._desk, tx, schedule_id, options)
            wanted = WantedSchedule(schedule_id, schedule_id, stored, wish)
            after = put_schedule(self._desk, tx, entries, wanted, _owner(user, dag.id))
            if after.paused_by == DEPLOY:
                after = resume_schedule(tx, entries, self._desk.find(tx, schedule_id))
            if before is None or before.deleted_at is not None:
                deployed.created.append(schedule_id)
            else:
                (deployed.unchanged if after.token == before.version else deployed.updated).append(schedule_id)
        return kept


def schedule_id_of(user: str, workflow_id: str, trigger: str) -> str:
    """The same for the same trigger, in every process and in every version of the workflow."""
    return _told_apart(f"dag-{workflow_id[:_LONGEST_NAME]}-{trigger[:_LONGEST_NAME]}", user, workflow_id, trigger)


def launches_id_of(user: str, workflow_id: str) -> str:
    """The same for all that is started from outside, which no trigger of the workflow starts."""
    return _told_apart(f"launched-{workflow_id[:_LONGEST_NAME]}", user, workflow_id)


def _told_apart(name: str, *of: str) -> str:
    """The id of that name, which may be cut short or be somebody else's too, for these alone."""
    return "-".join([slug_of(name), blake2b(json.dumps(of).encode(), digest_size=6).hexdigest()])


def _owner(user: str, workflow_id: str) -> str:
    """Whose the schedules are: no program's, whose names have no colon."""
    return f"dag:{workflow_id}:{user}"


def _document(dag: Mapping[str, Any] | str) -> Any:
    if not isinstance(dag, str):
        return dict(dag) if isinstance(dag, Mapping) else dag
    try:
        return json.loads(dag)
    except ValueError as error:
        raise Invalid(f"a workflow takes a mapping, or JSON text: {error}") from None


def _saved(desk: Desk, tx: Transaction, dag: Dag, owner: str, by: str) -> int:
    """The version that it is kept as; Conflict when somebody else has one of that name."""
    latest = tx.workflow(dag.id, None)
    if latest is not None and not desk.principal.sees(latest.owner):
        raise Conflict(f"the name {dag.id!r} is taken: choose another workflow_id")
    if latest is not None and latest.hash == dag.hash:
        return latest.version
    version = 1 if latest is None else latest.version + 1
    return tx.insert_workflow(
        dag.id, version, dag.text, dag.hash, owner if latest is None else latest.owner, by
    ).version


def _pause_the_rest(
    desk: Desk, tx: Transaction, entries: Entries, owner: str, kept: set[str], deployed: Deployed
) -> None:
    for row, state in tx.list_schedules(ScheduleFilter(app=owner)):
        # A pause that ends by itself would let go on what is no longer there.
        if row.id not in kept and (not state.is_paused(tx.now) or state.pause_to is not None):
            pause_schedule(tx, entries, desk.find(tx, row.id), "its trigger is no longer in the workflow", DEPLOY)
            deployed.paused.append(row.id)


def _view(row: WorkflowRow) -> Workflow:
    return Workflow(row.id, row.version, json.loads(row.dag), row.hash, moment_of(row.created_at), row.created_by)


def _summary(row: WorkflowLine) -> WorkflowSummary:
    return WorkflowSummary(row.id, row.owner, row.version, row.hash, moment_of(row.created_at), row.created_by)


def _is_over(desk: Desk, tx: Transaction, run_id: str) -> bool:
    try:
        key, attempt = read_run_id(run_id)
    except Invalid:
        return False
    row = tx.schedule(key.schedule_id)
    if row is not None and not desk.principal.sees(row.owner):
        raise NotFound(f"there is no run {run_id!r}: `runs.list` shows those that there are")
    run = None if row is None else tx.run_at(row.ref, key.nominal_at, key.kind, key.backfill, attempt)
    return run is not None and run.status in FINAL


def _node_view(row: NodeRow, run_is_over: bool) -> NodeState:
    if run_is_over and row.status == NodeStatus.RUNNING:
        # Nobody goes on with it: it was under way when its run was stopped.
        row = row._replace(status=NodeStatus.ERROR, reason=ErrorCode.ABORTED, error="its run ended before it")
    return NodeState(
        node=row.node,
        path=row.path,
        status=NodeStatus(row.status),
        attempt=row.attempt,
        input=None if row.input is None else json.loads(row.input),
        output=None if row.output is None else json.loads(row.output),
        reason=row.reason,
        error=row.error,
        idempotency_key=row.idempotency_key,
        started_at=moment_of(row.started_at),
        ended_at=None if row.ended_at is None else moment_of(row.ended_at),
    )
