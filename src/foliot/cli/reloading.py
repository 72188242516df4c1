"""`--reload`: the service in a process of its own, stopped and started again when the program's files change."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from foliot.settings.sources import read_settings
from foliot.settings.table import STOP_GRACE

_EVERY = 0.5
"""Seconds between two looks at the files."""
GRACE = "3s"
"""How long runs may finish before a new start and at the last stop, unless the settings say; what does not is handed
back."""


class Reloader:
    """Keeps one process running, and gives it a new start whenever a file in the folder changes."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        self._folder = folder
        self._command = [sys.executable, "-m", "foliot.cli.reloading", *arguments]
        self._child: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()

    def watch(self) -> int:
        """Until a signal: the exit code of the last process."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        while True:
            seen = stamps(self._folder)
            code = self._run_until_change(seen)
            if self._stopping.is_set():
                return code
            self._wait_for_change(seen)

    def _on_signal(self, number: int, _: object) -> None:
        """It is told each signal once: with the terminal's own it would take the first for the second."""
        self._stopping.set()
        if self._child is not None:
            self._child.send_signal(number)

    def _run_until_change(self, seen: dict[Path, int]) -> int:
        environment = dict(os.environ)
        if read_settings().origin(STOP_GRACE) == "default":
            environment[STOP_GRACE.variable] = GRACE
        # Ourselves, with the arguments that we were given.
        self._child = subprocess.Popen(  # noqa: S603
            self._command, env=environment, stdin=subprocess.PIPE, process_group=0
        )
        with self._child as child:
            while True:
                try:
                    code = child.wait(_EVERY)
                except subprocess.TimeoutExpired:
                    if not self._stopping.is_set() and stamps(self._folder) != seen:
                        child.terminate()
                        code = child.wait()
                        print("foliot: a file has changed", flush=True)
                        return code
                    continue
                if not self._stopping.is_set():
                    print(f"foliot: it ended with {code}: started again when a file changes", flush=True)
                return code

    def _wait_for_change(self, seen: dict[Path, int]) -> None:
        while stamps(self._folder) == seen and not self._stopping.wait(_EVERY):
            pass


def stamps(folder: Path) -> dict[Path, int]:
    """When each of the program's files was changed; not those of environments and what is hidden."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_foreign(Path(place, name))]
        for name in files:
            if name.endswith(".py") or name == "foliot.toml":
                path = Path(place, name)
                try:
                    found[path] = path.stat().st_mtime_ns
                except FileNotFoundError:  # It is being replaced.
                    found[path] = 0
    return found


def _is_foreign(folder: Path) -> bool:
    name = folder.name
    return name.startswith((".", "__")) or name in ("node_modules", "site-packages") or (folder / "pyvenv.cfg").exists()


def _stop_when_orphaned() -> None:
    """The other end is open for as long as the one who watches the files lives, however that ends."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    from foliot.cli.main import main

    threading.Thread(target=_stop_when_orphaned, daemon=True).start()
    main()
