"""All that there is to know about one run: its attempts, why it is as it is, what it asked, used and did."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from foliot.domain import ledger
from foliot.domain.events import ErrorCode
from foliot.domain.instants import moment_of
from foliot.domain.node_states import NodeStatus
from foliot.domain.runs import FINAL, Hold, Kind, Reason, Status
from foliot.domain.slots import SlotKey, run_id
from foliot.lines import NodeLine
from foliot.ports import Transaction
from foliot.rows import RunRow, ScheduleRow
from foliot.services.run_lists import RunSummary, summary_of
from foliot.services.views import Question, Receipt, Run, question_view, receipt_view, run_view

MOST = 100
"""Attempts, questions, receipts and nodes that are shown: the last of each."""


@dataclass(frozen=True, slots=True)
class NodeStep:
    """A node of a workflow's run, as lists show it."""

    node: str
    path: str
    status: NodeStatus
    attempt: int
    reason: str | None
    error: str | None
    """How it begins."""
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunDetail:
    """A run and what belongs to it."""

    view: Run
    sentence: str
    """What became of it and why, in words."""
    attempts: Sequence[RunSummary]
    """All at the same slot, the first of those shown first."""
    questions: Sequence[Question]
    receipts: Sequence[Receipt]
    calls: int
    """How many calls it was charged for, also those not shown,"""
    credits: int
    """and what they cost."""
    nodes: Sequence[NodeStep]


def detail_of(tx: Transaction, row: ScheduleRow, run: RunRow) -> RunDetail:
    view = run_view(run, row.id, row.input)
    attempts = tx.lines_at(row.ref, run.nominal_at, run.kind, run.backfill, MOST)
    calls, cost = tx.charged_for(run.ref)
    is_over = run.status in FINAL
    return RunDetail(
        view=view,
        sentence=ledger.explain_run(record_of(tx, run, row.id), run.nominal_at).sentence,
        attempts=[summary_of(line) for line in reversed(attempts)],
        questions=[question_view(question) for question in tx.recent_questions(run.ref, MOST)],
        receipts=[receipt_view(receipt) for receipt in tx.recent_receipts(run.ref, MOST)],
        calls=calls,
        credits=cost,
        nodes=[_step(line, is_over) for line in tx.node_lines(view.id, MOST)],
    )


def record_of(tx: Transaction, run: RunRow, schedule_id: str) -> ledger.Record:
    """A run as what explains it knows it."""
    asked = tx.recent_questions(run.ref, 1) if run.status == Status.WAITING else []
    return ledger.Record(
        run_id(SlotKey(schedule_id, Kind(run.kind), run.nominal_at, run.backfill), run.attempt),
        Kind(run.kind),
        Status(run.status),
        None if run.reason is None else Reason(run.reason),
        None if run.hold is None else Hold(run.hold),
        run.started_at,
        run.ended_at,
        run.error,
        run.rounds,
        asks=next((ledger.Asks(question.kind, question.who, question.expires_at) for question in asked), None),
        lacks=_lacking(tx, run),
    )


def lacks(tx: Transaction, target: str, since: int) -> bool:
    """Whether no living worker takes up the target, for which something is ready since then.

    What no program has ever registered is taken up by all of them.
    """
    takers = tx.takers()
    if len(tx.unregistered([target, f"{target.partition(':')[0]}:*"])) == 2:
        takers = [taker._replace(targets=None) for taker in takers]
    return ledger.is_forsaken(target, takers, since, tx.now)


def _lacking(tx: Transaction, run: RunRow) -> str | None:
    """The target of a run that could start and that nobody takes up."""
    waits_for = tx.waits_for(run.ref) if run.status == Status.PENDING else None
    return waits_for[0] if waits_for is not None and lacks(tx, *waits_for) else None


def _step(line: NodeLine, run_is_over: bool) -> NodeStep:
    if run_is_over and line.status == NodeStatus.RUNNING:
        # Nobody goes on with it: it was under way when its run was stopped.
        line = line._replace(status=NodeStatus.ERROR, reason=ErrorCode.ABORTED, error="its run ended before it")
    return NodeStep(
        node=line.node,
        path=line.path,
        status=NodeStatus(line.status),
        attempt=line.attempt,
        reason=line.reason,
        error=line.error,
        started_at=moment_of(line.started_at),
        ended_at=None if line.ended_at is None else moment_of(line.ended_at),
    )
