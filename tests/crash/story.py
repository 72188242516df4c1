"""A story: all that is known of what happened, and the same put in order for who must look things up in it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from tests.crash.evidence import Evidence, Execution, Key
from tests.crash.ledger import SECOND, Ledger, Memory, Row, named_slots
from tests.crash.plan import Planned


class Disturbance(NamedTuple):
    """What a test did: to a process `kill`, `stop`, `wake` or `leave`, to the server `down`, `up` or `cut`.

    A process that ended by itself is an `end`, a machine that was too busy to go on is a `stall`, until it is `over`.
    """

    what: str
    pid: int
    at: float


class Story(NamedTuple):
    """What was planned, recorded, seen and done."""

    plan: Sequence[Planned]
    ledger: Ledger
    evidence: Evidence
    disturbances: Sequence[Disturbance]
    end: int
    """When the schedules ended, in microseconds."""
    memory: Memory | None = None
    """Of the ledger as it was seen before."""


class Report(NamedTuple):
    problems: list[str]
    figures: dict[str, int]

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {number}" for name, number in self.figures.items())
        return "\n".join([figures, *self.problems])


class Facts:
    """The story in order, less what is of other schedules or was removed for its age."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.plans = {planned.name: planned for planned in story.plan}
        self.cursors = {name: cursor for name, cursor in story.ledger.cursors.items() if name in self.plans}
        self.rows = [row for row in story.ledger.rows if self.is_known(row.key)]
        self.gaps = [gap for gap in story.ledger.gaps if gap.schedule in self.plans]
        self.executions = [run for run in story.evidence.executions if self.is_known(run.key)]
        self.notes = story.evidence.notes
        self.forgets_workers = any(cursor.pruned_before for cursor in self.cursors.values())
        """Whether the names of workers long gone may have been removed."""
        self.row_of = {row.key: row for row in self.rows}
        self.ran: dict[Key, list[Execution]] = defaultdict(list)
        for execution in self.executions:
            self.ran[execution.key].append(execution)
        self._done_to: dict[int, list[Disturbance]] = defaultdict(list)
        for disturbance in story.disturbances:
            self._done_to[disturbance.pid].append(disturbance)
        self.fenced: dict[tuple[int, Key], list[tuple[float, int]]] = defaultdict(list)
        for note in self.notes:
            if note.what == "fenced":
                for key, token in zip(note.keys, note.tokens or [0] * len(note.keys), strict=True):
                    self.fenced[note.pid, key].append((note.at, token))

    def is_known(self, key: Key) -> bool:
        cursor = self.story.ledger.cursors.get(key.schedule)
        return key.schedule in self.plans and (cursor is None or key.nominal_at >= cursor.pruned_before)

    def named(self, schedule: str) -> range:
        """What the schedule's spec names; nothing when there is no such schedule."""
        cursor = self.cursors.get(schedule)
        return range(0) if cursor is None else named_slots(self.plans[schedule], cursor, self.story.end)

    def by_slot(self) -> dict[tuple[str, str, int], list[Row]]:
        found: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row.schedule, row.kind, row.nominal_at].append(row)
        return found

    def was_taken_from(self, execution: Execution, until: float) -> bool:
        """Whether its process was disturbed since it began, or was told that the run is no longer its own."""
        if any(execution.started <= done.at <= until for done in self._done_to[execution.pid]):
            return True
        return any(at >= execution.started for at, _ in self.fenced[execution.pid, execution.key])

    def was_terminated(self, execution: Execution, until: float) -> bool:
        """Whether somebody had ended it: the ledger says so at once, and its code may end before its process hears."""
        row = self.row_of.get(execution.key)
        return row is not None and row.reason == "terminated" and (row.ended_at or 0) <= until * SECOND

    def was_stopped_before(self, execution: Execution, within: float) -> bool:
        """Whether its process was stopped between the launch and the start: it may have lost the run by then."""
        return any(
            done.what == "stop" and 0 <= execution.started - done.at <= within for done in self._done_to[execution.pid]
        )
