"""Scale: many schedules, of which a hundred are due each second, or none."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchmarks.children import Found, alone
from benchmarks.databases import Urls, change, drop, settle
from benchmarks.figures import Findings, say
from benchmarks.lateness import with_absent
from benchmarks.samples import median, percentile
from benchmarks.world import create

_BUSY = 100


@dataclass(frozen=True, slots=True)
class Sizes:
    schedules: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    different: int = 30_000
    seconds: int = 10
    rounds: int = 3
    starts: int = 3
    peer: int = 2_000
    warm: int = 3


QUICK = Sizes(schedules=(1_000, 10_000), different=1_500, seconds=1, rounds=1, starts=1, peer=200, warm=1)


def measure(found: Findings, urls: Urls, sizes: Sizes) -> None:
    peer = alone("peers:apscheduler_idle", url=next(urls), jobs=sizes.peer, seconds=sizes.seconds)
    on_time = alone("peers:apscheduler_punctual", url=next(urls), jobs=_BUSY, seconds=sizes.seconds)
    peer["late"] = with_absent(on_time["late"], _BUSY * sizes.seconds)
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
        # The days change fastest: a spec is not helped by one before it that names the same days.
        day, rest = number % 28 + 1, number // 28
        month, rest = rest % 12 + 1, rest // 12
        minute, hour = rest % 60, rest // 60 % 24
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
    busy = [punctual(url, sizes) for _ in range(sizes.rounds)]
    seen = {
        "start, s": median([*starts, idle["start"]]),
        "idle CPU, %": idle["cpu"],
        "idle memory, MB": idle["memory"],
        "memory, MB": max(each["memory"] for each in busy),
        "late p50, ms": median([median(each["late"]) for each in busy]),
        "late p99, ms": median([percentile(each["late"], 99) for each in busy]),
        "CPU a due slot, us": median([each["cpu_each"] for each in busy]),
    }
    for name, value in seen.items():
        found.series.setdefault(name, []).append([size, value])
    say(f"{found.kind:10}   {size:,} schedules: " + ", ".join(f"{name} {value:.2f}" for name, value in seen.items()))


def punctual(url: str, sizes: Sizes) -> Found:
    """How late the hundred start, those that never did included."""
    # They were left alone meanwhile: they begin anew, not with what they owe.
    now = int(datetime.now(UTC).timestamp()) * 1_000_000
    change(
        url,
        f"UPDATE cursors SET swept_to = {now}, wake_at = {now + 1_000_000}"
        " WHERE ref IN (SELECT ref FROM schedules WHERE id LIKE 'busy%')",
    )
    busy = alone("workers:punctual", url=url, seconds=sizes.seconds, warm=sizes.warm)
    return {**busy, "late": with_absent(busy["late"], _BUSY * sizes.seconds)}


def report(found: Findings, sizes: Sizes, rate: float, made: int, different: float, peer: Found) -> None:
    size = sizes.schedules[-1]
    last = {name: points[-1][1] for name, points in found.series.items()}
    first = {name: points[0][1] for name, points in found.series.items()}

    def beside(name: str) -> dict[str, float]:
        return {f"APScheduler with {sizes.peer:,}": peer[name]}

    def late(value: float) -> dict[str, float]:
        return {f"APScheduler with these {_BUSY} alone": value}

    many = f"{size:,} schedules"
    found.add(
        "creation, specs repeat",
        rate,
        "schedules/s",
        at_least=10_000,
        beside=beside("created"),
        note=f"{made:,} at once",
    )
    found.add(
        f"creation, {sizes.different:,} that all differ",
        different,
        "schedules/s",
        at_least=2_000,
        beside=beside("created"),
    )
    found.add(f"{many}: start of the engine", last["start, s"], "s", at_most=5, beside=beside("start"))
    found.add(f"{many}: idle CPU", last["idle CPU, %"], "%", at_most=1, beside=beside("cpu"))
    memory = max(last["memory, MB"], last["idle memory, MB"])
    found.add(f"{many}: resident memory", memory, "MB", at_most=400, beside=beside("memory"))
    due = f"of {_BUSY} due each second"
    found.add(f"{many}: late, p50 {due}", last["late p50, ms"], "ms", beside=late(median(peer["late"])))
    found.add(f"{many}: late, p99 {due}", last["late p99, ms"], "ms", beside=late(percentile(peer["late"], 99)))
    few = f"{sizes.schedules[0]:,}"
    for name in ("p50", "p99"):
        note = "unchanged means within 5 ms" if name == "p50" else "the worst of all sizes"
        most = max(late for _, late in found.series[f"late {name}, ms"]) - first[f"late {name}, ms"]
        limits = {"at_most": 5.0} if name == "p50" else {"at_most": 20.0}
        found.add(f"up to {many}: {name} later than with {few}, at most", most, "ms", note=note, **limits)
    growth = max(cost for _, cost in found.series["CPU a due slot, us"]) / first["CPU a due slot, us"]
    found.add(f"up to {many}: CPU a due slot, times that with {few}, at most", growth, at_most=1.5)
