"""Ends a process whose worker stands still: whoever has started it can start it again, it cannot help itself."""

import faulthandler
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from foliot.domain.instants import MICROSECONDS
from foliot.engine.loop import Engine
from foliot.engine.vitals import Vitals

log = logging.getLogger("foliot")

STANDS_STILL = 70
"""The exit code."""
_LOOKS = 20
_WAITS = 6
"""A worker that has nothing to do goes round only as often as it looks: standing still is so many times as long."""


@contextmanager
def watched(engine: Engine, limit: float | None) -> Iterator[None]:
    """Meanwhile the worker's loop may stand still for so many seconds; None: for ever."""
    if limit is None:
        yield
        return
    limit = max(limit, _WAITS * engine.settings.look / MICROSECONDS)
    over = threading.Event()
    threading.Thread(target=_watch, args=(engine.vitals, limit, over), name="foliot-watchdog", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(vitals: Vitals, limit: float, over: threading.Event) -> None:
    # Looks are counted, not seconds: a process that was stopped for an hour and goes on did not stand still.
    beats, looks = vitals.beats, 0
    while not over.wait(limit / _LOOKS) and not vitals.is_over:
        looks = looks + 1 if vitals.beats == beats else 0
        beats = vitals.beats
        if looks == _LOOKS:
            _end(limit)


def _end(limit: float) -> None:
    log.critical(
        "the worker's loop stood still for %g s: this process ends, to be started again; its runs go on as after any "
        "death; what every thread was at is on stderr",
        limit,
    )
    faulthandler.dump_traceback()
    logging.shutdown()
    os._exit(STANDS_STILL)
