"""Write what was measured into docs/performance.md, between its two marks, and draw the picture beside it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.figures import Figure, Findings, beside, kept, limit, number, reason
from benchmarks.picture import Line, Panel, draw

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "pictures" / "scale.svg"
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"

_TITLES = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}
_MISSED, _SHORT_OF_GOAL = "Not reached", "Reached, but short of the goal"
_SECTIONS = ("throughput", "lateness", "scale", "service", "recovery")
_PANELS = {
    "How late 100 due slots start each second, ms": ("late p50, ms", "late p99, ms"),
    "CPU for each due slot, microseconds": ("CPU a due slot, us",),
    "CPU of an idle engine, % of a core": ("idle CPU, %",),
    "Resident memory of the worker, MB": ("memory, MB",),
}


def with_figures(page: str, everything: Sequence[tuple[Findings, dict[str, str]]]) -> str:
    """The page with these figures between its marks; what was not measured now, and all else, as it was."""
    if not everything:
        raise SystemExit("nothing was measured yet: `make bench` does")
    before, _, rest = page.partition(BEGIN)
    told, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{PAGE.name} has no place for figures: put {BEGIN} and {END} into it")
    return f"{before}{BEGIN}\n\n{_tables(everything, _chapters(told)).strip()}\n\n{END}{after}"


def _chapters(told: str) -> dict[str, str]:
    """What stands under each heading."""
    parts = (part.partition("\n") for part in f"\n{told}".split("\n### ")[1:])
    return {title: text.strip() for title, _, text in parts}


def _tables(everything: Sequence[tuple[Findings, dict[str, str]]], told: dict[str, str]) -> str:
    now = {_title(found.section, found.kind): _chapter(found, machine) for found, machine in everything}
    titles = [_title(section, kind) for section in _SECTIONS for kind in _TITLES]
    chapters = {title: now.get(title) or told.get(title) for title in titles}
    parts = [f"### {title}\n\n{chapter}" for title, chapter in chapters.items() if chapter]
    measured = {_named(found, figure) for found, _ in everything for figure in found.figures}
    older = "\n".join(chapter for title, chapter in told.items() if title in titles and title not in now)

    def all_short(heading: str, verdict_is: Callable[[str], bool]) -> list[str]:
        """Those that were told before and not measured now, and those that fall short now."""
        kept = [line for line in told.get(heading, "").split("\n") if _is_of(line, older, measured)]
        short = [(found, figure) for found, _ in everything for figure in found.figures if figure.falls_short]
        return sorted(kept + [_explained(*one) for one in short if verdict_is(one[1].verdict)])

    missed = all_short(_MISSED, lambda verdict: verdict == "MISSED")
    parts.append(f"### {_MISSED}\n\n" + ("\n".join(missed) or "Nothing: every figure that is wanted is reached."))
    if goals := all_short(_SHORT_OF_GOAL, lambda verdict: verdict != "MISSED"):
        parts.append(f"### {_SHORT_OF_GOAL}\n\n" + "\n".join(goals))
    return "\n\n".join(parts)


def _is_of(line: str, chapters: str, measured: set[str]) -> bool:
    """Whether it explains a figure that stands in these chapters, and that was not measured again."""
    name = line.removeprefix("- **").partition("**")[0]
    return line.startswith("- **") and name not in measured and f"| {name.partition(', ')[2]} |" in chapters


def _title(section: str, kind: str) -> str:
    return f"{section.capitalize()}, {_TITLES[kind]}"


def _chapter(found: Findings, machine: dict[str, str]) -> str:
    picture = [f"![Cost of an engine against the number of schedules]({PICTURE.relative_to(PAGE.parent)})"]
    return "\n\n".join([_measured_on(machine), _table(found), *(picture if _is_plotted(found) else [])])


def _is_plotted(found: Findings) -> bool:
    return bool(found.series) and found.kind == [*_TITLES][-1]


def _named(found: Findings, figure: Figure) -> str:
    return f"{_TITLES[found.kind]}, {figure.name}"


def _explained(found: Findings, figure: Figure) -> str:
    return f"- **{_named(found, figure)}**: {reason(found.kind, figure)}"


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
    PAGE.write_text(with_figures(PAGE.read_text(), everything))
    scales = [found for found, _ in everything if found.series]
    if scales:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(draw(panels(scales)))
    print(f"{PAGE.relative_to(ROOT)} has {sum(len(found.figures) for found, _ in everything)} figures")


if __name__ == "__main__":
    main()
