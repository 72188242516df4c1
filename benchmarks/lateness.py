"""Lateness: how long after its time a slot starts, when many are due each second and when only one is."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.children import Child, Found, alone, together
from benchmarks.databases import Urls, drop, one, rows
from benchmarks.figures import Findings, say
from benchmarks.samples import median, middle, percentile
from benchmarks.world import MICROSECONDS, create, plain

_APART = 0.025
"""A slot counts as a lone one when the slot before it was due so many seconds earlier, or more."""


@dataclass(frozen=True, slots=True)
class Sizes:
    rounds: int = 3
    seconds: int = 10
    lone_seconds: int = 52
    many: int = 1_000
    most: int = 10_000
    peer: int = 1_000
    warm: int = 3


QUICK = Sizes(rounds=1, seconds=1, lone_seconds=3, many=1_000, most=2_000, peer=100, warm=2)


def measure(found: Findings, urls: Urls, sizes: Sizes) -> None:
    peer = alone("peers:apscheduler_punctual", url=next(urls), jobs=sizes.peer, seconds=sizes.seconds)
    peer["late"] = with_absent(peer["late"], sizes.peer * sizes.seconds)
    report_each_second(found, urls, sizes, sizes.many, peer, p50=(40, 15), p99=(80, 50))
    report_each_second(found, urls, sizes, sizes.most, peer, p50=None, p99=(700, 500))
    report_lone(found, urls, sizes)


def report_each_second(
    found: Findings,
    urls: Urls,
    sizes: Sizes,
    size: int,
    peer: Found,
    p50: tuple[int, int] | None,
    p99: tuple[int, int],
) -> None:
    """Of the rounds, the one with the median p99; missed are all slots of all rounds that have no success."""
    rounds = []
    for _ in range(sizes.rounds):
        seen = each_second(next(urls), size, sizes, workers=1 if found.kind == "sqlite" else 2)
        rounds.append(seen)
        say(f"{found.kind:10}   {size:,} each second: {said(seen['late'])}, {seen['missed']} missed")
    late = middle(rounds, lambda seen: percentile(seen["late"], 99))["late"]
    name = "APScheduler" if sizes.peer == size else f"APScheduler with {sizes.peer:,}"
    beside = ({name: peer["missed"]}, {name: median(peer["late"])}, {name: percentile(peer["late"], 99)})
    what = f"{size:,} each second for {sizes.seconds} s"
    missed = sum(seen["missed"] for seen in rounds)
    fates = [fate for seen in rounds for fate in seen["fates"]]
    note = ", ".join([f"of {sizes.rounds} rounds", *fates])
    found.add(f"{what}: missed", missed, at_most=0, beside=beside[0], note=note)
    limits = {} if p50 is None else {"at_most": p50[0], "goal": p50[1]}
    found.add(f"{what}: late, p50", median(late), "ms", beside=beside[1], **limits)
    found.add(f"{what}: late, p99", percentile(late, 99), "ms", at_most=p99[0], goal=p99[1], beside=beside[2])
    found.add(f"{what}: late, most", max(late, default=float("nan")), "ms")
    found.add(f"{what}: started early", sum(1 for each in late if each < 0), at_most=0)


def each_second(url: str, size: int, sizes: Sizes, workers: int) -> Found:
    create(url, plain(size, every="1s", target="timed"))
    all_seen = together(
        [Child("workers:punctual", url=url, seconds=sizes.seconds, warm=sizes.warm) for _ in range(workers)]
    )
    if len({each["first"] for each in all_seen}) > 1:
        raise SystemExit("the workers did not mean the same seconds: try again")
    seen = {**all_seen[0], "late": [late for each in all_seen for late in each["late"]]}
    first, end = (int(seen[edge] * MICROSECONDS) for edge in ("first", "end"))
    during = f"nominal_at >= {first} AND nominal_at < {end}"
    succeeded = one(url, f"SELECT count(*) FROM runs WHERE status = 'success' AND {during}")
    seen["missed"] = size * sizes.seconds - succeeded
    others = f"SELECT status, reason, count(*) FROM runs WHERE status <> 'success' AND {during} GROUP BY 1, 2"
    seen["fates"] = [f"{count:,} {status} ({reason})" for status, reason, count in rows(url, others)]
    seen["late"] = with_absent(seen["late"], size * sizes.seconds)
    drop(url)
    return seen


def with_absent(late: list[float], expected: int) -> list[float]:
    """Every slot counts: one that never started is later than any that did."""
    return late + [float("inf")] * (expected - len(late))


def report_lone(found: Findings, urls: Urls, sizes: Sizes) -> None:
    """Four schedules of a second, each jittered to its own moments, so that slots come one at a time."""
    url = next(urls)
    create(url, plain(4, every="1s", jitter="900ms", target="timed"))
    # In the same seconds: the machine stalls now and then, and then everybody is late.
    lone, noise = together(
        [
            Child("workers:lone", url=url, seconds=sizes.lone_seconds, warm=sizes.warm, apart=_APART),
            Child("workers:bare_sleep", seconds=sizes.lone_seconds, warm=sizes.warm, every=0.25),
        ]
    )
    late = lone["late"]
    seconds = max(2, sizes.lone_seconds // 3)
    peer = alone("peers:apscheduler_punctual", url=next(urls), jobs=1, seconds=seconds)
    others = {"bare asyncio timer": noise["late"], "APScheduler": peer["late"]}
    what = "a lone slot on an idle engine"

    def add(name: str, value: Callable[[list[float]], float], **limits: float) -> None:
        beside = {other: value(seen) for other, seen in others.items()}
        found.add(f"{what}: late, {name}", value(late), "ms", beside=beside, **limits)

    add("p50", median)
    add("p99", lambda seen: percentile(seen, 99), at_most=5)
    add("most", lambda seen: max(seen, default=float("nan")))
    early = sum(1 for each in late if each < 0)
    found.add(f"{what}: started early", early, at_most=0, note=f"of {len(late)} slots")


def said(late: list[float]) -> str:
    return f"p50 {median(late):.1f} ms, p99 {percentile(late, 99):.1f} ms, most {max(late, default=0):.1f} ms"
