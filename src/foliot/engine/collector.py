"""The garbage collector, in a process that is a worker and nothing else."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEWEST = 50_000


@contextmanager
def calm_collector() -> Iterator[None]:
    """Let it look rarely meanwhile, and not at what is there by now.

    A turn makes thousands of small values that live for a moment and hold no cycles: to search through them, in the
    midst of it, makes its starts late.
    """
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEWEST, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
