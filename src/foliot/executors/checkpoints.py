"""Where LangGraph keeps its checkpoints: beside our database, never in the same file."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from sqlalchemy import URL, make_url

from foliot.domain.errors import Unavailable
from foliot.files import make_private

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import AsyncConnection
    from psycopg.rows import DictRow

SUFFIX = ".langgraph"
_MAKING_READY = threading.Lock()
_SETUP_LOCK = 0x6C616E676772
_ASK_AGAIN = 0.05


class Checkpoints(Protocol):
    """Lends savers to runs."""

    def saver(self) -> "AbstractAsyncContextManager[BaseCheckpointSaver[Any]]":
        """A saver on the running loop, for as long as a run needs it."""


class MemoryCheckpoints:
    """For virtual worlds: they last as long as the world."""

    def __init__(self) -> None:
        self._saver: InMemorySaver | None = None

    @asynccontextmanager
    async def saver(self) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
        from langgraph.checkpoint.memory import InMemorySaver  # noqa: PLC0415

        if self._saver is None:
            self._saver = InMemorySaver()
        yield self._saver


class StoredCheckpoints:
    """Those of one database: a second file beside SQLite's, tables of LangGraph's own in PostgreSQL.

    All runs of a loop share one connection. It is open while any of them needs it, so nothing is left to be closed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._shared: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()
        self._is_set_up = False

    @asynccontextmanager
    async def saver(self) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
        loop = asyncio.get_running_loop()
        shared = self._shared.get(loop)
        if shared is None or shared.is_cut_off:
            shared = self._shared[loop] = _Shared(self._open())
        shared.users += 1
        try:
            yield await shared.saver()
        finally:
            shared.users -= 1
            if shared.users == 0:
                if self._shared.get(loop) is shared:
                    del self._shared[loop]
                await shared.close()

    @asynccontextmanager
    async def _open(self) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
        url = make_url(self._url)
        is_file = url.get_backend_name() == "sqlite"
        opened = self._sqlite(url) if is_file else self._postgresql(url)
        refusal = sqlite3.OperationalError if is_file else _server_refusal()
        async with AsyncExitStack() as stack:
            try:
                saver = await stack.enter_async_context(opened)
            except (refusal, OSError) as error:
                name = url.database if url.host is None else f"{url.host}/{url.database}"
                raise Unavailable(f"LangGraph's checkpoints beside {name} cannot be used now: {error}") from error
            yield saver

    @asynccontextmanager
    async def _sqlite(self, url: URL) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver  # noqa: PLC0415

        path = f"{url.database}{SUFFIX}"
        # A file that cannot be opened is better found out here: aiosqlite would leave a thread behind.
        _make_ready(path)
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            await saver.setup()
            await saver.conn.execute("PRAGMA synchronous=FULL")
            yield saver

    @asynccontextmanager
    async def _postgresql(self, url: URL) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: PLC0415

        async with await _connection(url) as cx:
            saver = AsyncPostgresSaver(cx)
            if not self._is_set_up:
                async with await _connection(url) as guard:
                    await _set_up(guard, saver)
                self._is_set_up = True
            yield saver


class _Shared:
    """One saver, and how many runs use it."""

    def __init__(self, opened: "AbstractAsyncContextManager[BaseCheckpointSaver[Any]]") -> None:
        self.users = 0
        self._opened = opened
        self._saver: BaseCheckpointSaver[Any] | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    @property
    def is_cut_off(self) -> bool:
        """Whether its server is gone: whoever comes now opens another."""
        return bool(getattr(getattr(self._saver, "conn", None), "closed", False))

    async def saver(self) -> "BaseCheckpointSaver[Any]":
        async with self._opening:
            if self._saver is None:
                self._saver = await self._stack.enter_async_context(self._opened)
        return self._saver

    async def close(self) -> None:
        await self._stack.aclose()


def _make_ready(path: str) -> None:
    """Have the file, with its log: SQLite refuses at once, and does not wait, where two would begin a log."""
    make_private(path)
    with _MAKING_READY, closing(sqlite3.connect(path)) as cx:
        cx.execute("PRAGMA journal_mode=WAL")


def _server_refusal() -> type[Exception]:
    """What the server's driver raises. It is imported where there is a server: that takes as long as all of ours."""
    from psycopg import OperationalError  # noqa: PLC0415

    return OperationalError


async def _connection(url: URL) -> "AsyncConnection[DictRow]":
    from psycopg import AsyncConnection  # noqa: PLC0415
    from psycopg.rows import DictRow, dict_row  # noqa: PLC0415

    return await AsyncConnection[DictRow].connect(
        url.set(drivername="postgresql").render_as_string(hide_password=False),
        autocommit=True,
        prepare_threshold=None,
        row_factory=dict_row,
        connect_timeout=5,
        application_name="foliot langgraph",
    )


async def _set_up(guard: "AsyncConnection[DictRow]", saver: "AsyncPostgresSaver") -> None:
    """Create its tables, one process at a time.

    The lock belongs to a transaction beside them, for some tables are not made in one; a pooler may lend each
    transaction another session, so that a session's lock would never be given back. It is asked for again and again:
    whoever waited in it would hold up the indexes that are built concurrently.
    """
    async with guard.transaction():
        while not await _has_lock(guard):
            await asyncio.sleep(_ASK_AGAIN)
        await saver.setup()


async def _has_lock(guard: "AsyncConnection[DictRow]") -> bool:
    # Without a parameter: the server keeps the snapshot of a statement with one, which holds up those indexes as well.
    asked = await guard.execute(f"SELECT pg_try_advisory_xact_lock({_SETUP_LOCK}) AS it_is".encode())
    answer = await asked.fetchone()
    return answer is not None and bool(answer["it_is"])
