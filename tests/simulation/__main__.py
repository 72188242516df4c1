"""`make simulate`: many seeds, each a virtual day of faults; a seed that fails is printed with its last lines."""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

from tests.databases import a_postgresql_server
from tests.proof.findings import Finding, keep
from tests.simulation.client import OVERLAPS
from tests.simulation.day import Day, Task, lived
from tests.simulation.weather import ALL_KINDS

LEAST_EXECUTIONS = 30
"""A day in which less is done proves nothing."""
ENOUGH = 100
"""From so many seeds on, everything that can happen must have happened."""
MUST_HAPPEN = (
    *(f"fault: {kind}" for kind in ALL_KINDS),
    *(f"decided: {overlap}" for overlap in OVERLAPS),
    *(f"verb: {verb}" for verb in ("create", "patch", "pause", "resume", "trigger", "skip", "cancel", "terminate")),
    *(f"verb: {verb}" for verb in ("retry", "backfill", "delete", "revoke", "extend", "allow")),
    *(f"verb: {verb}" for verb in ("top up", "report", "refund", "limit")),
    *(f"reason: {reason}" for reason in ("missed", "paused", "superseded", "buffer_full", "timeout")),
    *(f"reason: {reason}" for reason in ("grant_revoked", "grant_expired")),
    *(f"reason: {reason}" for reason in ("insufficient_credits", "over_budget", "run_limit")),
    "paused by budget",
    "free below nothing",
    "let in again",
    "reported again",
    "cost completed later",
    "limit reached",
    "engine: fenced",
    "engine: refused",
    "rescued",
    "handed back",
    "reason: lost",
    "pruned",
    "unknown to the client",
)
ON_POSTGRESQL = 50
"""Every so manieth seed is lived through on PostgreSQL as well."""


def seeds_of(text: str) -> list[int]:
    """`1000` are the first thousand; `7,8` are these two, and `7,` is one."""
    if "," in text:
        return [int(part) for part in text.split(",") if part.strip()]
    return list(range(int(text)))


def is_whole(seeds: list[int], database: str) -> bool:
    """Whether what came of it is kept: all of the first so many, and on both databases."""
    return database == "both" and len(seeds) >= ENOUGH and seeds == list(range(len(seeds)))


def shown(day: Day, where: str) -> str:
    again = (
        f"make simulate SEEDS={day.seed},"
        if where == "sqlite"
        else f"python -m tests.simulation --seeds {day.seed}, --database postgresql"
    )
    lines = "\n".join(day.lines)
    problems = "\n".join(f"  {problem[:1000]}" for problem in day.problems[:5])
    return f"\nSEED {day.seed} on {where} FAILED, again: {again}\n{lines}\n{problems}\n"


def problems_of(days: list[Day], counts: Counter[str]) -> list[str]:
    """What is wrong: with a day, or with having proved nothing."""
    problems = [f"seed {day.seed}: {day.problems[0]}" for day in days if day.problems]
    idle = [day.seed for day in days if day.counts["executions"] < LEAST_EXECUTIONS]
    if idle:
        problems.append(f"seeds {idle} had fewer than {LEAST_EXECUTIONS} executions: they prove nothing")
    if len(days) >= ENOUGH:
        problems += [f"it never happened: {what}" for what in MUST_HAPPEN if not counts[what]]
    return problems


def tasks_of(seeds: list[int], database: str, stack: ExitStack) -> Iterator[Task]:
    if database != "postgresql":
        yield from ((seed, None) for seed in seeds)
    wanted = (
        seeds if database == "postgresql" else [seed for seed in seeds if seed % ON_POSTGRESQL == ON_POSTGRESQL - 1]
    )
    if wanted and database != "sqlite":
        server = stack.enter_context(a_postgresql_server())
        yield from ((seed, server.new_database()) for seed in wanted)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", default="1000", help="how many, or which: 1000, or 7,8")
    parser.add_argument("--database", choices=("both", "sqlite", "postgresql"), default="both")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    seeds = seeds_of(given.seeds)
    began = time.monotonic()
    days: list[Day] = []
    counts: Counter[str] = Counter()
    on_postgresql = 0
    with ExitStack() as stack, multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for day, where in pool.imap(lived, tasks_of(seeds, given.database, stack)):
            days.append(day)
            counts.update(day.counts)
            on_postgresql += where == "postgresql"
            if day.problems:
                print(shown(day, where), flush=True)
            if len(days) % 20 == 0:
                seconds = time.monotonic() - began
                print(f"{len(days)} days, {counts['executions']:,} executions, {seconds:.0f} s", flush=True)
    problems = problems_of(days, counts)
    finding = report(given.seeds, days, counts, on_postgresql, time.monotonic() - began, problems)
    if is_whole(seeds, given.database):
        keep(finding)
    return 1 if problems else 0


def report(
    seeds: str, days: list[Day], counts: Counter[str], on_postgresql: int, seconds: float, problems: list[str]
) -> Finding:
    faults = {what: count for what, count in sorted(counts.items()) if what.startswith("fault: ")}
    figures: dict[str, int | float | str] = {
        "virtual days": len(days),
        "of these on PostgreSQL": on_postgresql,
        "executions": counts["executions"],
        "slots": counts["slots"],
        "faults": sum(faults.values()),
        **{what: counts[what] for what in MUST_HAPPEN},
        "engine: turns": counts["engine: turns"],
        "problems": len(problems),
    }
    print("\n".join(f"{what:32} {count:>12,}" for what, count in figures.items() if not isinstance(count, str)))
    for problem in problems:
        print(f"PROBLEM {problem[:500]}")
    print(f"{len(days)} virtual days in {seconds:.0f} s: {'no problem' if not problems else 'see above'}")
    return Finding("simulate", f"make simulate SEEDS={seeds}", round(seconds, 1), figures, problems)


if __name__ == "__main__":
    sys.exit(main())
