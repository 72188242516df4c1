"""Hears what other processes on PostgreSQL have written: only ever a hint, for the ledger is the truth."""

import logging
import threading
from collections.abc import Callable

import psycopg
from sqlalchemy import URL

from foliot.stores.database import PostgresqlDatabase

log = logging.getLogger("foliot.stores")

_QUIET = 5.0


def listen_to(database: PostgresqlDatabase, heard: Callable[[str], None]) -> Callable[[], None]:
    """Hear what others write, where a session is one's own; what is returned ends it."""
    if database.pooling.is_by_transaction:
        return lambda: None
    return Listener(database.url, heard).close


class Listener:
    """A connection of its own, on a thread of its own; when it breaks, the engines' own looks are enough."""

    def __init__(self, url: URL, heard: Callable[[str], None]) -> None:
        self._dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._heard = heard
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="foliot-listen", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join(timeout=2)

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                with psycopg.connect(self._dsn, autocommit=True, connect_timeout=5) as cx:
                    cx.execute("LISTEN foliot")
                    self._heard("look")
                    while not self._closing.is_set():
                        for notice in cx.notifies(timeout=0.5):
                            self._heard(notice.payload)
            except (psycopg.Error, OSError) as error:
                log.info("not listening for a moment: %s", error)
                self._closing.wait(_QUIET)
