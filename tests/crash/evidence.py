"""Evidence: what runs write down themselves, in a file beside the system that cannot mark its own homework.

One JSON object a line, each appended by a single write, so that lines of several processes never mix.
"""

import json
import os
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple


class Key(NamedTuple):
    """One attempt at a slot, a trigger, or a slot of a backfill: those are of the kind `backfill` and its number."""

    schedule: str
    kind: str
    nominal_at: int
    attempt: int


class Execution(NamedTuple):
    """Code that ran for a run: who ran it, from when to when; one that was cut off has no end."""

    key: Key
    pid: int
    started: float
    ended: float | None
    outcome: str | None
    token: int = 1
    """The one that it was started with."""


class Note(NamedTuple):
    """Something that a process saw besides: `declared`, `fenced` from runs, or what a verb acknowledged."""

    what: str
    pid: int
    at: float
    keys: tuple[Key, ...]
    tokens: tuple[int, ...] = ()


class Evidence(NamedTuple):
    executions: list[Execution]
    notes: list[Note]


class Pen:
    """Appends to the evidence; one for each process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        # Numbers of processes come again, the time does not.
        self._name = f"{os.getpid()}/{time.time_ns()}"
        self._numbers = count(1)

    def start(self, key: Key, token: int) -> str:
        """The name under which its end is to be written."""
        execution = f"{self._name}/{next(self._numbers)}"
        self._write(what="start", execution=execution, keys=[key], tokens=[token])
        return execution

    def end(self, execution: str, outcome: str) -> None:
        self._write(what="end", execution=execution, outcome=outcome)

    def note(self, what: str, keys: list[Key], tokens: list[int] | None = None) -> None:
        self._write(what=what, keys=keys, tokens=tokens or [])

    def _write(self, **facts: Any) -> None:
        os.write(self._file, (json.dumps({**facts, "pid": os.getpid(), "at": time.time()}) + "\n").encode())


class Reader:
    """Reads on where it stopped: for who looks often at what becomes long."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_to = 0
        self._begun: dict[str, Execution] = {}
        self._open: set[str] = set()
        self.pids: set[int] = set()
        """The processes that have begun something."""
        self._notes: list[Note] = []

    def evidence(self) -> Evidence:
        self.look()
        return Evidence(sorted(self._begun.values(), key=lambda execution: execution.started), self._notes)

    def at_work(self) -> set[int]:
        """The processes that have begun something and not ended it."""
        self.look()
        return {self._begun[name].pid for name in self._open}

    @property
    def count(self) -> int:
        """How many executions it has read of."""
        return len(self._begun)

    def look(self) -> None:
        for fact in self._facts():
            keys = tuple(Key(*key) for key in fact.get("keys", ()))
            tokens = tuple(fact.get("tokens", ()))
            if fact["what"] == "start":
                token = tokens[0] if tokens else 1
                self._begun[fact["execution"]] = Execution(keys[0], fact["pid"], fact["at"], None, None, token)
                self._open.add(fact["execution"])
                self.pids.add(fact["pid"])
            elif fact["what"] == "end":
                execution = self._begun[fact["execution"]]
                self._begun[fact["execution"]] = execution._replace(ended=fact["at"], outcome=fact["outcome"])
                self._open.discard(fact["execution"])
            else:
                self._notes.append(Note(fact["what"], fact["pid"], fact["at"], keys, tokens))

    def _facts(self) -> Iterator[dict[str, Any]]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read_to)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._read_to += len(line)
                yield json.loads(line)


def read_evidence(path: Path) -> Evidence:
    return Reader(path).evidence()
