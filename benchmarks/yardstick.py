"""The raw yardstick: the same rows in batches, no logic. What the database and its driver take at most."""

import sqlite3
import time
from contextlib import closing
from typing import Any, NamedTuple

import psycopg

from benchmarks.children import Found, Stage
from benchmarks.databases import is_sqlite, one, path_of, rows

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
    " WHERE runs.ref = rows.ref AND token = 1 AND status = 'running'",
    "UPDATE cursors SET running = 0 FROM unnest(%s::bigint[]) AS rows(ref) WHERE cursors.ref = rows.ref",
)


def write_rows(stage: Stage, url: str) -> Found:
    """For each schedule a run that starts and ends; a batch starts, and the one before ends, in one transaction."""
    schedules = [row[0] for row in rows(url, "SELECT ref FROM schedules WHERE id LIKE 's%' ORDER BY ref")]
    newest = one(url, "SELECT coalesce(max(ref), 0) FROM runs")
    batches = [schedules[start : start + _BATCH] for start in range(0, len(schedules), _BATCH)]
    now = int(time.time()) * 1_000_000
    stage.ready()
    seconds = _on_sqlite(url, batches, newest, now) if is_sqlite(url) else _on_postgresql(url, batches, newest, now)
    ended = one(url, f"SELECT count(*) FROM runs WHERE status = 'success' AND ref > {newest}")
    assert ended == len(schedules), f"{ended} of {len(schedules)} rows were written"
    return {"rate": len(schedules) / seconds}


def _values(batch: list[int], newest: int, now: int) -> tuple[list[tuple[int, ...]], list[int]]:
    refs = list(range(newest + 1, newest + 1 + len(batch)))
    return [(ref, schedule, now, now, now, now) for ref, schedule in zip(refs, batch, strict=True)], refs


def _on_sqlite(url: str, batches: list[list[int]], newest: int, now: int) -> float:
    with closing(sqlite3.connect(path_of(url), isolation_level=None)) as cx:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536"):
            cx.execute(f"PRAGMA {pragma}")
        before: tuple[list[int], list[int]] = ([], [])
        began = time.perf_counter()
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
        return time.perf_counter() - began


def _on_postgresql(url: str, batches: list[list[int]], newest: int, now: int) -> float:
    def do(statement: str, columns: list[list[int]]) -> None:
        if columns and columns[0]:
            values: list[Any] = columns
            cx.execute(statement.encode(), values)

    with psycopg.connect(url) as cx:
        before: tuple[list[int], list[int]] = ([], [])
        began = time.perf_counter()
        for batch in [*batches, []]:
            started, refs = _values(batch, newest, now)
            newest += len(refs)
            do(_POSTGRESQL.finish, [[now] * len(before[1]), before[1]])
            do(_POSTGRESQL.free, [before[0]])
            do(_POSTGRESQL.start, [list(column) for column in zip(*started, strict=True)])
            do(_POSTGRESQL.move, [[now] * len(batch), [now + 3_600_000_000] * len(batch), batch])
            cx.commit()
            before = batch, refs
        return time.perf_counter() - began
