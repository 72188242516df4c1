"""Cron text: what its fields, macros and prefixes mean."""

import re
from datetime import timedelta
from typing import NamedTuple

from foliot.domain.calendar import Reading
from foliot.domain.durations import parse_duration
from foliot.domain.errors import Invalid
from foliot.domain.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    YEAR,
    Dialect,
    FieldKind,
    Source,
    parse_field,
    quoted,
)

LONGEST_TEXT = 10_000

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_FIVE = (MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)
_LAYOUTS = {
    Dialect.CRON: {5: _FIVE, 6: (SECOND, *_FIVE), 7: (SECOND, *_FIVE, YEAR)},
    Dialect.TEMPORAL: {5: _FIVE, 6: (*_FIVE, YEAR), 7: (SECOND, *_FIVE, YEAR)},
}
_UNSET = {SECOND: "0", YEAR: "*"}

_ZONE = re.compile(r"(?:CRON_)?TZ=(\S*)\s*")
_WORD = re.compile(r"\S+")


class Every(NamedTuple):
    """`@every 90m/5m`: a period, and how far into it."""

    period: timedelta
    offset: timedelta


class CronText(NamedTuple):
    """A cron text, read: the zone it names, if any, and its moments."""

    zone: str | None
    moments: Reading | Every


def read_cron(text: str, dialect: Dialect = Dialect.CRON) -> CronText:
    """What the text means; Invalid names the field, its range, what was got and where."""
    if len(text) > LONGEST_TEXT:
        raise Invalid(f"cron text takes at most {LONGEST_TEXT} characters, got {len(text)} in {quoted(text)}")
    body, start = text, len(text) - len(text.lstrip())
    zone = None
    if match := _ZONE.match(body, start):
        zone, start = match[1], match.end()
        if not zone:
            raise Invalid(f"cron prefix 'TZ=' takes a time zone such as TZ=Europe/Berlin, got none in {quoted(text)}")
    if dialect is Dialect.TEMPORAL:
        body = body.partition("#")[0]
    expression = body[start:].strip()
    if expression.lower().startswith("@every"):
        return CronText(zone, _read_every(expression, text))
    if expression.startswith("@"):
        return CronText(zone, _read_fields(_expand_macro(expression, text), 0, text, dialect))
    return CronText(zone, _read_fields(body, start, text, dialect))


def read_every(name: str, text: str) -> Every:
    """`90m`, or `90m/5m`: a period and, after the slash, how far into it."""
    period, slash, offset = text.partition("/")
    shift = parse_duration(f"the offset of {name}", offset) if slash else timedelta()
    return Every(parse_duration(name, period), shift)


def _read_every(expression: str, text: str) -> Every:
    words = expression.split()
    if len(words) != 2 or words[0].lower() != "@every":
        raise Invalid(
            f"cron macro '@every' takes one duration, such as '@every 90m' or '@every 90m/5m', got {quoted(text)}"
        )
    try:
        return read_every("cron macro '@every'", words[1])
    except Invalid as error:
        raise Invalid(f"{error} (in {quoted(text)})") from None


def _expand_macro(expression: str, text: str) -> str:
    try:
        return MACROS[expression.lower()]
    except KeyError:
        raise Invalid(
            f"cron macro takes one of {', '.join(MACROS)} or @every, got {quoted(expression)} in {quoted(text)}"
            f" (character {text.index(expression) + 1})"
        ) from None


def _read_fields(body: str, start: int, text: str, dialect: Dialect) -> Reading:
    words = list(_WORD.finditer(body, start))
    try:
        layout = _LAYOUTS[dialect][len(words)]
    except KeyError:
        raise Invalid(_wrong_count(len(words), text, dialect)) from None
    fields = {
        kind: parse_field(kind, word[0], Source("cron", text, word.start()), dialect)
        for kind, word in zip(layout, words, strict=True)
    }
    for kind, unset in _UNSET.items():
        if kind not in fields:
            fields[kind] = parse_field(kind, unset, Source("cron", text))
    either_day = dialect is Dialect.CRON and not fields[DAY_OF_MONTH].starred and not fields[DAY_OF_WEEK].starred
    return Reading(
        text.strip(),
        fields[SECOND],
        fields[MINUTE],
        fields[HOUR],
        fields[DAY_OF_MONTH],
        fields[MONTH],
        fields[YEAR],
        fields[DAY_OF_WEEK],
        either_day,
    )


def _wrong_count(count: int, text: str, dialect: Dialect) -> str:
    def listed(kinds: tuple[FieldKind, ...]) -> str:
        return " ".join(kind.name for kind in kinds)

    said = "; ".join(f"{number}: {listed(kinds)}" for number, kinds in _LAYOUTS[dialect].items())
    missing = f"; field '{_FIVE[count].name}' ({_FIVE[count].range}) is missing" if 0 < count < 5 else ""
    return f"cron text takes 5, 6 or 7 fields ({said}), got {count} in {quoted(text)}{missing}"
