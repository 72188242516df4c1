"""Lists of schedules: those that every condition names, in the order of an index, a stretch at a time."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from foliot.domain.grants import REFUSALS_UNTIL_ATTENTION
from foliot.domain.schedule import Standing, State
from foliot.lines import Walk
from foliot.rows import ScheduleFilter, ScheduleRow
from foliot.stores.part import Part

Key = tuple[int | str, ...]

_COLD = ["t.name" if name == "target_name" else f"s.{name}" for name in ScheduleRow._fields]
_SHORT = [
    "NULL" if name in ("input", "memo") else column for name, column in zip(ScheduleRow._fields, _COLD, strict=True)
]
_STATE = [f"c.{name}" for name in State._fields]
_JOINED = "FROM schedules s JOIN cursors c ON c.ref = s.ref JOIN targets t ON t.ref = s.target"
_WHOLE = f"SELECT {', '.join([*_COLD, *_STATE])} {_JOINED}"
_LINES = f"SELECT {', '.join([*_SHORT, *_STATE])} {_JOINED}"
_PAUSED = "(c.pause_from IS NOT NULL AND (c.pause_to IS NULL OR c.pause_to > ?))"
_OVER = "(coalesce(c.remaining, 1) = 0 OR (c.wake_at IS NULL AND s.spec NOT LIKE ?))"
_MANUAL = '%"manual":true%'
"""In a canonical spec that names no moments, and in no other."""
_HAS_TEXT = r"(s.id LIKE ? ESCAPE '\' OR lower(s.name) LIKE ? ESCAPE '\' OR s.name LIKE ? ESCAPE '\')"


class _Course(NamedTuple):
    """How a walk goes: from which table, by which columns, and through which part of it."""

    table: str
    key: tuple[str, ...]
    part: str = "1 = 1"


_COURSES = {
    Walk.BY_ID: _Course("schedules s", ("s.id",)),
    Walk.BY_NAME: _Course("schedules s", ("s.name", "s.id")),
    Walk.COMING: _Course("cursors c", ("c.wake_at", "c.ref"), "c.wake_at IS NOT NULL AND c.pause_from IS NULL"),
    Walk.IDLE: _Course("cursors c", ("c.ref",), "(c.wake_at IS NULL OR c.pause_from IS NOT NULL)"),
}


class ScheduleLists(Part):
    def list_schedules(self, wanted: ScheduleFilter) -> list[tuple[ScheduleRow, State]]:
        """Schedules with their state, by id."""
        conditions, values = self._conditions(wanted)
        if wanted.after_id is not None:
            conditions.append("s.id > ?")
            values.append(wanted.after_id)
        text = f"{_WHOLE} WHERE {' AND '.join(conditions)} ORDER BY s.id"
        if wanted.limit is not None:
            text += " LIMIT ?"
            values.append(wanted.limit)
        return [_pair(row) for row in self._all(text, *values)]

    def schedule_lines(
        self,
        walk: Walk,
        wanted: ScheduleFilter,
        after: Key | None,
        until: Key | None,
        among: Sequence[int] | None,
        limit: int,
    ) -> list[tuple[ScheduleRow, State]]:
        """Schedules on a walk from one place to another, without what may be long; `among` are the only ones."""
        course = _COURSES[walk]
        conditions, values = self._conditions(wanted, is_by_owner=walk is Walk.BY_ID)
        for sign, place in ((">", after), ("<=", until)):
            if place is not None:
                conditions.append(_beside(course.key, sign))
                values += place
        if among is not None:
            conditions.append(self.dialect.any_of("s.ref"))
            values.append(self.dialect.list_of(among))
        self.dialect.keep_to_indexes(self.cursor)
        text = f"{_LINES} WHERE {course.part} AND {' AND '.join(conditions)} ORDER BY {', '.join(course.key)} LIMIT ?"
        return [_pair(row) for row in self._all(text, *values, limit)]

    def key_beyond(self, walk: Walk, owner: str | None, after: Key | None, count: int) -> Key | None:
        """The place of the schedule that comes so many after that one, deleted ones counted; None: there are fewer.

        Only who walks by id can pass by all but one owner's.
        """
        course = _COURSES[walk]
        conditions, values = [course.part], list[Any]()
        if owner is not None and walk is Walk.BY_ID:
            conditions.append("s.owner = ?")
            values.append(owner)
        if after is not None:
            conditions.append(_beside(course.key, ">"))
            values += after
        key = ", ".join(course.key)
        text = f"SELECT {key} FROM {course.table} WHERE {' AND '.join(conditions)} ORDER BY {key} LIMIT 1 OFFSET ?"
        self.dialect.keep_to_indexes(self.cursor)
        rows = self._all(text, *values, count - 1)
        return tuple(rows[0]) if rows else None

    def count_matching(self, wanted: ScheduleFilter, most: int) -> int:
        """How many there are that every condition names; counted up to so many."""
        conditions, values = self._conditions(wanted)
        text = f"SELECT 1 {_JOINED} WHERE {' AND '.join(conditions)} LIMIT ?"
        return int(self._all(f"SELECT count(*) FROM ({text}) AS found", *values, most)[0][0])

    def matching(self, wanted: ScheduleFilter, refs: Iterable[int]) -> list[ScheduleRow]:
        """Those of these schedules that every condition names, by id, whole."""
        conditions, values = self._conditions(wanted)
        among = self.dialect.any_of("s.ref")
        text = f"SELECT {', '.join(_COLD)} {_JOINED} WHERE {among} AND {' AND '.join(conditions)} ORDER BY s.id"
        return [ScheduleRow(*row) for row in self._all(text, self.dialect.list_of(refs), *values)]

    def _conditions(self, wanted: ScheduleFilter, *, is_by_owner: bool = True) -> tuple[list[str], list[Any]]:
        """What must hold, and the values in it."""
        # Said so, it does not tempt a database to begin with an owner's, or a target's, and to sort all of them.
        owner = "s.owner = ?" if is_by_owner else "s.owner || '' = ?"
        said: list[tuple[str, Sequence[Any]]] = [
            (condition, [value])
            for condition, value in (
                ("s.app = ?", wanted.app),
                ("t.name || '' = ?", wanted.target),
                (owner, wanted.owner),
                ("(s.app = ? AND s.declared IS NOT NULL)", wanted.declared),
            )
            if value is not None
        ]
        said += [(self.dialect.label_is("s.labels"), label) for label in sorted(wanted.labels.items())]
        if not wanted.include_deleted:
            said.append(("s.deleted_at IS NULL", []))
        if wanted.without_programs:
            said.append(("(s.app IS NULL OR s.declared IS NOT NULL)", []))
        if wanted.ids is not None:
            said.append((self.dialect.any_text_of("s.id"), [self.dialect.list_of_texts(wanted.ids)]))
        if wanted.text is not None:
            small, given = _pattern(wanted.text.lower()), _pattern(wanted.text)
            said.append((_HAS_TEXT, [small, small, given]))
        if wanted.needs_attention is not None:
            sign = ">=" if wanted.needs_attention else "<"
            said.append((f"c.refusals {sign} ?", [REFUSALS_UNTIL_ATTENTION]))
        if wanted.standings:
            said.append(self._standing(wanted.standings))
        return [condition for condition, _ in said] or ["1 = 1"], [value for _, values in said for value in values]

    def _standing(self, standings: Sequence[Standing]) -> tuple[str, Sequence[Any]]:
        """The rule of `standing_of`, as the database says it."""
        ways: dict[Standing, tuple[str, list[Any]]] = {
            Standing.DELETED: ("s.deleted_at IS NOT NULL", []),
            Standing.PAUSED: (_PAUSED, [self.now]),
            Standing.COMPLETED: (f"NOT {_PAUSED} AND {_OVER}", [self.now, _MANUAL]),
            Standing.ACTIVE: (f"NOT {_PAUSED} AND NOT {_OVER}", [self.now, _MANUAL]),
        }
        chosen = [ways[standing] for standing in standings]
        either = " OR ".join(f"({condition})" for condition, _ in chosen)
        return f"({either})", [value for _, values in chosen for value in values]


def _beside(key: Sequence[str], sign: str) -> str:
    if len(key) == 1:
        return f"{key[0]} {sign} ?"
    return f"({', '.join(key)}) {sign} ({', '.join('?' * len(key))})"


def _pattern(text: str) -> str:
    for sign in "\\%_":
        text = text.replace(sign, f"\\{sign}")
    return f"%{text}%"


def _pair(row: Sequence[Any]) -> tuple[ScheduleRow, State]:
    cold = len(_COLD)
    return ScheduleRow(*row[:cold]), State(*row[cold:])
