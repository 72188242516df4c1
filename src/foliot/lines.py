"""What lists show of the tables' rows, and what they look for: nothing that may be long."""

from enum import Enum
from typing import NamedTuple


class QuestionLine(NamedTuple):
    """What is looked at of a question to know who may answer it."""

    ref: int
    run_ref: int
    kind: str
    who: tuple[str, ...]
    expires_at: int
    length: int
    """Of what it asks, as JSON."""
    owner: str
    """Whose the run is."""


class RunLine(NamedTuple):
    """What a list shows of a run: nothing of what it was given or has come to, which may be long."""

    ref: int
    schedule_ref: int
    schedule_id: str
    owner: str
    nominal_at: int
    due_at: int
    kind: str
    backfill: int
    attempt: int
    status: str
    reason: str | None
    hold: str | None
    token: int
    losses: int
    rounds: int
    retry_of: int | None
    created_at: int
    started_at: int | None
    ended_at: int | None
    error: str | None
    """How it begins."""


class RunSearch(NamedTuple):
    """Which runs a list is to show."""

    status: str | None = None
    reason: str | None = None
    kind: str | None = None
    backfill: int | None = None
    since: int | None = None
    until: int | None = None
    owner: str | None = None


class RunPlace(NamedTuple):
    """Of a run among those of some schedules, by nominal time: what comes after it in a list is older."""

    nominal_at: int
    schedule_ref: int
    created_at: int
    ref: int


class Walk(Enum):
    """In which order schedules are gone through, and by which key each has its place there."""

    BY_ID = "by id"
    """By the id."""
    BY_NAME = "by name"
    """By name and id."""
    COMING = "coming"
    """Those that fire, by when that is next and their own key."""
    IDLE = "idle"
    """All others, by their own key: nothing of theirs is to come, or they are paused."""


class NodeLine(NamedTuple):
    """What a list shows of a node in a run."""

    node: str
    path: str
    status: str
    attempt: int
    reason: str | None
    error: str | None
    """How it begins."""
    started_at: int
    ended_at: int | None


class WorkflowLine(NamedTuple):
    """What a list shows of a version of a workflow."""

    id: str
    owner: str
    version: int
    hash: str
    created_at: int
    created_by: str


class WorkerLine(NamedTuple):
    """A worker that has not left, and how many runs it holds."""

    name: str
    started_at: int
    seen_at: int
    lease_until: int | None
    running: int


class ScheduleLine(NamedTuple):
    """What is told of a schedule that changed."""

    ref: int
    id: str
    name: str
    owner: str
    version: int
    updated_at: int
    deleted_at: int | None
    pause_from: int | None
    pause_to: int | None
