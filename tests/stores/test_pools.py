"""Connections of a pool that is closed while some are lent and others are waited for."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from foliot.stores.pools import KeptConnections


def until(is_so: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(20_000):
        if is_so():
            return
        waiting.wait(0.001)
    raise AssertionError("it never was so")


def test_who_waits_for_a_connection_of_a_pool_that_is_closed_is_given_what_comes_back() -> None:
    """It was closed under their hands as it came back, and they waited until their time was over."""
    opened: list[sqlite3.Connection] = []

    def connect() -> sqlite3.Connection:
        opened.append(sqlite3.connect(":memory:", check_same_thread=False))
        return opened[-1]

    pool = KeptConnections(connect, pool_size=1, max_overflow=0, timeout=60)
    lent = pool.connect()
    with ThreadPoolExecutor(3) as threads:
        waiting = [threads.submit(pool.connect) for _ in range(3)]
        until(lambda: pool._asking == 3)
        pool.dispose()
        lent.close()
        for given in as_completed(waiting, timeout=20):
            given.result().close()

    assert len(opened) == 1
    assert _is_closed(opened[0]), "nobody waits for it any more"


def _is_closed(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return True
    return False
