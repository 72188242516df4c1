"""Recovery: a year down, and a hundred thousand slots due at once after an outage."""

from dataclasses import dataclass

from benchmarks.children import alone
from benchmarks.databases import Urls, drop, one, rows
from benchmarks.figures import Findings, say
from benchmarks.samples import median, percentile
from benchmarks.throughput import burn_down, prepared, rate_of
from benchmarks.world import MICROSECONDS, create, make_due, plain, set_back

_YEAR = 365 * 86_400
_OUTAGE = 600
_NEW = 10
"""How many schedules of each target fire each second meanwhile."""


@dataclass(frozen=True, slots=True)
class Sizes:
    rounds: int = 3
    slots: int = 30_000
    storm: int = 100_000
    peer_days: int = 365


QUICK = Sizes(rounds=1, slots=4_000, storm=10_000, peer_days=30)


def measure(found: Findings, urls: Urls, sizes: Sizes) -> None:
    report_year(found, urls, sizes)
    report_storm(found, urls, sizes)


def report_year(found: Findings, urls: Urls, sizes: Sizes) -> None:
    seconds, wrong, runs = [], 0, 0
    for _ in range(sizes.rounds):
        url = next(urls)
        create(url, [{"name": "minutely", "target": "nothing", "cron": "* * * * *"}])
        set_back(url, "minutely", _YEAR)
        seconds.append(alone("workers:decide", url=url)["seconds"])
        gaps = one(url, "SELECT count(*) FROM gaps")
        runs = one(url, "SELECT count(*) FROM runs")
        missed = one(url, "SELECT sum(size) FROM gaps")
        # Every minute of the year is in the one gap, or is the run of the last; the minute may turn meanwhile.
        wrong += gaps != 1 or abs(missed + runs - _YEAR // 60) > 1
        say(f"{found.kind:10}   a year of minutes: {seconds[-1]:.3f} s, {gaps} gap of {missed:,} slots, {runs} runs")
    peer = alone("peers:apscheduler_outage", url=next(urls), days=sizes.peer_days)["seconds"]
    name = "APScheduler" if sizes.peer_days == 365 else f"APScheduler, {sizes.peer_days} days"
    what = "a year of minutes"
    found.add(f"{what}: decided after", median(seconds), "s", at_most=1, beside={name: peer})
    note = f"of {sizes.rounds}; {missed:,} minutes in one row, {runs} run of the last"
    found.add(f"{what}: rounds without exactly one gap row for all of them", wrong, at_most=0, note=note)


def report_storm(found: Findings, urls: Urls, sizes: Sizes) -> None:
    """One worker drains the storm; beside its rate stands that of the same worker on an ordinary backlog."""
    url = prepared(urls, sizes.slots)
    backlog = burn_down(url, sizes.slots, 1)
    usual = rate_of(backlog)
    drop(url)
    url = next(urls)
    create(url, plain(sizes.storm, catchup="all"))
    make_due(url, _OUTAGE)
    create(
        url,
        (
            {"name": f"{target}{number}", "target": target, "every": "1s", "input": 1}
            for target in ("nothing", "timed")
            for number in range(_NEW)
        ),
    )
    seen = alone("workers:storm", url=url, slots=sizes.storm)
    during = f"r.nominal_at >= {seen['first'] * MICROSECONDS} AND r.nominal_at < {seen['end'] * MICROSECONDS}"
    fates = rows(
        url,
        "SELECT r.status, r.reason, count(*) FROM runs r JOIN schedules s ON s.ref = r.schedule_ref"
        f" WHERE s.id NOT LIKE 's%' AND {during} GROUP BY 1, 2 ORDER BY 3 DESC",
    )
    succeeded = one(
        url,
        "SELECT count(*) FROM runs r JOIN schedules s ON s.ref = r.schedule_ref"
        " WHERE s.id LIKE 's%' AND r.status = 'success'",
    )
    drop(url)
    rate = sizes.storm / (seen["ended"] - seen["began"])
    what = f"{sizes.storm:,} slots due at once"
    found.add(f"{what}: drained at", rate, "slots/s", beside={"an ordinary backlog": usual})
    cpu, usual_cpu = seen["cpu"] / sizes.storm * 1e6, backlog[0]["cpu"] / sizes.slots * 1e6
    found.add(f"{what}: CPU a slot", cpu, "us", beside={"an ordinary backlog": usual_cpu})
    found.add(f"{what}: share of the ordinary rate", rate / usual, at_least=0.8)
    found.add(f"{what}: not run", sizes.storm - succeeded, at_most=0)
    expected = _NEW * max(0, seen["end"] - seen["first"])
    for name, late in (("same", seen["same"]), ("another", seen["other"])):
        worst = max(late, default=float("nan")) / 1000
        note = f"{len(late)} slots, p50 {median(late) / 1000:.2f} s, p99 {percentile(late, 99) / 1000:.2f} s"
        found.add(f"{what}: newly due, {name} target, latest start", worst, "s", at_most=2, note=note)
        found.add(f"{what}: newly due, {name} target, never started", expected - len(late), at_most=0)
    say(f"{found.kind:10}   newly due meanwhile: " + ", ".join(f"{n} {status} ({why})" for status, why, n in fates))
    found.add(f"{what}: memory before", seen["memory"], "MB")
    found.add(f"{what}: most memory meanwhile", seen["most_memory"], "MB", at_most=400, note="bounded: as for scale")
