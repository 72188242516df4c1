"""`foliot schedule create` and `edit`: what a schedule is to be, or what of it is to change."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from typer import Argument, Option

from foliot.cli.completion import complete_schedules
from foliot.cli.consent import DryRun, Yes, check_meant
from foliot.cli.options import CLEARED, SOURCES, SPEC, cleared_of, describing
from foliot.cli.output import Item, cell_text, columns_of
from foliot.cli.session import Session, path_of_schedule
from foliot.cli.views import SCHEDULE
from foliot.domain.errors import Invalid, Refusal

ScheduleId = Annotated[str, Argument(metavar="SCHEDULE", help="Its id or name.", autocompletion=complete_schedules)]
_SHOWN = 3


@describing
def create(
    session: Session,
    name: Annotated[str, Argument(metavar="NAME", help="Its id is made of it.")],
    options: dict[str, Any],
    user: Annotated[str | None, Option(help="Whose it is to be; for admins.")] = None,
) -> None:
    """Create a schedule; its first slot is the first after now.

    \b
    Examples:
      foliot schedule create digest --cron '0 9 * * MON-FRI' --timezone Europe/Berlin
      foliot schedule create poll --target http:poll --every 90s --overlap skip --timeout 1m
      foliot schedule create report --at 2026-12-01T09:00:00Z --input @report.json --label team=mail
    """
    wanted = {"name": name, **options} | ({} if user is None else {"user": user})
    made = session.client.post("/schedules", wanted)
    session.show(made, SCHEDULE)
    for warning in _oddities(session, made):
        session.say(warning)


@describing
def edit(
    session: Session,
    schedule: ScheduleId,
    options: dict[str, Any],
    clear: Annotated[
        list[str] | None,
        Option("--clear", metavar="OPTION", help="Back to its default, such as timeout; several times."),
    ] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Change what is given and nothing else, after showing how that moves the next times.

    --cron, --every, --at, --calendar or --manual replace all of these; the zone and the rest of the spec stay.

    \b
    Examples:
      foliot schedule edit digest --cron '0 10 * * MON-FRI'
      foliot schedule edit digest --timeout 5m --clear retry --yes
      foliot schedule edit digest --timezone Europe/Paris --dry-run
    """
    path = path_of_schedule(schedule)
    found = session.client.get(path)
    changes = _changes(found, options, cleared_of(clear or ()))
    if not changes:
        raise Invalid("say what is to change: `foliot schedule edit --help` lists what can")
    shown = session.client.post(path_of_schedule(schedule, "preview"), changes)
    if dry_run and not session.is_for_people:
        session.show({"id": found["id"], **shown}, SCHEDULE)
        return
    for line in _effect(found, shown, changes.get("grant", found["grant"])):
        session.say(line)
    if dry_run:
        return
    check_meant(f"Change {found['id']}?", yes)
    session.show(session.client.write("PATCH", path, changes, token=f'"{found["token"]}"'), SCHEDULE)


def _oddities(session: Session, made: Item) -> Iterator[str]:
    """What is odd about a schedule that is there; nothing for whoever may not look at it, or wants to hear nothing."""
    if session.is_quiet:
        return
    try:
        looks = [
            session.client.post("/preview", {**made["spec"]["said"], "count": 1}),
            # Nothing is to change: what is odd about its target.
            session.client.post(path_of_schedule(made["id"], "preview")),
        ]
    except Refusal:
        return
    for shown in looks:
        yield from _warnings(shown)


def _warnings(shown: Item) -> Iterator[str]:
    for warning in shown["warnings"]:
        yield f"warning: {warning['message']} [{warning['code']}]"


def _changes(found: Item, options: dict[str, Any], cleared: list[str]) -> dict[str, Any]:
    """What is given, and what goes with it: a spec is described as a whole."""
    if both := [own.replace("_", "-") for own, sent in CLEARED.items() if sent in options and sent in cleared]:
        raise Invalid(f"{', '.join(both)} cannot be given and cleared at once")
    changes = {name: value for name, value in options.items() if name not in SPEC}
    changes |= dict.fromkeys((name for name in cleared if name not in SPEC), None)
    given = {name: value for name, value in options.items() if name in SPEC}
    if not given and not any(name in SPEC for name in cleared):
        return changes
    kept = dict(found["spec"]["said"])
    if any(name in SOURCES for name in given):
        kept = {name: value for name, value in kept.items() if name not in (*SOURCES, "spec")}
    elif "spec" in kept:
        raise Invalid(f"when {found['id']} fires cannot be said in options: say all of it anew, --cron and the rest")
    return changes | {name: value for name, value in {**kept, **given}.items() if name not in cleared}


def _effect(found: Item, shown: Item, grant: str) -> Iterator[str]:
    """What changes, field by field, how that moves the next times, and what is odd about them."""
    changes = [(one["field"], f"{_said(one['now'])} -> {_said(one['wanted'])}") for one in shown["changes"]]
    if grant != found["grant"]:
        changes.append(("grant", f"{found['grant']} -> {grant}"))
    if not changes:
        yield f"foliot: nothing changes: {found['id']} is like that already"
    yield from columns_of([["when" if field == "spec" else field, text] for field, text in changes])
    if any(field == "spec" for field, _ in changes):
        yield shown["sentence"]
        yield from columns_of([["next now", _times(shown["next_now"])], ["next then", _times(shown["next_wanted"])]])
    yield from _warnings(shown)


def _said(value: Any) -> str:
    return "default" if value is None else cell_text(value)


def _times(times: Sequence[str]) -> str:
    return ", ".join(times[:_SHOWN]) or "none"
