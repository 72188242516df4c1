"""Why a run may end otherwise than well: each reason must be borne out by the story."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from foliot.books.ending import PAUSED_BY_FAILURE
from foliot.books.posting import PAUSED_BY_BUDGET
from foliot.domain.grants import Grant, grant_id, refusal_of
from foliot.domain.instants import MICROSECONDS
from foliot.domain.policies import CatchUp, Overlap
from foliot.domain.runs import LOSSES_UNTIL_ERROR, Kind, Reason
from foliot.domain.slots import SlotKey, run_id
from foliot.engine.hands import LAUNCH_RETRIES
from tests.simulation.audit import Row

if TYPE_CHECKING:
    from tests.simulation.judge import Judge

_REPLACING = (Overlap.BUFFER_ONE, Overlap.CANCEL_OTHER, Overlap.TERMINATE_OTHER)
_BY_ITSELF = (PAUSED_BY_FAILURE, PAUSED_BY_BUDGET)


class Moment(NamedTuple):
    """When something was decided, and what stood before."""

    now: int
    steady: float
    occupants: Mapping[int, Sequence[Row]]
    held: Mapping[int, int]
    cursors: Mapping[int, Row]
    deleted: Collection[int]
    touched: Collection[int]
    """The runs that were written at that moment."""


def unexplained(judge: "Judge", moment: Moment, old: Row | None, row: Row) -> str | None:
    """What speaks against its reason; None when it is borne out."""
    if row["reason"] is None:
        return "it has no reason"
    judge.story.counts[f"reason: {row['reason']}"] += 1
    match Reason(row["reason"]):
        case Reason.OVERLAP | Reason.BUFFER_FULL:
            return _crowded(judge, moment, row)
        case Reason.SUPERSEDED:
            return _superseded(judge, moment, row)
        case Reason.MISSED:
            return _missed(judge, moment, old, row)
        case Reason.PAUSED:
            return _paused(judge, moment, row)
        case Reason.LIMIT_REACHED:
            return _limited(judge, moment, row)
        case Reason.SKIPPED_BY_USER | Reason.CANCELLED_BY_USER | Reason.TERMINATED | Reason.SCHEDULE_DELETED:
            return _wished(judge, row)
        case Reason.CANCELLED_BY_POLICY:
            return _replaced(judge, row, Overlap.CANCEL_OTHER)
        case Reason.GRANT_REVOKED | Reason.GRANT_EXPIRED | Reason.GRANT_SCOPE | Reason.GRANT_NOT_FOUND:
            return _forbidden(judge, moment, row)
        case Reason.INSUFFICIENT_CREDITS:
            return judge.money.unexplained_poverty(row)
        case Reason.OVER_BUDGET:
            return judge.money.budgeting.unexplained(moment, row)
        case Reason.RUN_LIMIT:
            return judge.money.unexplained_limit(row)
        case Reason.TIMEOUT:
            return _timed_out(judge, moment, row)
        case Reason.LOST:
            return None if row["losses"] >= LOSSES_UNTIL_ERROR else f"it was lost {row['losses']} times only"
        case Reason.INTERNAL:
            return _ended(judge, row, "raised")
        case Reason.ABORTED:
            return _ended(judge, row, "gave up")
        case Reason.PROVIDER_UNAVAILABLE:
            return _unreached(judge, row)
        case _:
            return "nothing here can cause that"


def refusal(judge: "Judge", moment: Moment, row: Row) -> Reason | None:
    """Why its grant, as it is in the books, does not permit it."""
    schedule = judge.shadow.schedules[row["schedule_ref"]]
    return _refusal_of(judge.shadow.grants.get(schedule["grant_ref"]), judge, schedule, moment.now)


def _refusal_of(grant: Row | None, judge: "Judge", schedule: Row, now: int) -> Reason | None:
    target = judge.shadow.targets[schedule["target"]]
    if grant is None:
        return refusal_of(None, target, now)
    scopes = frozenset(json.loads(grant["scopes"]))
    return refusal_of(Grant(grant["ref"], "", 0, scopes, grant["expires_at"], grant["revoked_at"]), target, now)


def _forbidden(judge: "Judge", moment: Moment, row: Row) -> str | None:
    """Its grant said so then; the gate may have gone by what it said a moment, or a slow commit, before."""
    schedule = judge.shadow.schedules[row["schedule_ref"]]
    versions = [version for (ref, _), version in judge.shadow.versions.items() if ref == row["schedule_ref"]]
    grants = {version["grant_ref"] for version in versions} | {schedule["grant_ref"]}
    seen = [judge.shadow.grants[ref] for ref in grants if ref in judge.shadow.grants]
    seen += [former for ref in grants for _, former in judge.shadow.former_grants[ref]]
    said = {_refusal_of(grant, judge, version, moment.now) for grant in seen for version in versions}
    return None if Reason(row["reason"]) in said else f"its grants said {sorted(map(str, said))}"


def name_of(judge: "Judge", row: Row) -> str:
    schedule = judge.shadow.schedules[row["schedule_ref"]]["id"]
    key = SlotKey(schedule, Kind(row["kind"]), row["nominal_at"], row["backfill"])
    return run_id(key, row["attempt"])


def _crowded(judge: "Judge", moment: Moment, row: Row) -> str | None:
    """Somebody was in the way, and the policy is one that minds; a buffer had no place left."""
    schedule = row["schedule_ref"]
    overlaps = _overlaps(judge, row)
    judge.story.counts[f"decided: {row['overlap'] or judge.shadow.policies(schedule, row['version']).overlap}"] += 1
    in_the_way = (*moment.occupants.get(schedule, ()), *judge.shadow.occupants(schedule))
    if not any(other["ref"] != row["ref"] for other in in_the_way):
        return "nothing was in its way"
    if row["reason"] == Reason.OVERLAP:
        return None if Overlap.SKIP in overlaps else f"its policy is {overlaps}"
    places = 1 if Overlap.BUFFER_ONE in overlaps else judge.shadow.policies(schedule).buffer
    if not overlaps & {Overlap.BUFFER_ALL, Overlap.BUFFER_ONE}:
        return f"its policy is {overlaps}"
    waiting = max(moment.held.get(schedule, 0), len(judge.shadow.held(schedule)))
    return None if waiting >= places else f"only {waiting} waited, and {places} may"


def _superseded(judge: "Judge", moment: Moment, row: Row) -> str | None:
    """Another one came at that moment, under a policy by which the newest takes the place of those before it."""
    others = [judge.shadow.run(ref) for ref in moment.touched if ref != row["ref"]]
    mine = [other for other in others if other["schedule_ref"] == row["schedule_ref"]]
    came = [other for other in mine if other["reason"] != Reason.SUPERSEDED]
    if row["kind"] != Kind.SLOT:
        return "somebody asked for it"
    return None if any(_overlaps(judge, other) & set(_REPLACING) for other in came) else "nothing took its place"


def _overlaps(judge: "Judge", row: Row) -> set[Overlap]:
    """What it may have been judged by: its own policy, or the schedule's as it was or is."""
    if row["overlap"] is not None:
        return {Overlap(row["overlap"])}
    schedule = row["schedule_ref"]
    return {judge.shadow.policies(schedule).overlap, judge.shadow.policies(schedule, row["version"]).overlap}


def _unreached(judge: "Judge", row: Row) -> str | None:
    """The gate was away whenever it was to be executed."""
    key = row["ref"], row["token"]
    if key in judge.story.executions:
        return "its code ran"
    times = judge.story.unreached[key]
    return None if times == LAUNCH_RETRIES + 1 else f"the gate was away {times} times only"


def _missed(judge: "Judge", moment: Moment, old: Row | None, row: Row) -> str | None:
    """It was late by more than the grace, or held beyond the window. Whether somebody is to blame is judged for all."""
    policies = judge.shadow.policies(row["schedule_ref"], row["version"])
    late = moment.now - row["due_at"]
    if old is not None:
        window = judge.shadow.policies(row["schedule_ref"]).window
        within = window is None or late <= window
        return f"it is within its window, {late / MICROSECONDS} s old" if within else None
    if late <= policies.grace:
        return f"it is within its grace, {late / MICROSECONDS} s late"
    if policies.catchup in (CatchUp.ALL, CatchUp.SPREAD) and (policies.window is None or late <= policies.window):
        return f"catch-up is {policies.catchup}, and it is {late / MICROSECONDS} s late"
    return None


def _paused(judge: "Judge", moment: Moment, row: Row) -> str | None:
    cursor = moment.cursors.get(row["schedule_ref"])
    if cursor is None or cursor["pause_from"] is None:
        return "its schedule was not paused"
    if cursor["remaining"] == 0:
        return "its schedule had no starts left, and owed nothing"
    since = cursor["pause_from"]
    versions = [version for (ref, _), version in judge.shadow.versions.items() if ref == row["schedule_ref"]]
    # A person's pause is preceded by a sweep; one that follows a failure is not, whoever has prolonged it since.
    by_itself = any(version["paused_by"] in _BY_ITSELF and version["updated_at"] == since for version in versions)
    # New rules begin with the nominal times after them: jitter around one of these may have it due before.
    by_edit = row["nominal_at"] > since and any(version["spec_since"] == since for version in versions)
    # An edit in the midst of a pause settles it up to then: what is nominally after that was due in it all the same.
    by_edit |= row["nominal_at"] > since and any(
        version["updated_at"] == since and _was_paused(judge, version) for version in versions
    )
    return None if by_itself or by_edit or row["due_at"] >= since else "it was due before the pause"


def _was_paused(judge: "Judge", version: Row) -> bool:
    former = judge.shadow.versions.get((version["ref"], version["version"] - 1))
    return former is not None and former["paused_by"] is not None


def _wished(judge: "Judge", row: Row) -> str | None:
    """Somebody asked for it."""
    name, schedule = name_of(judge, row), judge.shadow.schedules[row["schedule_ref"]]["id"]
    verb, what = {
        Reason.SKIPPED_BY_USER: ("skip", f"{schedule} {row['nominal_at']}"),
        Reason.CANCELLED_BY_USER: ("cancel", name),
        Reason.TERMINATED: ("terminate", name),
        Reason.SCHEDULE_DELETED: ("delete", schedule),
    }[Reason(row["reason"])]
    if judge.wishes.was_asked(verb, what):
        return None
    if row["reason"] == Reason.TERMINATED:
        return _replaced(judge, row, Overlap.TERMINATE_OTHER)
    grants = {version["grant_ref"] for (ref, _), version in judge.shadow.versions.items() if ref == row["schedule_ref"]}
    if row["reason"] == Reason.CANCELLED_BY_USER and any(
        judge.wishes.was_asked("revoke", grant_id(ref)) for ref in grants
    ):
        return None
    return "nobody asked for it"


def _replaced(judge: "Judge", row: Row, overlap: Overlap) -> str | None:
    """A policy of the schedule, or of one of the triggers, has it so."""
    schedule = row["schedule_ref"]
    judge.story.counts[f"decided: {overlap}"] += 1
    policies = {judge.shadow.policies(schedule).overlap}
    policies |= {
        judge.shadow.policies(ref, version).overlap for ref, version in judge.shadow.versions if ref == schedule
    }
    triggers = {other["overlap"] for other in judge.shadow.runs.values() if other["schedule_ref"] == schedule}
    return None if overlap in policies | triggers else f"no policy is {overlap}"


def _limited(judge: "Judge", moment: Moment, row: Row) -> str | None:
    """A limit was reached: it counts from the edit on, and what waits is judged by the new one."""
    now = judge.shadow.cursors[row["schedule_ref"]]
    before = moment.cursors.get(row["schedule_ref"], now)
    return None if 0 in (before["remaining"], now["remaining"]) else f"{now['remaining']} starts are left"


def _timed_out(judge: "Judge", moment: Moment, row: Row) -> str | None:
    timeouts = [
        judge.shadow.policies(ref, version).timeout
        for ref, version in judge.shadow.versions
        if ref == row["schedule_ref"]
    ]
    shortest = min((timeout for timeout in timeouts if timeout is not None), default=None)
    if shortest is None:
        return "its schedule never had a timeout"
    lasted = moment.steady - judge.launched[row["ref"], row["token"]]
    return f"it ran for {lasted} s only" if lasted * MICROSECONDS < shortest - MICROSECONDS else None


def _ended(judge: "Judge", row: Row, how: str) -> str | None:
    execution = judge.story.executions.get((row["ref"], row["token"]))
    if execution is None:
        return "its code never ran under its token"
    return None if execution.how == how else f"its code {execution.how}"
