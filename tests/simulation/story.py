"""The story of one day, kept outside of the system: what was done to it, what its runs did, and when."""

from collections import Counter, deque
from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

from tests.simulation.usage import Call

_LAST = 60


class Trouble(NamedTuple):
    """Something bad that happened, from when to when, to whom; to everybody when nobody is named."""

    kind: str
    began: float
    ended: float
    whom: str | None


class Execution:
    """One delivery of a run to the code of its target, as that code saw it."""

    def __init__(
        self, process: str, schedule: int, ref: int, token: int, run_id: str, occupies: bool, began: float
    ) -> None:
        self.process = process
        self.schedule = schedule
        self.ref = ref
        self.token = token
        self.run_id = run_id
        self.occupies = occupies
        self.began = began
        self.ended: float | None = None
        self.how: str | None = None
        """returned, raised, gave up, exceeded or stopped"""
        self.result: str | None = None
        self.calls: list[Call] = []
        """What it has used."""


class Story:
    """What happened, as a hash of all of it and the last lines in full."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.troubles: list[Trouble] = []
        self.suffer: Callable[[str, float, float, str | None], None] = lambda kind, began, ended, whom: None
        """Who else must know of troubles."""
        self.unreached: Counter[tuple[int, int]] = Counter()
        """By run and token, how often the gate was away when it was to be executed."""
        self.executions: dict[tuple[int, int], Execution] = {}
        self.doubles: list[str] = []
        self.lines: deque[str] = deque(maxlen=_LAST)
        self._hash = blake2b(digest_size=16)

    def tell(self, time: float, line: str) -> None:
        text = f"{time:12.6f} {line}"
        self.lines.append(text)
        self._hash.update(text.encode())

    @property
    def hash(self) -> str:
        return self._hash.hexdigest()

    def trouble(self, kind: str, now: float, seconds: float = 0.0, whom: str | None = None) -> None:
        self.counts[f"fault: {kind}"] += 1
        self.troubles.append(Trouble(kind, now, now + seconds, whom))
        self.suffer(kind, now, now + seconds, whom)
        self.tell(now, f"FAULT {kind} {whom or 'all'} {seconds:.3f} s")

    def was_troubled(self, since: float, now: float, whom: str | None = None) -> bool:
        """Whether anything bad happened in that time: to them, when somebody is named, or to everybody."""
        return any(
            trouble.ended >= since and trouble.began <= now and (whom is None or trouble.whom in (whom, None))
            for trouble in reversed(self.troubles)
        )

    def begin(self, execution: Execution) -> None:
        key = (execution.ref, execution.token)
        if key in self.executions:
            self.doubles.append(f"{execution.run_id} was delivered twice under token {execution.token}")
        self.executions[key] = execution
        self.counts["executions"] += 1
        self.tell(execution.began, f"{execution.process} begins {execution.run_id} token {execution.token}")

    def end(self, execution: Execution, now: float, how: str, result: str | None = None) -> None:
        execution.ended, execution.how, execution.result = now, how, result
        self.tell(now, f"{execution.process} ends {execution.run_id} token {execution.token}: {how}")
