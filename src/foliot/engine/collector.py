"""The garbage collector, in a process that is a worker and nothing else."""

import gc

_NEWEST = 50_000


def calm_collector() -> None:
    """Let it look rarely, and never again at what is there by now.

    A turn makes thousands of small values that live for a moment and hold no cycles: to search through them costs a
    fifth of the turn, in the midst of it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEWEST, *gc.get_threshold()[1:])
