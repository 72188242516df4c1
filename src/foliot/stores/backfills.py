"""Backfills: what was asked for, and how far each has come."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import insert, select, update

from foliot.rows import BackfillRow
from foliot.stores import tables
from foliot.stores.part import Part

_table = tables.backfills
_COLUMNS = [_table.c[name] for name in BackfillRow._fields]
_NAMES = ", ".join(f'"{name}"' for name in BackfillRow._fields)


class Backfills(Part):
    def insert_backfill(self, **values: Any) -> int:
        return int(self.cx.execute(insert(_table).values(**values).returning(_table.c.ref)).scalar_one())

    def backfills(self, refs: Iterable[int]) -> list[BackfillRow]:
        """These backfills, held, in one order."""
        text = f"SELECT {_NAMES} FROM backfills WHERE {self.dialect.any_of('ref')} ORDER BY ref{self.dialect.lock}"
        return [BackfillRow(*row) for row in self._all(text, self.dialect.list_of(refs))]

    def backfills_seen(self, refs: Iterable[int]) -> list[BackfillRow]:
        """These backfills as they are, held by nobody."""
        text = f"SELECT {_NAMES} FROM backfills WHERE {self.dialect.any_of('ref')} ORDER BY ref"
        return [BackfillRow(*row) for row in self._all(text, self.dialect.list_of(refs))]

    def due_backfills(self, target: int, until: int, limit: int) -> list[BackfillRow]:
        """Backfills of the target that have something to start, held."""
        text = f"SELECT {_NAMES} FROM backfills WHERE target = ? AND wake_at <= ? ORDER BY wake_at, ref LIMIT ?"
        return [BackfillRow(*row) for row in self._all(text + self.dialect.lock_free, target, until, limit)]

    def list_backfills(self, schedule_ref: int, after: int = 0, limit: int | None = None) -> list[BackfillRow]:
        """Its backfills by number, after that one, so many or all."""
        wanted = (_table.c.schedule_ref == schedule_ref) & (_table.c.ref > after)
        query = select(*_COLUMNS).where(wanted).order_by(_table.c.ref).limit(limit)
        return [BackfillRow(*row) for row in self.cx.execute(query)]

    def save_backfill(self, backfill: BackfillRow) -> None:
        changes = backfill._asdict()
        ref = changes.pop("ref")
        self.cx.execute(update(_table).where(_table.c.ref == ref).values(**changes))

    def retarget_backfills(self, schedule_ref: int, target: int) -> None:
        self.cx.execute(update(_table).where(_table.c.schedule_ref == schedule_ref).values(target=target))
