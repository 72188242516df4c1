"""The registrar: schedules of workflows in the words that compilers and deployers have for them.

What is registered is an ordinary schedule of `dag:` and a version, its user's, and every other verb works on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from foliot import chance
from foliot.books.configurations import compiled
from foliot.books.entries import Entries
from foliot.domain.errors import Conflict, NotFound
from foliot.domain.grants import LOCAL
from foliot.domain.instants import MICROSECONDS, instant_of, moment_of
from foliot.domain.policies import limit_of, switch_of
from foliot.domain.registrar_defaults import CatchupPolicy, OverlapPolicy, RegistrarDefaults
from foliot.domain.registration import (
    WORKFLOWS,
    Registration,
    RunWord,
    read_registration,
    registered_of,
    run_key,
    word_of,
)
from foliot.domain.runs import Kind
from foliot.domain.schedule import Standing, State, slug_of
from foliot.domain.workflows import workflow_from_text
from foliot.lines import RunPlace, RunSearch
from foliot.ports import Transaction
from foliot.rows import ScheduleRow
from foliot.services.creating import WantedSchedule, put_schedule
from foliot.services.desk import Desk, Found
from foliot.services.editing import delete_schedule, pause_schedule, registered_form, resume_schedule
from foliot.services.permission import may_be_given, wish_of
from foliot.services.run_lists import RunSummary, list_runs
from foliot.services.views import schedule_view

PREVIEWED = 5
"""Fire times that are shown with a schedule."""
_LONGEST_NAME = 60
"""Of a workflow in the id that a schedule is given: it, and what tells it from others, fit in."""
_STRETCHES = 20
"""Of the ledger that are looked at for the last runs, where most were not asked for by the spec."""


@dataclass(frozen=True, slots=True)
class RegisteredSchedule:
    """A schedule as the registrar tells it; what is None in it cannot be said in its words."""

    schedule_id: str
    workflow_id: str
    version: int | None
    user_id: str
    cron_expr: str | None
    timezone: str
    start_at: datetime | None
    end_at: datetime | None
    next_run_at: datetime | None
    """The next moment that it names, also while it is paused."""
    paused: bool
    jitter_ms: int
    overlap_policy: OverlapPolicy | None
    catchup_policy: CatchupPolicy | None
    updated_at: datetime
    preview: tuple[datetime, ...]


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """A slot of a schedule, and where its last attempt stands."""

    idempotency_key: str
    schedule_id: str
    run_at: datetime
    status: RunWord
    run_id: str
    created_at: datetime
    updated_at: datetime


class RegistrarVerbs:
    """What deployers ask of schedules of workflows."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def upsert(self, given: Any, defaults: RegistrarDefaults) -> RegisteredSchedule:
        """Create it, or make it what is said; what its words do not say stays, a pause too.

        Conflict when that id is of something else.
        """
        wanted = read_registration(given, defaults)
        # Drawn before the transaction, which may be taken anew.
        made = f"{slug_of(wanted.workflow_id)[:_LONGEST_NAME]}-{chance.short()}"
        schedule_id = wanted.schedule_id or made

        def act(tx: Transaction, entries: Entries) -> RegisteredSchedule:
            _check_free(tx, schedule_id, wanted)
            said = {**wanted.options, "input": _input_of(tx, wanted)}
            stored = registered_form(self._desk, tx, schedule_id, said)
            wish = wish_of(None if wanted.user == LOCAL else wanted.user, None)
            put = WantedSchedule(schedule_id, schedule_id, stored, wish)
            put_schedule(self._desk, tx, entries, put, None)
            entries.write(tx)
            found = self._desk.find(tx, schedule_id)
            return _shown(found.row, found.state, tx.now)

        return self._desk.write(act)

    def get(self, schedule_id: str) -> RegisteredSchedule:
        """It, and when it fires next."""

        def act(tx: Transaction) -> RegisteredSchedule:
            row = _of_workflow(self._desk.find_row(tx, schedule_id), schedule_id)
            (state,) = tx.states_seen([row.ref])
            return _shown(row, state, tx.now)

        return self._desk.read(act)

    def pause(self, schedule_id: str, paused: bool) -> None:
        """Pause it until it is told to go on, or let it go on; told what it does already, it changes nothing."""
        switch_of("paused", paused)

        def act(tx: Transaction, entries: Entries) -> None:
            found = self._find(tx, schedule_id)
            if not paused:
                resume_schedule(tx, entries, found)
            elif not found.state.is_paused(tx.now):
                pause_schedule(tx, entries, found, None, self._desk.principal.user)
            elif found.state.pause_to is not None:
                # It no longer ends by itself, and is still the pause of who has made it.
                row = found.row
                pause_schedule(tx, entries, found, row.pause_note, row.paused_by or self._desk.principal.user)

        self._desk.write(act)

    def delete(self, schedule_id: str) -> None:
        """Take it away: nothing of it starts any more, and its runs stay on record."""
        self._desk.write(lambda tx, entries: delete_schedule(tx, entries, self._find(tx, schedule_id)))

    def runs(self, schedule_id: str, limit: int) -> Sequence[ScheduleRun]:
        """Its last slots, the newest first. Who started it by hand, or to catch up, is not asked for here."""
        limit_of(limit)
        wanted = RunSearch(kind=Kind.SLOT)

        def act(tx: Transaction) -> Sequence[ScheduleRun]:
            row = _of_workflow(self._desk.find_row(tx, schedule_id, deleted=True), schedule_id)
            # The last attempt comes first.
            last: dict[datetime, RunSummary] = {}
            after: RunPlace | None = None
            for _ in range(_STRETCHES):
                stretch = list_runs(tx, wanted, row.ref, after, limit)
                for run in stretch.items:
                    last.setdefault(run.scheduled_for, run)
                if stretch.rest is None or len(last) > limit:
                    break
                after = RunPlace(*map(int, stretch.rest))
            return [_run(run) for run in islice(last.values(), limit)]

        return self._desk.read(act)

    def _find(self, tx: Transaction, schedule_id: str) -> Found:
        found = self._desk.find(tx, schedule_id)
        _of_workflow(found.row, schedule_id)
        return found


def _check_free(tx: Transaction, schedule_id: str, wanted: Registration) -> None:
    """Conflict when that id is somebody else's, or of something that is no workflow: nobody means to replace that."""
    known = tx.schedule(schedule_id)
    if known is None:
        return
    is_lost = known.deleted_at is None and not known.target_name.startswith(WORKFLOWS)
    if known.owner != wanted.user or is_lost:
        raise Conflict(
            f"there is a schedule {schedule_id!r} of {known.owner} already, which runs {known.target_name}: choose"
            " another schedule_id"
        )


def _input_of(tx: Transaction, wanted: Registration) -> dict[str, Any]:
    """What pins its runs to that version; NotFound when there is none."""
    row = tx.workflow(wanted.workflow_id, wanted.version)
    if row is None or not may_be_given(row, wanted.user):
        raise NotFound(
            f"there is no workflow {wanted.workflow_id!r} in version {wanted.version}: deploy it first, then register"
            " its schedule"
        )
    return {"version": wanted.version, "trigger": workflow_from_text(row.dag).trigger_of(wanted.cron)}


def _of_workflow(row: ScheduleRow, schedule_id: str) -> ScheduleRow:
    if not row.target_name.startswith(WORKFLOWS):
        raise NotFound(
            f"there is no schedule {schedule_id!r} of a workflow: the one of that name runs {row.target_name}, and is"
            " not the registrar's; register one under another schedule_id"
        )
    return row


def _shown(row: ScheduleRow, state: State, now: int) -> RegisteredSchedule:
    view = schedule_view(row, state, now, 0)
    told = registered_of(row.spec, view.policies, view.memo)
    preview = () if view.standing is Standing.COMPLETED else _preview(row, max(now, state.swept_to))
    version = view.input.get("version") if isinstance(view.input, dict) else None
    return RegisteredSchedule(
        schedule_id=row.id,
        workflow_id=row.target_name.removeprefix(WORKFLOWS),
        version=version if isinstance(version, int) else None,
        user_id=row.owner,
        cron_expr=told.cron_expr,
        timezone=told.timezone,
        start_at=_moment(told.start_at, "start_at"),
        end_at=_moment(told.end_at, "end_at"),
        next_run_at=preview[0] if preview else None,
        paused=view.paused,
        jitter_ms=told.jitter_ms,
        overlap_policy=told.overlap_policy,
        catchup_policy=told.catchup_policy,
        updated_at=view.updated_at,
        preview=preview,
    )


def _preview(row: ScheduleRow, after: int) -> tuple[datetime, ...]:
    times = compiled(row.spec)
    named = times.between(after // MICROSECONDS + 1, times.almanac.last)
    return tuple(moment_of(second * MICROSECONDS) for second in islice(named, PREVIEWED))


def _moment(text: str | None, name: str) -> datetime | None:
    return None if text is None else moment_of(instant_of(text, name))


def _run(run: RunSummary) -> ScheduleRun:
    return ScheduleRun(
        idempotency_key=run_key(run.schedule, instant_of(run.scheduled_for, "run_at")),
        schedule_id=run.schedule,
        run_at=run.scheduled_for,
        status=word_of(run.status, has_begun=run.started_at is not None),
        run_id=run.id,
        created_at=run.created_at,
        updated_at=run.ended_at or run.started_at or run.created_at,
    )
