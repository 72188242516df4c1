"""Write what was measured into docs/performance.md, between its two marks, and draw the picture beside it."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figure, Findings, beside, kept, limit, number, reason
from benchmarks.picture import Line, Panel, draw

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "pictures" / "scale.svg"
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"

_TITLES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
_SECTIONS = ("throughput", "lateness", "scale", "service", "recovery")
_PANELS = {
    "How late 100 due slots start each second, ms": ("late p50, ms", "late p99, ms"),
    "CPU for each due slot, microseconds": ("CPU a due slot, us",),
    "CPU of an idle engine, % of a core": ("idle CPU, %",),
    "Resident memory of the worker, MB": ("memory, MB",),
}


def with_figures(page: str, figures: str) -> str:
    """The page with these figures between its marks; all else as it was."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{PAGE.name} has no place for figures: put {BEGIN} and {END} into it")
    return f"{before}{BEGIN}\n\n{figures.strip()}\n\n{END}{after}"


def tables(everything: Sequence[tuple[Findings, dict[str, str]]]) -> str:
    if not everything:
        raise SystemExit("nothing was measured yet: `make bench` does")
    parts = []
    for section in _SECTIONS:
        for found, machine in everything:
            if found.section == section:
                parts += [f"### {section.capitalize()}, {_TITLES[found.kind]}", _measured_on(machine), _table(found)]
        if section == "scale" and any(found.series for found, _ in everything):
            parts.append("![Cost of an engine against the number of schedules](pictures/scale.svg)")
    short = [(found, figure) for found, _ in everything for figure in found.figures if figure.falls_short]
    missed = [_explained(found, figure) for found, figure in short if figure.verdict == "MISSED"]
    goals = [_explained(found, figure) for found, figure in short if figure.verdict != "MISSED"]
    parts += ["### Not reached", "\n".join(missed) if missed else "Nothing: every figure that is wanted is reached."]
    if goals:
        parts += ["### Reached, but short of the goal", "\n".join(goals)]
    return "\n\n".join(parts)


def _explained(found: Findings, figure: Figure) -> str:
    return f"- **{_TITLES[found.kind]}, {figure.name}**: {reason(found.kind, figure)}"


def _measured_on(machine: dict[str, str]) -> str:
    where = f"Python {machine['python']}, {machine['cores']} cores, {machine['system']}"
    stolen = machine.get("stolen")
    others = f"; others who share these cores had {stolen} of them" if stolen else ""
    return f"{where}, {machine['date']}, at {machine['commit']}{others}."


def _table(found: Findings) -> str:
    lines = ["| figure | measured | wanted | goal | | beside it |", "|---|---:|---:|---:|---|---|"]
    return "\n".join(lines + [_row(figure) for figure in found.figures])


def _row(figure: Figure) -> str:
    measured = f"{number(figure.measured)} {figure.unit}".rstrip()
    wanted = limit(figure).replace(">=", "≥").replace("<=", "≤")
    note = "; ".join(text for text in (beside(figure), figure.note) if text)
    return f"| {figure.name} | {measured} | {wanted} | {number(figure.goal)} | {figure.verdict} | {note} |"


def panels(everything: Sequence[Findings]) -> list[Panel]:
    return [
        Panel(
            title,
            [
                Line(found.kind, found.series[name], "p99" in name)
                for found in everything
                for name in names
                if name in found.series
            ],
        )
        for title, names in _PANELS.items()
    ]


def main() -> None:
    everything = kept()
    PAGE.write_text(with_figures(PAGE.read_text(), tables(everything)))
    scales = [found for found, _ in everything if found.series]
    if scales:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(draw(panels(scales)))
    print(f"{PAGE.relative_to(ROOT)} has {sum(len(found.figures) for found, _ in everything)} figures")


if __name__ == "__main__":
    main()
