"""How fast is "the next instant"? Foliot beside cronsim, croniter, APScheduler and cronexpr, in one run.

Random instants of ten years; each spec is compiled once, as an engine does, where the library knows such a thing
(cronsim, croniter and cronexpr read the text at every call). The libraries take turns in each round, so that a busy
machine slows all of them alike, and the best round of each counts: noise only ever adds.
"""

import gc
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

import cronexpr
from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim

from foliot import Spec

EXPRESSIONS = {
    "every minute": "* * * * *",
    "hourly": "0 * * * *",
    "daily 09:00": "0 9 * * *",
    "weekdays 09:30": "30 9 * * 1-5",
    "monthly 1st": "0 0 1 * *",
    "29 February": "0 0 29 2 *",
    "every 5 min 9-17 on weekdays": "*/5 9-17 * * 1-5",
    "names": "15 6 * JAN,JUL MON",
}
ZONES = ("UTC", "America/New_York")
START, END = 1_577_836_800, 1_893_456_000
ROUNDS = 9
FAST, SLOW = 20_000, 200

Next = Callable[[int], object]


def foliot(expression: str, zone: str) -> Next:
    return Spec(cron=(expression,), timezone=zone).compile().next_after


def by_cronsim(expression: str, zone: str) -> Next:
    tz = ZoneInfo(zone) if zone != "UTC" else UTC
    return lambda instant: next(CronSim(expression, datetime.fromtimestamp(instant, tz)))


def by_croniter(expression: str, zone: str) -> Next:
    tz = ZoneInfo(zone)
    return lambda instant: croniter(expression, datetime.fromtimestamp(instant, tz)).get_next(float)


def by_apscheduler(expression: str, zone: str) -> Next:
    tz = ZoneInfo(zone)
    minute, hour, day, month, day_of_week = expression.split()
    names = day_of_week.replace("1-5", "mon-fri").lower()
    trigger = CronTrigger(minute=minute, hour=hour, day=day, month=month.lower(), day_of_week=names, timezone=tz)
    return lambda instant: trigger.get_next_fire_time(None, datetime.fromtimestamp(instant, tz))


def by_cronexpr(expression: str, zone: str) -> Next | None:
    if zone != "UTC":
        return None  # It knows only the host's own time.
    return lambda instant: cronexpr.next_fire(expression, datetime.fromtimestamp(instant, UTC))


PEERS: dict[str, Callable[[str, str], Next | None]] = {
    "foliot": foliot,
    "cronsim": by_cronsim,
    "croniter": by_croniter,
    "APScheduler": by_apscheduler,
    "cronexpr": by_cronexpr,
}


def seconds_for(function: Next, instants: list[int]) -> float:
    start = time.perf_counter()
    for instant in instants:
        function(instant)
    return time.perf_counter() - start


def best_rates(instants: list[int]) -> dict[tuple[str, str, str], float]:
    """Calls per second by zone, expression and library: the best of rounds that are spread over the whole run."""
    functions = {
        (zone, name, peer): function
        for zone in ZONES
        for name, expression in EXPRESSIONS.items()
        for peer, make in PEERS.items()
        if (function := make(expression, zone)) is not None
    }
    best = dict.fromkeys(functions, 0.0)
    for _ in range(ROUNDS):
        for key, function in functions.items():
            sample = instants if key[2] == "foliot" else instants[:SLOW]
            best[key] = max(best[key], len(sample) / seconds_for(function, sample))
    return best


def table(zone: str, best: dict[tuple[str, str, str], float]) -> dict[str, float]:
    """Prints a row an expression; the rates over the mix, which is the harmonic mean."""
    print(f"\nnext_after per second, {zone}")
    print(f"{'expression':30}" + "".join(f"{name:>14}" for name in PEERS) + f"{'x cronsim':>12}")
    rates = {
        name: {peer: best[zone, name, peer] for peer in PEERS if (zone, name, peer) in best} for name in EXPRESSIONS
    }
    for name in EXPRESSIONS:
        print(row(name, rates[name]))
    mix = {peer: statistics.harmonic_mean([rate[peer] for rate in rates.values()]) for peer in rates[name]}
    print(row("the mix", mix))
    return mix | {"slowest": min(rate["foliot"] for rate in rates.values())}


def row(name: str, rates: dict[str, float]) -> str:
    cells = "".join(f"{rates[peer]:>14,.0f}" if peer in rates else f"{'-':>14}" for peer in PEERS)
    return f"{name:30}{cells}{rates['foliot'] / rates['cronsim']:>12.1f}"


def best_of(rounds: int, function: Callable[[], object]) -> float:
    """Seconds that the quickest of several calls takes."""
    return min(timed(function) for _ in range(rounds))


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def rate_of_between() -> float:
    times = Spec(cron=("* * * * *",), timezone="America/New_York").compile()
    count = times.count_between(START, END)
    return count / best_of(3, lambda: sum(1 for _ in times.between(START, END)))


def creation_ms(zone: str) -> float:
    """Milliseconds to compile a spec not seen before and ask it once: the median of a thousand different ones."""
    Spec(cron=("1 1 * * *",), timezone=zone).compile()
    texts = [f"{n % 60} {n % 24} */{n % 9 + 1} {n % 12 + 1}-12 {n % 7}" for n in range(1000)]
    return 1000 * statistics.median(timed(partial(create, text, zone)) for text in texts)


def create(text: str, zone: str) -> int | None:
    return Spec(cron=(text,), timezone=zone).compile().next_after(1_794_700_800)


def counting_ms() -> float:
    times = Spec(cron=("* * * * * *",), timezone="America/New_York").compile()
    return 1000 * timed(lambda: times.count_between(START, START + 365 * 86_400))


def kilobytes_each(asked: list[int]) -> float:
    """What a compiled spec holds after these questions, among a thousand different ones."""
    texts = [f"{n % 60} {n % 24} * * {n % 7}" for n in range(1000)]
    Spec(cron=("1 1 * * 1",), timezone="America/New_York").compile().next_after(START)
    gc.collect()
    tracemalloc.start()
    held = [Spec(cron=(text,), timezone="America/New_York").compile() for text in texts]
    for times in held:
        for instant in asked:
            times.next_after(instant)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size / len(held) / 1000


def main() -> None:
    drawn = random.Random(2026)
    instants = [drawn.randrange(START, END) for _ in range(FAST)]
    best = best_rates(instants)
    utc, new_york = (table(zone, best) for zone in ZONES)
    ten_years = list(range(START, END, 5_000_000))
    figures = [
        ("UTC, the mix, per second", utc["foliot"], 1_500_000, True),
        ("New York, the mix, per second", new_york["foliot"], 700_000, True),
        ("UTC, times cronsim", utc["foliot"] / utc["cronsim"], 30, True),
        ("New York, times cronsim", new_york["foliot"] / new_york["cronsim"], 30, True),
        ("slowest expression, per second", min(utc["slowest"], new_york["slowest"]), 300_000, True),
        ("between, instants per second", rate_of_between(), 3_000_000, True),
        ("compile and first next, UTC, ms", creation_ms("UTC"), 0.5, False),
        ("compile and first next, New York, ms", creation_ms("America/New_York"), 0.5, False),
        ("a year of seconds counted, ms", counting_ms(), 10, False),
        ("memory of a spec asked once, kB", kilobytes_each([1_794_700_800]), 20, False),
        ("memory of one asked over ten years, kB", kilobytes_each(ten_years), 20, False),
    ]
    print(f"\n{'figure':42}{'seen':>14}{'to reach':>14}")
    for name, seen, wanted, at_least in figures:
        reached = seen >= wanted if at_least else seen <= wanted
        digits = 0 if wanted >= 1000 else 2
        sign = ">=" if at_least else "<="
        print(f"{name:42}{seen:>14,.{digits}f}{sign:>4}{wanted:>10,}  {'reached' if reached else 'MISSED'}")


if __name__ == "__main__":
    main()
