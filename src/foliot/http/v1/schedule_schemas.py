"""Schedules on the wire: what is taken to make or change one, and what is shown of it."""

import json
from functools import lru_cache
from typing import Annotated, Any

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from foliot.domain.budgets import WhenSpent, Window
from foliot.domain.calendar import FoldRule, GapRule
from foliot.domain.durations import duration_text
from foliot.domain.errors import Invalid
from foliot.domain.fields import Dialect
from foliot.domain.policies import (
    CATCH_UP_ALIASES,
    FAILURES,
    OVERLAP_ALIASES,
    RETRYABLE,
    CatchUp,
    Overlap,
    Policies,
    Retry,
)
from foliot.domain.runs import Reason
from foliot.domain.schedule import LONGEST_ID, MOST_LABELS, Standing
from foliot.domain.slots import JitterMode
from foliot.domain.spec import Anchor, Spec
from foliot.http.schemas import Given, Json, Moment, SaidMoment, Switch, Taken, Whole, such_as, written, written_plain
from foliot.services.schedule_lists import LISTED_STANDINGS
from foliot.services.specs import MOST_MOMENTS, MOST_PARTS
from foliot.services.views import Schedule
from foliot.services.written import spec_options

Span = Annotated[str, Field(max_length=64, examples=["90m", "1h30m"])]
Text = Annotated[str, Field(min_length=1, max_length=1000)]
SaidLabels = Annotated[dict[str, str], Field(max_length=MOST_LABELS, examples=[{"team": "mail"}])]
# Words are listed here, and read by the verbs: their refusal says more than a schema's.
SaidStanding = Annotated[str, Field(json_schema_extra={"enum": [*LISTED_STANDINGS]})]
SaidOverlap = Annotated[str, Field(json_schema_extra={"enum": [*Overlap, *OVERLAP_ALIASES]})]
_CatchUp = Annotated[str, Field(json_schema_extra={"enum": [*CatchUp, *CATCH_UP_ALIASES]})]
_Failure = Annotated[str, Field(json_schema_extra={"enum": [*FAILURES]})]
_Gap = Annotated[str, Field(json_schema_extra={"enum": [*GapRule]})]
_Fold = Annotated[str, Field(json_schema_extra={"enum": [*FoldRule]})]
_Dialect = Annotated[str, Field(json_schema_extra={"enum": [*Dialect]})]
_JitterMode = Annotated[str, Field(json_schema_extra={"enum": [*JitterMode]})]
_Anchor = Annotated[str, Field(json_schema_extra={"enum": [*Anchor]})]
_Window = Annotated[str, Field(json_schema_extra={"enum": [*Window]})]
_WhenSpent = Annotated[str, Field(json_schema_extra={"enum": [*WhenSpent]})]
_Cron = Annotated[str, Field(max_length=1000, examples=["0 9 * * MON-FRI"])]
_CalendarField = Annotated[str, Field(max_length=1000, examples=["9-17"])] | Whole

DIGEST: JsonDict = {
    "name": "digest",
    "cron": "0 9 * * MON-FRI",
    "timezone": "Europe/Berlin",
    "input": {"to": "ann"},
    "labels": {"team": "mail"},
    "retry": 3,
    "timeout": "10m",
}


class SaidCalendar(Taken):
    """Seven fields, all of which must hold; unset second, minute and hour are 0, the rest any."""

    second: _CalendarField | None = None
    minute: _CalendarField | None = None
    hour: _CalendarField | None = None
    day_of_month: _CalendarField | None = None
    month: _CalendarField | None = None
    year: _CalendarField | None = None
    day_of_week: _CalendarField | None = None
    gap: _Gap | None = None
    fold: _Fold | None = None


class SaidInterval(Taken):
    """Every so often, from 1970 or from `start_at`."""

    every: Span
    offset: Span = "0"
    anchor: _Anchor = "epoch"


class SaidRetry(Taken):
    """How often a failed run is tried again; `attempts` counts the first one."""

    attempts: Whole
    backoff: Span = "10s"
    factor: Whole = 2
    longest: Span = "10m"
    reasons: list[_Failure] = Field(list(RETRYABLE), max_length=100)


class SaidBudget(Taken):
    """So many credits within a span of time that moves along."""

    credits: Whole
    per: _Window = "day"
    when_spent: _WhenSpent = "skip"


class SaidSpec(Taken):
    """Which moments are meant: cron texts, intervals, calendars and one-offs, less what is excluded, within bounds."""

    cron: _Cron | Annotated[list[_Cron], Field(max_length=MOST_PARTS)] | None = None
    every: Span | SaidInterval | Annotated[list[Span | SaidInterval], Field(max_length=MOST_PARTS)] | None = None
    at: SaidMoment | Annotated[list[SaidMoment], Field(max_length=MOST_MOMENTS)] | None = None
    calendars: SaidCalendar | Annotated[list[SaidCalendar], Field(max_length=MOST_PARTS)] | None = None
    exclude: SaidCalendar | Annotated[list[SaidCalendar], Field(max_length=MOST_PARTS)] | None = None
    spec: dict[str, Any] | None = Field(
        default=None, description="Instead of all others: the canonical form of a spec."
    )
    timezone: str | None = Field(default=None, max_length=100, examples=["Europe/Berlin"])
    gap: _Gap | None = None
    fold: _Fold | None = None
    dialect: _Dialect | None = None
    start_at: SaidMoment | None = None
    end_at: SaidMoment | None = None
    jitter: Span | None = None
    jitter_mode: _JitterMode | None = None
    manual: Switch | None = None


class ScheduleOptions(SaidSpec):
    """All that can be said of a schedule, beside its name."""

    target: str | None = Field(
        default=None,
        max_length=300,
        examples=["python:digest"],
        description="What runs; when it is not said, the Python function that is called as the schedule is.",
    )
    input: Json = None
    labels: SaidLabels | None = None
    memo: Json = None
    overlap: SaidOverlap | None = None
    buffer: Whole | None = None
    catchup: _CatchUp | None = None
    catchup_window: Span | None = None
    catchup_cap: Whole | None = None
    grace: Span | None = None
    lookahead: Span | None = None
    retry: Whole | SaidRetry | None = None
    timeout: Span | None = None
    limit: Whole | None = None
    pause_on_failure: Switch | None = None
    budget: SaidBudget | None = None
    max_calls: Whole | None = None
    max_tokens: Whole | None = None
    max_credits: Whole | None = None

    def said(self) -> dict[str, Any]:
        """The options that were said, null or not, as the verbs take them."""
        return self.model_dump(exclude_unset=True)


_NAMED = f"Its id is made of its letters and digits, of which there are 1 to {LONGEST_ID}."


class NewSchedule(ScheduleOptions):
    """A schedule that is to be. Without a grant it runs by one that is made for it alone."""

    model_config = ConfigDict(json_schema_extra={"examples": [DIGEST]})

    name: str = Field(min_length=1, max_length=300, description=_NAMED)
    grant: str | None = Field(default=None, max_length=100, examples=["grant-7"])
    user: str | None = Field(
        default=None, max_length=100, description="Whose it is, when an admin makes it for somebody."
    )


class WholeSchedule(ScheduleOptions):
    """What a schedule is to be as a whole: what is not said has its default."""

    model_config = ConfigDict(json_schema_extra={"examples": [DIGEST]})

    name: str | None = Field(default=None, min_length=1, max_length=300, description=_NAMED)
    grant: str | None = Field(default=None, max_length=100)
    user: str | None = Field(
        default=None, max_length=100, description="Whose it is, when an admin makes it for somebody."
    )


class ScheduleChanges(ScheduleOptions):
    """What is to change; null puts an option back to its default. Options of the spec describe it anew as a whole."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"timeout": "5m", "retry": None}]})

    grant: str | None = Field(default=None, max_length=100)


class ShownSpec(Given):
    """When it fires."""

    summary: str
    timezone: str
    said: dict[str, Any]
    """In the words of a new schedule: `cron`, `every`, `at` and the rest where these say the same, else `spec`."""
    canonical: dict[str, Any]


class ShownRetry(Given):
    attempts: int
    backoff: str
    factor: int
    longest: str
    reasons: list[Reason]


class ShownBudget(Given):
    credits: int
    per: Window
    when_spent: WhenSpent


class ShownBudgetUse(Given):
    """How much of a budget is used now: what is spent, reserved and left is all of it."""

    model_config = such_as(
        credits=5000,
        per="day",
        spent=4200,
        reserved=600,
        left=200,
        has_room=False,
        room_at="2026-11-16T09:00:01.250000Z",
    )

    credits: int
    per: Window
    spent: int
    """What was charged within its span of time; to runs that are not over, whenever it was."""
    reserved: int
    """What is set aside besides, for runs that are not over, or of which the cost of a call is not known."""
    left: int
    """Below nothing when runs were charged with more than was set aside for them."""
    has_room: bool
    """Whether there is enough for a run that costs what the last ones did."""
    room_at: Moment | None
    """From when there is, if nothing else is spent; null when there is now, or when nobody can say."""


class ShownPolicies(Given):
    """How it runs, in the words in which it is said."""

    overlap: Overlap
    buffer: int
    catchup: CatchUp
    catchup_window: str | None
    catchup_cap: int
    grace: str
    lookahead: str
    retry: ShownRetry | None
    timeout: str | None
    limit: int | None
    pause_on_failure: bool
    budget: ShownBudget | None
    max_calls: int | None
    max_tokens: int | None
    max_credits: int | None


class ShownScheduleLine(Given):
    """A schedule as lists show it: without its input and its memo, which may be long."""

    id: str
    name: str
    app: str | None
    owner: str
    target: str
    spec: ShownSpec
    policies: ShownPolicies
    labels: dict[str, str]
    token: int
    standing: Standing
    note: str | None
    paused_by: str | None
    paused_until: Moment | None
    next_at: Moment | None
    """When its next slot is due that nobody has skipped."""
    swept_to: Moment
    running: int
    held: int
    remaining: int | None
    grant: str
    needs_attention: bool
    created_at: Moment
    updated_at: Moment


class ShownSchedule(ShownScheduleLine):
    """A schedule as it stands."""

    input: Json
    memo: Json


_ALIKE = (
    *("id", "name", "app", "owner", "target", "labels", "token", "standing", "note", "paused_by"),
    *("paused_until", "next_at", "swept_to", "running", "held", "remaining", "grant", "needs_attention"),
    *("created_at", "updated_at"),
)
"""What is shown as it is."""


def shown_schedule(schedule: Schedule) -> ShownSchedule:
    return ShownSchedule.model_construct(
        spec=_shown_spec(schedule.canonical),
        policies=shown_policies(schedule.policies),
        input=schedule.input,
        memo=schedule.memo,
        **_own(schedule),
    )


def written_schedule_line(schedule: Schedule) -> str:
    """A `ShownScheduleLine` as JSON, without making one: a page of them is what takes longest of all that is read."""
    own = written_plain(_own(schedule))
    return f'{own[:-1]},"spec":{_written_spec(schedule.canonical)},"policies":{_written_policies(schedule.policies)}}}'


def _own(schedule: Schedule) -> dict[str, Any]:
    """What it hardly shares with others."""
    return {name: getattr(schedule, name) for name in _ALIKE}


def etag(schedule: Schedule) -> dict[str, str]:
    return {"ETag": f'"{schedule.token}"'}


@lru_cache(maxsize=10_000)
def _shown_spec(canonical: str) -> ShownSpec:
    """Remembered: to write the sentence takes longer than all the rest."""
    form = json.loads(canonical)
    try:
        summary = Spec.from_canonical(form).describe()
    except Invalid as refusal:
        # Its zone may be known elsewhere and not here.
        summary = str(refusal)
    return ShownSpec(summary=summary, timezone=form["timezone"], said=spec_options(canonical), canonical=form)


@lru_cache(maxsize=1000)
def shown_policies(policies: Policies) -> ShownPolicies:
    return ShownPolicies(
        overlap=policies.overlap,
        buffer=policies.buffer,
        catchup=policies.catchup,
        catchup_window=_span(policies.window),
        catchup_cap=policies.cap,
        grace=duration_text(policies.grace),
        lookahead=duration_text(policies.lookahead),
        retry=None if policies.retry is None else _shown_retry(policies.retry),
        timeout=_span(policies.timeout),
        limit=policies.limit,
        pause_on_failure=policies.pause_on_failure,
        budget=None if policies.budget is None else ShownBudget.model_validate(policies.budget.as_written()),
        max_calls=policies.max_calls,
        max_tokens=policies.max_tokens,
        max_credits=policies.max_credits,
    )


@lru_cache(maxsize=10_000)
def _written_spec(canonical: str) -> str:
    return written(_shown_spec(canonical))


@lru_cache(maxsize=1000)
def _written_policies(policies: Policies) -> str:
    return written(shown_policies(policies))


def _shown_retry(retry: Retry) -> ShownRetry:
    return ShownRetry(
        attempts=retry.attempts,
        backoff=duration_text(retry.backoff),
        factor=retry.factor,
        longest=duration_text(retry.longest),
        reasons=list(retry.reasons),
    )


def _span(microseconds: int | None) -> str | None:
    return None if microseconds is None else duration_text(microseconds)
