"""What the tables hold, and what is asked of them, as values."""

from collections.abc import Mapping
from typing import NamedTuple

from foliot.domain.grants import Grant
from foliot.domain.questions import UNKNOWN_OUTCOME
from foliot.domain.settlement import Outcome


class Earliest(NamedTuple):
    """When something of a target first wants to be looked at."""

    target: int
    wake_at: int | None
    ready_at: int | None
    backfill_at: int | None


class RunRow(NamedTuple):
    """A row of the ledger."""

    ref: int
    schedule_ref: int
    nominal_at: int
    due_at: int
    kind: str
    backfill: int
    attempt: int
    status: str
    reason: str | None
    hold: str | None
    occupies: int
    overlap: str | None
    orders: str | None
    grant_ref: int | None
    """By which it was last permitted to start."""
    worker: int | None
    token: int
    losses: int
    rounds: int
    """How often it was answered."""
    retry_of: int | None
    version: int
    created_at: int
    started_at: int | None
    ended_at: int | None
    input: str | None
    result: str | None
    error: str | None
    progress: str | None


class Leased(NamedTuple):
    """A run that a worker holds, and what it is told to do with it."""

    ref: int
    token: int
    orders: str | None


class News(NamedTuple):
    """What other processes may have changed."""

    expires_at: int | None
    """When the first of the other workers' leases runs out."""
    grants: int
    """The number of changes to grants."""
    decide_at: int | None
    """When the first question that nobody has answered expires."""
    targets: int
    """The number of times that targets were added or registered."""


class Expired(NamedTuple):
    ref: int
    name: str


class Finish(NamedTuple):
    """An outcome, to be recorded under a token."""

    ref: int
    token: int
    outcome: Outcome
    ended_at: int | None


class QuestionRow(NamedTuple):
    """A row of the questions."""

    ref: int
    run_ref: int
    schedule_ref: int
    round: int
    kind: str
    data: str | None
    who: tuple[str, ...]
    reference: str | None
    asked_at: int
    expires_at: int
    at_expiry: str
    decision: str | None
    """The id of the decision."""
    verdict: str | None
    feedback: str | None
    decided_by: str | None
    closed_at: int | None
    """None while the run waits."""

    @property
    def is_answer(self) -> bool:
        """Whether the run's code was told something; that somebody had it delivered once more is not told to it."""
        return self.verdict is not None and self.kind != UNKNOWN_OUTCOME


class RunFilter(NamedTuple):
    """Which runs somebody wants to see."""

    schedule_ref: int | None = None
    status: str | None = None
    reason: str | None = None
    kind: str | None = None
    since: int | None = None
    until: int | None = None
    backfill: int | None = None
    limit: int = 100
    offset: int = 0


class AccountRow(NamedTuple):
    """Who pays."""

    ref: int
    user: str
    balance: int
    is_limited: int
    """Whether what is paid needs a balance; the account of a program that knows no users does not."""


class PostingRow(NamedTuple):
    """A row of an account's ledger."""

    kind: str
    amount: int
    balance_after: int
    reference: str
    created_at: int


class ReceiptRow(NamedTuple):
    """A row of the receipts."""

    ref: int
    account_ref: int
    source: str
    reference: str
    run_ref: int
    unit: str
    model: str | None
    tokens: int | None
    cost: str | None
    credits: int | None
    """None until somebody knows what it cost."""
    created_at: int


class GrantRow(NamedTuple):
    """A row of the grants."""

    grant: Grant
    is_shared: int
    """Whether it stands by itself; one that was made for a schedule goes with it."""
    created_at: int


class RequestRow(NamedTuple):
    """A row of the requests from outside."""

    ref: int
    key: str
    hash: str
    target: str
    caller: str
    grant_ref: int
    run: str
    attempt: int
    run_ref: int | None
    """The run's own row, where it has one."""
    stage: str
    owner: str
    token: int
    lease_until: int
    verdict: str | None
    """What a person has said about it since it was held last, and who."""
    decided_by: str | None
    outcome: str | None
    """As JSON, once it is done."""
    created_at: int
    ended_at: int | None


class ScheduleRow(NamedTuple):
    """The cold half of a schedule."""

    ref: int
    id: str
    name: str
    app: str | None
    target: int
    target_name: str
    spec: str
    policies: str
    input: str | None
    labels: str
    memo: str | None
    version: int
    created_at: int
    updated_at: int
    spec_since: int
    deleted_at: int | None
    pause_note: str | None
    paused_by: str | None
    pruned_before: int
    grant_ref: int


class ScheduleFilter(NamedTuple):
    """Which schedules somebody wants to see."""

    app: str | None = None
    target: str | None = None
    labels: Mapping[str, str] = {}
    include_deleted: bool = False
    limit: int | None = None
    after_id: str | None = None


class BackfillRow(NamedTuple):
    """A row of the backfills."""

    ref: int
    schedule_ref: int
    target: int
    first: int
    last: int
    which: str
    direction: str
    concurrency: int
    running: int
    started: int
    done_to: int
    wake_at: int | None
    input: str | None
    created_at: int
    ended_at: int | None


class WorkflowRow(NamedTuple):
    """A version of a workflow."""

    ref: int
    id: str
    version: int
    dag: str
    """In canonical form."""
    hash: str
    created_at: int
    created_by: str


class NodeRow(NamedTuple):
    """What is recorded of one node in one run, in one iteration of the loops around it."""

    run: str
    workflow_ref: int
    user_id: str
    """Whose run it is: nobody else's takes its output for its own."""
    node: str
    path: str
    status: str
    attempt: int
    input: str | None
    output: str | None
    vars: str | None
    reason: str | None
    error: str | None
    usages: str | None
    """The billable calls that it has reported, as JSON."""
    idempotency_key: str | None
    started_at: int
    ended_at: int | None
