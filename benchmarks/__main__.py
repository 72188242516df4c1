"""Measure the engine: throughput, lateness, scale and recovery, beside peers and yardsticks in the same run.

Every measured engine is a process of its own. At the end stands one table of all figures; they are kept in
build/bench/, and `python -m benchmarks.page` writes them into docs/performance.md.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

from benchmarks import lateness, recovery, scale, service, throughput
from benchmarks.databases import KINDS, Urls, new_databases
from benchmarks.figures import FOLDER, Findings, Theft, keep, machine, say, table

_Measure = Callable[[Findings, Urls, Any], None]

SECTIONS: dict[str, tuple[_Measure, Any, Any]] = {
    "throughput": (throughput.measure, throughput.Sizes(), throughput.QUICK),
    "lateness": (lateness.measure, lateness.Sizes(), lateness.QUICK),
    "scale": (scale.measure, scale.Sizes(), scale.QUICK),
    "service": (service.measure, service.Sizes(), service.QUICK),
    "recovery": (recovery.measure, recovery.Sizes(), recovery.QUICK),
}


def main(arguments: list[str] | None = None) -> None:
    options = _options(arguments)
    folder = FOLDER / "quick" if options.quick else FOLDER
    say("engine: " + ", ".join(f"{name} {value}" for name, value in machine().items()))
    began, everything = time.perf_counter(), []
    for kind in [options.only] if options.only else KINDS:
        with new_databases(kind) as urls:
            for section in options.section:
                measure, full, quick = SECTIONS[section]
                found, theft = Findings(section, kind), Theft()
                say(f"\n{kind}, {section} ({time.perf_counter() - began:.0f} s)")
                measure(found, urls, quick if options.quick else full)
                stolen = theft.share()
                say("" if stolen is None else f"  {stolen:.0%} of these cores went to others who share them")
                keep(found, folder, stolen)
                everything.append(found)
    say(f"\n{table(everything)}")
    say(f"\n{time.perf_counter() - began:.0f} s" + (": a look, not a measurement" if options.quick else ""))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="everything smaller: a look, not a measurement")
    parser.add_argument("--only", choices=KINDS, help="one database only")
    parser.add_argument(
        "--section",
        type=_sections,
        default=list(SECTIONS),
        help=f"some of {','.join(SECTIONS)}, with commas between; all when not given",
    )
    return parser.parse_args(arguments)


def _sections(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"there is no section {name!r}: take some of {','.join(SECTIONS)}")
    return names


if __name__ == "__main__":
    main()
