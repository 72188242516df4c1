"""`foliot schedule`: schedules, their times, and what people do to them."""

from typing import Annotated

from typer import Argument, Option

from foliot.cli import bulk, declared, editing
from foliot.cli.backfills import start_backfill
from foliot.cli.completion import complete_schedules
from foliot.cli.consent import DryRun, Yes, check_meant
from foliot.cli.filters import Filter, filtering
from foliot.cli.given import check_range, input_given
from foliot.cli.lazily import new_app
from foliot.cli.output import View
from foliot.cli.session import Limit, Session, asking, path_of_schedule, printing
from foliot.cli.views import RUN, SCHEDULE
from foliot.cli.waiting import Timeout, Wait, check_timeout, wait_for_run, watch_list
from foliot.domain.instants import instant_of

app = new_app("Create, look at and change schedules.")

ScheduleId = Annotated[
    str, Argument(metavar="SCHEDULE", help="Its id or name.", autocompletion=complete_schedules, show_default=False)
]


_TIME = View({"TIME": "at"}, name="at")
_EXPLANATION = View({"VERDICT": "verdict", "REASON": "reason", "RUN": "run_id", "WHY": "sentence"}, name="run_id")


app.command("create")(asking(editing.create))


@app.command("list")
@asking
@filtering
def list_schedules(
    session: Session,
    which: Filter,
    sort: Annotated[str, Option(help="id, name, or next for the one that fires next.")] = "id",
    limit: Limit = 100,
    watch: Annotated[bool, Option("--watch", "-w", help="Go on showing it as it changes.")] = False,
) -> None:
    """List schedules: how each stands, and when it fires next.

    \b
    Examples:
      foliot schedule list
      foliot schedule list --standing paused --label team=mail
      foliot schedule list --sort next --limit 10 --watch
    """
    query = {**which.query, "sort": sort}
    if watch:
        watch_list(session, lambda: session.list("/schedules", SCHEDULE, limit, **query))
    else:
        session.list("/schedules", SCHEDULE, limit, **query)


@app.command("show")
@asking
def show(session: Session, schedule: ScheduleId) -> None:
    """Show a schedule as it stands, and how much of its own budget is used if it has one.

    \b
    Examples:
      foliot schedule show digest
      foliot schedule show digest -o yaml
    """
    found = session.client.get(path_of_schedule(schedule))
    if found["policies"]["budget"] is not None:
        found["budget_use"] = session.client.get(path_of_schedule(found["id"], "budget"))
    session.show(found, SCHEDULE)


@app.command("times")
@asking
def times(
    session: Session,
    schedule: ScheduleId,
    start: Annotated[str | None, Option("--from", metavar="MOMENT", help="The first; else now.")] = None,
    end: Annotated[str | None, Option("--to", metavar="MOMENT", help="The last.")] = None,
    count: Annotated[int, Option(metavar="N", help="How many at most.")] = 10,
) -> None:
    """List the moments that a schedule's spec names.

    \b
    Examples:
      foliot schedule times digest --count 3
      foliot schedule times digest --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z
    """
    check_range(start, end)
    query = {"start": start, "end": end, "count": count}
    found = session.client.get(path_of_schedule(schedule, "times"), query)
    session.show_all([{"at": moment} for moment in found["items"]], _TIME)


@app.command("explain")
@asking
def explain(
    session: Session,
    schedule: ScheduleId,
    at: Annotated[str, Argument(metavar="MOMENT", help="Such as 2026-11-15T09:00:00Z.")],
) -> None:
    """Say why a moment did or did not run.

    \b
    Examples:
      foliot schedule explain digest 2026-11-15T09:00:00Z
    """
    instant_of(at, "MOMENT")
    found = session.client.get(path_of_schedule(schedule, "explain"), {"at": at})
    if session.is_for_people:
        print(found["sentence"])
    else:
        session.show(found, _EXPLANATION)


app.command("pause")(asking(bulk.pause))
app.command("resume")(asking(bulk.resume))
app.command("label")(asking(bulk.label))


@app.command("trigger")
@asking
def trigger(
    session: Session,
    schedule: ScheduleId,
    input: Annotated[str | None, Option(metavar="JSON|@FILE", help="Given instead of the schedule's own.")] = None,
    overlap: Annotated[str | None, Option(help="What to do while one runs, for this run.")] = None,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Run it now, also when it is paused.

    With --wait the exit code says what came of it: 0 success, 1 anything else, 7 not over in time.

    \b
    Examples:
      foliot schedule trigger digest
      foliot schedule trigger digest --input '{"to": "ann"}' --wait --timeout 5m
    """
    check_timeout(wait, timeout)
    body = {"overlap": overlap, **input_given(input)}
    run = session.client.post(path_of_schedule(schedule, "trigger"), body)
    if wait:
        wait_for_run(session, run, timeout)
    else:
        session.show(run, RUN)


@app.command("skip")
@asking
def skip(
    session: Session,
    schedule: ScheduleId,
    at: Annotated[str, Argument(metavar="MOMENT", help="The nominal time of a slot to come, or one that waits.")],
) -> None:
    """Do not run the slot of that moment.

    \b
    Examples:
      foliot schedule skip digest 2026-12-25T08:00:00Z
    """
    instant_of(at, "MOMENT")
    session.show(session.client.post(path_of_schedule(schedule, "skip"), {"at": at}), RUN)


app.command("backfill")(asking(start_backfill))
app.command("edit")(asking(editing.edit))


@app.command("delete")
@asking
def delete(session: Session, schedule: ScheduleId, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Take a schedule away: nothing of it starts any more, what runs may finish, and its ledger stays.

    \b
    Examples:
      foliot schedule delete digest
      foliot schedule delete digest --yes
    """
    found = session.client.get(path_of_schedule(schedule))
    about = f"{found['id']}: {found['spec']['summary']}, {found['target']}, next {found['next_at'] or 'never'}"
    if found["app"] is not None:
        again = "the next time that it starts or is applied"
        about += f"; {found['app']} declares it, and makes it again {again}: pause it to keep it from running"
    if dry_run:
        if session.is_for_people:
            session.say(f"foliot: would delete {about}")
        else:
            session.show(found, SCHEDULE)
        return
    session.say(f"foliot: {about}")
    check_meant(f"Delete {found['id']}?", yes)
    session.client.write("DELETE", path_of_schedule(found["id"]))
    session.say(f"foliot: {found['id']} is deleted")
    if not session.is_for_people:
        session.show(found, SCHEDULE)


app.command("plan")(asking(declared.plan))
app.command("apply")(asking(declared.apply))
app.command("export")(asking(declared.export))
app.command("import-crontab")(printing(declared.import_crontab))
