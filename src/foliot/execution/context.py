"""What a run's code is handed besides its input."""

import json
import logging
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from foliot.domain.credits import Usage, usage_of, virtual_key
from foliot.domain.delivery import payer_key
from foliot.domain.durations import Span
from foliot.domain.instants import moment_of
from foliot.domain.questions import Answer, Verdict, question_of
from foliot.domain.runs import Kind
from foliot.domain.schedule import json_text
from foliot.domain.slots import SlotKey, run_id, trace_id
from foliot.ports import Control, Launch

_COUNTING = threading.Lock()
"""The actions of a workflow may report from several threads."""


class Cancelled(Exception):
    """The run was asked to stop: raised by `ctx.heartbeat`, to be let through."""


class LimitExceeded(BaseException):
    """The run has used more than one run may: raised by whatever it calls of `ctx`; no `except Exception` stops it."""


class Asked(Exception):
    """The run waits for a person now: raised by `ctx.ask`, to be let through."""


class Decision(NamedTuple):
    """What a person has decided about a run that had asked."""

    verdict: Verdict
    feedback: Any
    by: str


class Context:
    """A run, as its own code sees it."""

    __slots__ = ("_control", "_launch")

    def __init__(self, launch: Launch, control: Control) -> None:
        self._launch = launch
        self._control = control

    @property
    def run_id(self) -> str:
        outside = self._launch.outside
        return run_id(slot_of(self._launch), self._launch.attempt) if outside is None else outside.run_id

    @property
    def trace_id(self) -> str:
        """The run's trace, as W3C writes it: the same for every delivery of the attempt."""
        return trace_id(self.run_id)

    @property
    def schedule(self) -> str:
        """The schedule's id; nothing for a request from outside that is about no run of one."""
        return self._launch.schedule_id

    @property
    def scheduled_for(self) -> datetime:
        """The nominal time: what the spec said, or when somebody triggered it."""
        return moment_of(self._launch.nominal_at)

    @property
    def due_at(self) -> datetime:
        """The nominal time with jitter, spread or backoff applied."""
        return moment_of(self._launch.due_at)

    @property
    def attempt(self) -> int:
        return self._launch.attempt

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt and every delivery of the slot."""
        outside = self._launch.outside
        return str(slot_of(self._launch)) if outside is None else outside.key

    @property
    def labels(self) -> Mapping[str, str]:
        return self._launch.labels

    @property
    def last_result(self) -> Any:
        """What the schedule's last success returned."""
        return None if self._launch.last_result is None else json.loads(self._launch.last_result)

    @property
    def last_failure(self) -> str | None:
        """What went wrong, when the last finished run failed."""
        return self._launch.last_failure

    @property
    def decision(self) -> Decision | None:
        """What was decided about what the run has asked last; None while it has asked nothing."""
        answer = self._launch.answer
        if answer is None:
            return None
        return Decision(answer.verdict, None if answer.feedback is None else json.loads(answer.feedback), answer.by)

    @property
    def answer(self) -> Answer | None:
        """The same as it is kept, with what an executor has left beside its question."""
        return self._launch.answer

    @property
    def cancelled(self) -> bool:
        """Whether the run was asked to stop, is no longer this worker's, or has used more than one run may."""
        return self._control.order is not None or self._control.fenced or self.is_over_limit

    @property
    def is_over_limit(self) -> bool:
        """Whether the run has used more than one run may."""
        return self._control.exceeded is not None

    @property
    def user(self) -> str:
        """By whose permission it runs."""
        return self._launch.grant.user

    @property
    def virtual_key(self) -> str:
        """The default key of the account that pays, for whoever keeps usage apart by keys; it is stored nowhere."""
        return virtual_key(self._launch.grant.account)

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger that knows the run."""
        return logging.LoggerAdapter(logging.getLogger("foliot.run"), {"run_id": self.run_id})

    def heartbeat(self, progress: Any = None) -> None:
        """Say how far it has come, and stop here when it was asked to."""
        self._check_limit()
        if self.cancelled:
            raise Cancelled(f"{self.run_id} was asked to stop")
        if progress is not None:
            self._control.progress = json_text("progress", progress)

    def ask(
        self,
        kind: str,
        data: Any = None,
        *,
        who: Iterable[str] = (),
        expires_in: Span | None = None,
        at_expiry: str = "reject",
    ) -> NoReturn:
        """Stop here and wait for a person, for 7 days unless told otherwise; no worker is held meanwhile.

        When it is approved or is to be revised, the code runs once more from its beginning, with `ctx.decision`.
        """
        self._check_limit()
        self._control.question = question_of(kind, data, who=who, expires_in=expires_in, at_expiry=at_expiry)
        raise Asked(f"{self.run_id} waits for a decision")

    def withdraw_question(self) -> None:
        """What was asked is not asked after all; for executors whose targets cannot wait."""
        self._control.question = None

    def report_usage(
        self,
        unit: str,
        *,
        model: str | None = None,
        tokens: int | None = None,
        cost: object = None,
        source: str = "foliot",
    ) -> None:
        """Say that a billable call was made: `unit` names it, `cost` is in USD, or left out while nobody knows it.

        LimitExceeded when that is more than one run may take: the run is over, and is ended if it goes on.
        """
        answered = self._launch.answered
        # Code that was sent back does its work again, and what it used the second time is owed as well.
        name = unit if answered == 0 else f"{unit}@{answered}"
        self.note_usage(usage_of(name, source=source, model=model, tokens=tokens, cost=cost))
        self._check_limit()

    def _check_limit(self) -> None:
        control = self._control
        if control.exceeded is not None:
            if control.end_within is not None:
                control.end_within(0.0)
            raise LimitExceeded(f"{self.run_id} has used {control.exceeded}")

    def note_usage(self, usage: Usage) -> None:
        """Put it on the run's tab, which is paid about a second later, at the latest when the run is over."""
        control = self._control
        if control.usages is None:
            control.usages = []
        control.usages.append(usage)
        if control.meter is not None:
            with _COUNTING:
                exceeded = control.meter.add(usage)
                control.exceeded = control.exceeded or exceeded
        if control.noted is not None:
            control.noted(control)


def kept_as(context: Context) -> str:
    """The name under which an executor keeps what it has of a run: its id; of a request from outside its key.

    Two of those may be about what their callers call the same run, and are nothing to each other.
    """
    return context.run_id if context.schedule else payer_key(context.idempotency_key)


def run_of(launch: Launch) -> str:
    """What a run's charges are made under, over all its attempts."""
    return str(slot_of(launch)) if launch.outside is None else payer_key(launch.outside.key)


def slot_of(launch: Launch) -> SlotKey:
    return SlotKey(launch.schedule_id, Kind(launch.kind), launch.nominal_at, launch.backfill)
