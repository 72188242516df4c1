"""The launcher: workflows started from outside, each once under its key, as runs that workers take up."""

from enum import StrEnum
from typing import NamedTuple

from foliot.books.entries import Entries
from foliot.domain.delivery import InProgress, KeyReused, RequestStage, payload_hash
from foliot.domain.errors import Denied, Invalid, NotFound, Refusal, Unavailable
from foliot.domain.grants import LOCAL
from foliot.domain.instants import instant_of, rfc3339
from foliot.domain.policies import Overlap, count_of
from foliot.domain.runs import Reason, Status
from foliot.domain.schedule import json_text, name_of, text_of, user_of
from foliot.domain.settlement import Outcome, outcome_text
from foliot.ports import Transaction
from foliot.rows import RequestRow, RunRow, ScheduleRow
from foliot.services.configuration import stored_of
from foliot.services.creating import WantedSchedule, put_schedule
from foliot.services.desk import Desk
from foliot.services.editing import trigger_run
from foliot.services.permission import may_be_given, wish_of
from foliot.services.schedules import Moment
from foliot.services.views import run_view
from foliot.services.workflows import launches_id_of


class Acceptance(StrEnum):
    """What became of a wish to start."""

    ACCEPTED = "accepted"
    """A run is in the ledger: now, or since the key was used first."""
    NEVER = "never"
    """It cannot be started, however often it is tried: `why` says what to change."""
    AGAIN = "again"
    """Not now: try again under the same key."""


class Started(NamedTuple):
    verdict: Acceptance
    run_id: str | None = None
    why: str | None = None


class RunLauncher:
    """Starts workflows for whoever keeps the time elsewhere."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def start(
        self, workflow_id: str, version: int, user_id: str, scheduled_for: Moment, idempotency_key: str
    ) -> Started:
        """Start that version for the user, once for each key; told again, it is the same run."""
        try:
            return Started(
                Acceptance.ACCEPTED, self.launch(workflow_id, version, user_id, scheduled_for, idempotency_key)
            )
        except (Unavailable, InProgress) as refusal:
            return Started(Acceptance.AGAIN, why=str(refusal))
        except Refusal as refusal:
            return Started(Acceptance.NEVER, why=str(refusal))

    def launch(self, workflow_id: str, version: int, user_id: str, scheduled_for: Moment, idempotency_key: str) -> str:
        """The same, and the id of its run; what keeps it from being started is raised."""
        key = idempotency_key
        user, moment = user_of(user_id), rfc3339(instant_of(scheduled_for, "scheduled_for"))
        if count_of("version", version) is None or not text_of("idempotency_key", key):
            raise Invalid("a start takes a version and an idempotency_key")
        # What an executor is handed by whoever keeps the time: the run itself has the key of its own slot.
        handed = {"source": "schedule", "user_id": user, "scheduled_for": moment, "idempotency_key": key}
        given = json_text("input", {"version": version, "inputs": handed})
        target = f"dag:{name_of('workflow_id', workflow_id)}"
        hashed = payload_hash("launch", target, user, given)

        def act(tx: Transaction, entries: Entries) -> str:
            known = tx.request(key)
            if known is not None and known.hash != hashed:
                raise KeyReused(f"the key {key!r} was used for something else: give this start its own")
            if known is not None:
                return known.run
            workflow = tx.workflow(workflow_id, version)
            if workflow is None or not may_be_given(workflow, user):
                raise NotFound(f"there is no workflow {workflow_id!r} in version {version}: deploy it first")
            row = self._schedule(tx, entries, workflow_id, user)
            run = trigger_run(tx, entries, self._desk.find(tx, row.id), given, Overlap.ALLOW_ALL)
            if run.status == Status.SKIPPED:
                raise _refusal(run, target)
            run_id = run_view(run, row.id, None).id
            if tx.insert_request(_request(key, hashed, target, user, row, run_id, run.ref, tx.now)) is None:
                raise InProgress(f"the key {key!r} is just being used: try again", 1.0)
            return run_id

        return self._desk.write(act)

    def _schedule(self, tx: Transaction, entries: Entries, workflow_id: str, user: str) -> ScheduleRow:
        """The user's schedule of no times of its own that these runs belong to."""
        schedule_id = launches_id_of(user, workflow_id)
        row = tx.schedule(schedule_id)
        if row is None or row.deleted_at is not None:
            stored = stored_of(schedule_id, {"target": f"dag:{workflow_id}", "manual": True})
            wish = wish_of(None if user == LOCAL else user, None)
            put_schedule(self._desk, tx, entries, WantedSchedule(schedule_id, schedule_id, stored, wish), None)
            entries.write(tx)
            row = tx.schedule(schedule_id)
        if row is None:
            raise Unavailable(f"the schedule {schedule_id!r} was deleted meanwhile: try again")
        return row


def _refusal(run: RunRow, target: str) -> Refusal:
    """Why a start that would only be skipped is not accepted; what is spent may be there again later."""
    if run.reason == Reason.OVER_BUDGET:
        return Unavailable(f"{target} would not start now: {run.reason}: try again when the budget has room")
    return Denied(f"{target} would not start: {run.reason}: give the user a grant for it")


def _request(
    key: str, hashed: str, target: str, user: str, row: ScheduleRow, run: str, run_ref: int, now: int
) -> RequestRow:
    """The record of the start: it is done with its acceptance, and the run's row says the rest."""
    return RequestRow(
        ref=0,
        key=key,
        hash=hashed,
        target=target,
        caller=user,
        grant_ref=row.grant_ref,
        run=run,
        attempt=1,
        run_ref=run_ref,
        stage=RequestStage.DONE,
        owner="",
        token=1,
        lease_until=now,
        verdict=None,
        decided_by=None,
        outcome=outcome_text(Outcome(Status.PENDING)),
        created_at=now,
        ended_at=now,
    )
