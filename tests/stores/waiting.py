"""Knowing, without sleeping, that a transaction on PostgreSQL waits for another."""

import psycopg

_LOOKS = 20_000


def until_somebody_waits(url: str, count: int = 1) -> None:
    """Return when that many backends of the database wait for a lock."""
    with psycopg.connect(url, autocommit=True) as cx:
        for _ in range(_LOOKS):
            query = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            row = cx.execute(query).fetchone()
            if row is not None and row[0] >= count:
                return
    raise AssertionError(f"fewer than {count} transactions wait, after {_LOOKS} looks")
