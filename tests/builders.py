"""The only place where test data is made: instants, and specs together with the plain sets that they mean."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

from foliot import Calendar, Interval, Spec
from foliot.domain.admission import Applicant
from foliot.domain.backfill import Backfill, Direction, Which
from foliot.domain.generation import Timetable
from foliot.domain.grants import EVERYTHING, Grant
from foliot.domain.ledger import Known, Record
from foliot.domain.runs import Kind, Order, Status
from foliot.domain.schedule import State
from foliot.domain.settlement import Ended
from foliot.domain.slots import Slot
from foliot.ports import Launch
from tests.oracle import LAST_INSTANT, PlainCalendar, PlainSpec

HARD_ZONES = (
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Caracas",
    "America/Havana",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "America/St_Johns",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Chatham",
)

RANGES = {
    "second": range(60),
    "minute": range(60),
    "hour": range(24),
    "day_of_month": range(1, 32),
    "month": range(1, 13),
    "year": range(1970, 2200),
    "day_of_week": range(7),
}

# Microseconds, as the rules count.
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
NOON = 1_794_744_000 * SECOND
"""2026-11-15T12:00:00Z."""


def at(text: str) -> int:
    """`2026-10-25T00:30:00Z` as an instant."""
    return int(datetime.fromisoformat(text).timestamp())


def said(instants: Sequence[int]) -> list[str]:
    """Instants as text, for messages that can be read."""
    return [datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for instant in instants]


def moment(instant: int) -> datetime:
    return datetime.fromtimestamp(instant, UTC)


def a_field(random: Random, name: str, likely: Sequence[int] = ()) -> tuple[str, frozenset[int]]:
    """A field's text, and the numbers it means."""
    values = RANGES[name]
    shape = random.choice(["star", "step", "range", "list", "list"])
    if shape == "star":
        return "*", frozenset(values)
    if shape == "step":
        step = random.randint(1, len(values))
        return f"*/{step}", frozenset(values[::step])
    if shape == "range":
        low, high = sorted(random.choices(values, k=2))
        step = random.randint(1, 5) if low < high else 1
        return f"{low}-{high}/{step}" if low < high else f"{low}", frozenset(range(low, high + 1, step))
    chosen = {*random.choices(values, k=random.randint(1, 3)), *random.choices(likely or values, k=1)}
    return ",".join(map(str, random.sample(sorted(chosen), len(chosen)))), frozenset(chosen)


def a_calendar(random: Random, hours: Sequence[int], seconds: bool) -> tuple[Calendar, PlainCalendar]:
    """A calendar that likes these hours, and the sets it means with its rule for clock changes resolved."""
    texts, sets = {}, {}
    for name, values in RANGES.items():
        rare = name in ("day_of_month", "month", "year") and random.random() < 0.8
        if name == "second" and not seconds:
            texts[name], sets[name] = "0", frozenset({0})
        elif rare:
            texts[name], sets[name] = "*", frozenset(values)
        else:
            texts[name], sets[name] = a_field(random, name, hours if name == "hour" else ())
    gap, fold = random.choice(["auto", "shift", "skip"]), random.choice(["auto", "first", "second", "both"])
    elapsed = texts["minute"].startswith("*") or texts["hour"].startswith("*")
    resolved_gap = gap if gap != "auto" else "skip" if elapsed else "shift"
    resolved_fold = fold if fold != "auto" else "both" if elapsed else "first"
    return Calendar(**texts, gap=gap, fold=fold), PlainCalendar(**sets, gap=resolved_gap, fold=resolved_fold)


def an_exclusion(random: Random, hours: Sequence[int], seconds: bool) -> tuple[Calendar, PlainCalendar]:
    """A calendar to leave out: of any kind, or whole hours on some weekdays, which leaves a coarse grid."""
    if random.random() < 0.5:
        return a_calendar(random, hours, seconds)
    text, chosen = a_field(random, "hour", hours)
    weekday_text, weekdays = random.choice([("*", frozenset(range(7))), a_field(random, "day_of_week")])
    whole = {name: frozenset(values) for name, values in RANGES.items()}
    return (
        Calendar(second="*", minute="*", hour=text, day_of_week=weekday_text),
        PlainCalendar(**whole | {"hour": chosen, "day_of_week": weekdays}, gap="skip", fold="both"),
    )


def a_spec(
    random: Random, zone: str, window: tuple[int, int], hours: Sequence[int], seconds: bool
) -> tuple[Spec, PlainSpec]:
    """A spec with some of everything, at home in the window, and what it means."""
    start, end = window
    grid = 1 if seconds else 60
    calendars = [a_calendar(random, hours, seconds) for _ in range(random.choice([0, 1, 1, 2, 3]))]
    exclude = [an_exclusion(random, hours, seconds) for _ in range(random.choice([0, 0, 1, 2, 3]))]
    periods = []
    for _ in range(random.choice([0, 0, 1, 2]) if calendars else 1):
        every = random.choice([1, 2, 7, 60, 90, 100, 420, 1440, 2881]) * 60
        periods.append((every, random.choice([0, random.randrange(0, every, grid)])))
    one_offs = [random.randrange(start, end, grid) for _ in range(random.choice([0, 0, 0, 2]))]
    first = random.randrange(start, end) if random.random() < 0.2 else None
    last = random.randrange(first or start, end) if random.random() < 0.2 else None
    spec = Spec(
        calendars=tuple(calendar for calendar, _ in calendars),
        exclude=tuple(calendar for calendar, _ in exclude),
        intervals=tuple(Interval(timedelta(seconds=every), timedelta(seconds=offset)) for every, offset in periods),
        at=tuple(map(moment, one_offs)),
        start_at=None if first is None else moment(first),
        end_at=None if last is None else moment(last),
        timezone=zone,
    )
    plain = PlainSpec(
        calendars=tuple(plain for _, plain in calendars),
        exclude=tuple(plain for _, plain in exclude),
        intervals=tuple(periods),
        at=tuple(one_offs),
        first=first or 0,
        last=LAST_INSTANT if last is None else last,
    )
    return spec, plain


def length(microseconds: int) -> timedelta:
    return timedelta(microseconds=microseconds)


def a_timetable(every: int | None = None, schedule_id: str = "digest", **spec: Any) -> Timetable:
    """The times of a schedule: every so many microseconds from noon, or whatever spec is given."""
    if every is not None:
        spec["intervals"] = Interval(length(every), length(NOON % every))
    return Timetable(Spec(**spec).compile(), schedule_id)


def a_state(swept_to: int = NOON, **changes: Any) -> State:
    """An idle, active schedule without limit, swept up to noon."""
    idle = State(
        ref=1,
        version=1,
        target=1,
        swept_to=swept_to,
        wake_at=None,
        pause_from=None,
        pause_to=None,
        running=0,
        held=0,
        remaining=None,
        marks=0,
        last_result=None,
        last_failure=None,
        refusals=0,
    )
    return idle._replace(**changes)


def a_paused_state(since: int, until: int | None, swept_to: int = NOON) -> State:
    return a_state(swept_to, pause_from=since, pause_to=until)


def slots_at(*nominals: int) -> list[Slot]:
    """Slots that are due at their nominal time."""
    return [Slot(nominal, nominal) for nominal in nominals]


def an_applicant(nominal_at: int = NOON, **changes: Any) -> Applicant:
    """A slot that just came due."""
    return Applicant(nominal_at, nominal_at)._replace(**changes)


def a_held_slot(nominal_at: int = NOON, **changes: Any) -> Applicant:
    return an_applicant(nominal_at, ref=nominal_at // MINUTE, is_held=True, is_judged=True)._replace(**changes)


def a_trigger(at: int = NOON, **changes: Any) -> Applicant:
    """What a person started by hand."""
    return an_applicant(at, kind=Kind.MANUAL, **changes)


def an_ended_run(attempt: int = 1, kind: Kind = Kind.SLOT, order: Order | None = None) -> Ended:
    return Ended("digest:2026-11-15T12:00:00Z", kind, attempt, occupies=True, order=order)


def a_backfill(
    first: int,
    last: int,
    which: Which = Which.MISSING,
    direction: Direction = Direction.OLDEST_FIRST,
    done_to: int | None = None,
) -> Backfill:
    """One over those seconds that has not begun, unless told how far it has come."""
    start = first - 1 if direction is Direction.OLDEST_FIRST else last + 1
    return Backfill(1, first, last, which, direction, 1, 0, start if done_to is None else done_to)


def a_record(status: Status, **changes: Any) -> Record:
    """A run of the slot at noon, from then to a minute later."""
    record = Record(
        run_id="digest:2026-11-15T12:00:00Z~1",
        kind=Kind.SLOT,
        status=status,
        reason=None,
        hold=None,
        started_at=NOON,
        ended_at=NOON + MINUTE,
        error=None,
    )
    return record._replace(**changes)


def what_is_known(**changes: Any) -> Known:
    """A schedule of every hour, created the day before, swept up to noon at half past twelve, with nothing to tell."""
    facts: dict[str, Any] = {
        "spec": Spec(cron=("0 * * * *",)),
        "state": a_state(NOON),
        "limit": None,
        "created_at": NOON - DAY,
        "spec_since": NOON - DAY,
        "past": (),
        "deleted_at": None,
        "pruned_before": 0,
        "now": NOON + HOUR // 2,
        "runs": (),
        "gap": None,
    }
    return Known(**facts | changes)


class NewSchedule(NamedTuple):
    """A schedule as the store takes it."""

    ref: int
    id: str
    name: str
    app: str | None
    target: int
    spec: str
    policies: str
    input: str | None
    labels: str
    memo: str | None
    version: int
    created_at: int
    updated_at: int
    spec_since: int
    grant_ref: int
    owner: str


class NewCursor(NamedTuple):
    """Its cursor, likewise."""

    ref: int
    version: int
    target: int
    swept_to: int
    wake_at: int | None
    remaining: int | None


class NewRun(NamedTuple):
    """A run as `record` takes it."""

    ref: int
    schedule_ref: int
    nominal_at: int
    due_at: int
    kind: str
    backfill: int
    attempt: int
    status: str
    reason: str | None
    hold: str | None
    occupies: int
    overlap: str | None
    ready_for: int | None
    ready_at: int | None
    retry_of: int | None
    version: int
    created_at: int
    ended_at: int | None
    input: str | None


class StartedRun(NamedTuple):
    """A run as `start_new` takes it."""

    ref: int
    schedule_ref: int
    nominal_at: int
    due_at: int
    kind: str
    backfill: int
    occupies: int
    grant_ref: int
    worker: int
    version: int
    created_at: int
    started_at: int


def a_new_schedule(ref: int, target: int, schedule_id: str = "digest", **changes: Any) -> NewSchedule:
    """One whose texts the store does not look into."""
    plain = NewSchedule(
        ref, schedule_id, schedule_id, None, target, "{}", "{}", None, "{}", None, 1, NOON, NOON, NOON, 1, "local"
    )
    return plain._replace(**changes)


def a_new_cursor(ref: int, target: int, **changes: Any) -> NewCursor:
    """Swept up to noon, with nothing to come."""
    return NewCursor(ref, 1, target, NOON, None, None)._replace(**changes)


def a_new_run(ref: int, schedule_ref: int, nominal_at: int = NOON, **changes: Any) -> NewRun:
    """A first attempt at a slot, pending, for which nothing is decided yet."""
    plain = NewRun(
        ref,
        schedule_ref,
        nominal_at,
        nominal_at,
        Kind.SLOT,
        0,
        1,
        Status.PENDING,
        None,
        None,
        0,
        None,
        None,
        None,
        None,
        1,
        NOON,
        None,
        None,
    )
    return plain._replace(**changes)


def a_started_run(ref: int, schedule_ref: int, nominal_at: int = NOON, worker: int = 1, **changes: Any) -> StartedRun:
    """A slot that a worker runs since noon."""
    plain = StartedRun(ref, schedule_ref, nominal_at, nominal_at, Kind.SLOT, 0, 1, 1, worker, 1, NOON, NOON)
    return plain._replace(**changes)


def a_launch(target: str, **changes: Any) -> Launch:
    """A first attempt at the slot of noon, which a worker has just started."""
    plain = Launch(
        ref=1,
        token=1,
        schedule_ref=1,
        schedule_id="digest",
        target=target,
        kind=Kind.SLOT,
        nominal_at=NOON,
        due_at=NOON,
        attempt=1,
        backfill=0,
        occupies=True,
        labels={},
        input=None,
        own_input=None,
        overlap=None,
        timeout=None,
        grant=Grant(1, "local", 1, frozenset({EVERYTHING})),
        grants_seen=0,
        limits=None,
        result_of=None,
        failure_of=None,
    )
    return plain._replace(**changes)
