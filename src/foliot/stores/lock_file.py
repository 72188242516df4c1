"""The lock beside a SQLite file: one process writes it, and anybody else is told which."""

import fcntl
import os
import socket
from contextlib import suppress

from foliot.domain.errors import Conflict, Unavailable


class LockFile:
    """Held until released, or until the process ends, however it ends."""

    def __init__(self, path: str, guarded: str) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise Unavailable(
                f"the database {guarded} cannot be opened for writing: {error.strerror}: "
                "look at its folder, and at what this process may do in it"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._file, 200).decode(errors="replace").strip() or "another process"
            os.close(self._file)
            raise Conflict(
                f"{guarded} is in use by {holder}: one process at a time writes a SQLite file. "
                "Stop that one, or use PostgreSQL for several"
            ) from error
        # The name is a courtesy: on a full disk it is missing, and the lock is held all the same.
        with suppress(OSError):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._file)
