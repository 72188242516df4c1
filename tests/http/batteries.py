"""The security batteries, one line each with the number of cases and of problems.

`python -m tests.http.batteries` asks for every operation as everybody, comes with every bad token, calls every URL that
leads inside, looks for every secret, and tries every limit. Exits with 1 when something is wrong.
"""

import argparse
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from foliot import Foliot
from foliot.clock import SystemClock
from foliot.domain.instants import MICROSECONDS
from foliot.domain.service_tokens import Algorithm
from tests.databases import KINDS, a_postgresql_server
from tests.executors import ssrf
from tests.http import canaries
from tests.http.matrix import a_matrix
from tests.http.service_clients import client
from tests.http.token_battery import Issuer, StillClock, battery, good

LIMITS = ("tests/http/test_limits.py", "tests/http/test_asking.py", "tests/cli/test_local_key.py")
GRAPHS = "/api/internal/graphs"


class Found(NamedTuple):
    """What a battery came to."""

    cases: int
    what: str
    problems: list[str]


@contextmanager
def a_database(kind: str) -> Iterator[str]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{Path(folder) / 'battery.db'}"
        return
    with a_postgresql_server() as server:
        server.hurry()
        yield server.new_database()


def matrix(kind: str) -> Found:
    with a_database(kind) as url, a_matrix(url) as asked:
        asked.run()
        what = f"requests, {len(asked.operations)} operations by {asked.principals} principals"
        return Found(asked.counts["requests"], what, asked.problems)


def tokens(kind: str) -> Found:
    with a_database(kind) as url:
        app, now = Foliot(url), SystemClock().now() // MICROSECONDS
        app.parts.clock = StillClock(now)
        problems, number = [], 0
        for algorithm in Algorithm:
            issuer = Issuer(algorithm, now)
            asking = client(app, issuer.access)
            for status, cases in ((401, battery(issuer)), (200, good(issuer))):
                number += len(cases)
                for case, text in cases.items():
                    found = asking.get(GRAPHS, headers={"Authorization": f"Bearer {text}"}).status_code
                    problems += [f"{algorithm}: {case}: {found}"] if found != status else []
        app.close()
        return Found(number, f"tokens, by {' and '.join(Algorithm)}", problems)


def urls(_: str) -> Found:
    os.environ[ssrf.SECRET_ENV] = "sixteen letters or more"
    ssrf.watch()
    found = ssrf.ask_for_all()
    return Found(len(ssrf.URLS), f"URLs, asked for {found.asked} times", found.problems)


def secrets(kind: str) -> Found:
    with a_database(kind) as url, tempfile.TemporaryDirectory() as folder:
        search, asked = canaries.run(url, Path(folder))
        number = len(canaries.Secrets._fields)
        what = f"secrets in {len(search.texts)} places, {search.size:,} characters after {asked} requests"
        return Found(number, what, search.problems())


def limits(kind: str) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        chosen = [
            "-k",
            f"{kind} or not postgresql",
            f"--junitxml={report}",
            "-p",
            "no:cacheprovider",
            "-n",
            "0",
            *LIMITS,
        ]
        subprocess.run([sys.executable, "-m", "pytest", "-q", *chosen], check=False, capture_output=True)
        cases = list(ElementTree.parse(report).iter("testcase"))
    wrong = [case.get("name", "") for case in cases if any(part.tag in ("failure", "error") for part in case)]
    return Found(len(cases), "tests of limits", wrong)


BATTERIES: dict[str, tuple[Callable[[str], Found], bool]] = {
    "matrix": (matrix, True),
    "tokens": (tokens, False),
    "urls": (urls, False),
    "secrets": (secrets, True),
    "limits": (limits, False),
}
"""And whether it is run on each database: the others know of none."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.http.batteries", description=__doc__)
    parser.add_argument("--only", choices=KINDS, help="on this database only")
    parser.add_argument("--battery", choices=BATTERIES, help="this one only")
    options = parser.parse_args()
    # Every refusal is told there, and here there is hardly anything else.
    logging.getLogger("foliot").addHandler(logging.NullHandler())
    problems = 0
    for name, (run, is_of_each) in BATTERIES.items():
        if options.battery in (None, name):
            kinds = KINDS if is_of_each else KINDS[:1]
            for kind in [options.only] if options.only else kinds:
                found = run(kind)
                print(
                    f"{name:<8} {kind:<10} {found.cases:>6,} {found.what}: {len(found.problems)} problems", flush=True
                )
                print("".join(f"  {problem[:1000]}\n" for problem in found.problems), end="", flush=True)
                problems += len(found.problems)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
