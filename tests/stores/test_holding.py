"""What a transaction holds is held by its rows: no other session has to live for it."""

import psycopg

from foliot.stores.transaction import SqlTransaction
from tests.builders import MINUTE, NOON
from tests.stores.stage import Stage


def cut_connections_but(url: str, keep: int) -> None:
    """End every session of the database but that one, as whatever lies between may do."""
    text = (
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid NOT IN (pg_backend_pid(), %s)"
    )
    with psycopg.connect(url, autocommit=True) as cx:
        cx.execute(text, (keep,))


def test_what_a_transaction_holds_stays_held_when_all_other_connections_are_cut(postgresql: Stage) -> None:
    schedule, target = postgresql.schedule(wake_at=NOON), postgresql.target()
    mine, other = postgresql.another(), postgresql.another()

    def hold(tx: SqlTransaction) -> None:
        assert [state.ref for state in tx.due(target, NOON + MINUTE, 10)] == [schedule]
        cut_connections_but(postgresql.url, tx._all("SELECT pg_backend_pid()")[0][0])
        assert other.write(lambda tx: tx.due(target, NOON + MINUTE, 10)) == []

    try:
        mine.write(hold)
    finally:
        mine.close()
        other.close()
        # Its connections were cut with the others: from here on it has new ones.
        postgresql.close()
