"""Configurations, read once and kept: compiled specs and policies are shared by all schedules that spell them alike."""

import json
import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from foliot.domain.credits import RunLimits
from foliot.domain.errors import Invalid
from foliot.domain.generation import Timetable
from foliot.domain.policies import Policies, read_policies
from foliot.domain.schedule import State
from foliot.domain.spec import Spec
from foliot.domain.times import Times
from foliot.ports import Transaction
from foliot.rows import ScheduleRow

log = logging.getLogger("foliot.books")


class Scheduled(NamedTuple):
    """A schedule's configuration, ready to be worked with."""

    ref: int
    version: int
    id: str
    target: str
    target_ref: int
    timetable: Timetable
    policies: Policies
    input: str | None
    labels: Mapping[str, str]
    grant_ref: int
    limits: RunLimits | None
    is_broken: bool
    """Its spec cannot be read here: others go on, this one waits."""


_NO_TIMES = Spec(manual=True).compile()


class _Compiled:
    """Compiled specs by their canonical text, those that were compiled last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: dict[str, Times] = {}
        self._changing = threading.Lock()

    def find(self, spec: str) -> Times | None:
        return self._times.get(spec)

    def keep(self, spec: str, times: Times) -> None:
        with self._changing:
            if spec in self._times:
                return
            if len(self._times) >= self._most:
                del self._times[next(iter(self._times))]
            self._times[spec] = times


_compiled = _Compiled(most=10_000)


def compiled(spec: str) -> Times:
    """The instants of a canonical spec, given as text."""
    times = _compiled.find(spec)
    if times is None:
        times = Spec.from_canonical(spec).compile()
        _compiled.keep(spec, times)
    return times


def canonical_text(spec: Spec) -> str:
    """The canonical form as text, which is how a spec is stored; its instants are remembered."""
    times, form = spec.resolved()
    text = json.dumps(form, sort_keys=True, separators=(",", ":"))
    _compiled.keep(text, times)
    return text


@lru_cache(maxsize=4096)
def labels_in(text: str) -> Mapping[str, str]:
    """One value for all that have the same labels: nobody can change it."""
    return MappingProxyType(json.loads(text))


def scheduled(row: ScheduleRow) -> Scheduled:
    policies = read_policies(row.policies)
    if row.deleted_at is not None:
        # What still runs may end; nothing follows from it.
        policies = replace(policies, retry=None, pause_on_failure=False)
    times = _times(row)
    return Scheduled(
        ref=row.ref,
        version=row.version,
        id=row.id,
        target=row.target_name,
        target_ref=row.target,
        timetable=Timetable(times or _NO_TIMES, row.id),
        policies=policies,
        input=row.input,
        labels=labels_in(row.labels),
        grant_ref=row.grant_ref,
        limits=policies.run_limits,
        is_broken=times is None,
    )


def _times(row: ScheduleRow) -> Times | None:
    """None when the spec cannot be read here, though it could where it was written: with zones that this one lacks."""
    try:
        return compiled(row.spec)
    except Invalid as refusal:
        log.error("schedule %s is set aside: %s", row.id, refusal)
        return None


class Configurations:
    """Those that were used lately, each known to be the one that the cursor speaks of."""

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._known: dict[int, Scheduled] = {}
        self._unsure: list[int] = []
        """Read in the transaction that is under way: if it is undone, so may be what they say."""

    def begin(self) -> None:
        """A transaction begins; the one before was undone unless `commit` was called."""
        for ref in self._unsure:
            self._known.pop(ref, None)
        self._unsure.clear()

    def commit(self) -> None:
        self._unsure.clear()

    def of(self, tx: Transaction, states: Iterable[State]) -> dict[int, Scheduled]:
        """By schedule, the configurations of the versions that these states name."""
        known = self._known
        found: dict[int, Scheduled] = {}
        absent = []
        for state in states:
            kept = known.get(state.ref)
            if kept is None or kept.version != state.version:
                absent.append(state.ref)
            else:
                found[state.ref] = kept
        if absent:
            if len(known) + len(absent) > self._most:
                known.clear()
            for row in tx.configurations(absent):
                found[row.ref] = known[row.ref] = scheduled(row)
                self._unsure.append(row.ref)
        return found
