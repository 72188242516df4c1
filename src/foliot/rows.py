"""What the tables hold, and what is asked of them, as values."""

from collections.abc import Mapping
from typing import NamedTuple

from foliot.domain.grants import Grant
from foliot.domain.questions import UNKNOWN_OUTCOME
from foliot.domain.schedule import Standing
from foliot.domain.settlement import Outcome
from foliot.domain.troubles import Trouble


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


class RunName(NamedTuple):
    """What tells a run from all others."""

    schedule_ref: int
    kind: str
    nominal_at: int
    backfill: int
    attempt: int


class Backlog(NamedTuple):
    """What is due and waits, and since when the first of it does."""

    schedules: int
    schedules_since: int | None
    runs: int
    runs_since: int | None
    now: int

    @property
    def age(self) -> int:
        """For how long the first of all that waits has waited."""
        return self.now - min(self.schedules_since or self.now, self.runs_since or self.now)


class TroubleRow(NamedTuple):
    """A schedule that is set aside, whose it is, and why."""

    schedule: str
    owner: str
    trouble: Trouble


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
    webhooks: int
    """How many webhooks there are."""
    tell_at: int | None
    """When one of them is to be told something; None when there is nothing."""


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
    owner: str | None = None


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


class UserRow(NamedTuple):
    """A row of the users."""

    ref: int
    id: str
    role: str
    disabled_at: int | None
    created_at: int


class KeyRow(NamedTuple):
    """A row of the API keys."""

    id: str
    user: str
    name: str
    digest: str
    rights: str
    """As JSON; those that its user's role lacks open nothing."""
    expires_at: int | None
    revoked_at: int | None
    used_at: int | None
    created_at: int
    role: str
    """Of its user."""


class AnswerRow(NamedTuple):
    """What a write over the network was answered."""

    scope: str
    """Who asked, and for what kind of thing."""
    key: str
    fingerprint: str
    """Of what was asked."""
    status: int
    headers: str
    """As JSON."""
    body: str
    created_at: int


class WebhookRow(NamedTuple):
    """A row of the webhooks."""

    ref: int
    id: str
    owner: str
    url: str
    events: str
    """As JSON."""
    secret_env: str
    all_owners: int
    """Whether an admin is told of everybody's schedules."""
    created_at: int


class NoticeRow(NamedTuple):
    """A row of the notices."""

    ref: int
    event: str
    schedule_ref: int
    at: int


class DeliveryRow(NamedTuple):
    """A row of the deliveries, with its notice."""

    ref: int
    notice_ref: int
    webhook_ref: int
    tries: int
    next_at: int | None
    arrived_at: int | None
    error: str | None
    event: str
    at: int
    data: str
    """As JSON."""
    schedule: str
    owner: str


class Parcel(NamedTuple):
    """A notice on its way to a webhook: nobody else takes it up until a while has passed."""

    ref: int
    tries: int
    """This one counted."""
    notice_ref: int
    webhook_ref: int
    webhook: str
    url: str
    secret_env: str
    event: str
    at: int
    data: str
    """As JSON."""
    schedule: str
    owner: str
    """Of the schedule."""
    deleted_at: int | None
    """When the webhook was, if it was."""


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
    owner: str
    declared: str | None = None
    """The options that its set gave it when it was applied last, as JSON; None: it belongs to no set."""


class ScheduleFilter(NamedTuple):
    """Which schedules somebody wants to see."""

    app: str | None = None
    target: str | None = None
    labels: Mapping[str, str] = {}
    include_deleted: bool = False
    limit: int | None = None
    after_id: str | None = None
    owner: str | None = None
    without_programs: bool = False
    """Leave out what a program declares."""
    ids: tuple[str, ...] | None = None
    text: str | None = None
    """In the id or in the name, in small or large letters."""
    declared: str | None = None
    """The set that declares it."""
    standings: tuple[Standing, ...] = ()
    """One of them; empty: whatever it does now."""
    needs_attention: bool | None = None


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
    cancelled_at: int | None


class WorkflowRow(NamedTuple):
    """A version of a workflow."""

    ref: int
    id: str
    owner: str
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
