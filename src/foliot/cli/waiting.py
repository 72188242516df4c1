"""Waiting for what was asked for, and watching what happens: told by the server, else by asking again and again."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from foliot.cli.exits import FAILED, TIMED_OUT
from foliot.cli.output import Item, Output
from foliot.cli.progress import working
from foliot.cli.session import Session, path_of
from foliot.cli.views import BACKFILL, RUN
from foliot.clock import SystemClock
from foliot.domain.durations import parse_duration
from foliot.domain.errors import Invalid

if TYPE_CHECKING:
    from foliot.cli.client import Client

Wait = Annotated[bool, Option("--wait", help="Wait until it is over; the exit code says how it ended.")]
Timeout = Annotated[str | None, Option("--timeout", metavar="SPAN", help="How long to wait at most, such as 5m.")]

_OPEN = ("pending", "running", "waiting")
_EVERY = 1.0
"""Seconds until it is asked again, where nobody tells; less in the beginning."""
_AT_MOST_EVERY = 0.2
_UNTOLD_FOR = 10.0
"""Seconds after which it is asked again, though nobody has told anything: what is missed once is seen then."""
_WATCHED = 100
_CLEAR = "\033[2J\033[H"


class Deadline:
    """Until when somebody waits."""

    def __init__(self, timeout: str | None) -> None:
        span = _seconds_of(timeout)
        self._clock = SystemClock()
        self._at = None if span is None else self._clock.steady() + span

    @property
    def left(self) -> float | None:
        """Seconds; None: for ever."""
        return None if self._at is None else self._at - self._clock.steady()

    @property
    def is_over(self) -> bool:
        return self.left is not None and self.left <= 0

    def within(self, seconds: float) -> float:
        return seconds if self.left is None else max(0.0, min(seconds, self.left))


def looks(client: "Client", deadline: Deadline, **about: str) -> Iterator[None]:
    """Each time when it is worth a look: now, whenever the server tells of something, and every so often."""
    yield
    told = client.told_of(about, lambda: deadline.within(_UNTOLD_FOR))
    while not deadline.is_over:
        try:
            next(told)
        except StopIteration:
            break
        _pause(deadline.within(_AT_MOST_EVERY))
        yield
    wait = _AT_MOST_EVERY
    while not deadline.is_over:
        _pause(deadline.within(wait))
        wait = min(2 * wait, _EVERY)
        yield


def check_timeout(wait: bool, timeout: str | None) -> None:
    """Invalid when it is no span, or nobody waits: said before anything is begun that nobody would then wait for."""
    if timeout is not None and not wait:
        raise Invalid("--timeout says how long to --wait: give both, or none of them")
    _seconds_of(timeout)


def _seconds_of(timeout: str | None) -> float | None:
    return None if timeout is None else parse_duration("--timeout", timeout).total_seconds()


def check_endless(session: Session) -> None:
    """Invalid when what has no end is to be written as one whole."""
    if session.output in (Output.JSON, Output.YAML):
        raise Invalid(f"what goes on until it is interrupted takes -o jsonl, a line for each, got -o {session.output}")


def wait_for_run(session: Session, run: Item, timeout: str | None) -> None:
    """Show the run when it is over, and exit by what came of it."""
    path, deadline = path_of("runs", run["id"]), Deadline(timeout)
    said = None
    with _going_on(session, run["id"], f"foliot run cancel {run['id']}"):
        for _ in looks(session.client, deadline, schedule=run["schedule"], kinds="runs"):
            run = session.client.get(path)
            if run["status"] not in _OPEN:
                break
            if run["status"] != said:
                said = run["status"]
                session.say(f"foliot: {run['id']} is {said}{_held(run)}")
    session.show(run, RUN)
    if run["status"] in _OPEN:
        session.say(f"foliot: {run['id']} was not over in time; it goes on")
        raise typer.Exit(TIMED_OUT)
    if run["status"] != "success":
        raise typer.Exit(FAILED)


@contextmanager
def _going_on(session: Session, what: str, stop: str) -> Iterator[None]:
    """Who stops waiting is told that nothing else has stopped."""
    try:
        yield
    except KeyboardInterrupt:
        session.say(f"foliot: {what} goes on; `{stop}` stops it")
        raise


def _held(run: Item) -> str:
    if run["status"] == "waiting":
        return " for a person: `foliot decision list` shows what is asked"
    return f", held: {run['hold']}" if run["hold"] else ""


def wait_for_backfill(session: Session, backfill: Item, timeout: str | None) -> None:
    """Show the backfill when all of it is over, and exit by what came of its runs."""
    path, deadline = path_of("backfills", backfill["id"]), Deadline(timeout)
    name = f"backfill {backfill['id']}"
    going_on = _going_on(session, name, f"foliot backfill cancel {backfill['id']}")
    with going_on, working(session, f"{name} of {backfill['schedule']}") as bar:
        for _ in looks(session.client, deadline, schedule=backfill["schedule"], kinds="runs"):
            backfill = session.client.get(path)
            bar.move(backfill["done"], backfill["total"])
            if _is_done(backfill):
                break
    session.show(backfill, BACKFILL)
    if not _is_done(backfill):
        session.say(f"foliot: backfill {backfill['id']} was not over in time; it goes on")
        raise typer.Exit(TIMED_OUT)
    has_failures = _failures(session, backfill)
    if backfill["cancelled_at"] is not None:
        session.say(f"foliot: backfill {backfill['id']} was cancelled, with {backfill['started']} started")
    if has_failures or backfill["cancelled_at"] is not None:
        raise typer.Exit(FAILED)


def _is_done(backfill: Item) -> bool:
    return backfill["ended_at"] is not None and backfill["running"] == 0


def _failures(session: Session, backfill: Item) -> bool:
    """Whether a slot of it did not end well, the last attempt at each counting."""
    last: dict[str, Mapping[str, Any]] = {}
    for run in session.client.items("/runs", {"schedule": backfill["schedule"], "backfill": backfill["id"]}):
        known = last.get(run["idempotency_key"])
        if known is None or run["attempt"] > known["attempt"]:
            last[run["idempotency_key"]] = run
    bad = [run["id"] for run in last.values() if run["status"] != "success"]
    if bad:
        session.say(f"foliot: {len(bad)} of {len(last)} did not end well: {', '.join(sorted(bad)[:3])}")
    return bool(bad)


def watch_runs(session: Session, schedule: str | None, timeout: str | None) -> None:
    """Print each run when it changes, until interrupted or until the time is up."""
    check_endless(session)
    about = {"kinds": "runs"} | ({} if schedule is None else {"schedule": schedule})
    known: dict[str, Any] = {}
    is_first = True
    for _ in looks(session.client, Deadline(timeout), **about):
        newest = list(session.client.items("/runs", {"schedule": schedule}, _WATCHED))
        for run in reversed(newest):
            state = (run["status"], run["hold"], run["started_at"])
            # What was over before anybody looked is no news.
            is_news = known.get(run["id"]) != state and (not is_first or run["status"] in _OPEN)
            known[run["id"]] = state
            if is_news:
                _print_change(session, run)
        is_first = False


def _print_change(session: Session, run: Item) -> None:
    if session.is_for_people:
        at = run["ended_at"] or run["started_at"] or run["created_at"]
        print(f"{at}  {run['id']}  {run['status']}  {run['reason'] or run['hold'] or ''}".rstrip(), flush=True)
    else:
        session.show_all([run], RUN)


def watch_list(session: Session, show: Callable[[], None]) -> None:
    """Show a list anew whenever something in it may have changed, until interrupted."""
    check_endless(session)
    is_screen = sys.stdout.isatty() and session.is_for_people
    for _ in looks(session.client, Deadline(None), kinds="schedules,runs"):
        if is_screen:
            print(_CLEAR, end="")
        show()
        sys.stdout.flush()


def _pause(seconds: float) -> None:
    Event().wait(seconds)
