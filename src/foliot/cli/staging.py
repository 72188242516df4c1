"""What is brought onto the rehearsal of a simulation: a file's schedules, a database's, or a server's."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from foliot.cli.declared import declared_in
from foliot.cli.output import Item
from foliot.cli.progress import working
from foliot.cli.session import Session, path_of
from foliot.domain.budgets import RECENT
from foliot.domain.errors import Conflict, Invalid, NotFound
from foliot.domain.grants import EVERYTHING
from foliot.domain.instants import instant_of, rfc3339
from foliot.domain.schedule import slug_of
from foliot.services.grants import GrantVerbs
from foliot.simulator import PastRuns, Rehearsal
from foliot.stores.upkeep import check_current
from foliot.wiring import Parts


def fill_from_file(rehearsal: Rehearsal, file: str, only: Collection[str] | None) -> Mapping[str, PastRuns]:
    """The set as `apply` would make it."""
    declared = declared_in(file, "simulated")
    wanted = [one for one in declared["schedules"] if only is None or _id(one) in only]
    _check_found(only, {_id(one) for one in wanted}, file)
    rehearsal.parts.verbs.declarations.apply(declared["set"], wanted)
    return {}


def fill_from_database(rehearsal: Rehearsal, url: str, only: Collection[str] | None) -> Mapping[str, PastRuns]:
    """As it stands there; it is only read."""
    check_current(url)
    source = Parts(url, {}, pricing=rehearsal.parts.pricing)
    try:
        return rehearsal.copy(source, only)
    finally:
        source.close()


def fill_from_server(session: Session, rehearsal: Rehearsal, only: Collection[str] | None) -> Mapping[str, PastRuns]:
    """What its schedules and grants say. Balances are not asked for: nobody runs out of credits here."""
    items = [item for item in session.client.items("/schedules", {}) if only is None or item["id"] in only]
    _check_found(only, {item["id"] for item in items}, session.client.url)
    grants = {grant["id"]: grant for grant in session.client.items("/grants", {})}
    verbs = rehearsal.parts.verbs
    made = {
        name: verbs.grants.create(EVERYTHING, budget=grants[name]["budget"], everything=True).id
        for name in sorted({item["grant"] for item in items} & set(grants))
    }
    for item in items:
        verbs.schedules.create(item["name"], **_options(item), grant=made.get(item["grant"]))
        if item["standing"] == "paused":
            verbs.schedules.pause(item["name"], until=_to_come(rehearsal, item["paused_until"]))
    for name, own in made.items():
        # Only now: nobody may make schedules of what is not permitted any more.
        _restrict(verbs.grants, own, grants[name])
    return _past(session, rehearsal, items)


def _options(item: Item) -> dict[str, Any]:
    """Of a schedule as it stands: one that has no starts left names no moment any more."""
    options = {name: value for name, value in item["policies"].items() if value is not None}
    spec = {"manual": True} if item["remaining"] == 0 else {"spec": item["spec"]["canonical"]}
    return {**options, **spec, "target": item["target"], "limit": item["remaining"] or None}


def _restrict(verbs: GrantVerbs, grant: str, given: Item) -> None:
    """Permit what the given one permits, for as long."""
    verbs.change(grant, scopes=given["scopes"], expires_at=given["expires_at"], everything=True)
    if given["revoked_at"] is not None:
        verbs.revoke(grant)


def _to_come(rehearsal: Rehearsal, moment: str | None) -> str | None:
    return moment if moment is not None and instant_of(moment, "paused_until") > rehearsal.start else None


def _skip(session: Session, rehearsal: Rehearsal, item: Item) -> None:
    """What somebody has skipped of the days to come; but what an edit has taken out of its spec since."""
    asked = {"schedule": item["id"], "kind": "slot", "reason": "skipped_by_user", "since": rfc3339(rehearsal.start)}
    for moment in {run["scheduled_for"] for run in session.client.items("/runs", asked)}:
        with suppress(Invalid, Conflict):
            rehearsal.parts.verbs.schedules.skip(item["name"], moment)


def _past(session: Session, rehearsal: Rehearsal, items: Collection[Item]) -> dict[str, PastRuns]:
    """How long its last successes took, and what one may cost; and on the rehearsal, what is skipped already."""
    past = {}
    with working(session, "asking what runs take and cost, and what is skipped") as bar:
        for number, item in enumerate(items, 1):
            _skip(session, rehearsal, item)
            estimate: dict[str, Any] = session.client.get(f"{path_of('schedules', item['id'])}/estimate", {"days": 1})
            past[item["id"]] = PastRuns(_lengths(session, item["id"]), estimate["credits_each"])
            bar.move(number, len(items))
    return past


def _lengths(session: Session, schedule: str) -> list[int]:
    """In microseconds. Asked of each by itself: among everybody's, those of the busy would crowd out the others."""
    successes = session.client.items("/runs", {"schedule": schedule, "status": "success"}, RECENT)
    return [
        instant_of(run["ended_at"], "ended_at") - instant_of(run["started_at"], "started_at")
        for run in successes
        if run["started_at"] is not None
    ]


def _id(one: Any) -> str:
    if not isinstance(one, dict) or not isinstance(one.get("name"), str):
        raise Invalid(f"every schedule of a set takes a name, got {one!r:.100}")
    return slug_of(one["name"])


def _check_found(only: Collection[str] | None, found: Collection[str], where: str) -> None:
    if missing := sorted(set(only or ()) - set(found)):
        raise NotFound(f"there is no schedule {', '.join(missing)} in {where}")
