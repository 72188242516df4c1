"""Fresh processes to measure in: each gets ready, waits for the word, works, and says what it found."""

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_LONGEST = 900.0

Found = dict[str, Any]


class Stage:
    """The child's side of it."""

    def ready(self) -> None:
        """Say that everything is prepared, and wait for the word to begin."""
        print(json.dumps({"ready": True}), flush=True)
        sys.stdin.readline()


class Child:
    """A process that runs one function of this package, called with a `Stage` and what is given."""

    def __init__(self, task: str, **given: Any) -> None:
        self.task = task
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.children", task, json.dumps(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._watch = threading.Timer(_LONGEST, self.process.kill)
        self._watch.daemon = True
        self._watch.start()

    def wait_ready(self) -> None:
        self._read()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def found(self) -> Found:
        try:
            result: Found = self._read()["found"]
            self.process.wait()
            return result
        finally:
            self.close()

    def close(self) -> None:
        self._watch.cancel()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> Found:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.close()
            raise SystemExit(f"{self.task} ended without a word, with code {self.process.returncode}")
        said: Found = json.loads(line)
        return said


def together(children: Sequence[Child]) -> list[Found]:
    """Let them begin at the same moment, when all are ready; what each found."""
    try:
        for child in children:
            child.wait_ready()
        for child in children:
            child.go()
        return [child.found() for child in children]
    finally:
        for child in children:
            child.close()


def alone(task: str, **given: Any) -> Found:
    """What one process found."""
    return together([Child(task, **given)])[0]


def _main() -> None:
    module, _, function = sys.argv[1].partition(":")
    work = getattr(importlib.import_module(f"benchmarks.{module}"), function)
    found = work(Stage(), **json.loads(sys.argv[2]))
    print(json.dumps({"found": found}), flush=True)


if __name__ == "__main__":
    _main()
