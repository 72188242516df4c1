"""`foliot backfill` and `foliot schedule backfill`: past slots, run after all."""

from typing import Annotated, Any

from typer import Argument, Option

from foliot.cli.completion import complete_schedules
from foliot.cli.consent import DryRun, Yes, check_meant
from foliot.cli.given import check_range, input_given
from foliot.cli.lazily import new_app
from foliot.cli.output import Output
from foliot.cli.session import Session, asking, path_of, path_of_schedule
from foliot.cli.views import BACKFILL
from foliot.cli.waiting import Timeout, Wait, check_timeout, wait_for_backfill

app = new_app("Look at backfills and stop them; `foliot schedule backfill` starts one.")

BackfillId = Annotated[int, Argument(metavar="BACKFILL", help="Its number.")]
_FIRST_SHOWN = 10


def start_backfill(
    session: Session,
    schedule: Annotated[str, Argument(metavar="SCHEDULE", help="Its id or name.", autocompletion=complete_schedules)],
    start: Annotated[str, Option("--from", metavar="MOMENT", help="The first slot, which is included.")],
    end: Annotated[str, Option("--to", metavar="MOMENT", help="The last slot, which is included.")],
    which: Annotated[str, Option(help="missing, failed or all.")] = "missing",
    order: Annotated[str, Option(help="oldest_first or newest_first.")] = "oldest_first",
    concurrency: Annotated[int | None, Option(help="How many at once.")] = None,
    overlap: Annotated[str | None, Option(help="Instead of a number: allow_all for all at once.")] = None,
    input: Annotated[str | None, Option(metavar="JSON|@FILE", help="Given instead of the schedule's own.")] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Run past slots from one moment to another, after showing how many they are and what they may cost.

    With --wait the exit code says what came of it: 0 all succeeded, 1 some did not or it was cancelled, 7 not over in
    time.

    \b
    Examples:
      foliot schedule backfill digest --from 2026-11-01T00:00:00Z --to 2026-11-15T00:00:00Z --dry-run
      foliot schedule backfill digest --from 2026-11-01T00:00:00Z --to 2026-11-15T00:00:00Z --yes --wait
    """
    check_timeout(wait, timeout)
    check_range(start, end)
    path = path_of_schedule(schedule, "backfills")
    body: dict[str, Any] = {"start": start, "end": end, "which": which, "order": order}
    body |= {"concurrency": concurrency, "overlap": overlap, **input_given(input)}
    planned = session.client.post(path, {**body, "dry_run": True})
    if dry_run:
        if session.is_for_people:
            _show_plan(planned)
        else:
            session.show(planned, BACKFILL._replace(name="schedule"))
        return
    if not planned["total"]:
        session.say(f"foliot: there is nothing to run: {planned['schedule']} has no such slots from {start} to {end}")
        if session.output not in (Output.TABLE, Output.NAME):
            session.show(planned, BACKFILL)
        return
    cost = "" if planned["credits"] is None else f", up to {planned['credits']:,} credits"
    check_meant(f"Run {planned['total']:,} slots of {planned['schedule']}{cost}?", yes)
    backfill = session.client.post(path, {**body, "confirm": True})
    if wait:
        wait_for_backfill(session, backfill, timeout)
    else:
        session.show(backfill, BACKFILL)


def _show_plan(planned: dict[str, Any]) -> None:
    cost = "nobody knows what they cost" if planned["credits"] is None else f"up to {planned['credits']:,} credits"
    print(f"{planned['schedule']}: {planned['total']:,} slots, {cost}")
    for slot in planned["slots"][:_FIRST_SHOWN]:
        print(f"  {slot}")
    if planned["total"] > _FIRST_SHOWN:
        print(f"  and {planned['total'] - _FIRST_SHOWN:,} more")


@app.command("list")
@asking
def list_backfills(
    session: Session,
    schedule: Annotated[
        str, Argument(metavar="SCHEDULE", help="Of which schedule.", autocompletion=complete_schedules)
    ],
) -> None:
    """List the backfills of a schedule, and how far each has come.

    \b
    Examples:
      foliot backfill list digest
    """
    session.list(path_of_schedule(schedule, "backfills"), BACKFILL, 0)


@app.command("show")
@asking
def show_backfill(session: Session, backfill: BackfillId) -> None:
    """Show how far a backfill has come.

    \b
    Examples:
      foliot backfill show 7
    """
    session.show(session.client.get(path_of("backfills", backfill)), BACKFILL)


@app.command("watch")
@asking
def watch_backfill(session: Session, backfill: BackfillId, timeout: Timeout = None) -> None:
    """Follow a backfill until it is over.

    The exit code says what came of it: 0 all succeeded, 1 some did not or it was cancelled, 7 not over in time.

    \b
    Examples:
      foliot backfill watch 7 --timeout 1h
    """
    wait_for_backfill(session, session.client.get(path_of("backfills", backfill)), timeout)


@app.command("cancel")
@asking
def cancel_backfill(
    session: Session,
    backfill: BackfillId,
    stop: Annotated[bool, Option("--stop", help="Also stop what runs of it.")] = False,
    yes: Yes = False,
) -> None:
    """Start nothing more of a backfill; what runs may finish.

    \b
    Examples:
      foliot backfill cancel 7
      foliot backfill cancel 7 --stop --yes
    """
    if not yes:
        found = session.client.get(path_of("backfills", backfill))
        check_meant(f"Cancel backfill {backfill} of {found['schedule']}, {found['started']} started?", yes)
    session.show(session.client.post(path_of("backfills", backfill, "cancel"), {"stop": stop}), BACKFILL)
