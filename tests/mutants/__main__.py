"""Proves that the tests can fail: each deliberately broken variant of the program is caught by a test with a name."""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import SOURCE, Mutant, copy_of
from tests.mutants.trial import Result, Verdict, attempt, control
from tests.proof.findings import Finding, keep

AT_ONCE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    if options.list:
        for mutant in MUTANTS:
            print(f"{mutant.name}: {mutant.harm}")
        return 0
    chosen = [mutant for mutant in MUTANTS if not options.names or mutant.name in options.names]
    began = time.monotonic()
    problems, results = try_all(chosen, options.at_once)
    _print_table(results, time.monotonic() - began)
    problems += [f"{result.mutant.name}: {result.verdict}: {result.said}" for result in results if not _is_well(result)]
    for problem in problems:
        print(f"PROBLEM: {problem}")
    if not options.names:
        keep(finding(results, problems, time.monotonic() - began))
    return 1 if problems else 0


def try_all(mutants: Sequence[Mutant], at_once: int) -> tuple[list[str], list[Result]]:
    """What is wrong with their tests on the program as it is, and what became of each mutant, in their order."""
    with tempfile.TemporaryDirectory(prefix="source-") as folder, ThreadPoolExecutor(at_once) as pool:
        # Everything is made from one copy: the program may be edited meanwhile.
        package = copy_of(SOURCE, Path(folder))
        tests = sorted({mutant.caught_by for mutant in mutants})
        shares = [share for number in range(at_once) if (share := tests[number::at_once])]
        print(f"{len(tests)} tests on the program as it is ...", flush=True)
        problems = [problem for found in pool.map(lambda share: control(package, share), shares) for problem in found]
        print(
            f"{'they fail' if problems else 'they pass'}; now {len(mutants)} mutants, {at_once} at a time", flush=True
        )
        results = {}
        for number, done in enumerate(as_completed([pool.submit(attempt, each, package) for each in mutants]), 1):
            result = done.result()
            results[result.mutant.name] = result
            print(f"{number:3} {result.verdict:8} {result.seconds:5.1f} s  {result.mutant.name}", flush=True)
    return problems, [results[mutant.name] for mutant in mutants]


def finding(results: Sequence[Result], problems: list[str], seconds: float) -> Finding:
    caught = [result for result in results if _is_well(result)]
    figures: dict[str, int | float | str] = {"mutants": len(results), "caught": len(caught)}
    figures |= {result.mutant.name: result.mutant.test for result in caught}
    return Finding("mutants", "make mutants", round(seconds, 1), figures, problems)


def _is_well(result: Result) -> bool:
    return result.verdict is Verdict.CAUGHT


def _print_table(results: Sequence[Result], seconds: float) -> None:
    print()
    for mutant, verdict, said, took in results:
        print(f"{mutant.name} ({verdict}, {took:.1f} s)")
        print(f"  breaks     {mutant.harm}")
        print(f"  caught by  {mutant.caught_by}")
        print(f"  it says    {said[:200]}")
    print(f"\n{len(results)} mutants, {sum(map(_is_well, results))} caught, {seconds:.0f} s")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="mutants to try; all when none is named")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="how many are tried at a time")
    parser.add_argument("--list", action="store_true", help="only say which there are")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}: --list shows those that there are")
    return options


if __name__ == "__main__":
    sys.exit(main())
