"""What the verbs write when schedules come to be: for one who asks, or for several at once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from foliot.books.configurations import compiled
from foliot.books.entries import Entries
from foliot.domain.credits import Pricing
from foliot.domain.errors import Conflict, Invalid
from foliot.domain.generation import Timetable
from foliot.domain.policies import read_policies
from foliot.domain.schedule import State
from foliot.domain.tenures import Tenure, TenureEnd
from foliot.ports import Transaction
from foliot.rows import ScheduleRow
from foliot.services.configuration import Stored
from foliot.services.desk import Commission, Desk
from foliot.services.editing import Snapshot, edit, first_due, saved, snapshot_view
from foliot.services.permission import Wish, check_payable, grants_for, owner_of
from foliot.services.views import Schedule

_NAMED = 3
"""So many of those that are wrong are named at most."""


class Inserted(NamedTuple):
    """Schedules that are there now, and when the first of them must be looked at; None: none has any moment."""

    snapshots: list[Snapshot]
    look_at: int | None


class WantedSchedule(NamedTuple):
    """A schedule that is to be."""

    id: str
    name: str
    stored: Stored
    wish: Wish


class Remains(NamedTuple):
    """A deleted schedule, held for the transaction: who creates one of its name makes it live again."""

    row: ScheduleRow
    state: State


def hold_deleted(tx: Transaction, found: Iterable[ScheduleRow]) -> dict[str, Remains]:
    """Those of them that are deleted, by id, held: nobody else makes them live again meanwhile."""
    refs = [row.ref for row in found if row.deleted_at is not None]
    if not refs:
        return {}
    states = {state.ref: state for state in tx.states(refs)}
    # Read again now that they are held: somebody may have been the first.
    return {row.id: Remains(row, states[row.ref]) for row in tx.configurations(refs) if row.deleted_at is not None}


def insert_schedules(
    tx: Transaction,
    entries: Entries,
    wanted: Sequence[WantedSchedule],
    targets: Mapping[str, int],
    deleted: Mapping[str, Remains],
    app: str | None,
    pricing: Pricing,
) -> Inserted:
    """New schedules; those that are `deleted`, by id, live again for whose they were. Who wants them notes it.

    A clash with somebody else's that lives is the database's.
    """
    rows, cursors, snapshots = [], [], []
    now = tx.now
    refs = iter(tx.new_schedule_refs(len(wanted) - len(deleted)))
    first_due = _FirstDue(now)
    for (schedule_id, name, stored, _), (grant, owner) in zip(wanted, _permitted(tx, wanted, pricing), strict=True):
        target = targets[stored.target]
        old = deleted.get(schedule_id)
        if old is not None:
            _check_heir(old.row, owner)
            snapshots.append(_revive(tx, entries, old, stored, target, app=app, grant_ref=grant))
            continue
        ref, limit = next(refs), read_policies(stored.policies).limit
        wake_at = first_due.of(stored.spec, schedule_id)
        text = (stored.spec, stored.policies, stored.input, stored.labels, stored.memo)
        rows.append((ref, schedule_id, name, app, target, *text, 1, now, now, now, grant, owner))
        cursors.append((ref, 1, target, now, wake_at, limit))
        named = (ref, schedule_id, name, app, target, stored.target)
        row = ScheduleRow(*named, *text, 1, now, now, now, None, None, None, 0, grant, owner)
        state = State(ref, 1, target, now, wake_at, None, None, 0, 0, limit, 0, None, None, 0)
        snapshots.append(Snapshot(row, state, now))
    tx.insert_schedules(rows, cursors)
    wakes = [wake_at for *_, wake_at, _ in cursors if wake_at is not None]
    return Inserted(snapshots, 0 if deleted else min(wakes, default=None))


class _FirstDue:
    """When the first slots of new schedules are due. Without jitter all that share a spec share that moment."""

    def __init__(self, now: int) -> None:
        self._now = now
        self._shared: dict[str, int | None] = {}

    def of(self, spec: str, schedule_id: str) -> int | None:
        if spec in self._shared:
            return self._shared[spec]
        times = compiled(spec)
        wake_at = first_due(Timetable(times, schedule_id), self._now)
        if not times.jitter:
            self._shared[spec] = wake_at
        return wake_at


def check_different(what: str, wanted: Sequence[WantedSchedule]) -> None:
    """Invalid when two of them would be one."""
    counts = Counter(schedule.id for schedule in wanted)
    if twice := [schedule_id for schedule_id, count in counts.items() if count > 1]:
        raise Invalid(f"{what} take different names, got {', '.join(map(repr, twice[:_NAMED]))} more than once")


def check_users(desk: Desk, tx: Transaction, wanted: Sequence[WantedSchedule]) -> None:
    """NotFound when one of them would be a user's whom nobody knows."""
    for user in {schedule.wish.user for schedule in wanted}:
        if user is not None:
            desk.check_known(tx, user)


def _permitted(tx: Transaction, wanted: Sequence[WantedSchedule], pricing: Pricing) -> list[tuple[int, str]]:
    """For each its grant and whose it is; Unpaid when nobody could pay for one."""
    grants = grants_for(tx, [(schedule.stored.target, schedule.wish) for schedule in wanted])
    check_payable(tx, pricing, [(grant, schedule.stored.input) for grant, schedule in zip(grants, wanted, strict=True)])
    owners = {wish: owner_of(tx, wish) for wish in {schedule.wish for schedule in wanted}}
    return [(grant, owners[schedule.wish]) for grant, schedule in zip(grants, wanted, strict=True)]


def note_created(entries: Entries, wanted: Sequence[WantedSchedule]) -> None:
    """Many at once are one deed: the trail says how many there were, and by a digest which."""
    if len(wanted) == 1:
        entries.note("schedule.create", "schedule", wanted[0].id, target=wanted[0].stored.target)
    elif wanted:
        ids = "\n".join(sorted(schedule.id for schedule in wanted))
        digest = sha256(ids.encode()).hexdigest()
        entries.note("schedule.create", "schedules", f"{len(wanted)}", first=wanted[0].id, ids=digest)


def put_schedule(
    desk: Desk,
    tx: Transaction,
    entries: Entries,
    wanted: WantedSchedule,
    app: str | None,
    edit_wish: Wish | None = None,
) -> Schedule:
    """Create it, or make it what is wanted; unchanged it is left alone, and paused it stays paused.

    One that is there may be wished to run by something else than a new one would.
    """
    row = tx.schedule(wanted.id)
    if row is not None and not desk.principal.sees(row.owner):
        raise taken(wanted.id)
    deleted = {} if row is None else hold_deleted(tx, [row])
    if row is None or deleted:
        check_users(desk, tx, [wanted])
        targets = tx.target_refs([wanted.stored.target])
        # Not looked up again: whoever creates it meanwhile makes this run anew, not a conflict.
        inserted = insert_schedules(tx, entries, [wanted], targets, deleted, app, desk.pricing)
        note_created(entries, [wanted])
        return snapshot_view(inserted.snapshots[0])
    found = desk.find(tx, wanted.id)
    if app is not None and found.row.app != app:
        entries.note("schedule.adopt", "schedule", found.row.id, app=app)
        tx.update_schedule(found.row.ref, app=app)
    return edit(tx, entries, found, wanted.stored, wanted.wish if edit_wish is None else edit_wish)


def create_each(tx: Transaction, entries: Entries, commissions: Sequence[Commission[WantedSchedule]]) -> list[Snapshot]:
    """What each has ordered, and a deed of each. Conflict when there is one already, or somebody else's was there.

    Also when two want the same: only one after the other can they be told who was the first.
    """
    (name, times), *_ = Counter(commission.given.id for commission in commissions).most_common(1)
    if times > 1:
        raise taken(name)
    return _created(tx, entries, commissions, None, [[commission.given] for commission in commissions])


def create_all(
    desk: Desk, tx: Transaction, entries: Entries, wanted: Sequence[WantedSchedule], app: str | None
) -> list[Snapshot]:
    """All that one wants, as one deed; else the same."""
    return _created(tx, entries, [Commission(desk, one) for one in wanted], app, [wanted])


def _created(
    tx: Transaction,
    entries: Entries,
    commissions: Sequence[Commission[WantedSchedule]],
    app: str | None,
    noted: Iterable[Sequence[WantedSchedule]],
) -> list[Snapshot]:
    wanted = [commission.given for commission in commissions]
    for desk in dict.fromkeys(commission.desk for commission in commissions):
        check_users(desk, tx, [commission.given for commission in commissions if commission.desk is desk])
    targets = tx.target_refs({schedule.stored.target for schedule in wanted})
    inserted = insert_schedules(tx, entries, wanted, targets, _deleted(tx, commissions), app, entries.permits.pricing)
    entries.look_at = inserted.look_at
    for together in noted:
        note_created(entries, together)
    return inserted.snapshots


def _deleted(tx: Transaction, commissions: Sequence[Commission[WantedSchedule]]) -> dict[str, Remains]:
    """Those of the wanted that exist and are deleted; Conflict for one that lives, or was somebody else's."""
    found = {row.id: row for row in tx.schedules([commission.given.id for commission in commissions])}
    deleted = hold_deleted(tx, found.values())
    for desk, wanted in commissions if found else ():
        row = found.get(wanted.id)
        if row is None:
            continue
        if not desk.principal.sees(row.owner):
            raise taken(row.id)
        if row.id not in deleted:
            raise Conflict(
                f"there is a schedule {row.id!r} already: change that one, upsert it, or choose another name"
            )
    return deleted


def taken(schedule_id: str) -> Conflict:
    """Somebody else has that name, which is no business of the caller's."""
    return Conflict(f"the name {schedule_id!r} is taken: choose another")


def _check_heir(row: ScheduleRow, owner: str) -> None:
    """Conflict when a deleted schedule would live again as somebody else's: its runs stay with whose they are.

    Only for those to be told who see it.
    """
    if row.owner != owner:
        raise Conflict(
            f"the name {row.id!r} is that of a deleted schedule of {row.owner}, whose runs are kept under it:"
            f" choose another for what is to be {owner}'s, or make it {row.owner}'s again"
        )


def _revive(tx: Transaction, entries: Entries, old: Remains, stored: Stored, target: int, **said: Any) -> Snapshot:
    """A deleted schedule lives again, as new, but goes on where its cursor stands: no slot fires twice."""
    row, state = old
    tx.keep_spec(row.ref, Tenure(row.spec, row.spec_since, state.swept_to, TenureEnd.DELETION))
    swept_to = max(state.swept_to, tx.now)
    state = state._replace(
        target=target,
        swept_to=swept_to,
        wake_at=first_due(Timetable(compiled(stored.spec), row.id), swept_to),
        pause_from=None,
        pause_to=None,
        remaining=read_policies(stored.policies).limit,
        last_result=None,
        last_failure=None,
        refusals=0,
    )
    entries.move(state)
    return saved(
        tx,
        entries,
        row,
        state,
        **stored._replace(target="")._asdict() | {"target": target} | said,
        deleted_at=None,
        pause_note=None,
        paused_by=None,
        created_at=tx.now,
        spec_since=swept_to,
    )
