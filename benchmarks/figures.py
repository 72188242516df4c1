"""A figure: what was measured, beside what is wanted and what the peers reach; printed, and kept as JSON."""

import json
import math
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.proof.findings import present_commit

from benchmarks.reasons import REASONS

UNEXPLAINED = "not explained yet"
_STOLEN = 7
"""The place of that kind of time in what Linux says of its cores."""
FOLDER = Path(__file__).parents[1] / "build" / "bench"


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    measured: float
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    """What is wanted, from below or from above; neither: only told."""
    goal: float | None = None
    beside: Mapping[str, float] = field(default_factory=dict)
    """The same of peers and yardsticks, in the same run."""
    note: str = ""

    @property
    def wanted(self) -> float | None:
        return self.at_least if self.at_least is not None else self.at_most

    @property
    def verdict(self) -> str:
        if self.wanted is None:
            return ""
        if not self._is_reached(self.wanted):
            return "MISSED"
        return "goal" if self.goal is not None and self._is_reached(self.goal) else "reached"

    @property
    def falls_short(self) -> bool:
        """Of what is wanted, or of its goal."""
        return self.verdict == "MISSED" or (self.goal is not None and self.verdict != "goal")

    def _is_reached(self, line: float) -> bool:
        return self.measured >= line if self.at_least is not None else self.measured <= line


@dataclass(frozen=True, slots=True)
class Findings:
    """All that one section found on one database."""

    section: str
    kind: str
    figures: list[Figure] = field(default_factory=list)
    series: dict[str, list[list[float]]] = field(default_factory=dict)
    """What is plotted: points of number of schedules and value, by name."""

    def add(self, name: str, measured: float, unit: str = "", **more: Any) -> None:
        figure = Figure(name, measured, unit, **more)
        self.figures.append(figure)
        say(f"{self.kind:10} {line_of(figure)}")


def say(text: str) -> None:
    print(text, flush=True)


def number(value: float | None) -> str:
    if value is None:
        return ""
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "missed"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:,.2f}"


def limit(figure: Figure) -> str:
    if figure.wanted is None:
        return ""
    return f"{'>=' if figure.at_least is not None else '<='} {number(figure.wanted)}"


def beside(figure: Figure) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in figure.beside.items())


def line_of(figure: Figure) -> str:
    parts = [f"{figure.name}: {number(figure.measured)} {figure.unit}".rstrip()]
    if figure.beside:
        parts.append(f"beside {beside(figure)}")
    if figure.note:
        parts.append(figure.note)
    return "; ".join(parts)


def table(all_found: Iterable[Findings]) -> str:
    """Every figure in a line: measured, wanted, goal, and whether it was reached."""
    lines = [f"{'figure':74}{'measured':>12}{'wanted':>13}{'goal':>9}  {'':8} beside"]
    missed = []
    for found in all_found:
        for figure in found.figures:
            name = f"{found.kind}, {figure.name}" + (f", {figure.unit}" if figure.unit else "")
            lines.append(
                f"{name:74}{number(figure.measured):>12}{limit(figure):>13}{number(figure.goal):>9}"
                f"  {figure.verdict:8} {beside(figure)}".rstrip()
            )
            if figure.falls_short:
                what = "" if figure.verdict == "MISSED" else "(the goal) "
                missed.append(f"  {found.kind}, {figure.name}: {what}{reason(found.kind, figure)}")
    if missed:
        lines += ["", "Not reached, and why:", *missed]
    return "\n".join(lines)


def reason(kind: str, figure: Figure) -> str:
    """Why a figure or its goal is not reached, and what would reach it."""
    return REASONS.get(f"{kind}, {figure.name}") or REASONS.get(figure.name) or UNEXPLAINED


def machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "commit": present_commit(),
        "load": ", ".join(f"{load:.1f}" for load in os.getloadavg()) if sys.platform != "win32" else "",
    }


class Theft:
    """How much of these cores others had who share them, from when this is made."""

    def __init__(self) -> None:
        self._began = _ticks()

    def share(self) -> float | None:
        """Of all their time; None where nobody says."""
        spent: list[int] = [now - then for now, then in zip(_ticks(), self._began, strict=True)]
        return spent[_STOLEN] / sum(spent) if sum(spent) > 0 else None


def _ticks() -> list[int]:
    """What all cores have done since the machine began, by kind; empty where it is not Linux."""
    stat = Path("/proc/stat")
    return [int(ticks) for ticks in stat.read_text().split("\n")[0].split()[1:9]] if stat.exists() else []


def keep(found: Findings, folder: Path = FOLDER, stolen: float | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"machine": {**machine(), "stolen": "" if stolen is None else f"{stolen:.0%}"}, **asdict(found)}
    (folder / f"{found.section}-{found.kind}.json").write_text(json.dumps(kept, indent=2) + "\n")


def kept(folder: Path = FOLDER) -> list[tuple[Findings, dict[str, str]]]:
    """All that was kept, and the machine that it was measured on."""
    everything = []
    for file in sorted(folder.glob("*.json")):
        data = json.loads(file.read_text())
        on = data.pop("machine")
        figures = [Figure(**figure) for figure in data.pop("figures")]
        everything.append((Findings(figures=figures, **data), on))
    return everything
