"""`foliot run`: what became of each slot, and what people do about it."""

from typing import Annotated, Any

from typer import Argument, Option

from foliot.cli.completion import complete_runs, complete_schedules
from foliot.cli.consent import Yes, check_meant
from foliot.cli.lazily import new_app
from foliot.cli.session import Limit, Session, asking, path_of
from foliot.cli.views import RUN
from foliot.cli.waiting import Timeout, Wait, check_timeout, wait_for_run, watch_runs

app = new_app("Look at runs, follow them, stop them and try them again.")

RunId = Annotated[
    str, Argument(metavar="RUN", help="Its id, as `foliot run list` shows it.", autocompletion=complete_runs)
]
OfSchedule = Annotated[
    str | None, Option("--schedule", metavar="SCHEDULE", help="Only of this one.", autocompletion=complete_schedules)
]


@app.command("list")
@asking
def list_runs(
    session: Session,
    schedule: OfSchedule = None,
    status: Annotated[
        str | None, Option(help="pending, running, waiting, success, error, skipped or cancelled.")
    ] = None,
    reason: Annotated[str | None, Option(help="Why it ended otherwise than well, such as overlap or timeout.")] = None,
    kind: Annotated[str | None, Option(help="slot, manual or backfill.")] = None,
    since: Annotated[str | None, Option(metavar="MOMENT", help="The first nominal time.")] = None,
    until: Annotated[str | None, Option(metavar="MOMENT", help="The last nominal time.")] = None,
    backfill: Annotated[int | None, Option(metavar="N", help="Only of this backfill.")] = None,
    limit: Limit = 50,
) -> None:
    """List runs, the newest first.

    \b
    Examples:
      foliot run list --schedule digest --limit 10
      foliot run list --status error --since 2026-11-01T00:00:00Z -o jsonl
    """
    query: dict[str, Any] = {"schedule": schedule, "status": status, "reason": reason, "kind": kind}
    session.list("/runs", RUN, limit, **query, since=since, until=until, backfill=backfill)


@app.command("show")
@asking
def show_run(session: Session, run: RunId) -> None:
    """Show a run: its attempts, why it is as it is, and what it asked, used and did.

    \b
    Examples:
      foliot run show digest:2026-11-15T09:00:00Z~1
    """
    session.show(session.client.get(path_of("runs", run)), RUN)


@app.command("watch")
@asking
def watch(
    session: Session,
    run: Annotated[
        str | None, Argument(metavar="RUN", help="One run until it is over; else all.", autocompletion=complete_runs)
    ] = None,
    schedule: OfSchedule = None,
    timeout: Timeout = None,
) -> None:
    """Follow a run until it is over, the exit code saying how; or all runs as they change, until interrupted.

    \b
    Examples:
      foliot run watch digest:2026-11-15T09:00:00Z~1
      foliot run watch --schedule digest -o jsonl
    """
    if run is None:
        watch_runs(session, schedule, timeout)
    else:
        wait_for_run(session, session.client.get(path_of("runs", run)), timeout)


@app.command("cancel")
@asking
def cancel_run(session: Session, run: RunId, yes: Yes = False) -> None:
    """Ask a run to stop; one that has not begun is over at once.

    \b
    Examples:
      foliot run cancel digest:2026-11-15T09:00:00Z~1
    """
    _check_meant(session, "Cancel", run, yes)
    session.show(session.client.post(path_of("runs", run, "cancel")), RUN)


@app.command("terminate")
@asking
def terminate_run(session: Session, run: RunId, yes: Yes = False) -> None:
    """End a run here and now, whatever its code still does: nothing of that counts any more.

    \b
    Examples:
      foliot run terminate digest:2026-11-15T09:00:00Z~1 --yes
    """
    _check_meant(session, "Terminate", run, yes)
    session.show(session.client.post(path_of("runs", run, "terminate")), RUN)


@app.command("retry")
@asking
def retry_run(session: Session, run: RunId, wait: Wait = False, timeout: Timeout = None) -> None:
    """Try a slot once more whose last attempt is over and was no success.

    \b
    Examples:
      foliot run retry digest:2026-11-15T09:00:00Z~1 --wait
    """
    check_timeout(wait, timeout)
    again = session.client.post(path_of("runs", run, "retry"))
    if wait:
        wait_for_run(session, again, timeout)
    else:
        session.show(again, RUN)


def _check_meant(session: Session, verb: str, run: str, yes: bool) -> None:
    if not yes:
        found = session.client.get(path_of("runs", run))
        check_meant(f"{verb} {found['id']}, which is {found['status']}?", yes)
