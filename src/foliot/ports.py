"""What the inside asks of the outside: the clock, the database, the gate and a way to be woken."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from foliot.domain.backfill import Attempted
from foliot.domain.budgets import Owner
from foliot.domain.credits import Meter, RunLimits, Usage
from foliot.domain.generation import Gap
from foliot.domain.grants import Grant
from foliot.domain.questions import Answer, Question
from foliot.domain.runs import OnUnknown, Order, Status
from foliot.domain.schedule import State
from foliot.domain.settlement import Outcome

T = TypeVar("T")
Row = Sequence[Any]


class Clock(Protocol):
    """The time. Nothing inside reads it from anywhere else."""

    def now(self) -> int:
        """The wall clock, in microseconds since 1970."""

    def steady(self) -> float:
        """Seconds that pass evenly, whatever is done to the wall clock."""


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
    """The number of targets."""


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
    node: str
    path: str
    status: str
    attempt: int
    input: str | None
    output: str | None
    vars: str | None
    reason: str | None
    error: str | None
    idempotency_key: str | None
    started_at: int
    ended_at: int | None


class Transaction(Protocol):
    """The database inside a transaction. What it promises is said where it is written, in `stores/`."""

    now: int

    def next_ref(self) -> int: ...

    def earliest(self, targets: Sequence[int]) -> list[Earliest]: ...
    def due(self, target: int, until: int, limit: int) -> list[State]: ...
    def due_newest(self, target: int, until: int, limit: int) -> list[State]: ...
    def states(self, refs: Iterable[int]) -> list[State]: ...
    def states_free(self, refs: Iterable[int]) -> list[State]: ...
    def states_seen(self, refs: Iterable[int]) -> list[State]: ...
    def move(self, states: Iterable[State]) -> None: ...
    def advance(self, states: Iterable[State]) -> None: ...
    def keep(self, states: Iterable[State]) -> None: ...
    def free(self, states: Iterable[State]) -> None: ...

    def start_new(self, rows: Sequence[Row]) -> None: ...
    def record(self, rows: Sequence[Row]) -> None: ...
    def record_gaps(self, rows: Sequence[Row]) -> None: ...
    def start(self, rows: Sequence[Row]) -> None: ...
    def make_ready(self, rows: Sequence[Row]) -> None: ...
    def hold(self, rows: Sequence[Row]) -> None: ...
    def end(self, rows: Sequence[Row]) -> None: ...
    def finish(self, reports: Sequence[Finish]) -> bool: ...
    def standing(self, refs: Iterable[int]) -> dict[int, tuple[int, Status]]: ...
    def conclude(self, ref: int, outcome: Outcome) -> None: ...
    def wait(self, rows: Sequence[Row]) -> None: ...
    def resume(self, rows: Sequence[Row]) -> None: ...
    def orders_of(self, refs: Iterable[int]) -> dict[int, Order]: ...
    def note_progress(self, rows: Sequence[Row]) -> None: ...
    def ready(self, target: int, until: int, limit: int) -> list[RunRow]: ...
    def waiting(self, schedule_ref: int, limit: int) -> list[RunRow]: ...
    def occupants(self, schedule_ref: int) -> list[RunRow]: ...
    def open_runs(self, schedule_ref: int) -> list[RunRow]: ...
    def wake_retries(self, schedule_ref: int, target: int) -> None: ...
    def park(self, ref: int) -> None: ...
    def retarget(self, schedule_ref: int, target: int) -> None: ...
    def tell(self, refs: Iterable[int], order: Order) -> None: ...
    def running_counts(self, schedule_refs: Iterable[int]) -> dict[int, int]: ...
    def leased(self, worker: int) -> list[Leased]: ...
    def leased_runs(self, worker: int, limit: int) -> list[RunRow]: ...
    def lose(self, rows: Sequence[Row]) -> None: ...
    def marked(self, schedule_ref: int, after: int) -> list[int]: ...
    def last_manual(self, schedule_ref: int, since: int) -> int | None: ...
    def endings(self, refs: Iterable[int]) -> dict[int, tuple[str | None, str | None]]: ...
    def runs(self, refs: Iterable[int]) -> list[RunRow]: ...
    def run_at(self, schedule_ref: int, nominal_at: int, kind: str, backfill: int, attempt: int) -> RunRow | None: ...
    def runs_at(self, schedule_ref: int, nominal_at: int) -> list[RunRow]: ...
    def attempted(self, schedule_ref: int, first_at: int, last_at: int) -> list[Attempted]: ...
    def gap_at(self, schedule_ref: int, nominal_at: int) -> Gap | None: ...
    def gaps_of(self, schedule_ref: int) -> list[Gap]: ...
    def list_runs(self, wanted: RunFilter) -> list[RunRow]: ...
    def prunable(self, after: int, before: int, limit: int) -> list[tuple[int, int, int, str, int | None]]: ...
    def newest_runs_from(self, schedule_ref: int, offset: int) -> int | None: ...
    def remove(self, refs: Iterable[int]) -> int: ...
    def remove_gaps(self, schedule_ref: int, before: int) -> int: ...

    def register(self, name: str) -> int: ...
    def renew(self, worker: int, lease_until: int | None) -> bool: ...
    def expired(self, but: int) -> list[Expired]: ...
    def void_others(self, but: int) -> None: ...
    def stop(self, worker: int) -> None: ...
    def forget_lease(self, worker: int) -> None: ...
    def news(self, but: int) -> News: ...
    def remove_stopped(self, before: int) -> int: ...

    def target_refs(self, names: Iterable[str]) -> dict[str, int]: ...
    def targets_of(self, provider: str) -> dict[str, int]: ...
    def configurations(self, refs: Iterable[int]) -> list[ScheduleRow]: ...
    def schedule(self, schedule_id: str) -> ScheduleRow | None: ...
    def schedules(self, ids: Sequence[str]) -> list[ScheduleRow]: ...
    def list_schedules(self, wanted: ScheduleFilter) -> list[tuple[ScheduleRow, State]]: ...
    def new_schedule_refs(self, count: int) -> Sequence[int]: ...
    def insert_schedules(self, rows: Sequence[Row], cursors: Sequence[Row]) -> None: ...
    def update_schedule(self, ref: int, **changes: Any) -> None: ...
    def set_version(self, ref: int, version: int, target: int) -> None: ...

    def grants(self, refs: Iterable[int]) -> list[GrantRow]: ...
    def list_grants(self, user: str | None) -> list[GrantRow]: ...
    def new_grant_refs(self, count: int) -> Sequence[int]: ...
    def insert_grants(self, rows: Sequence[Row]) -> None: ...
    def revoke(self, refs: Iterable[int]) -> None: ...
    def change_grant(self, grant: Grant) -> None: ...
    def hold_grant(self, ref: int) -> None: ...
    def reserve(self, rows: Sequence[Row]) -> None: ...
    def spent_since(self, owner: Owner, owner_ref: int, since: int) -> int: ...
    def add_spending(self, run_ref: int, amount: int) -> None: ...
    def recent_costs(self, schedule_ref: int, limit: int) -> list[int]: ...
    def user_ref(self, user: str) -> int: ...
    def default_account(self, user_ref: int, *, is_limited: bool) -> int: ...
    def account(self, account_ref: int) -> AccountRow: ...
    def account_of(self, user: str) -> AccountRow | None: ...
    def limit_account(self, account_ref: int, *, is_limited: bool) -> None: ...
    def post(self, account_ref: int, kind: str, amount: int, reference: str) -> int | None: ...
    def postings(self, account_ref: int, limit: int) -> list[PostingRow]: ...
    def receipt(self, source: str, reference: str) -> ReceiptRow | None: ...
    def receipts_of(self, run_ref: int) -> list[ReceiptRow]: ...
    def save_receipt(self, receipt: ReceiptRow) -> None: ...
    def running_under(self, grant_ref: int) -> list[int]: ...

    def ask(self, rows: Sequence[Row]) -> None: ...
    def questions_of(self, run_refs: Iterable[int]) -> list[QuestionRow]: ...
    def unanswered(self, until: int, limit: int) -> list[QuestionRow]: ...
    def close_question(self, question: QuestionRow) -> None: ...
    def close_questions_of(self, run_refs: Iterable[int]) -> None: ...

    def request(self, key: str) -> RequestRow | None: ...
    def request_of_run(self, run: str) -> RequestRow | None: ...
    def list_requests(self, stage: str | None, limit: int) -> list[RequestRow]: ...
    def insert_request(self, request: RequestRow) -> int | None: ...
    def take_request(self, ref: int, token: int, owner: str, lease_until: int) -> None: ...
    def renew_request(self, ref: int, token: int, lease_until: int) -> bool: ...
    def hold_request(self, ref: int) -> None: ...
    def release_request(self, ref: int, token: int) -> None: ...
    def finish_request(self, ref: int, token: int, outcome: str) -> bool: ...
    def remove_requests(self, before: int) -> int: ...

    def insert_backfill(self, **values: Any) -> int: ...
    def backfills(self, refs: Iterable[int]) -> list[BackfillRow]: ...
    def due_backfills(self, target: int, until: int, limit: int) -> list[BackfillRow]: ...
    def list_backfills(self, schedule_ref: int) -> list[BackfillRow]: ...
    def retarget_backfills(self, schedule_ref: int, target: int) -> None: ...
    def save_backfill(self, backfill: BackfillRow) -> None: ...

    def workflow(self, workflow_id: str, version: int | None) -> WorkflowRow | None: ...
    def workflow_at(self, ref: int) -> WorkflowRow: ...
    def workflow_versions(self, workflow_id: str) -> list[WorkflowRow]: ...
    def list_workflows(self) -> list[WorkflowRow]: ...
    def insert_workflow(self, workflow_id: str, version: int, dag: str, digest: str, by: str) -> WorkflowRow: ...
    def node_states(self, run: str) -> list[NodeRow]: ...
    def save_node(self, row: NodeRow) -> NodeRow: ...
    def cached_node(self, workflow_id: str, node: str, key: str, since: int) -> NodeRow | None: ...
    def remove_node_states(self, before: int) -> int: ...

    def notify(self, what: str) -> None:
        """Tell other processes, when this commits, that there is something to look at; only ever a hint."""


class Database(Protocol):
    """Where everything is kept. A transaction is a function: run whole or not at all, perhaps more than once."""

    is_local: bool
    """Whether this process is the only one that writes, and a transaction waits for no network."""

    def write(self, act: Callable[[Transaction], T]) -> T: ...

    def read(self, act: Callable[[Transaction], T]) -> T: ...

    def claim_alone(self) -> None: ...

    def close(self) -> None: ...


class Outside(NamedTuple):
    """The names of an execution that somebody outside has asked for."""

    run_id: str
    key: str


class Launch(NamedTuple):
    """A run that this worker holds the lease of, with all that its execution needs."""

    ref: int
    token: int
    schedule_ref: int
    schedule_id: str
    target: str
    kind: str
    nominal_at: int
    due_at: int
    attempt: int
    backfill: int
    occupies: bool
    labels: Mapping[str, str]
    input: str | None
    own_input: str | None
    """What it was given instead of the schedule's input, and the overlap policy it brought; its retry gets both."""
    overlap: str | None
    timeout: int | None
    grant: Grant
    """By which it was permitted to start,"""
    grants_seen: int
    """when grants had been changed so often."""
    limits: RunLimits | None
    result_of: int | None
    """The run whose result it is handed, and the one whose failure."""
    failure_of: int | None
    last_result: str | None = None
    last_failure: str | None = None
    rounds: int = 0
    """How often it was answered,"""
    answer: Answer | None = None
    """and what it was told last."""
    outside: Outside | None = None
    """Its names, when it is no run of a schedule."""


class Control:
    """Between a worker and the code that it runs: what the one asks, and what the other says of its progress."""

    __slots__ = ("exceeded", "fenced", "interruptible", "meter", "order", "progress", "question", "usages")

    def __init__(self) -> None:
        self.order: Order | None = None
        """The run was asked to stop."""
        self.fenced = False
        """The run is no longer this worker's: whatever it does, nothing of it counts."""
        self.interruptible = True
        """Whether its code can be interrupted from outside; a thread cannot."""
        self.progress: str | None = None
        """The latest that it reported, as JSON, until the worker has written it down."""
        self.usages: list[Usage] | None = None
        """The billable calls that it has reported; most runs have none."""
        self.meter: Meter | None = None
        """Counts them, where there is a limit."""
        self.exceeded: str | None = None
        """The limit that the run has passed, in words: it is over, whatever its code does."""
        self.question: Question | None = None
        """What it has asked: it waits for the answer, whatever its code does."""


class Gate(Protocol):
    """What stands between a leased run and the code of its target."""

    def targets(self) -> Sequence[str]:
        """The targets that can be executed here."""

    def room(self, target: str) -> int | None:
        """How many more runs of the target could begin at once; None when that is not limited here."""

    def on_unknown(self, target: str) -> OnUnknown:
        """What the target wants done when nobody knows whether it was executed."""

    async def execute(self, launch: Launch, control: Control) -> Outcome:
        """Execute the run and say how it ended. Failures of the run are outcomes; Unavailable means: not begun."""


class HttpCaller(Protocol):
    """Who makes calls over HTTP on behalf of workflows, and sees to it that they lead nowhere they must not."""

    async def call(
        self, method: str, url: str, headers: Mapping[str, str], body: Any, timeout: float
    ) -> tuple[int, Any]:
        """The status, and the JSON that was answered; Unavailable when there was no answer."""
