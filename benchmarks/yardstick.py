"""The raw yardstick: the same rows in batches, no logic. What the database and its driver take at most.

It has what the engine has: as many processes, the same settings of SQLite, and on PostgreSQL the same plans, and
arrays as text.
"""

import sqlite3
import time
from contextlib import closing
from typing import NamedTuple

import psycopg

from benchmarks.children import Found, Stage
from benchmarks.databases import is_sqlite, one, path_of, rows
from foliot.stores.dialect import number_array
from foliot.stores.sessions import PLANS, options_of
from foliot.stores.sqlite_files import prepare_writer

_BATCH = 1000


class Statements(NamedTuple):
    start: str
    move: str
    finish: str
    free: str


_SQLITE = Statements(
    "INSERT INTO runs (ref, schedule_ref, nominal_at, due_at, kind, backfill, occupies, worker, version, created_at,"
    " started_at, status, token) VALUES (?, ?, ?, ?, 'slot', 0, 1, 1, 1, ?, ?, 'running', 1)",
    "UPDATE cursors SET swept_to = ?, wake_at = ?, running = 1 WHERE ref = ?",
    "UPDATE runs SET status = 'success', ended_at = ? WHERE ref = ? AND token = 1 AND status = 'running'",
    "UPDATE cursors SET running = 0 WHERE ref = ?",
)
_POSTGRESQL = Statements(
    "INSERT INTO runs (ref, schedule_ref, nominal_at, due_at, kind, backfill, occupies, worker, version, created_at,"
    " started_at, status, token) SELECT ref, schedule, a, b, 'slot', 0, 1, 1, 1, c, d, 'running', 1"
    " FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])"
    " AS rows(ref, schedule, a, b, c, d)",
    "UPDATE cursors SET swept_to = rows.a, wake_at = rows.b, running = 1"
    " FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS rows(a, b, ref) WHERE cursors.ref = rows.ref",
    "UPDATE runs SET status = 'success', ended_at = rows.a FROM unnest(%s::bigint[], %s::bigint[]) AS rows(a, ref)"
    " WHERE runs.ref = rows.ref AND token = 1 AND status || '' = 'running'",
    "UPDATE cursors SET running = 0 FROM unnest(%s::bigint[]) AS rows(ref) WHERE cursors.ref = rows.ref",
)


def write_rows(stage: Stage, url: str, share: int, of: int) -> Found:
    """For each schedule of its share a run that starts and ends, a batch and the end of the one before at once."""
    schedules = [row[0] for row in rows(url, "SELECT ref FROM schedules WHERE id LIKE 's%' ORDER BY ref")]
    newest = one(url, "SELECT coalesce(max(ref), 0) FROM runs") + share * len(schedules)
    mine = schedules[share::of]
    batches = [mine[start : start + _BATCH] for start in range(0, len(mine), _BATCH)]
    now = int(time.time()) * 1_000_000
    write = _on_sqlite if is_sqlite(url) else _on_postgresql
    began, ended = write(stage, url, batches, newest, now)
    found = one(
        url, f"SELECT count(*) FROM runs WHERE status = 'success' AND ref BETWEEN {newest + 1} AND {newest + len(mine)}"
    )
    assert found == len(mine), f"{found} of {len(mine)} rows were written"
    return {"began": began, "ended": ended, "settled": len(mine)}


def _values(batch: list[int], newest: int, now: int) -> tuple[list[tuple[int, ...]], list[int]]:
    refs = list(range(newest + 1, newest + 1 + len(batch)))
    return [(ref, schedule, now, now, now, now) for ref, schedule in zip(refs, batch, strict=True)], refs


def _on_sqlite(stage: Stage, url: str, batches: list[list[int]], newest: int, now: int) -> tuple[float, float]:
    with closing(sqlite3.connect(path_of(url), isolation_level=None)) as cx:
        prepare_writer(cx, None)
        before: tuple[list[int], list[int]] = ([], [])
        stage.ready()
        began = time.time()
        for batch in [*batches, []]:
            started, refs = _values(batch, newest, now)
            newest += len(refs)
            cx.execute("BEGIN IMMEDIATE")
            cx.executemany(_SQLITE.finish, [(now, ref) for ref in before[1]])
            cx.executemany(_SQLITE.free, [(schedule,) for schedule in before[0]])
            cx.executemany(_SQLITE.start, started)
            cx.executemany(_SQLITE.move, [(now, now + 3_600_000_000, schedule) for schedule in batch])
            cx.execute("COMMIT")
            before = batch, refs
        return began, time.time()


def _on_postgresql(stage: Stage, url: str, batches: list[list[int]], newest: int, now: int) -> tuple[float, float]:
    def do(statement: str, columns: list[list[int]]) -> None:
        if columns and columns[0]:
            cx.execute(statement.encode(), [number_array(column) for column in columns])

    with psycopg.connect(url, options=options_of(PLANS)) as cx:
        before: tuple[list[int], list[int]] = ([], [])
        stage.ready()
        began = time.time()
        for batch in [*batches, []]:
            started, refs = _values(batch, newest, now)
            newest += len(refs)
            do(_POSTGRESQL.finish, [[now] * len(before[1]), before[1]])
            do(_POSTGRESQL.free, [before[0]])
            do(_POSTGRESQL.start, [list(column) for column in zip(*started, strict=True)])
            do(_POSTGRESQL.move, [[now] * len(batch), [now + 3_600_000_000] * len(batch), batch])
            cx.commit()
            before = batch, refs
        return began, time.time()
