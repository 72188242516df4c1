"""Registration: schedules and their runs in the registrar's words, and what these mean here.

The registrar is what compilers and deployers know a scheduler of workflows by: `cron_expr`, `jitter_ms`, `ENQUEUED`.
Nowhere else are its words made into ours or ours into its.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

from foliot.domain.errors import Invalid
from foliot.domain.instants import MICROSECONDS, instant_of, moment_of
from foliot.domain.policies import CatchUp, Overlap, Policies, policies_of
from foliot.domain.reader import Reader
from foliot.domain.registrar_defaults import CatchupPolicy, OverlapPolicy, RegistrarDefaults
from foliot.domain.runs import Status
from foliot.domain.schedule import slug_of, user_of
from foliot.domain.slots import JitterMode
from foliot.domain.spec import Spec

WORKFLOWS = "dag:"
"""How the target of every schedule begins that the registrar knows."""
_LONGEST_JITTER = 7 * 86_400_000
_MOST_VERSIONS = 10**9
_TIMING = ("cron_expr", "timezone", "start_at", "end_at", "jitter_ms", "overlap_policy", "catchup_policy")


class RunWord(StrEnum):
    """Where a run of a schedule stands."""

    ENQUEUED = "ENQUEUED"
    STARTED = "STARTED"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


_OVERLAPS = {
    Overlap.SKIP: OverlapPolicy.SKIP,
    Overlap.ALLOW_ALL: OverlapPolicy.ALLOW,
    Overlap.BUFFER_ALL: OverlapPolicy.QUEUE,
}
_CATCH_UPS = {
    CatchUp.NONE: CatchupPolicy.NONE,
    CatchUp.ALL: CatchupPolicy.FIRE_IMMEDIATELY,
    CatchUp.SPREAD: CatchupPolicy.SPREAD,
}
_WORDS = {
    Status.PENDING: RunWord.ENQUEUED,
    Status.RUNNING: RunWord.STARTED,
    Status.WAITING: RunWord.STARTED,
    Status.SUCCESS: RunWord.SUCCESS,
    Status.ERROR: RunWord.FAILED,
    Status.SKIPPED: RunWord.SKIPPED,
}


class Registration(NamedTuple):
    """A schedule that is to be registered, in our words."""

    schedule_id: str | None
    """None: it is to be given one."""
    workflow_id: str
    version: int
    user: str
    cron: str
    options: Mapping[str, Any]


class Registered(NamedTuple):
    """What a schedule says of itself in the registrar's words; None: it has come to say what they cannot."""

    cron_expr: str | None
    timezone: str
    start_at: str | None
    end_at: str | None
    jitter_ms: int
    overlap_policy: OverlapPolicy | None
    catchup_policy: CatchupPolicy | None


def read_registration(given: Any, defaults: RegistrarDefaults) -> Registration:
    """What is to be registered; Invalid, by the name of the field, unless it can be."""
    reader = Reader("a schedule", given)
    reader.only("schedule_id", "workflow_id", "version", "user_id", *_TIMING)
    said = {key: value for key, value in given.items() if value is not None}
    schedule_id = said.get("schedule_id")
    if schedule_id is not None and slug_of(schedule_id) != schedule_id:
        reader.refuse(
            f"takes schedule_id of small letters, digits, '-', '_' and '.', such as {slug_of(schedule_id)!r}, got"
            f" {schedule_id!r:.120}"
        )
    if "timezone" not in said:
        reader.refuse("takes timezone, an IANA name such as 'America/New_York', got none")
    said = {name: getattr(defaults, name) for name in ("overlap_policy", "catchup_policy", "jitter_ms")} | said
    timing = read_timing(Reader(reader.what, {key: said[key] for key in _TIMING if key in said}))
    bounds = {
        "lookahead": timedelta(milliseconds=defaults.lookahead_ms),
        "catchup_cap": defaults.max_catchup_per_tick,
    }
    workflow_id = reader.name("workflow_id")
    # A spec is kept as what it means: whoever reads the schedule is shown the text that it was registered with.
    own = {"target": f"{WORKFLOWS}{workflow_id}", "memo": {"cron_expr": timing["cron"]}}
    return Registration(
        schedule_id,
        workflow_id,
        reader.whole("version", 1, _MOST_VERSIONS, 0),
        user_of(said.get("user_id", ""), "user_id"),
        timing["cron"],
        {**timing, **bounds, **own},
    )


def read_timing(reader: Reader) -> dict[str, Any]:
    """When and how it runs, as options of a schedule: also what a workflow says of a trigger's."""
    reader.only(*_TIMING)
    given = {key: value for key, value in reader.given.items() if value is not None}
    cron = given.get("cron_expr")
    if not isinstance(cron, str) or len(cron.split()) not in (5, 6):
        reader.refuse(f"takes cron_expr of 5 or 6 fields, got {cron!r:.80}")
    jitter_ms = Reader(reader.what, given).whole("jitter_ms", 0, _LONGEST_JITTER, 0)
    options: dict[str, Any] = {"cron": cron, "timezone": given.get("timezone", "UTC")}
    for key, name, kind in (
        ("overlap_policy", "overlap", OverlapPolicy),
        ("catchup_policy", "catchup", CatchupPolicy),
    ):
        if key in given:
            options[name] = str(reader.word(key, kind))
    moments = {key: given[key] for key in ("start_at", "end_at") if key in given}
    if jitter_ms:
        options |= {"jitter": jitter_ms / 1000, "jitter_mode": str(JitterMode.AROUND)}
    try:
        bounds = {key: moment_of(instant_of(moment, key)) for key, moment in moments.items()}
        zone, jitter = options["timezone"], timedelta(milliseconds=jitter_ms)
        start, end = bounds.get("start_at"), bounds.get("end_at")
        Spec(cron, timezone=zone, start_at=start, end_at=end, jitter=jitter, jitter_mode=JitterMode.AROUND).compile()
        policies_of(overlap=options.get("overlap"), catchup=options.get("catchup"))
    except Invalid as refusal:
        raise Invalid(f"{reader.what}: {refusal}") from None
    return options | moments


def registered_of(canonical: str, policies: Policies, memo: Any) -> Registered:
    """What a schedule of that spec, these policies and that memo says of itself."""
    form = json.loads(canonical)
    return Registered(
        cron_expr=_cron_of(form, memo),
        timezone=form["timezone"],
        start_at=form["start_at"],
        end_at=form["end_at"],
        jitter_ms=form["jitter_us"] // 1000,
        overlap_policy=_OVERLAPS.get(policies.overlap),
        catchup_policy=_CATCH_UPS.get(policies.catchup),
    )


def _cron_of(form: Mapping[str, Any], memo: Any) -> str | None:
    """The cron text that it was registered with, as long as it means just what the spec is."""
    text = memo.get("cron_expr") if isinstance(memo, Mapping) else None
    if not isinstance(text, str):
        return None
    moments = ("calendars", "intervals", "at", "exclude")
    try:
        meant = Spec(cron=(text,), timezone=form["timezone"]).canonical()
    except Invalid:
        return None
    return text if all(meant[part] == form[part] for part in moments) else None


def word_of(status: Status, *, has_begun: bool) -> RunWord:
    """The word for a run of that status. One that was cancelled has failed if it had begun, else it was skipped."""
    if status is Status.CANCELLED:
        return RunWord.FAILED if has_begun else RunWord.SKIPPED
    return _WORDS[status]


def run_key(schedule_id: str, nominal_at: int) -> str:
    """By what the registrar knows the run of a slot: of the planned time, wherever jitter or spread has moved it."""
    return sha256(f"{schedule_id}:{nominal_at // MICROSECONDS}".encode()).hexdigest()
