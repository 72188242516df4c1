"""Tables that the docs show and tests run. `make docs` writes them into place."""

from pathlib import Path

from tests.domain.dst_cases import DST_CASES

DOCS = Path(__file__).parents[2] / "docs"
BEGIN, END = "<!-- table: clock changes -->\n", "<!-- end -->"


def clock_changes_table() -> str:
    lines = ["| | zone | cron | rule | local day | fires at |", "|---|---|---|---|---|---|"]
    for case in DST_CASES:
        rules = [f"{name}={value}" for name, value in (("gap", case.gap), ("fold", case.fold)) if value != "auto"]
        fires = ", ".join(case.local) or "not at all"
        lines.append(
            f"| {case.what} | {case.zone} | `{case.cron}` | {', '.join(rules) or 'auto'} | {case.day} | {fires} |"
        )
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    before, rest = text.split(BEGIN)
    return before + BEGIN + clock_changes_table() + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    page = DOCS / "time.md"
    page.write_text(with_table(page.read_text()))
