"""A stored configuration in the words that people write: options that make the same configuration again."""

import json
from collections.abc import Mapping
from typing import Any

from foliot.domain.durations import duration_text
from foliot.domain.fields import KINDS, FieldKind
from foliot.domain.instants import MICROSECONDS
from foliot.services.configuration import Stored, stored_of

Options = dict[str, Any]

_SPANS = ("catchup_window", "grace", "lookahead", "timeout")
_STORED_POLICIES = {"window": "catchup_window", "cap": "catchup_cap"}
_CRON_ORDER = ("second", "minute", "hour", "day_of_month", "month", "day_of_week", "year")
_KIND_OF = {kind.name: kind for kind in KINDS}


def options_of(stored: Stored) -> Options:
    """Options that `create` takes, and that make this configuration again; what is as by default is left out."""
    return {
        "target": stored.target,
        **spec_options(stored.spec),
        **_policy_options(json.loads(stored.policies)),
        **({} if stored.input is None else {"input": json.loads(stored.input)}),
        **({} if stored.labels == "{}" else {"labels": json.loads(stored.labels)}),
        **({} if stored.memo is None else {"memo": json.loads(stored.memo)}),
    }


def _policy_options(policies: Mapping[str, Any]) -> Options:
    options = {_STORED_POLICIES.get(name, name): value for name, value in policies.items()}
    for name in _SPANS:
        if name in options:
            options[name] = duration_text(options[name])
    if "retry" in options:
        retry = options["retry"]
        options["retry"] = {**retry, **{name: duration_text(retry[name]) for name in ("backoff", "longest")}}
    return options


def spec_options(spec: str) -> Options:
    """A canonical spec as cron text, intervals and moments where these say the same; else as it is."""
    form = json.loads(spec)
    for rule in ({}, _rule_of(form)):
        options = {**_parts(form), **rule}
        try:
            is_same = stored_of("written", options).spec == spec
        except ValueError:
            is_same = False
        if is_same:
            return options
    return {"spec": form}


def _parts(form: Mapping[str, Any]) -> Options:
    every = [_every(interval) for interval in form["intervals"]]
    cron = [_cron(calendar) for calendar in form["calendars"]]
    said: Options = {
        "cron": cron[0] if len(cron) == 1 else cron,
        "every": every[0] if len(every) == 1 else every,
        "at": form["at"],
        "timezone": form["timezone"],
        "start_at": form["start_at"],
        "end_at": form["end_at"],
        "jitter": duration_text(form["jitter_us"]) if form["jitter_us"] else None,
        "jitter_mode": form["jitter_mode"] if form["jitter_us"] else None,
        "manual": form["manual"] or None,
    }
    return {name: value for name, value in said.items() if value is not None and value != []}


def _rule_of(form: Mapping[str, Any]) -> Options:
    """What all calendars do about clock changes, when that is not what their text says."""
    rules = {(calendar["gap"], calendar["fold"]) for calendar in form["calendars"]}
    return dict(zip(("gap", "fold"), *rules, strict=True)) if len(rules) == 1 else {}


def _every(interval: Mapping[str, int]) -> str:
    every = duration_text(interval["every"] * MICROSECONDS)
    return f"{every}/{duration_text(interval['offset'] * MICROSECONDS)}" if interval["offset"] else every


def _cron(calendar: Mapping[str, Any]) -> str:
    texts = {name: _field(_KIND_OF[name], calendar[name]) for name in _CRON_ORDER}
    fields = [texts[name] for name in _CRON_ORDER]
    if texts["year"] == "*":
        fields = fields[:-1]
        if texts["second"] == "0":
            fields = fields[1:]
    return " ".join(fields)


def _field(kind: FieldKind, ranges: list[dict[str, int]]) -> str:
    high = 6 if kind.name == "day_of_week" else kind.high
    (first, *more) = ranges
    if not more and first["start"] == kind.low and first["end"] + first["step"] > high:
        return "*" if first["step"] == 1 else f"*/{first['step']}"
    return ",".join(_range(one) for one in ranges)


def _range(one: Mapping[str, int]) -> str:
    if one["start"] == one["end"]:
        return str(one["start"])
    span = f"{one['start']}-{one['end']}"
    return span if one["step"] == 1 else f"{span}/{one['step']}"
