"""`foliot audit` as a command over a database: in order it finds nothing, and with one row gone just that slot."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from foliot.domain.instants import rfc3339

_FOLIOT = Path(sys.executable).parent / "foliot"
_REMOVABLE = """
    SELECT r.ref, s.id, r.nominal_at FROM runs r
    JOIN schedules s ON s.ref = r.schedule_ref JOIN cursors c ON c.ref = r.schedule_ref
    WHERE r.kind = 'slot' AND r.nominal_at BETWEEN s.pruned_before AND c.swept_to
      AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.schedule_ref = r.schedule_ref AND o.nominal_at = r.nominal_at
                      AND o.ref <> r.ref)
      AND NOT EXISTS (SELECT 1 FROM gaps g WHERE g.schedule_ref = r.schedule_ref
                      AND r.nominal_at BETWEEN g.first_at AND g.last_at)
    ORDER BY r.nominal_at"""
"""Rows that are all there is of their slot."""


class Audited(NamedTuple):
    """What the command said, and what it exited with."""

    code: int
    found: dict[str, Any]

    @property
    def faults(self) -> list[tuple[str, str, str]]:
        return [(one["schedule"], one["fault"], one["first_at"]) for one in self.found["violations"]]


def words(url: str) -> list[str]:
    return ["audit", "--since", "1970-01-01T00:00:00Z", "--database", url, "-o", "json"]


def audit(url: str) -> Audited:
    """By a process of its own."""
    done = subprocess.run([str(_FOLIOT), *words(url)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return Audited(done.returncode, json.loads(done.stdout))


def problems_of(url: str, audit: Callable[[str], Audited] = audit) -> list[str]:
    """What is wrong with the ledger as it is, or with how the audit of it goes when a row in its middle is gone."""
    whole = audit(url)
    if whole.code or whole.found["found"]:
        return [f"audit: {violation}" for violation in whole.found["violations"]]
    with without_a_row(url) as slot:
        damaged = audit(url)
    if (damaged.code, damaged.found["found"], damaged.faults) != (1, 1, [slot]):
        return [f"audit: {slot} was removed by hand, and what was found is {damaged}"]
    return []


@contextmanager
def without_a_row(url: str) -> Iterator[tuple[str, str, str]]:
    """Somebody removes a row by hand: what the audit must say of it. Then it is put back."""
    with _connected(url) as cx:
        rows = cx.execute(_REMOVABLE).fetchall()
        ref, schedule, nominal_at = rows[len(rows) // 2]
        chosen = cx.execute(f"SELECT * FROM runs WHERE ref = {ref:d}")
        names, (row,) = [column[0] for column in chosen.description], chosen.fetchall()
        cx.execute(f"DELETE FROM runs WHERE ref = {ref:d}")
    try:
        yield schedule, "missing", rfc3339(nominal_at)
    finally:
        sign = "?" if url.startswith("sqlite") else "%s"
        with _connected(url) as cx:
            signs = ", ".join([sign] * len(names))
            cx.execute(f"INSERT INTO runs ({', '.join(names)}) VALUES ({signs})", tuple(row))


@contextmanager
def _connected(url: str) -> Iterator[Any]:
    """To write what nobody should."""
    if url.startswith("sqlite:///"):
        cx: Any = sqlite3.connect(url.removeprefix("sqlite:///"))
    else:
        cx = psycopg.connect(url)
    try:
        yield cx
        cx.commit()
    finally:
        cx.close()
