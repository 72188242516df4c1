"""Writers of a SQLite file who are made to share a commit, without sleeping."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from foliot.stores.database import SqliteDatabase
from foliot.stores.transaction import SqlTransaction

Act = Callable[[SqlTransaction], Any]

_LOOKS = 5_000_000


def are_waiting(database: Any, count: int, looks: int = _LOOKS) -> bool:
    """Whether, at one of so many looks, that many wait to write."""
    assert isinstance(database, SqliteDatabase)
    queue = database._queue
    return any(len(queue._others) + len(queue._in_front) == count for _ in range(looks))


def together(database: Any, act: Act, calls: Sequence[Callable[[], Any]]) -> list[Future[Any]]:
    """Write while all the calls, which write too, wait in their order for the first to be done; what became of each."""
    with ThreadPoolExecutor(len(calls)) as threads:
        waiting: list[Future[Any]] = []

        def whole(tx: SqlTransaction) -> Any:
            for count, call in enumerate(calls, start=1):
                waiting.append(threads.submit(call))
                assert are_waiting(database, count), f"there are not {count} who wait"
            return act(tx)

        first: Future[Any] = Future()
        try:
            first.set_result(database.write(whole))
        except BaseException as error:
            first.set_exception(error)
        return [first, *waiting]
