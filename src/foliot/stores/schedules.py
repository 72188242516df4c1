"""Schedules as their owners see them: configuration, found by id, changed."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import delete, insert, update

from foliot.domain.tenures import Tenure, TenureEnd
from foliot.rows import ScheduleRow
from foliot.stores import tables
from foliot.stores.dialect import InsertMany, Row, UpdateMany
from foliot.stores.part import Part

_schedules, _cursors, _past = tables.schedules, tables.cursors, tables.past_specs

_COLD = ", ".join("targets.name" if name == "target_name" else f"schedules.{name}" for name in ScheduleRow._fields)
_IDS_AT_ONCE = 10_000
_ALL_COLD = f"SELECT {_COLD} FROM schedules JOIN targets ON targets.ref = schedules.target"

_INSERT = InsertMany(
    "schedules",
    "ref id:text name:text app:text target spec:text policies:text input:text labels:text memo:text version"
    " created_at updated_at spec_since grant_ref owner:text",
)
_INSERT_CURSOR = InsertMany("cursors", "ref version target swept_to wake_at remaining")
_PAUSE = UpdateMany("schedules", "pause_note:text paused_by:text version updated_at", keys="ref")
_LABEL = UpdateMany("schedules", "labels:text version updated_at", keys="ref")
_SET_VERSION = UpdateMany("cursors", "version", keys="ref")


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

    def update_schedule(self, ref: int, **changes: Any) -> None:
        self.cx.execute(update(_schedules).where(_schedules.c.ref == ref).values(**changes))

    def note_pauses(self, rows: Sequence[Row]) -> None:
        """Why each schedule is paused and by whom, its version, and when that was said."""
        self.dialect.update(self.cursor, _PAUSE, rows)
        self._set_versions(rows)

    def label(self, rows: Sequence[Row]) -> None:
        """The labels of each schedule, its version, and when that was said."""
        self.dialect.update(self.cursor, _LABEL, rows)
        self._set_versions(rows)

    def _set_versions(self, rows: Sequence[Row]) -> None:
        """Of the cursors: each row ends in a version, a moment and a schedule."""
        self.dialect.update(self.cursor, _SET_VERSION, [(row[-3], row[-1]) for row in rows])

    def keep_spec(self, ref: int, tenure: Tenure) -> None:
        """What the schedule's spec was, and when."""
        self.cx.execute(insert(_past).values(schedule_ref=ref, **tenure._asdict()))

    def past_specs(self, refs: Iterable[int]) -> dict[int, list[Tenure]]:
        """By schedule, in the order in which they ended; one that has had but one spec is not listed."""
        which = self.dialect.any_of("schedule_ref")
        text = f"SELECT schedule_ref, spec, since, until, ended_by FROM past_specs WHERE {which} ORDER BY ref"
        found: dict[int, list[Tenure]] = {}
        for ref, spec, since, until, ended_by in self._all(text, self.dialect.list_of(refs)):
            found.setdefault(ref, []).append(Tenure(spec, since, until, TenureEnd(ended_by)))
        return found

    def remove_past_specs(self, ref: int, before: int) -> None:
        """Those whose slots are all older than that."""
        self.cx.execute(delete(_past).where(_past.c.schedule_ref == ref, _past.c.until < before))

    def set_version(self, ref: int, version: int, target: int) -> None:
        """What the cursor knows of the configuration: which it is, and who can run it."""
        self.cx.execute(update(_cursors).where(_cursors.c.ref == ref).values(version=version, target=target))
