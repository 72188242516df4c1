"""Tables that the docs show and tests run. `make docs` writes them into place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI

from foliot import Foliot
from foliot.domain.pace import Pace
from foliot.http.metrics import Metrics
from foliot.http.openapi import document
from foliot.http.traffic import Traffic
from foliot.settings.table import GROUPS, Setting
from tests.docs.commands import commands_text
from tests.domain.dst_cases import DST_CASES

DOCS = Path(__file__).parents[2] / "docs"
END = "<!-- end -->"


def clock_changes_table() -> str:
    lines = ["| | zone | cron | rule | local day | fires at |", "|---|---|---|---|---|---|"]
    for case in DST_CASES:
        rules = [f"{name}={value}" for name, value in (("gap", case.gap), ("fold", case.fold)) if value != "auto"]
        fires = ", ".join(case.local) or "not at all"
        lines.append(
            f"| {case.what} | {case.zone} | `{case.cron}` | {', '.join(rules) or 'auto'} | {case.day} | {fires} |"
        )
    return "\n".join(lines) + "\n"


def settings_tables() -> str:
    """A table for each group of settings."""
    lines = []
    for group, settings in GROUPS.items():
        lines += [f"\n## {group}\n", "| key | environment | takes | default | |", "|---|---|---|---|---|"]
        lines += map(_setting_row, settings)
    return "\n".join(lines) + "\n\n"


def _setting_row(setting: Setting[Any]) -> str:
    keys = ([] if setting.is_secret else [setting.name]) + ([f"{setting.name}_file"] if setting.may_be_file else [])
    variables = [setting.variable] + ([f"{setting.variable}_FILE"] if setting.may_be_file else [])
    default = setting.form.say(setting.default) if setting.default not in (None, ()) else ""
    cells = [_code(keys) if setting.in_file else "", _code(variables), setting.form.takes, _code([default])]
    return f"| {' | '.join(cells)} | {setting.about}{'; secret' if setting.is_secret else ''} |"


def _code(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words if word)


def routes_tables() -> str:
    """A table for each group of routes, as OpenAPI has them."""
    with _application() as app:
        paths = document(app)["paths"]
    groups: dict[str, list[str]] = {}
    for path, operations in paths.items():
        for method, operation in operations.items():
            about = " ".join(operation["description"].split("\n\n")[0].split())
            row = f"| `{method.upper()}` | `{path}` | {operation.get('x-right', 'public')} | {about} |"
            groups.setdefault(operation["tags"][0], []).append(row)
    lines = []
    for group, rows in sorted(groups.items()):
        lines += [f"\n### {group.capitalize()}\n", "| | | needs | |", "|---|---|---|---|", *rows]
    return "\n".join(lines) + "\n\n"


def metrics_table() -> str:
    lines = ["| metric | kind | labels | |", "|---|---|---|---|"]
    with _application() as app:
        for family in Metrics(app.state.service, Traffic()).collect():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            # What has not happened yet shows its labels nowhere else.
            labels = _code(list(family._labelnames))  # type: ignore[attr-defined]
            lines.append(f"| `{name}` | {family.type} | {labels} | {family.documentation} |")
    return "\n".join(lines) + "\n"


@contextmanager
def _application() -> Iterator[FastAPI]:
    with TemporaryDirectory() as folder:
        program = Foliot(f"sqlite:///{folder}/tables.db")
        yield program.parts.http(Pace(1, 1))
        program.close()


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "time.md": ("clock changes", clock_changes_table),
    "reference/settings.md": ("settings", settings_tables),
    "reference/cli.md": ("commands", commands_text),
    "reference/http.md": ("routes", routes_tables),
    "operations.md": ("metrics", metrics_table),
}
"""By the page that shows it."""


def with_table(page: str) -> str:
    """What the page says, with its table as it is now."""
    name, table = TABLES[page]
    begin = f"<!-- table: {name} -->\n"
    before, rest = (DOCS / page).read_text().split(begin)
    return before + begin + table() + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    for page in TABLES:
        (DOCS / page).write_text(with_table(page))
