"""`foliot preview`: the sentence, the next times and the warnings of any spec, offline."""

import argparse
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from foliot.clock import SystemClock
from foliot.domain.calendar import Calendar, FoldRule, GapRule
from foliot.domain.cron import read_every
from foliot.domain.durations import say_roughly
from foliot.domain.errors import Invalid
from foliot.domain.fields import FIRST_YEAR, KINDS, LAST_YEAR, Dialect, quoted
from foliot.domain.instants import MICROSECONDS
from foliot.domain.spec import Interval, Spec
from foliot.domain.zones import FIRST_INSTANT, LAST_INSTANT, tzdata_version
from foliot.services.preview import PlannedTime, Preview, preview

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CALENDAR_KEYS = (*(kind.name for kind in KINDS), "gap", "fold")


_MOST_SKIPPED_LISTED = 10
_EXAMPLES = """\
examples:
  foliot preview --cron '0 9 * * MON-FRI' --timezone Europe/Berlin
  foliot preview --every 90m/5m --count 3 --json
  foliot preview --calendar '{"hour": "9-17", "minute": "*/15"}' --exclude '{"month": "12", "day_of_month": "25"}'
"""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    about = "show when a spec fires: its sentence, its next times, what clock changes do to them, and warnings"
    parser = commands.add_parser(
        "preview", help=about, description=about, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--cron", action="append", default=[], metavar="TEXT", help="cron text; may be given several times")
    option(
        "--every", action="append", default=[], metavar="DURATION", help="an interval: 90m, or 90m/5m with an offset"
    )
    option("--calendar", action="append", default=[], metavar="JSON", help='a calendar: \'{"hour": "9-17"}\'')
    option("--exclude", action="append", default=[], metavar="JSON", help="a calendar to leave out")
    option("--timezone", metavar="ZONE", help="an IANA name, such as Europe/Berlin (default: UTC)")
    option(
        "--from",
        dest="since",
        metavar="T",
        help="show times after this moment, RFC 3339, UTC if it has no offset (default: now)",
    )
    option("--count", type=int, default=10, metavar="N", help="how many times to show (default: 10)")
    option("--gap", default=GapRule.AUTO, help="a wall-clock time that a clock change skips: auto, shift or skip")
    option("--fold", default=FoldRule.AUTO, help="a repeated one: auto, first, second or both")
    option("--dialect", default=Dialect.CRON, help="whose cron text it is: cron or temporal")
    option("--json", action="store_true", help="print an object for programs")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    spec = Spec(
        cron=tuple(arguments.cron),
        intervals=tuple(Interval(*read_every("--every", text)) for text in arguments.every),
        calendars=tuple(_calendar("--calendar", text) for text in arguments.calendar),
        exclude=tuple(_calendar("--exclude", text) for text in arguments.exclude),
        timezone=arguments.timezone,
        gap=arguments.gap,
        fold=arguments.fold,
        dialect=arguments.dialect,
    )
    start = SystemClock().now() // MICROSECONDS if arguments.since is None else _instant("--from", arguments.since)
    shown = preview(spec, start, arguments.count)
    return json.dumps(_as_json(shown), indent=2) if arguments.json else _as_text(shown, start)


def _calendar(option: str, text: str) -> Calendar:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise Invalid(f'{option} takes a JSON object such as \'{{"hour": "9-17"}}\', got {text!r}')
    for key, value in fields.items():
        if key not in _CALENDAR_KEYS:
            raise Invalid(f"{option} takes the keys {', '.join(_CALENDAR_KEYS)}, got {key!r} in {quoted(text)}")
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise Invalid(f'{option} key {key!r} takes text such as "9-17", got {json.dumps(value)} in {text!r}')
    return Calendar(**{key: str(value) for key, value in fields.items()})


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


def _local(time: PlannedTime) -> str:
    return _utc(time.nominal_at).astimezone(timezone(timedelta(seconds=time.offset))).isoformat()


def _as_json(shown: Preview) -> dict[str, Any]:
    return {
        "summary": shown.summary,
        "timezone": shown.timezone,
        "tzdata": tzdata_version(),
        "times": [
            {"nominal_at": f"{_utc(time.nominal_at):%Y-%m-%dT%H:%M:%SZ}", "local": _local(time), "dst": time.dst}
            for time in shown.times
        ],
        "skipped": [f"{_utc(second):%Y-%m-%dT%H:%M:%S}" for second in shown.skipped],
        "warnings": [warning._asdict() for warning in shown.warnings],
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
        f"{_utc(time.nominal_at + time.offset):%a %Y-%m-%d %H:%M:%S} {_local(time)[19:]}",
        f"{_utc(time.nominal_at):%Y-%m-%d %H:%M:%SZ}",
        f"in {say_roughly(time.nominal_at - start)}",
        str(time.dst or ""),
    )
