"""The report: `docs/reliability.md`, written from what each part of the proof found last."""

import os
import platform
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import psycopg

from tests.databases import a_postgresql_server
from tests.proof.findings import FOLDER, Finding, find

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


class Part(NamedTuple):
    """One part of the proof, in words."""

    name: str
    title: str
    text: str


PARTS = (
    Part(
        "simulate",
        "Simulation",
        "The whole engine, three workers, in virtual time, with faults drawn from a seed: crashes at any await or "
        "commit, answers that are lost, commits that succeed and are reported as failed, slow commits, pauses beyond "
        "the lease, clocks that are set, people who edit, pause, trigger and delete meanwhile, and databases that go "
        "away. After every step: no slot lost, none recorded twice, none early, no skip without its reason, no result "
        "under an old token, no overlap that the policy forbids, only legal moves; in the end all is final. "
        "Transactions do not interleave here, and nothing waits for a disk: that is for what comes below. "
        "`make simulate SEEDS=17,` repeats one seed exactly.",
    ),
    Part(
        "crashes",
        "Crashes at every boundary",
        "Real processes on a real SQLite file and a real PostgreSQL server kill themselves with SIGKILL in the midst "
        "of every kind of transaction, right after its commit, and around every dispatch, at the first, second and "
        "third time that they come there. Then another process takes over, and the checker looks at the evidence. "
        "PostgreSQL runs with `fsync` off, here and in the storms: processes die, the machine does not.",
    ),
    Part(
        "storm",
        "Kill storms",
        "A hundred schedules every two seconds. On SQLite the one process is killed and started again; on PostgreSQL "
        "three workers are killed, frozen for longer than their lease, cut off from the server, and the server itself "
        "is stopped and crashes. The runs write evidence outside of the system. Two checkers judge it: one by the key "
        "of each slot, one that knows only times and matches runs to windows that do not touch.",
    ),
    Part(
        "mutants",
        "The tests are tested",
        "Each of these variants of Foliot is broken on purpose, in a way that schedulers have been broken. Each is "
        "caught, by the test named beside it, which passes on the code as it is.",
    ),
    Part(
        "power",
        "Power loss on SQLite",
        "The engine writes through a file system layer that forgets what was not synced when the power fails, keeps a "
        "random half of it, or tears a page. Whatever was acknowledged before that moment must be there after it. "
        "The same harness with `synchronous` NORMAL and OFF shows that it can see a loss.",
    ),
    Part(
        "faults",
        "A hostile environment",
        "The disk is full, the file read-only, the process out of file handles, the database away for a minute, the "
        "clock set by seconds up to days: people get an error that names the cause and the remedy, nothing is lost, "
        "and work goes on by itself when the cause is gone.",
    ),
)


def page_of(findings: Sequence[tuple[Part, Finding | None]], about: str) -> str:
    """The page, in Markdown."""
    return "\n".join([*_head(about), *(line for part, finding in findings for line in _section(part, finding))])


def _head(about: str) -> list[str]:
    return [
        "# Reliability, measured",
        "",
        "<!-- Written by `make prove`: do not edit. -->",
        "",
        "What Foliot promises: each slot is recorded exactly once; each run is delivered at least once, and only the",
        "holder of its newest token can record how it ended; every slot that did not run says why. This page is what",
        "`make prove` saw when it last tried to break that. Each part is a command of its own.",
        "",
        about,
        "",
    ]


def _section(part: Part, finding: Finding | None) -> Iterator[str]:
    yield from (f"## {part.title}", "", part.text, "")
    if finding is None:
        yield from (f"Not run yet: `make {part.name}`.", "")
        return
    count = len(finding.problems)
    verdict = f"**{count} problem{'s' * (count > 1)}.**" if count else "No problem found."
    yield from (f"`{finding.command}` at {finding.commit}, {_span(finding.seconds)}: {verdict}", "")
    yield from ("| seen | |", "|---|---|")
    yield from (f"| {name} | {_figure(figure)} |" for name, figure in finding.figures.items())
    yield ""
    yield from (f"- {shorten(problem, 300)}" for problem in finding.problems)
    if finding.problems:
        yield ""


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _figure(figure: float | str) -> str:
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:,.1f}" if isinstance(figure, float) else figure


def _about() -> str:
    """When and where."""
    with a_postgresql_server() as server, psycopg.connect(server.url("postgres")) as cx:
        postgresql = cx.info.parameter_status("server_version")
    return (
        f"Written on {datetime.now(UTC):%Y-%m-%d}, with Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version} and PostgreSQL {postgresql} on {os.cpu_count()} cores."
    )


def main() -> int:
    findings = [(part, find(part.name)) for part in PARTS]
    PAGE.write_text(page_of(findings, _about()))
    broken = [part.name for part, finding in findings if finding is None or finding.problems]
    print(f"written to {PAGE.relative_to(PAGE.parents[1])} from {FOLDER.relative_to(PAGE.parents[1])}/")
    print(f"not proved: {', '.join(broken)}" if broken else "all of it holds")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
