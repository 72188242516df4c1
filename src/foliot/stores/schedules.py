"""Schedules as their owners see them: configuration, found by id, listed, changed."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import select, text, update

from foliot.domain.schedule import State
from foliot.rows import ScheduleFilter, ScheduleRow
from foliot.stores import tables
from foliot.stores.dialect import InsertMany, Row
from foliot.stores.part import Part

_schedules, _targets, _cursors = tables.schedules, tables.targets, tables.cursors

_COLUMNS = [
    _targets.c.name.label("target_name") if name == "target_name" else _schedules.c[name]
    for name in ScheduleRow._fields
]
_STATE = [_cursors.c[name] for name in State._fields]
_COLD = ", ".join("targets.name" if name == "target_name" else f"schedules.{name}" for name in ScheduleRow._fields)
_IDS_AT_ONCE = 10_000
_ALL_COLD = f"SELECT {_COLD} FROM schedules JOIN targets ON targets.ref = schedules.target"

_INSERT = InsertMany(
    "schedules",
    "ref id:text name:text app:text target spec:text policies:text input:text labels:text memo:text version"
    " created_at updated_at spec_since grant_ref",
)
_INSERT_CURSOR = InsertMany("cursors", "ref version target swept_to wake_at remaining")


class Schedules(Part):
    def new_schedule_refs(self, count: int) -> Sequence[int]:
        """Keys for that many schedules to be inserted in this transaction."""
        return self.dialect.new_keys(self.cursor, "schedules", count)

    def insert_schedules(self, rows: Sequence[Row], cursors: Sequence[Row]) -> None:
        """New schedules, and their cursors in the same order."""
        self.dialect.insert(self.cursor, _INSERT, rows)
        self.dialect.insert(self.cursor, _INSERT_CURSOR, cursors)

    def configurations(self, refs: Iterable[int]) -> list[ScheduleRow]:
        """The cold halves of these schedules."""
        text = f"{_ALL_COLD} WHERE {self.dialect.any_of('schedules.ref')}"
        return [ScheduleRow(*row) for row in self._all(text, self.dialect.list_of(refs))]

    def schedule(self, schedule_id: str) -> ScheduleRow | None:
        rows = self.schedules([schedule_id])
        return rows[0] if rows else None

    def schedules(self, ids: Sequence[str]) -> list[ScheduleRow]:
        """Those of these ids that there are, deleted ones included."""
        text = f"{_ALL_COLD} WHERE {self.dialect.any_text_of('schedules.id')}"
        parts = (ids[start : start + _IDS_AT_ONCE] for start in range(0, len(ids), _IDS_AT_ONCE))
        return [ScheduleRow(*row) for part in parts for row in self._all(text, self.dialect.list_of_texts(part))]

    def list_schedules(self, wanted: ScheduleFilter) -> list[tuple[ScheduleRow, State]]:
        """Schedules with their state, by id."""
        query = select(*_COLUMNS, *_STATE).join(_targets, _targets.c.ref == _schedules.c.target)
        query = query.join(_cursors, _cursors.c.ref == _schedules.c.ref).order_by(_schedules.c.id)
        if not wanted.include_deleted:
            query = query.where(_schedules.c.deleted_at.is_(None))
        if wanted.app is not None:
            query = query.where(_schedules.c.app == wanted.app)
        if wanted.target is not None:
            query = query.where(_targets.c.name == wanted.target)
        if wanted.after_id is not None:
            query = query.where(_schedules.c.id > wanted.after_id)
        for number, (name, value) in enumerate(sorted(wanted.labels.items())):
            key, said = f"label_{number}", f"value_{number}"
            query = query.where(text(self.dialect.label_is(key, said)).bindparams(**{key: name, said: value}))
        if wanted.limit is not None:
            query = query.limit(wanted.limit)
        cold = len(_COLUMNS)
        return [(ScheduleRow(*row[:cold]), State(*row[cold:])) for row in self.cx.execute(query)]

    def update_schedule(self, ref: int, **changes: Any) -> None:
        self.cx.execute(update(_schedules).where(_schedules.c.ref == ref).values(**changes))

    def set_version(self, ref: int, version: int, target: int) -> None:
        """What the cursor knows of the configuration: which it is, and who can run it."""
        self.cx.execute(update(_cursors).where(_cursors.c.ref == ref).values(version=version, target=target))
