"""`foliot schedule pause`, `resume` and `label`: of one schedule, or of all that a filter names."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from typer import Argument, Option

from foliot.cli.completion import complete_schedules
from foliot.cli.consent import DryRun, Yes, check_meant
from foliot.cli.filters import Filter, filtering
from foliot.cli.given import labels_given
from foliot.cli.output import Item, View
from foliot.cli.progress import working
from foliot.cli.session import Session, path_of, path_of_schedule
from foliot.cli.views import SCHEDULE
from foliot.domain.errors import Invalid, NotFound

MaybeSchedule = Annotated[
    str | None,
    Argument(
        metavar="SCHEDULE",
        help="Its id or name; without one, those that the options name.",
        autocompletion=complete_schedules,
        show_default=False,
    ),
]
All = Annotated[bool, Option("--all", help="All that the other options name, or all that there are.")]
Note = Annotated[str | None, Option(help="Why, for whoever looks at it.")]

_CHANGED = View({"ID": "id"})
_MOST_NAMED = 20
"""So many are named to people."""


@filtering
def pause(
    session: Session,
    which: Filter,
    schedule: MaybeSchedule = None,
    note: Note = None,
    until: Annotated[str | None, Option(metavar="MOMENT", help="Until when; else until it is resumed.")] = None,
    all_: All = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Start nothing of its own until it is resumed; triggers still run.

    Without a name it is done to all that the options name; those that are paused already keep their note.

    \b
    Examples:
      foliot schedule pause digest --note "the printer burns"
      foliot schedule pause digest --until 2026-12-01T00:00:00Z
      foliot schedule pause --label team=mail --note "the printer burns" --dry-run
      foliot schedule pause --all --yes
    """
    said = {"note": note, "until": until}
    if (one := _one_meant(schedule, which, all_, dry_run)) is not None:
        session.show(session.client.post(path_of_schedule(one, "pause"), said), SCHEDULE)
    else:
        _change_many(session, "pause", {**_reach(which, all_), **said}, yes, dry_run)


@filtering
def resume(
    session: Session,
    which: Filter,
    schedule: MaybeSchedule = None,
    all_: All = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """End a pause; what fell into it is judged by catch-up.

    \b
    Examples:
      foliot schedule resume digest
      foliot schedule resume --label team=mail --yes
    """
    if (one := _one_meant(schedule, which, all_, dry_run)) is not None:
        session.show(session.client.post(path_of_schedule(one, "resume")), SCHEDULE)
    else:
        _change_many(session, "resume", _reach(which, all_), yes, dry_run)


@filtering
def label(
    session: Session,
    which: Filter,
    schedule: MaybeSchedule = None,
    put: Annotated[list[str] | None, Option("--put", metavar="NAME=VALUE", help="Put it there; several times.")] = None,
    remove: Annotated[list[str] | None, Option(metavar="NAME", help="Take it off; several times.")] = None,
    all_: All = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Put labels on schedules, or take some off; their other labels stay.

    --label is one of the options that say which: those that have it.

    \b
    Examples:
      foliot schedule label digest --put team=mail --remove owner
      foliot schedule label --target python:digest --put team=mail --yes
    """
    said: dict[str, Any] = {"set": labels_given(put, "--put") or {}, "remove": remove or []}
    if (one := _one_meant(schedule, which, all_, dry_run=False)) is None:
        _change_many(session, "label", {**_reach(which, all_), **said}, yes, dry_run)
        return
    body = {"filter": {"ids": [one]}, **said, "dry_run": dry_run}
    found = session.client.post("/schedules/label", body)
    if not found["found"]:
        raise NotFound(f"there is no schedule {one!r}: `foliot schedule list` shows those that there are")
    shown = session.client.get(path_of_schedule(one))
    if dry_run:
        left = {name: value for name, value in shown["labels"].items() if name not in said["remove"]}
        shown = {**shown, "labels": {**left, **said["set"]}}
    session.show(shown, SCHEDULE)


def _one_meant(schedule: str | None, which: Filter, everything: bool, dry_run: bool) -> str | None:
    """The schedule that is named; None when many are meant, and Invalid when both are said."""
    if schedule is not None and (which or everything or dry_run):
        raise Invalid(f"say either {schedule!r} or which are meant: --label, --all and the like are for many")
    return schedule


def _reach(which: Filter, everything: bool) -> dict[str, Any]:
    if not which and not everything:
        raise Invalid("say which: a schedule, or those of a --label, --target or --search, or --all of them")
    return {"filter": which.body, "all": everything}


def _change_many(session: Session, verb: str, body: Mapping[str, Any], yes: bool, dry_run: bool) -> None:
    """Count them, ask whether that is meant, and change them batch by batch."""
    path = path_of("schedules", verb)
    first = session.client.post(path, {**body, "dry_run": True})
    if dry_run:
        _tell_meant(session, verb, first)
        if not session.is_for_people:
            session.show_all(_meant(session, path, body, first), _CHANGED)
        return
    total = first["found"]
    if total:
        check_meant(f"{verb.capitalize()} {_schedules(total)}?", yes)
    changed: list[str] = []
    after, seen = None, 0
    with working(session, verb) as bar:
        while True:
            batch = session.client.post(path, {**body, "after": after})
            changed += batch["ids"]
            seen += batch["found"]
            bar.move(seen, max(total, seen))
            after = batch["next"]
            if after is None:
                break
    session.show_all(({"id": one} for one in changed), _CHANGED)
    session.say(f"foliot: {_schedules(len(changed))} changed")


def _tell_meant(session: Session, verb: str, first: Item) -> None:
    """How many it would be done to, and to people which."""
    count = len(first["ids"]) if first["next"] is None else first["found"]
    named = first["ids"][:_MOST_NAMED] if session.is_for_people else []
    session.say("\n  ".join([f"foliot: would {verb} {_schedules(count)}", *named]))
    if named and count > len(named):
        session.say(f"  and {count - len(named):,} more")


def _meant(session: Session, path: str, body: Mapping[str, Any], batch: Item) -> Iterator[Item]:
    """Those that it would be done to, batch by batch from the first."""
    while True:
        yield from ({"id": one} for one in batch["ids"])
        if batch["next"] is None:
            return
        batch = session.client.post(path, {**body, "dry_run": True, "after": batch["next"]})


def _schedules(count: int) -> str:
    return "1 schedule" if count == 1 else f"{count:,} schedules"
