"""Scale: many schedules, of which a hundred are due each second, or none."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchmarks.children import alone
from benchmarks.databases import Urls, change, drop, settle
from benchmarks.figures import Findings, say
from benchmarks.samples import median, percentile
from benchmarks.world import create

_BUSY = 100


@dataclass(frozen=True, slots=True)
class Sizes:
    schedules: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    different: int = 30_000
    seconds: int = 10
    starts: int = 3
    peer: int = 2_000
    warm: int = 3


QUICK = Sizes(schedules=(1_000, 10_000), different=1_500, seconds=1, starts=1, peer=200, warm=1)


def measure(found: Findings, urls: Urls, sizes: Sizes) -> None:
    peer = alone("peers:apscheduler_drain", url=next(urls), jobs=sizes.peer)["created"]
    url = next(urls)
    create(url, ({"name": f"busy{number}", "target": "timed", "every": "1s"} for number in range(_BUSY)))
    rates: list[tuple[int, float]] = []
    there = 0
    for size in sizes.schedules:
        rates.append((size - there, create(url, repeating(there, size))))
        there = size
        settle(url)
        at_size(found, url, size, sizes)
    drop(url)
    made, rate = rates[-1]
    different = creation_of_different(urls, sizes)
    report(found, sizes, rate, made, different, peer)


def repeating(first: int, end: int) -> Iterable[Mapping[str, Any]]:
    """A hundred different specs, over and over; none is due while this runs."""
    month = datetime.now(UTC).month % 12 + 1
    specs = [f"{number % 60} {number % 24} {number % 28 + 1} {month} *" for number in range(100)]
    return (
        {"name": f"s{number}", "target": "nothing", "cron": specs[number % len(specs)]} for number in range(first, end)
    )


def differing(first: int, end: int) -> Iterable[Mapping[str, Any]]:
    """Each with a spec of its own, not seen before."""
    for number in range(first, end):
        minute, rest = number % 60, number // 60
        hour, rest = rest % 24, rest // 24
        day, month = rest % 28 + 1, rest // 28 % 12 + 1
        yield {"name": f"d{number}", "target": "nothing", "cron": f"{minute} {hour} {day} {month} *"}


def creation_of_different(urls: Urls, sizes: Sizes) -> float:
    """The median of three parts, a third of them each."""
    url = next(urls)
    third = sizes.different // 3
    rate = median([create(url, differing(part * third, (part + 1) * third)) for part in range(3)])
    drop(url)
    return rate


def at_size(found: Findings, url: str, size: int, sizes: Sizes) -> None:
    """What an engine costs with so many schedules, and how late a hundred start each second."""
    starts = [alone("workers:idle", url=url, seconds=0)["start"] for _ in range(sizes.starts - 1)]
    idle = alone("workers:idle", url=url, seconds=sizes.seconds)
    # The hundred were left alone meanwhile: they begin anew, not with what they owe.
    now = int(datetime.now(UTC).timestamp()) * 1_000_000
    change(
        url,
        f"UPDATE cursors SET swept_to = {now}, wake_at = {now + 1_000_000}"
        " WHERE ref IN (SELECT ref FROM schedules WHERE id LIKE 'busy%')",
    )
    busy = alone("workers:punctual", url=url, seconds=sizes.seconds, warm=sizes.warm)
    seen = {
        "start, s": median([*starts, idle["start"]]),
        "idle CPU, %": idle["cpu"],
        "idle memory, MB": idle["memory"],
        "memory, MB": busy["memory"],
        "late p50, ms": median(busy["late"]),
        "late p99, ms": percentile(busy["late"], 99),
        "CPU a due slot, us": busy["cpu_each"],
    }
    for name, value in seen.items():
        found.series.setdefault(name, []).append([size, value])
    say(f"{found.kind:10}   {size:,} schedules: " + ", ".join(f"{name} {value:.2f}" for name, value in seen.items()))


def report(found: Findings, sizes: Sizes, rate: float, made: int, different: float, peer: float) -> None:
    size = sizes.schedules[-1]
    last = {name: points[-1][1] for name, points in found.series.items()}
    first = {name: points[0][1] for name, points in found.series.items()}
    beside = {f"APScheduler, {sizes.peer:,} of them": peer}
    many = f"{size:,} schedules"
    found.add("creation, specs repeat", rate, "schedules/s", at_least=10_000, beside=beside, note=f"{made:,} at once")
    found.add(f"creation, {sizes.different:,} that all differ", different, "schedules/s", at_least=2_000, beside=beside)
    found.add(f"{many}: start of the engine", last["start, s"], "s", at_most=5)
    found.add(f"{many}: idle CPU", last["idle CPU, %"], "%", at_most=1)
    found.add(f"{many}: resident memory", max(last["memory, MB"], last["idle memory, MB"]), "MB", at_most=400)
    found.add(f"{many}: late, p50 of {_BUSY} due each second", last["late p50, ms"], "ms")
    found.add(f"{many}: late, p99 of {_BUSY} due each second", last["late p99, ms"], "ms")
    more = last["late p50, ms"] - first["late p50, ms"]
    found.add(
        f"{many}: p50 later than with {sizes.schedules[0]:,}", more, "ms", at_most=5, note="unchanged means within 5 ms"
    )
    growth = last["CPU a due slot, us"] / first["CPU a due slot, us"]
    found.add(f"{many}: CPU a due slot, times that with {sizes.schedules[0]:,}", growth, at_most=1.5)
