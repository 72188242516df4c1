"""A spec as people and programs say it, in options or as JSON, made into one that can be compiled."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from foliot.domain.calendar import Calendar
from foliot.domain.canonical import calendar_said
from foliot.domain.cron import read_every
from foliot.domain.durations import span_of
from foliot.domain.errors import Invalid
from foliot.domain.policies import switch_of
from foliot.domain.slots import JitterMode
from foliot.domain.spec import Anchor, Interval, Spec

SPEC_OPTIONS = (
    "cron",
    "every",
    "at",
    "calendars",
    "exclude",
    "timezone",
    "gap",
    "fold",
    "dialect",
    "start_at",
    "end_at",
    "jitter",
    "jitter_mode",
    "manual",
)
MOST_PARTS = 100
"""Of one kind in a spec: compiling it takes its time for each."""
MOST_MOMENTS = 10_000
_INTERVAL_KEYS = ("every", "offset", "anchor")


def spec_of(options: Mapping[str, Any]) -> Spec:
    """The spec that these options describe: one whole, as a Spec or in canonical form, or its parts."""
    parts = [key for key in SPEC_OPTIONS if key in options]
    spec = options.get("spec")
    if spec is not None:
        if parts:
            raise Invalid(f"a schedule takes either spec or its parts, got spec and {', '.join(parts)}")
        if isinstance(spec, Mapping):
            return _bounded(Spec.from_canonical(spec))
        if not isinstance(spec, Spec):
            raise Invalid(f"spec takes a foliot.Spec, or the canonical form of one, got {spec!r:.100}")
        return spec
    return _bounded(
        Spec(
            cron=options.get("cron", ()),
            intervals=tuple(_interval(every) for every in _several(options.get("every", ()))),
            calendars=tuple(_calendar("calendars", one) for one in _several(options.get("calendars", ()))),
            exclude=tuple(_calendar("exclude", one) for one in _several(options.get("exclude", ()))),
            at=tuple(moment_said("at", moment) for moment in _several(options.get("at", ()))),
            timezone=options.get("timezone"),
            start_at=moment_said("start_at", options["start_at"]) if "start_at" in options else None,
            end_at=moment_said("end_at", options["end_at"]) if "end_at" in options else None,
            jitter=timedelta(microseconds=span_of("jitter", options.get("jitter", timedelta()))),
            jitter_mode=options.get("jitter_mode", JitterMode.AFTER),
            gap=options.get("gap", "auto"),
            fold=options.get("fold", "auto"),
            dialect=options.get("dialect", "cron"),
            manual=switch_of("manual", options.get("manual", False)),
        )
    )


def _bounded(spec: Spec) -> Spec:
    for name in ("cron", "calendars", "intervals", "exclude", "at"):
        most = MOST_MOMENTS if name == "at" else MOST_PARTS
        if len(getattr(spec, name)) > most:
            said = "every" if name == "intervals" else name
            raise Invalid(f"{said} takes at most {most:,} in one spec, got {len(getattr(spec, name)):,}")
    return spec


def _calendar(name: str, said: Any) -> Calendar:
    return said if isinstance(said, Calendar) else calendar_said(said, name)


def _interval(every: Any) -> Interval:
    if isinstance(every, Interval):
        return every
    if isinstance(every, str):
        return Interval(*read_every("every", every))
    if isinstance(every, Mapping) and every:
        if "every" not in every or any(key not in _INTERVAL_KEYS for key in every):
            raise Invalid(f"every takes the keys {', '.join(_INTERVAL_KEYS)}, got {', '.join(map(repr, every))}")
        return Interval(
            timedelta(microseconds=span_of("every", every["every"])),
            timedelta(microseconds=span_of("offset of every", every.get("offset", 0))),
            every.get("anchor", Anchor.EPOCH),
        )
    return Interval(timedelta(microseconds=span_of("every", every)))


def _several(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def moment_said(name: str, moment: Any) -> datetime:
    """Without an offset it is a time of the spec's zone."""
    if not isinstance(moment, str):
        return moment  # type: ignore[no-any-return]  # Spec refuses what is no datetime.
    try:
        return datetime.fromisoformat(moment)
    except ValueError:
        raise Invalid(f"{name} takes a moment such as 2026-11-15T09:00:00Z, got {moment[:64]!r}") from None
