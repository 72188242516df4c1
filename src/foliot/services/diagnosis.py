"""What is wrong with a service, seen from its database: each with a verdict and a remedy."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from foliot.domain.instants import MICROSECONDS, moment_of
from foliot.domain.skew import Skew
from foliot.domain.zones import tzdata_version
from foliot.ports import Clock, Transaction
from foliot.services.verbs import Verbs

_OVERDUE = 600 * MICROSECONDS
"""A schedule whose time came so long ago should have been looked at."""
_LATE_LEASE = 60 * MICROSECONDS
_SKEW = 2 * MICROSECONDS
_SEEN = 60 * MICROSECONDS
_OLD_ZONES = 2
"""Years."""
_SOUND_SQLITE = (3, 51, 3)
_WITHDRAWN_SQLITE = (3, 52)
"""The release since which SQLite no longer damages a log that two connections reset at once; 3.52 was withdrawn."""
_LEAST_ROOM = 1 << 30


class Health(StrEnum):
    """How something stands."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Symptom(NamedTuple):
    """Something that was looked at, how it stands, and what can be done about it."""

    name: str
    verdict: Health
    what: str
    remedy: str | None = None


def symptoms(verbs: Verbs, clock: Clock) -> Iterator[Symptom]:
    """All that the database can say. It is there, and of this release."""
    yield _clock_skew(verbs, clock)
    yield _zones(clock)
    for look in (_workers, _leases, _overdue, _troubles, _orphans):
        yield verbs.desk.read(look)
    yield _chain(verbs)


def sqlite_release(version: tuple[int, ...]) -> Symptom:
    """Whether the SQLite that is linked here has a fault that damages databases."""
    said = f"SQLite {'.'.join(map(str, version))}"
    if version < _SOUND_SQLITE or version[:2] == _WITHDRAWN_SQLITE:
        remedy = "use a Python with SQLite 3.51.3 or newer; until then let one process write the file, as Foliot does"
        return Symptom("sqlite", Health.WARN, f"{said} can damage a log that two connections reset at once", remedy)
    return Symptom("sqlite", Health.OK, said)


def file_mode(path: str, mode: int) -> Symptom:
    if mode & 0o022:
        return Symptom("file", Health.WARN, f"{path} may be written by others", f"chmod go-w {path}")
    if mode & 0o044:
        said = f"{path} may be read by others, with all that schedules are given and come to"
        return Symptom("file", Health.WARN, said, f"chmod go-r {path}*")
    return Symptom("file", Health.OK, "only its owner may read and write it")


def disk(free: int) -> Symptom:
    """By how many bytes are left."""
    if free < _LEAST_ROOM:
        remedy = "make room: where nothing can be written, nothing starts"
        return Symptom("disk", Health.WARN, f"{free >> 20:,} MiB are free on its disk", remedy)
    return Symptom("disk", Health.OK, f"{free >> 30:,} GiB are free on its disk")


def _clock_skew(verbs: Verbs, clock: Clock) -> Symptom:
    before = clock.now()
    theirs = verbs.desk.read(lambda tx: tx.now)
    skew = Skew.measured(theirs, before, clock.now())
    apart = max(skew.least, -skew.most, 0)
    said = f"the database's clock is {apart / MICROSECONDS:.1f} s from this machine's, at least"
    if apart > _SKEW:
        return Symptom("clock", Health.WARN, said, "let both machines be set by NTP")
    return Symptom("clock", Health.OK, "the database's clock agrees with this machine's")


def _zones(clock: Clock) -> Symptom:
    version = tzdata_version()
    year = moment_of(clock.now()).year
    if version[:4].isdigit() and year - int(version[:4]) >= _OLD_ZONES:
        remedy = "install a newer tzdata: governments change their clocks at short notice"
        return Symptom("tzdata", Health.WARN, f"the zone files are of {version}", remedy)
    return Symptom("tzdata", Health.OK, f"the zone files are of {version}")


def _workers(tx: Transaction) -> Symptom:
    alive, silent = tx.count_workers(tx.now - _SEEN)
    said = f"{alive} heard of within a minute, {silent} silent that never stopped"
    if not alive:
        return Symptom("workers", Health.WARN, said, "start one: `foliot serve`, or `foliot worker`")
    return Symptom("workers", Health.OK, said)


def _leases(tx: Transaction) -> Symptom:
    late = tx.count_expired(tx.now - _LATE_LEASE)
    if late:
        remedy = "start a worker: it takes over what they held"
        return Symptom("leases", Health.FAIL, f"{late} workers are gone and still hold runs", remedy)
    return Symptom("leases", Health.OK, "nobody who is gone holds runs")


def _overdue(tx: Transaction) -> Symptom:
    found = tx.overdue(tx.now - _OVERDUE, 3)
    if found:
        remedy = "start a worker that has registered their targets"
        return Symptom("overdue", Health.FAIL, f"due for ten minutes and more: {', '.join(found)}", remedy)
    return Symptom("overdue", Health.OK, "no schedule is overdue")


def _troubles(tx: Transaction) -> Symptom:
    found = tx.troubles(4)
    if found:
        shown = "; ".join(f"{row.schedule} ({row.trouble.error})" for row in found[:3])
        more = " and more" if len(found) > 3 else ""
        remedy = "the worker's log has more; mend or delete them, and tell us: it is a defect"
        return Symptom("set aside", Health.FAIL, f"a worker fails on {shown}{more}", remedy)
    return Symptom("set aside", Health.OK, "no schedule is set aside")


def _orphans(tx: Transaction) -> Symptom:
    found = sorted(tx.orphans())
    if found:
        shown = ", ".join(found[:3]) + (" and more" if len(found) > 3 else "")
        remedy = "start a program that registers them, or give their schedules another target"
        return Symptom("targets", Health.WARN, f"no program has registered {shown}", remedy)
    return Symptom("targets", Health.OK, "every target was registered by a program")


def _chain(verbs: Verbs) -> Symptom:
    found = verbs.trail.verify()
    if found.breaks:
        remedy = "`foliot audit --chain` verifies all of it; find out who writes the database"
        return Symptom("trail", Health.FAIL, found.breaks[0].what, remedy)
    return Symptom("trail", Health.OK, f"the first {found.checked:,} entries are as they were written")
