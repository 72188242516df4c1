"""Files that only their owner may read."""

import os
from contextlib import suppress


def make_private(path: str) -> None:
    """Have the file, empty and for its owner alone, before SQLite makes it for everybody; one that is there is left.

    SQLite gives its log the same mode.
    """
    # One that is there is not even opened: to close it would let go of SQLite's locks on it. And what keeps it from
    # being made keeps SQLite from it too, which is told in words.
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
