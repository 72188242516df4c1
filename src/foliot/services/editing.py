"""What the verbs write when a schedule comes to be, changes, loses a slot, or goes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from foliot.books.configurations import Scheduled, compiled
from foliot.books.entries import Entries
from foliot.books.posting import applicant_of, post_applicants, post_edit, post_owed, post_release
from foliot.domain.credits import Pricing
from foliot.domain.errors import Conflict, Invalid
from foliot.domain.generation import Timetable
from foliot.domain.instants import MICROSECONDS, rfc3339
from foliot.domain.policies import Overlap, read_policies
from foliot.domain.runs import Hold, Kind, Reason, Status
from foliot.domain.schedule import State
from foliot.domain.slots import Slot
from foliot.ports import Transaction
from foliot.rows import RunRow, ScheduleRow
from foliot.services.configuration import Stored
from foliot.services.desk import Found, find
from foliot.services.permission import NO_WISH, Wish, check_payable, grants_for, let_go, regranted
from foliot.services.views import Schedule, schedule_view


class WantedSchedule(NamedTuple):
    """A schedule that is to be."""

    id: str
    name: str
    stored: Stored
    wish: Wish


def insert_schedules(
    tx: Transaction,
    entries: Entries,
    wanted: list[WantedSchedule],
    targets: Mapping[str, int],
    deleted: Mapping[str, ScheduleRow],
    app: str | None,
    pricing: Pricing,
) -> list[Schedule]:
    """New schedules; those that are `deleted`, by id, live again. A clash with somebody else's is the database's."""
    rows, cursors, created = [], [], []
    now = tx.now
    refs = iter(tx.new_schedule_refs(len(wanted) - len(deleted)))
    grants = grants_for(tx, [(stored.target, wish) for _, _, stored, wish in wanted])
    check_payable(tx, pricing, [(grant, stored.input) for grant, (_, _, stored, _) in zip(grants, wanted, strict=True)])
    for (schedule_id, name, stored, _), grant in zip(wanted, grants, strict=True):
        target = targets[stored.target]
        old = deleted.get(schedule_id)
        if old is not None:
            created.append(_revive(tx, entries, old, stored, target, app, grant))
            continue
        ref = next(refs)
        policies = read_policies(stored.policies)
        wake_at = _first_due(Timetable(compiled(stored.spec), schedule_id), now)
        text = (stored.spec, stored.policies, stored.input, stored.labels, stored.memo)
        rows.append((ref, schedule_id, name, app, target, *text, 1, now, now, now, grant))
        cursors.append((ref, 1, target, now, wake_at, policies.limit))
        row = ScheduleRow(
            ref, schedule_id, name, app, target, stored.target, *text, 1, now, now, now, None, None, None, 0, grant
        )
        state = State(ref, 1, target, now, wake_at, None, None, 0, 0, policies.limit, 0, None, None, 0)
        created.append(schedule_view(row, state, now, 0))
    tx.insert_schedules(rows, cursors)
    return created


def put_schedule(
    tx: Transaction, entries: Entries, wanted: WantedSchedule, app: str | None, pricing: Pricing
) -> Schedule:
    """Create it, or make it what is wanted; unchanged it is left alone, and paused it stays paused."""
    row = tx.schedule(wanted.id)
    if row is None or row.deleted_at is not None:
        targets = tx.target_refs([wanted.stored.target])
        # Not looked up again: whoever creates it meanwhile makes this run anew, not a conflict.
        deleted = {} if row is None else {wanted.id: row}
        return insert_schedules(tx, entries, [wanted], targets, deleted, app, pricing)[0]
    found = find(tx, wanted.id)
    if app is not None and found.row.app != app:
        tx.update_schedule(found.row.ref, app=app)
    return edit(tx, entries, found, wanted.stored, wanted.wish)


def deleted_schedules(tx: Transaction, ids: list[str]) -> dict[str, ScheduleRow]:
    """Those that exist and are deleted; Conflict for one that lives."""
    found = {row.id: row for row in tx.schedules(ids)}
    for row in found.values():
        if row.deleted_at is None:
            raise Conflict(f"there is a schedule {row.id!r} already: change it with replace or patch, or use upsert")
    return found


def _revive(
    tx: Transaction, entries: Entries, row: ScheduleRow, stored: Stored, target: int, app: str | None, grant: int
) -> Schedule:
    """A deleted schedule lives again, as new, but goes on where its cursor stands: no slot fires twice."""
    (state,) = tx.states([row.ref])
    swept_to = max(state.swept_to, tx.now)
    state = state._replace(
        target=target,
        swept_to=swept_to,
        wake_at=_first_due(Timetable(compiled(stored.spec), row.id), swept_to),
        pause_from=None,
        pause_to=None,
        remaining=read_policies(stored.policies).limit,
        last_result=None,
        last_failure=None,
        refusals=0,
    )
    entries.move(state)
    return change(
        tx,
        entries,
        row,
        state,
        **stored._replace(target="")._asdict() | {"target": target},
        app=app,
        deleted_at=None,
        pause_note=None,
        paused_by=None,
        created_at=tx.now,
        spec_since=tx.now,
        grant_ref=grant,
    )


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
        state = post_edit(tx, entries, before, state)
        entries.write(tx)
        state = _under_new_rules(state, before, stored)
    if stored.spec != row.spec:
        changes["spec_since"] = tx.now
    if target != row.target:
        tx.retarget(row.ref, target)
        tx.retarget_backfills(row.ref, target)
    state = state._replace(target=target)
    entries.move(state)
    return change(tx, entries, row, state, **changes)


def _under_new_rules(state: State, before: Scheduled, stored: Stored) -> State:
    policies = read_policies(stored.policies)
    if policies.limit != before.policies.limit:
        state = state._replace(remaining=policies.limit)
    if state.pause_from is not None and state.pause_to is None:
        return state._replace(wake_at=None)
    if state.remaining == 0:
        return state._replace(wake_at=None)
    due_at = _first_due(Timetable(compiled(stored.spec), before.id), state.swept_to)
    return state._replace(wake_at=due_at if state.pause_to is None else state.pause_to)


def change(tx: Transaction, entries: Entries, row: ScheduleRow, state: State, **changes: Any) -> Schedule:
    """Save the schedule with a new conflict token."""
    version = row.version + 1
    tx.update_schedule(row.ref, version=version, updated_at=tx.now, **changes)
    tx.set_version(row.ref, version, state.target)
    entries.move(state._replace(version=version))
    entries.write(tx)
    (saved,) = tx.configurations([row.ref])
    (state,) = tx.states([row.ref])
    return shown(tx, saved, state)


def pause_schedule(
    tx: Transaction, entries: Entries, found: Found, note: str | None, by: str, until: int | None = None
) -> Schedule:
    """Start nothing of its own until it is resumed, or until that moment."""
    state = found.state
    if not state.is_paused(tx.now):
        # What came due before the pause is judged as if there were none.
        state = post_owed(tx, entries, found.schedule, state)._replace(pause_from=tx.now)
    state = state._replace(pause_to=until, wake_at=until)
    entries.move(state)
    return change(tx, entries, found.row, state, pause_note=note, paused_by=by)


def resume_schedule(tx: Transaction, entries: Entries, found: Found) -> Schedule:
    """End its pause; nothing happens when it is not paused."""
    if not found.state.is_paused(tx.now):
        return shown(tx, found.row, found.state)
    state = found.state._replace(pause_to=tx.now, wake_at=tx.now)
    entries.move(state)
    return change(tx, entries, found.row, state, pause_note=None, paused_by=None)


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
    return first_run_at(tx, found.row.ref, nominal_at, Kind.MANUAL)


def skip_slot(tx: Transaction, entries: Entries, found: Found, nominal_at: int) -> State:
    state, schedule = found.state, found.schedule
    rows = [run for run in tx.runs_at(found.row.ref, nominal_at) if run.kind == Kind.SLOT]
    if rows:
        last = rows[-1]
        if last.status != Status.PENDING or last.hold is None:
            rule = "only a slot that is to come or is held can be skipped"
            if last.status == Status.WAITING:
                rule = "it has begun and asked a person. `runs.decide` answers it, `runs.cancel` ends it"
            raise Conflict(f"{rfc3339(nominal_at)} of {found.row.id} is {last.status}: {rule}")
        entries.end_run(last.ref, Status.SKIPPED, Reason.SKIPPED_BY_USER)
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
    freed = 0
    for run in tx.open_runs(row.ref):
        if run.status != Status.RUNNING:
            entries.stop_run(run, Reason.SCHEDULE_DELETED)
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


def _first_due(timetable: Timetable, swept_to: int) -> int | None:
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
    return schedule_view(row, state, tx.now, tx.running_counts([row.ref]).get(row.ref, 0))
