"""`python -m tests.power`: the power fails at many moments, and SQLite has all that it had acknowledged."""

import argparse
import sys
import time

from tests.power.proof import HEADING, MODES, Mode, Result, fail
from tests.proof.findings import Finding, keep

POINTS, CONTINUED, SEED = 500, 25, 1


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.power", description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS, help="moments of failure for each mode")
    parser.add_argument("--continued", type=int, default=CONTINUED, help="after so many of them a new process goes on")
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    began = time.monotonic()
    print(HEADING)
    results = [_shown(mode, asked) for mode in MODES]
    problems = [problem for result in results for problem in result.problems]
    for problem in problems:
        print(f"PROBLEM {problem}")
    command = "make power" if asked.points == POINTS else f"make power POINTS={asked.points}"
    if asked.points >= POINTS and (asked.continued, asked.seed) == (CONTINUED, SEED):
        keep(Finding("power", command, round(time.monotonic() - began, 1), _figures(results), problems))
    sys.exit(1 if problems else 0)


def _shown(mode: Mode, asked: argparse.Namespace) -> Result:
    def progress(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{mode.name:24}{done:>12,}", end="\r", file=sys.stderr, flush=True)

    result = fail(mode, asked.points, 0 if mode.is_control else asked.continued, asked.seed, progress)
    print(result, flush=True)
    if result.begun:
        story = f"{result.operations:,} operations, {result.commits:,} commits"
        print(f"  of {story}; a new process went on {len(result.begun)} times, and began {sum(result.begun):,} runs")
    return result


def _figures(results: list[Result]) -> dict[str, int | float | str]:
    figures: dict[str, int | float | str] = {}
    for result in results:
        for what, figure in zip(("points", "lost", "worst loss", "corrupt"), str(result)[24:].split(), strict=True):
            figures[f"{result.mode.name}: {what}"] = int(figure.replace(",", ""))
    return figures


if __name__ == "__main__":
    main()
