"""The verbs on declared sets of schedules: what applying a set would do, applying it, and writing one down."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from foliot.books.configurations import compiled, scheduled
from foliot.books.entries import Entries
from foliot.domain.durations import duration_text
from foliot.domain.errors import Conflict, Invalid
from foliot.domain.grants import LOCAL
from foliot.domain.instants import MICROSECONDS, moment_of
from foliot.domain.schedule import State, name_of, slug_of
from foliot.domain.spec import Spec
from foliot.ports import Transaction
from foliot.rows import ScheduleFilter, ScheduleRow
from foliot.services.configuration import Stored, stored_among, stored_of
from foliot.services.creating import (
    WantedSchedule,
    check_different,
    check_users,
    hold_deleted,
    insert_schedules,
    note_created,
    taken,
)
from foliot.services.declaration import NO_LONGER_DECLARED, Difference, Measure, judge
from foliot.services.desk import Desk, Found
from foliot.services.editing import edit, pause_schedule, resume_schedule, stored_form
from foliot.services.permission import wish_of
from foliot.services.specs import spec_of
from foliot.services.written import Options, options_of

MOST_DECLARED = 1000
"""Schedules in a set: applying it is one transaction."""
COMPARED = 20
"""So many of the times to come are compared, and the first of them shown."""
_SHOWN = 3
_VANISHED = "vanished"
"""Kept beside what the set said last, which takes no option of that name: a pause of somebody's would not tell."""
_SPANS = ("catchup_window", "grace", "lookahead", "timeout")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that is not as its set says; a spec is said as a sentence."""

    field: str
    now: Any
    wanted: Any
    drift: bool
    """Somebody has changed it since the set was applied last."""
    kept: bool
    """It stays as it is now."""


@dataclass(frozen=True, slots=True)
class DeclaredSchedule:
    """What applying a set does to one schedule."""

    id: str
    measure: Measure
    changes: tuple[FieldChange, ...]
    note: str | None
    """What somebody should know besides."""
    next_now: tuple[datetime, ...]
    """The next three times as things are, and as the set says."""
    next_wanted: tuple[datetime, ...]
    moved: int
    """How many of the next times, at most 20, are no longer among them."""


@dataclass(frozen=True, slots=True)
class DeclaredSet:
    """What applying a set does, or did."""

    set: str
    schedules: tuple[DeclaredSchedule, ...]
    applied: bool


class Written(NamedTuple):
    """A schedule in the words of a set."""

    id: str
    set: str | None
    """The one that declares it."""
    options: Options
    is_vanished: bool
    """It is in its set no more, and paused, by `apply` or somebody before: to write it down is to declare it again."""


class _Wanted(NamedTuple):
    name: str
    options: Options
    schedule: WantedSchedule


class _Case(NamedTuple):
    """A schedule that is in the set, or there, or both."""

    id: str
    measure: Measure
    wanted: _Wanted | None
    found: Found | None
    stored: Stored | None
    """What it is made."""
    differences: tuple[Difference, ...] = ()


class DeclarationVerbs:
    """What may be asked of declared sets. A set owns what it says of its schedules; pauses and budgets are not its."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def plan(self, name: str, schedules: Sequence[Mapping[str, Any]], *, overwrite: bool = False) -> DeclaredSet:
        """What applying the set would do, and how that moves the next times; nothing is changed."""
        named, wanted = self._asked(name, schedules)

        def act(tx: Transaction) -> DeclaredSet:
            return _shown(tx, named, self._cases(tx, named, wanted, overwrite, is_held=False), applied=False)

        return self._desk.read(act)

    def apply(
        self,
        name: str,
        schedules: Sequence[Mapping[str, Any]],
        *,
        overwrite: bool = False,
        user: str | None = None,
    ) -> DeclaredSet:
        """Make the schedules what the set says, all or none; what vanished from it is paused, with a note.

        What somebody has changed since it was applied last stays, unless it is to be overwritten.
        """
        named, wanted = self._asked(name, schedules, user)

        def act(tx: Transaction, entries: Entries) -> DeclaredSet:
            cases = self._cases(tx, named, wanted, overwrite, is_held=True)
            shown = _shown(tx, named, cases, applied=True)
            self._create(tx, entries, named, [case.wanted for case in cases if case.measure is Measure.CREATE])
            for case in cases:
                _carry_out(tx, entries, named, case)
            self._note(entries, named, cases)
            return shown

        return self._desk.write(act)

    def written(self, name: str | None = None, *, after: str | None = None, limit: int = 50) -> list[Written]:
        """The schedules of the set as `apply` takes them; without one, all that no program declares."""
        wanted = ScheduleFilter(
            app=name, owner=self._desk.principal.seen_owner, after_id=after, limit=limit, without_programs=True
        )

        def act(tx: Transaction) -> list[Written]:
            return [
                Written(row.id, None if row.declared is None else row.app, _written(row), _has_vanished(tx, row, state))
                for row, state in tx.list_schedules(wanted)
            ]

        return self._desk.read(act)

    def _asked(
        self, name: str, schedules: Sequence[Mapping[str, Any]], user: str | None = None
    ) -> tuple[str, list[_Wanted]]:
        named = name_of("a set", name)
        if len(schedules) > MOST_DECLARED:
            raise Invalid(f"a set takes at most {MOST_DECLARED:,} schedules, got {len(schedules):,}: make two of it")
        principal = self._desk.principal
        whose = None if user is None and principal.user == LOCAL else self._desk.user(user)
        wish = wish_of(whose, None, principal.seen_owner)
        wanted = []
        for given in schedules:
            options = dict(given)
            title = options.pop("name", None)
            if not isinstance(title, str):
                raise Invalid(f"every schedule of a set takes a name, got {given!r:.100}")
            schedule = WantedSchedule(slug_of(title), title, stored_among(title, options), wish)
            wanted.append(_Wanted(title, options, schedule))
        check_different("the schedules of a set", [one.schedule for one in wanted])
        return named, wanted

    def _cases(
        self, tx: Transaction, named: str, wanted: Sequence[_Wanted], overwrite: bool, *, is_held: bool
    ) -> list[_Case]:
        ids = [one.schedule.id for one in wanted]
        own = ScheduleFilter(app=named, owner=self._desk.principal.seen_owner)
        refs = {row.ref for row, _ in tx.list_schedules(own)} | {row.ref for row in tx.schedules(ids)}
        states = {state.ref: state for state in (tx.states(refs) if is_held else tx.states_seen(refs))}
        # Read after they are held: what was read before may have changed since.
        there = {row.id: Found(row, states[row.ref], scheduled(row)) for row in tx.configurations(refs)}
        cases = [self._case(tx, named, one, there.get(one.schedule.id), overwrite) for one in wanted]
        gone = (there[name] for name in sorted({*there} - {*ids}) if _belongs(there[name].row, named))
        return cases + [_vanished(tx, found) for found in gone]

    def _case(self, tx: Transaction, named: str, one: _Wanted, found: Found | None, overwrite: bool) -> _Case:
        wanted = one.schedule
        if found is not None and not self._desk.principal.sees(found.row.owner):
            raise taken(wanted.id)
        if found is None or found.row.deleted_at is not None:
            return _Case(wanted.id, Measure.CREATE, one, found, wanted.stored)
        is_own = _belongs(found.row, named)
        if found.row.app is not None and not is_own:
            raise Conflict(
                f"{wanted.id!r} is declared by {found.row.app!r}: take it out of one of them, or give it another name"
            )
        live = stored_form(found.row)
        last = stored_of(found.row.name, _last_said(found.row)) if is_own else None
        differences, stored = judge(live, last, wanted.stored, overwrite=overwrite)
        measure = Measure.NONE if stored == live else Measure.CHANGE
        if not is_own:
            measure = Measure.ADOPT
        if _is_paused_for_that(tx, found.row, found.state):
            measure = Measure.RESUME
        return _Case(wanted.id, measure, one, found, stored, differences)

    def _create(self, tx: Transaction, entries: Entries, named: str, several: Sequence[_Wanted | None]) -> None:
        new = [one for one in several if one is not None]
        if not new:
            return
        schedules = [one.schedule for one in new]
        check_users(self._desk, tx, schedules)
        ids = [schedule.id for schedule in schedules]
        deleted = hold_deleted(tx, tx.schedules(ids))
        targets = tx.target_refs({schedule.stored.target for schedule in schedules})
        insert_schedules(tx, entries, schedules, targets, deleted, named, self._desk.pricing)
        note_created(entries, schedules)
        refs = {row.id: row.ref for row in tx.schedules(ids)}
        for one in new:
            tx.update_schedule(refs[one.schedule.id], declared=_kept(one.options))

    def _note(self, entries: Entries, named: str, cases: Iterable[_Case]) -> None:
        done = [case.measure for case in cases if not case.measure.is_idle]
        if done:
            counts = {str(measure): done.count(measure) for measure in dict.fromkeys(done)}
            entries.note("set.apply", "set", named, **counts)


def _belongs(row: ScheduleRow, named: str) -> bool:
    return row.app == named and row.declared is not None and row.deleted_at is None


def _is_paused_for_that(tx: Transaction, row: ScheduleRow, state: State) -> bool:
    """Whether it is paused because it vanished, and by nobody else."""
    return state.is_paused(tx.now) and row.paused_by == NO_LONGER_DECLARED


def _has_vanished(tx: Transaction, row: ScheduleRow, state: State) -> bool:
    is_known = row.declared is not None and _VANISHED in json.loads(row.declared)
    return _is_paused_for_that(tx, row, state) or (is_known and state.is_paused(tx.now))


def _vanished(tx: Transaction, found: Found) -> _Case:
    # A pause that ends by itself would let go on what is no longer there.
    is_still = found.state.is_paused(tx.now) and found.state.pause_to is None
    return _Case(found.row.id, Measure.VANISHED if is_still else Measure.PAUSE, None, found, None)


def _carry_out(tx: Transaction, entries: Entries, named: str, case: _Case) -> None:
    """What is to be done to a schedule that is there."""
    found = case.found
    if found is None or case.measure is Measure.CREATE:
        return
    if case.measure is Measure.PAUSE:
        pause_schedule(tx, entries, found, f"no longer declared by {named}", NO_LONGER_DECLARED)
    if case.wanted is None:
        _keep(tx, found.row, named, {**_last_said(found.row), _VANISHED: True})
        return
    assert case.stored is not None, "what is wanted is something"
    if case.stored != stored_form(found.row):
        edit(tx, entries, found, case.stored)
    if case.measure is Measure.RESUME:
        row, (state,) = tx.configurations([found.row.ref])[0], tx.states([found.row.ref])
        resume_schedule(tx, entries, Found(row, state, scheduled(row)))
    _keep(tx, found.row, named, case.wanted.options)


def _keep(tx: Transaction, row: ScheduleRow, named: str, options: Options) -> None:
    kept = _kept(options)
    if (row.app, row.declared) != (named, kept):
        tx.update_schedule(row.ref, app=named, declared=kept)


def _kept(options: Options) -> str:
    return json.dumps(options, separators=(",", ":"))


def _last_said(row: ScheduleRow) -> Options:
    """By its set, of a schedule that is in it or was."""
    said: Options = json.loads(row.declared or "{}")
    return {name: value for name, value in said.items() if name != _VANISHED}


def _written(row: ScheduleRow) -> Options:
    """In the words of its set, as long as it is as they say; else in our own."""
    live = stored_form(row)
    options = options_of(live)
    if row.declared is not None:
        said = _last_said(row)
        differences, _ = judge(live, None, stored_of(row.name, said), overwrite=True)
        if not differences:
            budget = {name: value for name, value in options.items() if name == "budget"}
            options = {name: value for name, value in said.items() if name != "budget"} | budget
    return {"name": row.name, **options}


def _shown(tx: Transaction, named: str, cases: Iterable[_Case], *, applied: bool) -> DeclaredSet:
    return DeclaredSet(named, tuple(_view(tx, case) for case in cases), applied)


def _view(tx: Transaction, case: _Case) -> DeclaredSchedule:
    is_there = case.found is not None and case.found.row.deleted_at is None
    now = _times(tx, stored_form(case.found.row)) if is_there and case.found is not None else ()
    wanted = _times(tx, case.stored) if case.stored is not None else now
    if case.measure is Measure.PAUSE:
        wanted = ()
    if case.measure is Measure.RESUME:
        now = ()
    if case.measure.is_idle:
        now = wanted = ()
    return DeclaredSchedule(
        id=case.id,
        measure=case.measure,
        changes=tuple(_field_change(case, difference) for difference in case.differences),
        note=_note_on(tx, case),
        next_now=now[:_SHOWN],
        next_wanted=wanted[:_SHOWN],
        moved=len(set(now) - set(wanted)),
    )


def _times(tx: Transaction, stored: Stored) -> tuple[datetime, ...]:
    times = compiled(stored.spec)
    coming = times.between(tx.now // MICROSECONDS + 1, times.almanac.last)
    return tuple(moment_of(nominal * MICROSECONDS) for nominal in islice(coming, COMPARED))


def _note_on(tx: Transaction, case: _Case) -> str | None:
    if case.found is None:
        return None
    if case.found.row.deleted_at is not None:
        return "it was deleted, and begins anew"
    if case.measure is Measure.RESUME or not case.found.state.is_paused(tx.now):
        return None
    note = case.found.row.pause_note
    return f"it stays paused: {note}" if note else "it stays paused"


def _field_change(case: _Case, difference: Difference) -> FieldChange:
    field, now, wanted, is_drift, is_kept = difference
    if field == "spec":
        assert case.wanted is not None, "only what is in a set differs from it"
        now, wanted = Spec.from_canonical(now).describe(), spec_of(_given(case.wanted.options)).describe()
    elif field in _SPANS:
        now, wanted = (None if span is None else duration_text(span) for span in (now, wanted))
    return FieldChange(field, now, wanted, is_drift, is_kept)


def _given(options: Options) -> Options:
    return {name: value for name, value in options.items() if value is not None}
