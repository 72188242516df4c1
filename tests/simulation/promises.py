"""What the client was told is done: so it is, in the books, at that moment."""

from typing import TYPE_CHECKING

from foliot.domain.grants import read_grant_id
from foliot.domain.instants import moment_of
from foliot.domain.policies import read_policies
from foliot.domain.runs import FINAL, Reason
from foliot.execution.charging import Charged
from foliot.services.views import Account, Backfill, Grant, Run, Schedule
from tests.simulation import reasons
from tests.simulation.audit import Row

if TYPE_CHECKING:
    from tests.simulation.judge import Judge

_LAW = "what was acknowledged holds"


def judge_promise(judge: "Judge", verb: str, what: str, result: object) -> None:
    """The client was told that it is done: so it is."""
    match result:
        case Run():
            runs = judge.shadow.runs.values()
            found = next((row for row in runs if reasons.name_of(judge, row) == result.id), None)
            is_done = found is not None and _is_run_done(verb, found)
        case Schedule():
            found = next((row for row in judge.shadow.schedules.values() if row["id"] == what), None)
            is_done = found is not None and _is_schedule_done(judge, verb, found, result)
        case Backfill():
            found = judge.shadow.backfills.get(result.id or 0)
            is_done = found is not None and judge.shadow.schedules[found["schedule_ref"]]["id"] == what
        case Grant():
            found = judge.shadow.grants.get(read_grant_id(result.id))
            is_done = found is not None and _is_grant_done(verb, found, result)
        case Account():
            found, is_done = None, _is_paid(judge, verb, what, result)
        case Charged():
            found, is_done = None, verb == "report" and _is_charged(judge, what)
        case _:
            found = next((row for row in judge.shadow.schedules.values() if row["id"] == what), None)
            is_done = verb == "delete" and found is not None and found["deleted_at"] is not None
    if not is_done:
        judge.accuse(_LAW, f"{verb} {what} was not done: {found}, told {result}")


def _is_run_done(verb: str, row: Row) -> bool:
    match verb:
        case "skip":
            return bool(row["reason"] == Reason.SKIPPED_BY_USER)
        case "terminate":
            return bool(row["reason"] == Reason.TERMINATED)
        case "cancel":
            return row["orders"] is not None or row["status"] in FINAL
        case "retry":
            return row["retry_of"] is not None
        case _:
            return verb == "trigger"


def _is_grant_done(verb: str, row: Row, told: Grant) -> bool:
    if verb == "revoke":
        return row["revoked_at"] is not None
    if verb == "allow":
        return (row["budget"] is None) == (told.budget is None)
    return verb == "extend" and told.expires_at is not None and moment_of(row["expires_at"]) == told.expires_at


def _is_schedule_done(judge: "Judge", verb: str, row: Row, told: Schedule) -> bool:
    cursor = judge.shadow.cursors[row["ref"]]
    if (row["version"], cursor["version"]) != (told.token, told.token) or row["deleted_at"] is not None:
        return False
    since, until = cursor["pause_from"], cursor["pause_to"]
    match verb:
        case "create" | "patch":
            is_told = (row["spec"], read_policies(row["policies"])) == (told.canonical, told.policies)
            return is_told and judge.shadow.targets[row["target"]] == told.target
        case "pause":
            # It may be over already, when the answer took that long.
            return since is not None and (until and moment_of(until)) == told.paused_until
        case _:
            return verb == "resume" and (since is None or (until is not None and until <= judge.now()))


def _is_paid(judge: "Judge", verb: str, what: str, told: Account) -> bool:
    if verb == "limit":
        return any(bool(row["is_limited"]) == told.limited for row in judge.money.accounts.values())
    kind = {"top up": "top_up", "refund": "refund"}[verb]
    return any(key[1] == kind and key[2].endswith(what) for key in judge.money.postings)


def _is_charged(judge: "Judge", what: str) -> bool:
    """Whether it is known what the call cost."""
    receipts = (receipt for by_unit in judge.money.receipts.values() for receipt in by_unit.values())
    name, _, unit = what.partition(" ")
    reference = f"{name.replace('~', '/')}/{unit}"
    return any(receipt["reference"] == reference and receipt["credits"] is not None for receipt in receipts)
