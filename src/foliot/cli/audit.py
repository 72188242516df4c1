"""`foliot audit`: whether the ledger has every slot once, and whether the trail of changes is as it was written."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typer import Exit, Option

from foliot.cli.exits import FAILED
from foliot.cli.output import View
from foliot.cli.progress import working
from foliot.cli.session import Session, asking
from foliot.domain.errors import Invalid
from foliot.domain.instants import instant_of, rfc3339
from foliot.domain.trail import BEGINNING, Noted, against, noted_of

if TYPE_CHECKING:
    from foliot.services.verbs import Verbs

Told = Callable[[int, int], None]

_VIOLATION = View(
    {"SCHEDULE": "schedule", "FAULT": "fault", "FIRST": "first_at", "SLOTS": "slots", "WHAT": "sentence"},
    name="schedule",
)
_BREAK = View({"NUMBER": "number", "WHAT": "what"}, name="number")
_AT_ONCE = 5_000


class _Part(NamedTuple):
    """A part of the chain, verified."""

    checked: int
    breaks: list[dict[str, Any]]
    last: int
    hash: str
    place: Any
    """From which to go on; None at the end."""


@asking
def audit(
    session: Session,
    since: Annotated[str | None, Option(metavar="MOMENT", help="Slots from then on; else all.")] = None,
    until: Annotated[str | None, Option(metavar="MOMENT", help="Slots up to then.")] = None,
    schedule: Annotated[str | None, Option(metavar="SCHEDULE", help="Of this one only.")] = None,
    database: Annotated[
        str | None, Option(metavar="URL", help="Ask no server but read this database, beside whoever writes it.")
    ] = None,
    chain: Annotated[bool, Option("--chain", help="Verify the trail of changes instead.")] = False,
    noted: Annotated[
        str | None,
        Option(metavar="NUMBER:HASH", help="With --chain: an entry as it was told earlier, which must still be there."),
    ] = None,
) -> None:
    """Prove from the ledger that every slot has one row and an explained fate, and that no other row is there.

    Exits with 1 when something is wrong.

    \b
    Examples:
      foliot audit --since 2026-11-01T00:00:00Z
      foliot audit --database sqlite:///foliot.db --schedule digest
      foliot audit --chain
    """
    if chain:
        _check_whole(since=since, until=until, schedule=schedule)
        _show_chain(session, run_chain(session, database, None if noted is None else noted_of(noted)))
        return
    if noted is not None:
        raise Invalid("--noted is about the trail of changes: give --chain too")
    with working(session, "auditing") as bar:
        found = run_audit(session, since=since, until=until, schedule=schedule, database=database, told=bar.move)
    if session.is_for_people:
        counted = f"{found['slots']:,} slots of {found['schedules']:,} schedules: {found['rows']:,} rows"
        rest = f"{found['in_gaps']:,} in gaps, {found['unjudged']:,} yet to be judged, {found['found']:,} violations"
        print(f"{counted}, {rest}")
        if found["violations"]:
            session.show_all(found["violations"], _VIOLATION)
    else:
        session.show(found, _VIOLATION._replace(name="found"))
    if found["found"]:
        raise Exit(FAILED)


def _check_whole(**narrowing: str | None) -> None:
    """Invalid when only a part is meant: a chain is verified from its beginning to its end."""
    if said := [f"--{name}" for name, value in narrowing.items() if value is not None]:
        raise Invalid(f"--chain verifies all of the trail of changes: leave out {', '.join(said)}, or --chain")


def run_audit(
    session: Session,
    *,
    since: str | None,
    until: str | None,
    schedule: str | None,
    database: str | None,
    told: Told,
) -> dict[str, Any]:
    """The slot audit, by the server or offline."""
    wanted = {"since": since, "until": until, "schedule": schedule}
    if database is None:
        answer: dict[str, Any] = session.client.get("/audit", wanted)
        return answer
    from foliot.cli.offline import reading  # noqa: PLC0415

    with reading(database) as verbs:
        return _plain(asdict(verbs.audit.slots(**wanted, progress=told)))


def run_chain(session: Session, database: str | None, noted: Noted | None = None) -> dict[str, Any]:
    """All of the trail, verified: how many entries, what is wrong, and the end to be noted elsewhere."""
    if database is None:
        return _whole_chain(partial(_asked_part, session), noted)
    from foliot.cli.offline import reading  # noqa: PLC0415

    with reading(database) as verbs:
        return _whole_chain(partial(_read_part, verbs), noted)


def _whole_chain(part_after: Callable[[Any, int], _Part], noted: Noted | None) -> dict[str, Any]:
    """Part by part; what was noted is where one of them ends."""
    whole: dict[str, Any] = {"checked": 0, "breaks": [], "last": 0, "hash": BEGINNING}
    place = None
    while True:
        to_noted = 0 if noted is None else noted.ref - whole["last"]
        checked, breaks, last, digest, place = part_after(place, min(_AT_ONCE, to_noted) if to_noted > 0 else _AT_ONCE)
        whole.update(checked=whole["checked"] + checked, breaks=whole["breaks"] + breaks, last=last, hash=digest)
        if noted is not None and (place is None or last >= noted.ref):
            wrong = against(noted, last, digest)
            whole["breaks"] += [] if wrong is None else [{"number": wrong.ref, "what": wrong.what}]
            noted = None
        if place is None:
            return whole


def _read_part(verbs: "Verbs", place: tuple[int, str] | None, limit: int) -> _Part:
    found = verbs.trail.verify(*place or (), limit=limit)
    breaks = [{"number": one.ref, "what": one.what} for one in found.breaks]
    return _Part(found.checked, breaks, found.last, found.hash, None if found.is_end else (found.last, found.hash))


def _asked_part(session: Session, place: str | None, limit: int) -> _Part:
    page = session.client.get("/trail/verify", {"after": place, "limit": limit})
    return _Part(page["checked"], page["breaks"], page["last"], page["hash"], page["next"])


def _show_chain(session: Session, found: dict[str, Any]) -> None:
    if session.is_for_people:
        print(
            f"{found['checked']:,} entries, {len(found['breaks']):,} breaks; to note: {found['last']}:{found['hash']}"
        )
        if found["breaks"]:
            session.show_all(found["breaks"], _BREAK)
    else:
        session.show(found, _BREAK._replace(name="last"))
    if found["breaks"]:
        raise Exit(FAILED)


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    for violation in found["violations"]:
        for name in ("first_at", "last_at"):
            violation[name] = rfc3339(instant_of(violation[name], name))
        violation["fault"] = str(violation["fault"])
    return found
