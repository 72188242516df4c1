"""`foliot preview`: the sentence, the next times and the warnings of any spec, offline."""

import json
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from typer import Option

from foliot.cli.output import Output, View, print_document, print_items
from foliot.cli.session import Session, printing
from foliot.clock import SystemClock
from foliot.domain.calendar import Calendar, FoldRule, GapRule
from foliot.domain.canonical import calendar_said
from foliot.domain.cron import read_every
from foliot.domain.durations import say_roughly
from foliot.domain.errors import Invalid
from foliot.domain.fields import FIRST_YEAR, LAST_YEAR, Dialect, quoted
from foliot.domain.instants import MICROSECONDS
from foliot.domain.spec import Interval, Spec
from foliot.domain.zones import FIRST_INSTANT, LAST_INSTANT, tzdata_version
from foliot.services.preview import PlannedTime, Preview, preview
from foliot.services.specs import moment_said

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_SKIPPED_LISTED = 10
_TIME = View({}, name="nominal_at")

Texts = list[str] | None


@printing
def show_preview(
    session: Session,
    cron: Annotated[Texts, Option(metavar="TEXT", help="Cron text; may be given several times.")] = None,
    every: Annotated[Texts, Option(metavar="DURATION", help="An interval: 90m, or 90m/5m with an offset.")] = None,
    calendar: Annotated[Texts, Option(metavar="JSON", help='A calendar: \'{"hour": "9-17"}\'.')] = None,
    exclude: Annotated[Texts, Option(metavar="JSON", help="A calendar to leave out.")] = None,
    at: Annotated[Texts, Option(metavar="MOMENT", help="A moment, RFC 3339; without an offset in the zone.")] = None,
    start_at: Annotated[str | None, Option(metavar="MOMENT", help="Not before.")] = None,
    end_at: Annotated[str | None, Option(metavar="MOMENT", help="Not after.")] = None,
    timezone: Annotated[str | None, Option(metavar="ZONE", help="An IANA name; UTC without one.")] = None,
    since: Annotated[str | None, Option("--from", metavar="T", help="The times after this moment; else now.")] = None,
    count: Annotated[int, Option(metavar="N", help="How many times to show.")] = 10,
    gap: Annotated[str, Option(help="A time that a clock change skips: auto, shift or skip.")] = GapRule.AUTO.value,
    fold: Annotated[str, Option(help="A repeated one: auto, first, second or both.")] = FoldRule.AUTO.value,
    dialect: Annotated[str, Option(help="Whose cron text it is: cron or temporal.")] = Dialect.CRON.value,
    as_json: Annotated[bool, Option("--json", help="The same as -o json: an object for programs.")] = False,
) -> None:
    """Show when a spec fires: its sentence, its next times, what clock changes do to them, and warnings. Offline.

    \b
    Examples:
      foliot preview --cron '0 9 * * MON-FRI' --timezone Europe/Berlin
      foliot preview --every 90m/5m --count 3 -o json
      foliot preview --calendar '{"hour": "9-17"}' --exclude '{"month": "12", "day_of_month": "25"}'
    """
    spec = Spec(
        cron=tuple(cron or ()),
        intervals=tuple(Interval(*read_every("--every", text)) for text in every or ()),
        calendars=tuple(_calendar("--calendar", text) for text in calendar or ()),
        exclude=tuple(_calendar("--exclude", text) for text in exclude or ()),
        at=tuple(moment_said("--at", text) for text in at or ()),
        start_at=None if start_at is None else moment_said("--start-at", start_at),
        end_at=None if end_at is None else moment_said("--end-at", end_at),
        timezone=timezone,
        gap=gap,
        fold=fold,
        dialect=dialect,
    )
    start = SystemClock().now() // MICROSECONDS if since is None else _instant("--from", since)
    _show(preview(spec, start, count), start, Output.JSON if as_json else session.output)


def _show(shown: Preview, start: int, output: Output) -> None:
    match output:
        case Output.TABLE:
            print(_as_text(shown, start))
        case Output.JSONL | Output.NAME:
            print_items(_as_json(shown)["times"], _TIME, output)
        case Output.JSON | Output.YAML:
            print_document(_as_json(shown), output)


def _calendar(option: str, text: str) -> Calendar:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise Invalid(f'{option} takes a JSON object such as \'{{"hour": "9-17"}}\', got {text!r}')
    return calendar_said(fields, option)


def _instant(option: str, text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(f"{option} takes an RFC 3339 moment such as 2026-10-24T12:00:00Z, got {quoted(text)}") from None
    instant = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // timedelta(seconds=1)
    if not FIRST_INSTANT <= instant <= LAST_INSTANT:
        raise Invalid(f"{option} takes a moment of the years {FIRST_YEAR}-{LAST_YEAR}, got {quoted(text)}")
    return instant


def _utc(instant: int) -> datetime:
    return _EPOCH + timedelta(seconds=instant)


def _as_json(shown: Preview) -> dict[str, Any]:
    return {
        "summary": shown.summary,
        "timezone": shown.timezone,
        "tzdata": tzdata_version(),
        "times": [
            {
                "nominal_at": f"{_utc(time.nominal_at):%Y-%m-%dT%H:%M:%SZ}",
                "local": time.local,
                "dst": None if time.dst is None else str(time.dst),
            }
            for time in shown.times
        ],
        "skipped": shown.skipped_texts,
        "warnings": [{"code": str(warning.code), "message": warning.message} for warning in shown.warnings],
    }


def _as_text(shown: Preview, start: int) -> str:
    rows = [("LOCAL", "UTC", "RELATIVE", "CLOCK CHANGE"), *(_row(time, start) for time in shown.times)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [shown.summary, ""]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if not shown.times:
        lines.append("(no more times)")
    skipped = [f"skipped: {_utc(second):%Y-%m-%d %H:%M:%S} does not exist" for second in shown.skipped]
    lines += skipped[:_MOST_SKIPPED_LISTED]
    if len(skipped) > _MOST_SKIPPED_LISTED:
        lines.append(f"skipped: {len(skipped) - _MOST_SKIPPED_LISTED} more")
    lines += [f"warning: {warning.message} [{warning.code}]" for warning in shown.warnings]
    return "\n".join(lines)


def _row(time: PlannedTime, start: int) -> tuple[str, str, str, str]:
    return (
        f"{_utc(time.nominal_at + time.offset):%a %Y-%m-%d %H:%M:%S} {time.local[19:]}",
        f"{_utc(time.nominal_at):%Y-%m-%d %H:%M:%SZ}",
        f"in {say_roughly(time.nominal_at - start)}",
        str(time.dst or ""),
    )
