"""The verbs on schedules. Each is one transaction, and wakes the engines when it is done."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from foliot.books.configurations import compiled
from foliot.books.entries import Entries
from foliot.courtesy import INTERPRETER
from foliot.domain import ledger
from foliot.domain.backfill import Backfill as BackfillRequest
from foliot.domain.backfill import Direction, Which, lane_width, range_of
from foliot.domain.errors import Invalid
from foliot.domain.grants import LOCAL
from foliot.domain.instants import MICROSECONDS, instant_of, moment_of, rfc3339
from foliot.domain.policies import count_of, limit_of, overlap_of, read_policies, switch_of
from foliot.domain.runs import Kind
from foliot.domain.schedule import OWN, labels_of, name_of, own_json_text, slug_of, text_of
from foliot.domain.spec import Spec
from foliot.domain.troubles import Trouble
from foliot.ports import Transaction
from foliot.rows import ScheduleFilter, ScheduleRow
from foliot.services.backfilling import (
    MOST_LISTED,
    check_meant,
    check_range,
    cost_each,
    planned_backfill,
    started_backfill,
)
from foliot.services.budgeting import use_by_schedule
from foliot.services.configuration import Stored, patched, stored_among, stored_of
from foliot.services.creating import WantedSchedule, check_different, create_all, create_each, put_schedule
from foliot.services.desk import Desk
from foliot.services.editing import (
    check_token,
    delete_schedule,
    edit,
    pause_schedule,
    resume_schedule,
    schedule_views,
    skip_slot,
    snapshot_view,
    stored_form,
    trigger_run,
    view_of,
)
from foliot.services.permission import Wish, wish_of
from foliot.services.run_details import lacks, record_of
from foliot.services.stretches import Stretch, stretch_of
from foliot.services.views import Backfill, BudgetUse, Estimate, Run, Schedule, backfill_view, run_view

Moment = datetime | str
Backfills = list[Backfill]
Moments = list[datetime]


class Explanation(NamedTuple):
    """Why a moment did or did not run."""

    verdict: str
    reason: str | None
    run_id: str | None
    sentence: str


class ScheduleVerbs:
    """What may be asked of schedules. A schedule is named by its id or by the name that it was given."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create(self, name: str, **options: Any) -> Schedule:
        """A new schedule; its first slot is the first after now. Conflict when there is one of that name."""
        wanted = self._wanted_one({"name": name, **options}, stored_of)
        return self._desk.write_along(create_each, wanted, snapshot_view)

    def create_many(self, several: Iterable[Mapping[str, Any]], app: str | None = None) -> Sequence[Schedule]:
        """Several new schedules at once, all or none; each mapping is a name and the options of `create`."""
        wanted = self._wanted(several)
        return self._desk.write_shown(
            lambda tx, entries: create_all(self._desk, tx, entries, wanted, app),
            lambda snapshots: [snapshot_view(one) for one in INTERPRETER.politely(snapshots)],
        )

    def _wanted(self, several: Iterable[Mapping[str, Any]]) -> Sequence[WantedSchedule]:
        wanted = []
        if isinstance(several, Mapping | str) or not isinstance(several, Iterable):
            raise Invalid(f"create_many takes several mappings of a name and options, got {several!r}")
        for given in INTERPRETER.politely(several):
            if not isinstance(given, Mapping):
                raise Invalid(f"create_many takes mappings of a name and options, got {given!r}")
            wanted.append(self._wanted_one(given, stored_among))
        check_different("schedules", wanted)
        return wanted

    def _wanted_one(self, given: Mapping[str, Any], read: Callable[[str, Mapping[str, Any]], Stored]) -> WantedSchedule:
        options = dict(given)
        name = options.pop("name", None)
        wish = self._wish(options.pop("user", None), options.pop("grant", None))
        return WantedSchedule(slug_of(name), name, read(name, options), wish)

    def upsert(
        self, name: str, *, app: str | None = None, user: str | None = None, grant: str | None = None, **options: Any
    ) -> Schedule:
        """Create it, or make it what these options say; unchanged it is left alone, and paused it stays paused."""
        schedule_id, wish = slug_of(name), self._wish(user, grant)
        # Whose it is that is there already, is asked only when somebody is named.
        edit_wish = self._edit_wish(grant) if user is None else wish
        app = text_of("app", app)

        def act(tx: Transaction, entries: Entries) -> Schedule:
            stored = stored_of(self._called(tx, schedule_id) or name, options)
            wanted = WantedSchedule(schedule_id, name, stored, wish)
            return put_schedule(self._desk, tx, entries, wanted, app, edit_wish)

        return self._desk.write(act)

    def _called(self, tx: Transaction, schedule_id: str) -> str | None:
        """The name of the schedule of that id; None when there is none that the caller sees."""
        row = tx.schedule(schedule_id)
        if row is None or row.deleted_at is not None or not self._desk.principal.sees(row.owner):
            return None
        return row.name

    def _wish(self, user: str | None, grant: str | None) -> Wish:
        """By whose permission: the caller's own, unless they are the program itself or name somebody they act for."""
        principal = self._desk.principal
        is_program = principal.user == LOCAL and principal.key is None
        whose = None if user is None and is_program else self._desk.user(user)
        if whose is not None and user is None and grant is not None and principal.seen_owner is None:
            whose = None
        return wish_of(whose, grant, principal.seen_owner)

    def _edit_wish(self, grant: str | None) -> Wish:
        return wish_of(None, grant, self._desk.principal.seen_owner)

    def get(self, name: str) -> Schedule:
        def act(tx: Transaction) -> Schedule:
            return view_of(tx, self._desk.find_row(tx, name))

        return self._desk.read(act)

    def list(
        self,
        *,
        app: str | None = None,
        target: str | None = None,
        labels: Mapping[str, str] | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> list[Schedule]:
        """Schedules by id, beginning after that one."""
        wanted = ScheduleFilter(
            text_of("app", app),
            text_of("target", target),
            labels_of(labels),
            limit=count_of("limit", limit),
            after_id=text_of("after", after),
            owner=self._desk.principal.seen_owner,
        )

        def act(tx: Transaction) -> list[Schedule]:
            return schedule_views(tx, tx.list_schedules(wanted))

        return self._desk.read(act)

    def replace(self, name: str, *, token: int, grant: str | None = None, **options: Any) -> Schedule:
        """Make it what these options say, as a whole; Conflict when it was changed since the token was read."""
        wish = self._edit_wish(grant)

        def act(tx: Transaction, entries: Entries) -> Schedule:
            found = self._desk.find(tx, name)
            check_token(found.row, token)
            return edit(tx, entries, found, stored_of(found.row.name, options), wish)

        return self._desk.write(act)

    def patch(self, name: str, *, token: int | None = None, grant: str | None = None, **changes: Any) -> Schedule:
        """Change only these options; None puts one back to its default. The token is checked when given."""
        wish = self._edit_wish(grant)

        def act(tx: Transaction, entries: Entries) -> Schedule:
            found = self._desk.find(tx, name)
            if token is not None:
                check_token(found.row, token)
            stored = patched(found.row.name, stored_form(found.row), read_policies(found.row.policies), changes)
            return edit(tx, entries, found, stored, wish)

        return self._desk.write(act)

    def pause(self, name: str, note: str | None = None, *, until: Moment | None = None, by: str = "user") -> Schedule:
        """Start nothing of its own until it is resumed, or until that moment."""
        until_at = None if until is None else instant_of(until, "until")
        note, by = text_of("note", note), name_of("by", by)

        def act(tx: Transaction, entries: Entries) -> Schedule:
            found = self._desk.find(tx, name)
            if until_at is not None and until_at <= tx.now:
                raise Invalid(f"until takes a moment to come, got {rfc3339(until_at)}")
            return pause_schedule(tx, entries, found, note, by, until_at)

        return self._desk.write(act)

    def resume(self, name: str) -> Schedule:
        """End its pause: what fell into it is judged by catch-up. Nothing happens when it is not paused."""

        def act(tx: Transaction, entries: Entries) -> Schedule:
            return resume_schedule(tx, entries, self._desk.find(tx, name))

        return self._desk.write(act)

    def trigger(self, name: str, *, input: Any = OWN, overlap: str | None = None) -> Run:
        """Run it now, also when it is paused; the run that is returned says whether it starts, waits or is skipped."""
        own_overlap, own_input = overlap_of(overlap), own_json_text("input", input)

        def act(tx: Transaction, entries: Entries) -> Run:
            found = self._desk.find(tx, name)
            run = trigger_run(tx, entries, found, own_input, own_overlap)
            return run_view(run, found.row.id, found.row.input)

        return self._desk.write(act)

    def skip(self, name: str, instant: Moment) -> Run:
        """Do not run the slot of that moment: one to come, or one that waits."""
        nominal_at = instant_of(instant, "instant")

        def act(tx: Transaction, entries: Entries) -> Run:
            found = self._desk.find(tx, name)
            state = skip_slot(tx, entries, found, nominal_at)
            entries.move(state)
            entries.write(tx)
            attempts = [run for run in tx.runs_at(found.row.ref, nominal_at) if run.kind == Kind.SLOT]
            return run_view(attempts[-1], found.row.id, found.row.input)

        return self._desk.write(act)

    def backfill(
        self,
        name: str,
        start: Moment,
        end: Moment,
        *,
        which: str = Which.MISSING,
        order: str = Direction.OLDEST_FIRST,
        concurrency: int | None = None,
        overlap: str | None = None,
        input: Any = OWN,
        dry_run: bool = False,
        confirm: bool = False,
    ) -> Backfill:
        """Run past slots from start to end, both included, in a lane of their own; very many only when confirmed."""
        first, last = range_of(instant_of(start, "start"), instant_of(end, "end"))
        chosen, direction = _option(Which, "which", which), _option(Direction, "order", order)
        width = lane_width(overlap_of(overlap), concurrency)
        own_input = own_json_text("input", input)
        is_dry, is_confirmed = switch_of("dry_run", dry_run), switch_of("confirm", confirm)
        done_to = first - 1 if direction is Direction.OLDEST_FIRST else last + 1
        asked = BackfillRequest(0, first, last, chosen, direction, width, 0, done_to)

        def plan(tx: Transaction) -> Backfill:
            row = self._desk.find_row(tx, name)
            check_range(tx, row, first, last, chosen)
            return planned_backfill(tx, row, asked, self._desk.pricing, own_input)

        def check(tx: Transaction) -> int:
            row = self._desk.find_row(tx, name)
            check_range(tx, row, first, last, chosen)
            check_meant(tx, row, asked, self._desk.pricing, own_input)
            return row.version

        def act(tx: Transaction, entries: Entries) -> Backfill:
            row = self._desk.find(tx, name).row
            check_range(tx, row, first, last, chosen)
            if not is_confirmed and row.version != checked:
                check_meant(tx, row, asked, self._desk.pricing, own_input)
            started = started_backfill(tx, row, asked, own_input)
            span = {"start": rfc3339(first * MICROSECONDS), "end": rfc3339(last * MICROSECONDS)}
            entries.note("schedule.backfill", "schedule", row.id, backfill=started.id, which=chosen, **span)
            return started

        if is_dry:
            return self._desk.read(plan)
        # Where slots are many, counting them takes a while: nobody who writes waits for that.
        self._desk.check_new()
        checked = None if is_confirmed else self._desk.read(check)
        return self._desk.write(act)

    def backfills(self, name: str, *, limit: int = 1000) -> Backfills:
        """The schedule's backfills, oldest first, and how far each has come."""
        return [*self.backfills_page(name, limit=limit).items]

    def backfills_page(self, name: str, *, after: int = 0, limit: int = 100) -> Stretch[Backfill]:
        """The same from the one after that, by number, and where the rest begins."""
        limit_of(limit)

        def act(tx: Transaction) -> Stretch[Backfill]:
            row = self._desk.find_row(tx, name)
            found = tx.list_backfills(row.ref, after, limit + 1)
            return stretch_of(found, limit, lambda one: backfill_view(one, row.id), lambda one: (one.ref,))

        return self._desk.read(act)

    def times(self, name: str, start: Moment | None = None, end: Moment | None = None, *, count: int = 10) -> Moments:
        """The moments that its spec names, after now or from `start`, up to `end`, at most so many."""
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_LISTED:
            raise Invalid(f"count takes 1 to {MOST_LISTED:,}, got {count!r}")
        first = None if start is None else -(-instant_of(start, "start") // MICROSECONDS)
        last = None if end is None else instant_of(end, "end") // MICROSECONDS
        if first is not None and last is not None and last < first:
            raise Invalid(f"end takes a moment from start on, got {end} before {start}")

        def act(tx: Transaction) -> list[datetime]:
            times = compiled(self._desk.find_row(tx, name).spec)
            begin = tx.now // MICROSECONDS + 1 if first is None else first
            named = times.between(begin, times.almanac.last if last is None else last)
            return [moment_of(nominal * MICROSECONDS) for nominal in islice(named, count)]

        return self._desk.read(act)

    def estimate(self, name: str, days: int = 30) -> Estimate:
        """What the slots of so many days to come may cost, within its limit; of a paused one, if it went on now."""
        if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= 3660:
            raise Invalid(f"days takes 1 to 3,660, got {days!r}")

        def act(tx: Transaction) -> Estimate:
            row = self._desk.find_row(tx, name)
            (state,) = tx.states_seen([row.ref])
            now = tx.now // MICROSECONDS
            slots = compiled(row.spec).count_roughly(now + 1, now + days * 86_400).number
            if state.remaining is not None:
                slots = min(slots, state.remaining)
            each = cost_each(tx, row, self._desk.pricing)
            return Estimate(slots, each, None if each is None else slots * each)

        return self._desk.read(act)

    def budget(self, name: str) -> BudgetUse:
        """How much of its own budget is used, and from when there is room for its next slot; NotFound without one."""
        return self._desk.read(lambda tx: use_by_schedule(tx, self._desk.find_row(tx, name), self._desk.pricing))

    def explain(self, name: str, instant: Moment) -> Explanation:
        """Why that moment did or did not run, from the ledger and the rules; deleted schedules are explained too."""
        at = instant_of(instant, "instant")

        def act(tx: Transaction) -> Explanation:
            row = self._desk.find_row(tx, name, deleted=True)
            trouble = _trouble_at(tx, row, at)
            told = ledger.explain(known_of(tx, row, at), at) if trouble is None else ledger.explain_trouble(trouble, at)
            verdict, reason, run, sentence = told
            return Explanation(str(verdict), None if reason is None else str(reason), run, sentence)

        return self._desk.read(act)

    def delete(self, name: str, *, token: int | None = None) -> None:
        """Take it away: nothing of it starts, what runs may finish, its ledger stays. A token is checked when given."""

        def act(tx: Transaction, entries: Entries) -> None:
            found = self._desk.find(tx, name)
            if token is not None:
                check_token(found.row, token)
            delete_schedule(tx, entries, found)

        self._desk.write(act)


def known_of(tx: Transaction, row: ScheduleRow, at: int) -> ledger.Known:
    (state,) = tx.states_seen([row.ref])
    is_due = state.wake_at is not None and state.wake_at <= tx.now
    return ledger.Known(
        spec=Spec.from_canonical(row.spec),
        state=state,
        limit=read_policies(row.policies).limit,
        created_at=row.created_at,
        spec_since=row.spec_since,
        past=tx.past_specs([row.ref]).get(row.ref, ()),
        deleted_at=row.deleted_at,
        pruned_before=row.pruned_before,
        now=tx.now,
        runs=[record_of(tx, run, row.id) for run in tx.runs_at(row.ref, at)],
        gap=tx.gap_at(row.ref, at),
        lacks=row.target_name if is_due and lacks(tx, row.target_name, state.wake_at or 0) else None,
    )


def _trouble_at(tx: Transaction, row: ScheduleRow, at: int) -> Trouble | None:
    """What keeps the moment, which has come, from being judged. What the row says may be what cannot be read."""
    (state,) = tx.states_seen([row.ref])
    if not state.swept_to < at <= tx.now or (trouble := tx.trouble(row.ref)) is None:
        return None
    return trouble if trouble.until > tx.now and not tx.runs_at(row.ref, at) else None


def _option(kind: Any, name: str, value: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise Invalid(f"{name} takes {', '.join(map(repr, map(str, kind)))}, got {value!r}") from None
