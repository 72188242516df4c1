"""What a session with PostgreSQL, or a transaction on one that is lent, works under."""

import sqlite3
import threading
from typing import Any

import psycopg
import pytest

from foliot.clock import SystemClock
from foliot.stores.database import PostgresqlDatabase, open_database
from foliot.stores.listener import listen_to
from foliot.stores.sessions import LIMITS, PLANS, Pooling
from foliot.stores.transaction import SqlTransaction
from tests.databases import PostgresqlServer


def opened(url: str, *, is_by_transaction: bool) -> PostgresqlDatabase:
    database = open_database(url, SystemClock(), pooling=Pooling(is_by_transaction=is_by_transaction))
    assert isinstance(database, PostgresqlDatabase)
    return database


def in_force(tx: SqlTransaction) -> dict[str, str]:
    return dict(tx._all("SELECT name, setting FROM pg_settings"))


@pytest.mark.parametrize("is_by_transaction", [False, True])
def test_limits_hold_for_all_and_plans_are_fixed_for_those_who_write(
    postgresql_server: PostgresqlServer, is_by_transaction: bool
) -> None:
    database = opened(postgresql_server.ready_database(), is_by_transaction=is_by_transaction)
    writing, reading = database.write(in_force), database.read(in_force)
    database.close()

    assert {**LIMITS, **PLANS}.items() <= writing.items()
    assert LIMITS.items() <= reading.items()
    assert (writing["enable_seqscan"], reading["enable_seqscan"]) == ("off", "on")


def test_where_sessions_are_lent_nothing_is_prepared_and_nothing_outlives_a_transaction(
    postgresql_server: PostgresqlServer,
) -> None:
    database = opened(postgresql_server.ready_database(), is_by_transaction=True)
    for _ in range(20):
        database.write(lambda tx: tx._all("SELECT count(*) FROM runs WHERE ref = ?", 1))
    with database.engine.connect() as cx:
        prepared = cx.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar_one()
        limit = cx.exec_driver_sql("SHOW statement_timeout").scalar_one()
    database.close()

    assert (prepared, limit) == (0, "0")


def test_nobody_listens_on_a_session_that_is_lent(postgresql_server: PostgresqlServer) -> None:
    database = opened(postgresql_server.ready_database(), is_by_transaction=True)
    before = threading.active_count()
    listen_to(database, lambda _: None)()

    assert threading.active_count() == before
    database.close()


def test_who_is_at_work_when_the_database_is_closed_leaves_no_connection_open(database_url: str) -> None:
    """It went back to a pool that nobody had any more, and stayed open until that was collected."""
    database = open_database(database_url, SystemClock())
    database.claim_alone()
    lent: list[Any] = []

    def close_meanwhile(tx: SqlTransaction) -> None:
        lent.append(tx.cx.connection.dbapi_connection)
        closing = threading.Thread(target=database.close)
        closing.start()
        closing.join()

    database.read(close_meanwhile)

    with pytest.raises((psycopg.OperationalError, sqlite3.ProgrammingError), match=r"closed"):
        lent[0].execute("SELECT 1")
