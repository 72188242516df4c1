"""What the verbs write when a schedule changes, loses a slot, or goes."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from foliot.books.configurations import Scheduled, compiled
from foliot.books.entries import Entries
from foliot.books.posting import applicant_of, post_applicants, post_edit, post_owed, post_release
from foliot.domain.errors import Conflict, Invalid
from foliot.domain.generation import Timetable
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.domain.policies import Overlap, read_policies
from foliot.domain.runs import Hold, Kind, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.slots import Slot
from foliot.domain.tenures import Tenure, TenureEnd
from foliot.ports import Transaction
from foliot.rows import RunRow, ScheduleRow
from foliot.services.configuration import Stored, patched, stored_of
from foliot.services.desk import Desk, Found
from foliot.services.permission import NO_WISH, Wish, check_payable, let_go, regranted
from foliot.services.views import Schedule, schedule_view

_NAMED = 3
"""So many of those that are wrong are named at most."""


class Snapshot(NamedTuple):
    """A schedule as the database had it at that moment, with so many runs under way."""

    row: ScheduleRow
    state: State
    now: int
    running: int = 0
    marked: Collection[int] = ()
    """The nominal times of slots to come that somebody has skipped."""


def edit(tx: Transaction, entries: Entries, found: Found, stored: Stored, wish: Wish = NO_WISH) -> Schedule:
    """Make the schedule what is stored; new rules hold from now on and never for what was before."""
    row, state, before = found
    grant = regranted(tx, row.grant_ref, wish, row.target_name, stored.target)
    if stored == stored_form(row) and grant == row.grant_ref:
        return shown(tx, row, state)
    if (stored.input, grant) != (row.input, row.grant_ref):
        check_payable(tx, entries.permits.pricing, [(grant, stored.input)])
    target = tx.target_refs([stored.target])[stored.target]
    changes: dict[str, Any] = {**stored._asdict(), "target": target, "grant_ref": grant}
    if stored.spec != row.spec or stored.policies != row.policies:
        state, recorded_to = post_edit(tx, entries, before, state)
        entries.write(tx)
        state = _under_new_rules(state, before, stored)
        changes["spec_since"] = _spec_since(tx, row, stored, recorded_to)
    if target != row.target:
        tx.retarget(row.ref, target)
        tx.retarget_backfills(row.ref, target)
    state = state._replace(target=target)
    entries.move(state)
    was = {**stored_form(row)._asdict(), "target": row.target, "grant_ref": row.grant_ref}
    changed = sorted(name for name, value in was.items() if changes[name] != value)
    entries.note("schedule.edit", "schedule", row.id, changed=changed, token=row.version + 1)
    return change(tx, entries, row, state, **changes)


def _spec_since(tx: Transaction, row: ScheduleRow, stored: Stored, recorded_to: int) -> int:
    """Since when the spec is in force after the edit; what was before is kept, if it has ended."""
    has_lapsed = recorded_to < tx.now
    if stored.spec == row.spec and not has_lapsed:
        return row.spec_since
    # Also when it named nothing before the edit: somebody may have skipped a slot of it that was still to come.
    ended_by = TenureEnd.LIMIT if has_lapsed else TenureEnd.EDIT
    tx.keep_spec(row.ref, Tenure(row.spec, row.spec_since, recorded_to, ended_by))
    return tx.now


def _under_new_rules(state: State, before: Scheduled, stored: Stored) -> State:
    policies = read_policies(stored.policies)
    if policies.limit != before.policies.limit:
        state = state._replace(remaining=policies.limit)
    if state.pause_from is not None and state.pause_to is None:
        return state._replace(wake_at=None)
    if state.remaining == 0:
        return state._replace(wake_at=None)
    due_at = first_due(Timetable(compiled(stored.spec), before.id), state.swept_to)
    return state._replace(wake_at=due_at if state.pause_to is None else state.pause_to)


def change(tx: Transaction, entries: Entries, row: ScheduleRow, state: State, **changes: Any) -> Schedule:
    """Save the schedule with a new conflict token."""
    return snapshot_view(saved(tx, entries, row, state, **changes))


def saved(tx: Transaction, entries: Entries, row: ScheduleRow, state: State, **changes: Any) -> Snapshot:
    version = row.version + 1
    tx.update_schedule(row.ref, version=version, updated_at=tx.now, **changes)
    tx.set_version(row.ref, version, state.target)
    entries.move(state._replace(version=version))
    entries.write(tx)
    (saved,) = tx.configurations([row.ref])
    (state,) = tx.states([row.ref])
    return _snapshot(tx, saved, state)


def pause_schedule(
    tx: Transaction, entries: Entries, found: Found, note: str | None, by: str, until: int | None = None
) -> Schedule:
    """Start nothing of its own until it is resumed, or until that moment."""
    state = post_pause(tx, entries, found, note, by, until)
    return change(tx, entries, found.row, state, pause_note=note, paused_by=by)


def post_pause(
    tx: Transaction, entries: Entries, found: Found, note: str | None, by: str, until: int | None = None
) -> State:
    """The state of a schedule that is paused from now on, and the deed; what its row says of it is the caller's."""
    state = found.state
    if not state.is_paused(tx.now):
        # What came due before the pause is judged as if there were none.
        state = post_owed(tx, entries, found.schedule, state)._replace(pause_from=tx.now)
    state = state._replace(pause_to=until, wake_at=until)
    entries.move(state)
    entries.note(
        "schedule.pause", "schedule", found.row.id, note=note, by=by, until=None if until is None else rfc3339(until)
    )
    return state


def resume_schedule(tx: Transaction, entries: Entries, found: Found) -> Schedule:
    """End its pause; nothing happens when it is not paused."""
    if not found.state.is_paused(tx.now):
        return shown(tx, found.row, found.state)
    return change(tx, entries, found.row, post_resume(tx, entries, found), pause_note=None, paused_by=None)


def post_resume(tx: Transaction, entries: Entries, found: Found) -> State:
    """The state of a schedule whose pause ends now, and the deed; what its row says of it is the caller's."""
    state = found.state._replace(pause_to=tx.now, wake_at=tx.now)
    entries.move(state)
    entries.note("schedule.resume", "schedule", found.row.id)
    return state


def trigger_run(tx: Transaction, entries: Entries, found: Found, input: str | None, overlap: Overlap | None) -> RunRow:
    """A run that somebody wants now, judged like any other."""
    last = tx.last_manual(found.row.ref, tx.now)
    nominal_at = tx.now if last is None else last + 1
    entries.record(
        found.schedule,
        Slot(nominal_at, tx.now),
        Status.PENDING,
        hold=Hold.DUE,
        kind=Kind.MANUAL,
        overlap=overlap,
        input=input,
    )
    entries.write(tx)
    run = first_run_at(tx, found.row.ref, nominal_at, Kind.MANUAL)
    post_applicants(tx, entries, found.schedule, found.state, [applicant_of(run)], [run])
    entries.write(tx)
    entries.note("schedule.trigger", "schedule", found.row.id, at=rfc3339(nominal_at))
    return first_run_at(tx, found.row.ref, nominal_at, Kind.MANUAL)


def skip_slot(tx: Transaction, entries: Entries, found: Found, nominal_at: int) -> State:
    state, schedule = found.state, found.schedule
    entries.note("schedule.skip", "schedule", found.row.id, at=rfc3339(nominal_at))
    rows = [run for run in tx.runs_at(found.row.ref, nominal_at) if run.kind == Kind.SLOT]
    if rows:
        last = rows[-1]
        if last.status != Status.PENDING or last.hold is None:
            rule = "only a slot that is to come or is held can be skipped"
            if last.status == Status.WAITING:
                rule = "it has begun and asked a person. `runs.decide` answers it, `runs.cancel` ends it"
            raise Conflict(f"{rfc3339(nominal_at)} of {found.row.id} is {last.status}: {rule}")
        entries.end_run(found.row.id, last, Status.SKIPPED, Reason.SKIPPED_BY_USER)
        held = last.hold in (Hold.OVERLAP, Hold.PAUSED)
        occupies = bool(last.occupies)
        entries.write(tx)
        state = state._replace(held=state.held - held, running=state.running - occupies)
        return post_release(tx, entries, schedule, state)
    second, rest = divmod(nominal_at, MICROSECONDS)
    if rest or not schedule.timetable.times.matches(second):
        raise Invalid(f"{found.row.id} has no slot at {rfc3339(nominal_at)}: `schedules.times` lists those to come")
    if nominal_at <= state.swept_to:
        raise Conflict(f"{rfc3339(nominal_at)} of {found.row.id} is over: only a slot to come can be skipped")
    due_at = schedule.timetable.due_at(second)
    entries.record(schedule, Slot(nominal_at, due_at), Status.SKIPPED, reason=Reason.SKIPPED_BY_USER)
    return state._replace(marks=state.marks + 1)


def delete_schedule(tx: Transaction, entries: Entries, found: Found) -> None:
    row, state, _ = found
    entries.note("schedule.delete", "schedule", row.id)
    freed = 0
    for run in tx.open_runs(row.ref):
        if run.status != Status.RUNNING:
            entries.stop_run(row.id, run, Reason.SCHEDULE_DELETED)
            freed += run.occupies
            if run.kind == Kind.BACKFILL:
                entries.end_of_backfill_run(run.backfill)
    for backfill in tx.list_backfills(row.ref):
        if backfill.ended_at is None:
            tx.save_backfill(backfill._replace(wake_at=None, ended_at=tx.now))
    let_go(tx, row.grant_ref)
    state = state._replace(wake_at=None, held=0, running=state.running - freed, pause_from=None, pause_to=None)
    change(tx, entries, row, state, deleted_at=tx.now)


def check_token(row: ScheduleRow, token: int) -> None:
    if token != row.version:
        raise Conflict(
            f"schedule {row.id!r} was changed meanwhile (token {row.version}, yours {token}): read it and try again"
        )


def stored_form(row: ScheduleRow) -> Stored:
    return Stored(row.target_name, row.spec, row.policies, row.input, row.labels, row.memo)


def registered_form(desk: Desk, tx: Transaction, schedule_id: str, said: Mapping[str, Any]) -> Stored:
    """What a workflow's schedule becomes: what is said, and of one that is there all that deployers cannot say."""
    known = tx.schedule(schedule_id)
    if known is None or known.deleted_at is not None:
        return stored_of(schedule_id, said)
    row, _, schedule = desk.find(tx, schedule_id)
    kept = {name: {**_entries(getattr(row, name)), **said[name]} for name in ("input", "memo") if name in said}
    return patched(schedule_id, stored_form(row), schedule.policies, {**said, **kept})


def _entries(text: str | None) -> dict[str, Any]:
    """What somebody has put beside our own: `inputs` of the workflow, or words of theirs in the memo."""
    value = None if text is None else json.loads(text)
    return value if isinstance(value, dict) else {}


def first_due(timetable: Timetable, swept_to: int) -> int | None:
    slot = timetable.next_after(swept_to // MICROSECONDS)
    return None if slot is None else slot.due_at


def first_run_at(tx: Transaction, schedule_ref: int, nominal_at: int, kind: Kind) -> RunRow:
    run = tx.run_at(schedule_ref, nominal_at, kind, 0, 1)
    assert run is not None
    return run


def view_of(tx: Transaction, row: ScheduleRow) -> Schedule:
    (state,) = tx.states_seen([row.ref])
    return shown(tx, row, state)


def shown(tx: Transaction, row: ScheduleRow, state: State) -> Schedule:
    return snapshot_view(_snapshot(tx, row, state))


def _snapshot(tx: Transaction, row: ScheduleRow, state: State) -> Snapshot:
    running, marked = tx.running_counts([row.ref]), marked_ahead(tx, [state])
    return Snapshot(row, state, tx.now, running.get(row.ref, 0), marked.get(row.ref, ()))


def marked_ahead(tx: Transaction, states: Iterable[State]) -> Mapping[int, Collection[int]]:
    """By schedule, the nominal times of slots to come that somebody has skipped; where none are, nothing is read."""
    refs = [state.ref for state in states if state.marks]
    found: dict[int, set[int]] = {}
    for ref, ahead in tx.ahead_of_cursors(refs) if refs else ():
        found.setdefault(ref, set()).add(ahead.nominal_at)
    return found


def schedule_views(tx: Transaction, lines: Sequence[tuple[ScheduleRow, State]]) -> list[Schedule]:
    """Several schedules as they stand; the database is asked for all of them at once."""
    running = tx.running_counts(row.ref for row, _ in lines)
    marked = marked_ahead(tx, (state for _, state in lines))
    return [schedule_view(row, state, tx.now, running.get(row.ref, 0), marked.get(row.ref, ())) for row, state in lines]


def snapshot_view(snapshot: Snapshot) -> Schedule:
    return schedule_view(*snapshot)
