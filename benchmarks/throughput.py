"""Throughput: schedules with one due slot each, from the start of the workers to the last outcome on disk."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.children import Child, Found, alone, together
from benchmarks.databases import Urls, drop
from benchmarks.figures import Findings, say
from benchmarks.peers import PGQUEUER_BATCHES, PROCRASTINATE_CONCURRENCIES, pgqueuer, procrastinate_jobs
from benchmarks.samples import median
from benchmarks.world import create, fill_history, make_due, plain

PEERS = ("APScheduler", "PgQueuer", "procrastinate")


@dataclass(frozen=True, slots=True)
class Sizes:
    rounds: int = 3
    slots: int = 30_000
    specs: int = 1_000
    """How many there are where they differ."""
    history: int = 1_000_000
    pgqueuer: int = 20_000
    procrastinate: int = 3_000
    apscheduler: int = 1_000
    ways: int = 3
    """In how many ways a peer is tried."""


QUICK = Sizes(ways=1, rounds=1, slots=4_000, history=20_000, pgqueuer=4_000, procrastinate=1_000, apscheduler=200)


def measure(found: Findings, urls: Urls, sizes: Sizes) -> None:
    workers = 1 if found.kind == "sqlite" else 2
    rates: dict[str, list[float]] = {}

    def note(name: str, rate: float) -> None:
        rates.setdefault(name, []).append(rate)
        say(f"{found.kind:10}   {name}: {rate:,.0f}")

    past = with_history(urls, sizes)
    talkative = next(urls)
    create(talkative, plain(sizes.slots, target="told", timeout="10m", retry=2, input={"n": 1}, labels={"team": "a"}))
    for turn in range(sizes.rounds):
        note("raw yardstick", raw(next(urls), sizes.slots, workers))
        for name, rate in peers(found.kind, urls, sizes):
            note(name, rate)
        url = prepared(urls, sizes.slots)
        one = burn_down(url, sizes.slots, workers)
        drop(url)
        note("foliot", rate_of(one))
        note("us CPU a slot", sum(each["cpu"] for each in one) / sizes.slots * 1e6)
        # Right after the one without: the machine is not the same at all times.
        url = prepared(urls, sizes.slots)
        note("without the gate", rate_of(burn_down(url, sizes.slots, workers, gated=False)))
        drop(url)
        note("each charged", each_charged(urls, sizes, workers))
        note("on a history", rate_of(burn_down(past, sizes.slots, workers)))
        if workers > 1 and turn == 0:
            url = prepared(urls, sizes.slots)
            note("one worker", rate_of(burn_down(url, sizes.slots, 1)))
            drop(url)
        if turn == 0:
            note("specs that differ", different(urls, sizes, workers))
        note("with results and timeouts", rate_of(burn_down(talkative, sizes.slots, workers)))
    drop(past)
    drop(talkative)
    report(found, sizes, {name: median(seen) for name, seen in rates.items()})


def prepared(urls: Urls, slots: int) -> str:
    url = next(urls)
    create(url, plain(slots))
    return url


def each_charged(urls: Urls, sizes: Sizes, workers: int) -> float:
    """The same with runs that report a call which costs something: a receipt and a posting for each."""
    url = next(urls)
    create(url, plain(sizes.slots, target="charged"))
    rate = rate_of(burn_down(url, sizes.slots, workers))
    drop(url)
    return rate


def burn_down(url: str, slots: int, workers: int, *, gated: bool = True) -> list[Found]:
    """Make every schedule due, and let the workers run them all."""
    make_due(url)
    return drained(url, slots, workers, gated=gated)


def drained(url: str, slots: int, workers: int, *, gated: bool = True) -> list[Found]:
    """Let the workers run all that is due."""
    done = together([Child("workers:drain", url=url, gated=gated) for _ in range(workers)])
    settled = sum(each["settled"] for each in done)
    if settled != slots:
        raise SystemExit(f"only {settled} of {slots} slots were settled")
    return done


def rate_of(done: list[Found]) -> float:
    settled = sum(each["settled"] for each in done)
    busy = [each for each in done if each["settled"]]
    return float(settled / (max(each["ended"] for each in busy) - min(each["began"] for each in busy)))


def raw(url: str, slots: int, writers: int) -> float:
    create(url, plain(slots))
    make_due(url)
    done = together([Child("yardstick:write_rows", url=url, share=share, of=writers) for share in range(writers)])
    drop(url)
    return rate_of(done)


def peers(kind: str, urls: Urls, sizes: Sizes) -> Iterator[tuple[str, float]]:
    """Each peer in each way that it is tried: a name, a comma, the way; and its rate."""
    if kind == "sqlite":
        yield "APScheduler", alone("peers:apscheduler_drain", url=next(urls), jobs=sizes.apscheduler)["rate"]
        return
    for batch in PGQUEUER_BATCHES[-sizes.ways :]:
        yield f"PgQueuer, batches of {batch}", pgqueuer(next(urls), sizes.pgqueuer, 2, batch)
    for concurrency in PROCRASTINATE_CONCURRENCIES[-sizes.ways :]:
        rate = procrastinate_jobs(next(urls), sizes.procrastinate, 2, concurrency)
        yield f"procrastinate, concurrency {concurrency}", rate


def different(urls: Urls, sizes: Sizes, workers: int) -> float:
    """The same with schedules whose specs are many, not one."""
    url = prepared(urls, sizes.slots)
    make_due(url, specs=sizes.specs)
    rate = rate_of(drained(url, sizes.slots, workers))
    drop(url)
    return rate


def best_ways(rates: dict[str, float]) -> dict[str, float]:
    """The peers by name, each with the best of its ways."""
    best: dict[str, float] = {}
    for way, rate in rates.items():
        name = way.partition(",")[0]
        if name in PEERS:
            best[name] = max(rate, best.get(name, 0))
    return best


def with_history(urls: Urls, sizes: Sizes) -> str:
    """A database that has a past: the schedules that are measured ran so many times."""
    url = prepared(urls, sizes.slots)
    say(f"{'':10}   filling in a history of {sizes.history:,} runs")
    fill_history(url, sizes.slots, sizes.history)
    return url


def report(found: Findings, sizes: Sizes, rates: dict[str, float]) -> None:
    least, goal = (10_000, 20_000) if found.kind == "sqlite" else (7_000, 10_000)
    who = "one process" if found.kind == "sqlite" else "two workers"
    rivals = best_ways(rates)
    beside: dict[str, float] = {**rivals, "raw yardstick": rates["raw yardstick"]}
    found.add(f"throughput, {who}", rates["foliot"], "slots/s", at_least=least, goal=goal, beside=beside)
    found.add("times the fastest peer", rates["foliot"] / max(rivals.values()), at_least=1)
    found.add("share of the raw yardstick", rates["foliot"] / rates["raw yardstick"])
    if "one worker" in rates:
        found.add("throughput, one worker", rates["one worker"], "slots/s", note="one round")
    if "specs that differ" in rates:
        name = f"throughput, {sizes.specs:,} specs that differ"
        found.add(name, rates["specs that differ"], "slots/s", note="one round")
    note = "each with a timeout, a retry policy, an input, labels, a result to keep, and the last one's result in hand"
    found.add("throughput, with results and timeouts", rates["with results and timeouts"], "slots/s", note=note)
    found.add(
        "throughput without the gate", rates["without the gate"], "slots/s", note="nobody is asked, nothing counted"
    )
    found.add("share of it with the gate", rates["foliot"] / rates["without the gate"], at_least=0.7)
    note = "each reports a call that costs something: a receipt and a posting"
    found.add("throughput, each run charged", rates["each charged"], "slots/s", note=note)
    found.add("CPU a slot", rates["us CPU a slot"], "us")
    name = f"throughput on a history of {sizes.history:,} runs"
    found.add(name, rates["on a history"], "slots/s", at_least=0.8 * least)
    found.add(f"share of it on {sizes.history:,} runs", rates["on a history"] / rates["foliot"], at_least=0.8)
