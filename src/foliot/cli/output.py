"""What is printed: a table for people, JSON, JSON lines, YAML or names for programs. Data only, on standard output."""

import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

Item = Mapping[str, Any]
Cell = str | Callable[[Item], Any]
"""The name of a field, or what is made of the whole."""


_FRACTION = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$")
"""Of a second: nobody reads it in a table."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal would obey, and does not show."""


class Output(StrEnum):
    """How an answer is written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    NAME = "name"


class View(NamedTuple):
    """How things of one kind are shown to people, and by which field they are called."""

    columns: Mapping[str, Cell]
    name: str = "id"
    details: Callable[[Item], Item] = dict
    """What is told of one of them alone."""

    def row(self, item: Item) -> list[str]:
        return [_FRACTION.sub(r"\1Z", cell_text(_value(item, cell))) for cell in self.columns.values()]


_ALWAYS_SHOWN = 2
"""Columns: what it is called, and how it is."""
_BETWEEN = 2
_LEAST_OF_TEXT = 20
_COLOURS = {
    "green": ("success", "active", "arrived", "running"),
    "red": ("error", "cancelled", "given_up"),
    "yellow": ("skipped", "paused", "waiting", "pending"),
}
_COLOUR_OF = {word: colour for colour, words in _COLOURS.items() for word in words}


def print_items(items: Iterable[Item], view: View, output: Output) -> None:
    """Several things; as lines they are printed as they come."""
    match output:
        case Output.TABLE:
            _print_table(list(view.columns), [view.row(item) for item in items])
        case Output.JSON:
            _print_json(list(items))
        case Output.YAML:
            _print_yaml(list(items))
        case Output.JSONL:
            for item in items:
                print(_json_text(item), flush=True)
        case Output.NAME:
            for item in items:
                print(item[view.name], flush=True)


def print_item(item: Item, view: View, output: Output) -> None:
    """One thing, for people with all that is known of it."""
    match output:
        case Output.TABLE:
            print("\n".join(_field_lines(view.details(item))))
        case Output.JSON:
            _print_json(item)
        case _:
            print_items([item], view, output) if output is not Output.YAML else _print_yaml(item)


def print_document(document: Item, output: Output) -> None:
    """A file: as JSON if that is asked for, else as YAML."""
    if output is Output.JSON:
        _print_json(document)
    else:
        _print_yaml(document)


def cell_text(value: Any) -> str:
    """A value on one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    parts = value.values() if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping | list):
        return _harmless(" ".join(str(value).split()))
    if not all(isinstance(part, str | int) for part in parts):
        return json.dumps(value, ensure_ascii=False)
    named = [f"{name}={part}" for name, part in value.items()] if isinstance(value, Mapping) else map(str, value)
    return _harmless(", ".join(named))


def has_colour(stream: Any = None) -> bool:
    """Whether people look at it, and did not ask for none."""
    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR")


def columns_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines of one text, as wide as what is in them."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _value(item: Item, cell: Cell) -> Any:
    return cell(item) if callable(cell) else item.get(cell)


def escape_what_cannot_be_said() -> None:
    """Let standard output take any text: what its encoding has no letters for is written as an escape."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _print_json(value: Any) -> None:
    print(_json_text(value, indent=2))


def _print_yaml(value: Any) -> None:
    # Imported here: it takes longer than most of what is asked for.
    import yaml  # noqa: PLC0415

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    print(text if _can_be_said(text) else yaml.safe_dump(value, sort_keys=False), end="")


def _json_text(value: Any, indent: int | None = None) -> str:
    """Readable where that is possible; else with escapes, as JSON has them."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return text if _can_be_said(text) else json.dumps(value, indent=indent)


def _can_be_said(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _harmless(text: str) -> str:
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def _field_lines(item: Item) -> Iterator[str]:
    """A line for each field, and below it what has several lines."""
    width = max(map(len, item), default=0)
    for name, value in item.items():
        if isinstance(value, Mapping) and not _is_flat(value):
            below = list(_field_lines(value))
        elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
            keys = list(dict.fromkeys(key for part in value for key in part))
            below = columns_of([[key.upper() for key in keys], *_rows_of(value, keys)])
        elif isinstance(value, str) and "\n" in value:
            below = [_harmless(line) for line in value.splitlines()]
        else:
            yield f"{name + ':':<{width + 2}}{cell_text(value)}".rstrip()
            continue
        yield f"{name}:"
        yield from (f"  {line}" for line in below)


def _is_flat(value: Mapping[str, Any]) -> bool:
    return all(isinstance(part, str | int) and not isinstance(part, bool) for part in value.values())


def _rows_of(parts: Sequence[Item], keys: Sequence[str]) -> list[list[str]]:
    return [[cell_text(part.get(key)) for key in keys] for part in parts]


def _print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if sys.stdout.isatty():
        _print_rich(header, rows)
    else:
        print("\n".join(columns_of([header, *rows])))


def _print_rich(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """For a terminal: folded to its width, and what matters in colour; what has no room is named."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    width = shutil.get_terminal_size().columns
    shown = fitting(header, rows, width)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number in shown:
        # What it is called is to be copied from here; and half a word, or half a moment, is hard to read.
        table.add_column(header[number], overflow="fold", no_wrap=number == 0 or not _is_text(rows, number))
    for row in rows:
        table.add_row(*(Text(row[number], style=_COLOUR_OF.get(row[number], "")) for number in shown))
    Console(no_color=not has_colour(), width=width, highlight=False).print(table)
    if left_out := [name for number, name in enumerate(header) if number not in shown and _is_said(rows, number)]:
        print(f"foliot: there is no room for {', '.join(left_out)}: -o json has it all", file=sys.stderr)


def fitting(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Which columns there is room for: first those go that say nothing, then the last that cannot be folded."""
    least = [
        max(_least(cell, number) for cell in (name, *(row[number] for row in rows)))
        for number, name in enumerate(header)
    ]
    shown = list(range(len(header)))
    while len(shown) > _ALWAYS_SHOWN and sum(least[number] + _BETWEEN for number in shown) - _BETWEEN > width:
        optional = shown[_ALWAYS_SHOWN:]
        empty = [number for number in optional if not _is_said(rows, number)]
        rigid = [number for number in optional if not _is_text(rows, number)]
        shown.remove((empty or rigid or optional)[-1])
    return shown


def _least(cell: str, number: int) -> int:
    """How wide it is at least: all of it where something is called so or it is one word, else enough to be read."""
    return len(cell) if number == 0 or " " not in cell else min(len(cell), _LEAST_OF_TEXT)


def _is_text(rows: Sequence[Sequence[str]], number: int) -> bool:
    return any(" " in row[number] for row in rows)


def _is_said(rows: Sequence[Sequence[str]], number: int) -> bool:
    return any(row[number] for row in rows)
