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
    """One attempt at a slot or a trigger."""

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


class Note(NamedTuple):
    """Something that a process saw besides: `declared`, `acknowledged` a trigger, or `fenced` from runs."""

    what: str
    pid: int
    at: float
    keys: tuple[Key, ...]


class Evidence(NamedTuple):
    executions: list[Execution]
    notes: list[Note]


class Pen:
    """Appends to the evidence; one for each process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._numbers = count(1)

    def start(self, key: Key) -> str:
        """The name under which its end is to be written."""
        execution = f"{os.getpid()}/{next(self._numbers)}"
        self._write(what="start", execution=execution, keys=[key])
        return execution

    def end(self, execution: str, outcome: str) -> None:
        self._write(what="end", execution=execution, outcome=outcome)

    def note(self, what: str, keys: list[Key]) -> None:
        self._write(what=what, keys=keys)

    def _write(self, **facts: Any) -> None:
        os.write(self._file, (json.dumps({**facts, "pid": os.getpid(), "at": time.time()}) + "\n").encode())


def read_evidence(path: Path) -> Evidence:
    begun: dict[str, Execution] = {}
    notes = []
    for fact in _facts(path):
        keys = tuple(Key(*key) for key in fact.get("keys", ()))
        if fact["what"] == "start":
            begun[fact["execution"]] = Execution(keys[0], fact["pid"], fact["at"], None, None)
        elif fact["what"] == "end":
            execution = begun[fact["execution"]]
            begun[fact["execution"]] = execution._replace(ended=fact["at"], outcome=fact["outcome"])
        else:
            notes.append(Note(fact["what"], fact["pid"], fact["at"], keys))
    return Evidence(sorted(begun.values(), key=lambda execution: execution.started), notes)


def _facts(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for line in path.read_text().splitlines():
            yield json.loads(line)
