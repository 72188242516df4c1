"""`foliot simulate`: the real engine on a virtual clock over all schedules, or those of a file, before they are due."""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from foliot.cli.completion import complete_schedules
from foliot.cli.output import Item, Output, View, columns_of
from foliot.cli.progress import working
from foliot.cli.session import Session, asking
from foliot.clock import SystemClock
from foliot.domain.durations import duration_text
from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS, instant_of, moment_of, rfc3339
from foliot.domain.schedule import slug_of

if TYPE_CHECKING:
    from foliot.domain.clock_changes import ClockChange
    from foliot.domain.simulation import Forecast
    from foliot.simulator import PastRuns, Rehearsal, Simulated, SimulatedSchedule

_VIEW = View({}, name="schedule")
_MOST_TIMES = 5


Durations = Annotated[
    list[str] | None,
    Option(
        metavar="SPAN|SCHEDULE=SPAN",
        help="How long runs take, of all or of one; several times. "
        "Else the median of the last successes, and 1s where there are none.",
    ),
]


@asking
def simulate(
    session: Session,
    schedules: Annotated[
        list[str] | None,
        Argument(metavar="SCHEDULE", help="Only these, else all.", autocompletion=complete_schedules),
    ] = None,
    days: Annotated[float, Option(metavar="N", help="How many days.")] = 30,
    start: Annotated[str | None, Option("--from", metavar="MOMENT", help="From then on; else from now.")] = None,
    durations: Durations = None,
    file: Annotated[
        str | None, Option("--file", "-f", metavar="FILE", help="Those of a file that `apply` reads; - is stdin.")
    ] = None,
    database: Annotated[
        str | None, Option(metavar="URL", help="Those of this database, which is only read. Else the server's.")
    ] = None,
    most: Annotated[int, Option(min=1, metavar="N", help="How many slots at most: many take long.")] = 1_000_000,
) -> None:
    """See what the days to come will bring: the real engine runs the schedules on a virtual clock, and nothing else.

    Prints for each what fires, meets an earlier run, is skipped and why, how many run at once, what it may cost, and
    what clock changes do to it. Nothing is executed or changed.

    \b
    Examples:
      foliot simulate --days 30 -f schedules.yaml --durations 90s --durations digest=20m
      foliot simulate --days 7 --database sqlite:///foliot.db
      foliot simulate digest --from 2027-03-20T00:00:00Z -o json
    """
    # Imported here: `--help` needs no engine.
    from foliot.domain.simulation import days_of, lengths_of  # noqa: PLC0415
    from foliot.settings import pricing_of  # noqa: PLC0415
    from foliot.simulator import a_rehearsal  # noqa: PLC0415

    if file is not None and database is not None:
        raise Invalid("simulate takes --file or --database, not both")
    length, said = days_of("--days", days), lengths_of(durations or [])
    begins = SystemClock().now() if start is None else instant_of(start, "--from")
    begins -= begins % MICROSECONDS
    with a_rehearsal(begins, pricing_of()) as rehearsal:
        past = _fill(
            session, rehearsal, None if not schedules else {slug_of(name) for name in schedules}, file, database
        )
        with working(session, f"simulating {days:g} days, hour by hour") as bar, _in_silence():
            found = rehearsal.play(length, said, past, bar.move, most)
    _show(session, shown(found))


@contextmanager
def _in_silence() -> Iterator[None]:
    """What a worker would say of days to come says nothing of today; what it fails on is said."""
    log = logging.getLogger("foliot")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _fill(
    session: Session, rehearsal: "Rehearsal", only: Collection[str] | None, file: str | None, database: str | None
) -> "Mapping[str, PastRuns]":
    from foliot.cli import staging  # noqa: PLC0415

    if file is not None:
        return staging.fill_from_file(rehearsal, file, only)
    if database is not None:
        return staging.fill_from_database(rehearsal, database, only)
    return staging.fill_from_server(session, rehearsal, only)


def shown(found: "Simulated") -> dict[str, Any]:
    """All that came of it, as plain values."""
    return {
        "from": rfc3339(found.start),
        "to": rfc3339(found.end),
        "schedules": [_shown_schedule(one) for one in found.schedules],
        "total": _shown_forecast(found.total),
    }


def _shown_schedule(one: "SimulatedSchedule") -> dict[str, Any]:
    return {
        "schedule": one.id,
        "duration": duration_text(one.length),
        "paused": one.is_paused,
        **_shown_forecast(one.forecast),
        "clock_changes": [_shown_change(change) for change in one.surprises],
    }


def _shown_forecast(forecast: "Forecast") -> dict[str, Any]:
    return {
        "slots": forecast.slots,
        "fires": forecast.fires,
        "overlaps": forecast.overlaps,
        "skips": {str(reason): count for reason, count in forecast.skips.items()},
        "failures": {str(reason): count for reason, count in forecast.failures.items()},
        "open": forecast.open,
        "peak": forecast.peak.runs,
        "peak_at": None if forecast.peak.at is None else rfc3339(forecast.peak.at),
        "longest_wait": duration_text(forecast.longest_wait),
        "credits": forecast.cost,
        "unpriced": forecast.unpriced,
    }


def _shown_change(change: "ClockChange") -> dict[str, Any]:
    walls = [moment_of(second * MICROSECONDS).strftime("%Y-%m-%d %H:%M:%S") for second in change.wall_seconds]
    return {"at": rfc3339(change.instant * MICROSECONDS), "effect": str(change.effect), "times": walls}


def _show(session: Session, found: Mapping[str, Any]) -> None:
    if session.output in (Output.JSONL, Output.NAME):
        session.show_all(found["schedules"], _VIEW)
    elif session.is_for_people:
        _print(found)
    else:
        session.show(found, _VIEW)


def _print(found: Mapping[str, Any]) -> None:
    print(f"From {found['from']} to {found['to']}: {len(found['schedules']):,} schedules.")
    header = ["SCHEDULE", "DURATION", "SLOTS", "FIRES", "OVERLAPS", "SKIPPED", "ENDED", "WAITED", "AT ONCE", "CREDITS"]
    rows = [_row(one["schedule"], one["duration"], one) for one in found["schedules"]]
    total = found["total"]
    print("\n".join(columns_of([header, *rows, _row("in all", "", total)])))
    if total["peak_at"] is not None:
        print(f"Most at once: {total['peak']:,}, at {total['peak_at']}.")
    _print_changes(found["schedules"])


def _row(name: str, duration: str, forecast: Item) -> list[str]:
    counts = [f"{forecast[count]:,}" for count in ("slots", "fires", "overlaps")]
    waited = "" if forecast["longest_wait"] == "0s" else forecast["longest_wait"]
    reasons = [_reasons(forecast["skips"]), _reasons(forecast["failures"])]
    return [name, duration, *counts, *reasons, waited, f"{forecast['peak']:,}", _cost(forecast)]


def _cost(forecast: Item) -> str:
    if not forecast["unpriced"]:
        return f"{forecast['credits']:,}"
    return f"{forecast['credits']:,} and unknown" if forecast["credits"] else "unknown"


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.items()) or "0"


def _print_changes(schedules: Sequence[Item]) -> None:
    rows = [
        [one["schedule"], change["at"], change["effect"], _few(change["times"])]
        for one in schedules
        for change in one["clock_changes"]
    ]
    if not rows:
        print("No clock change touches a time of theirs.")
        return
    print("\nClocks change:")
    print("\n".join(columns_of([["SCHEDULE", "AT", "EFFECT", "TIMES ON THE WALL"], *rows])))


def _few(times: Sequence[str]) -> str:
    more = f" and {len(times) - _MOST_TIMES} more" if len(times) > _MOST_TIMES else ""
    return ", ".join(times[:_MOST_TIMES]) + more
