"""Templates: JSON in whose texts `{{ expression }}` stands for a value."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from foliot.domain.errors import Invalid
from foliot.domain.expressions import Expression, Names, read_expression, text_of_value

_HOLE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_LONGEST_TEXT = 1_000_000
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class _Text:
    """Text with holes: plain parts and expressions in turn, a plain one first and last."""

    plain: tuple[str, ...]
    holes: tuple[Expression, ...]

    def value(self, names: Names) -> Any:
        if self.plain == ("", ""):
            return self.holes[0].value(names)
        filled = [text_of_value(hole.value(names)) for hole in self.holes]
        text = "".join(part for pair in zip(self.plain, [*filled, ""], strict=True) for part in pair)
        if len(text) > _LONGEST_TEXT:
            raise Invalid(f"a template comes to at most {_LONGEST_TEXT:,} characters, got {len(text):,}")
        return text


@dataclass(frozen=True, slots=True)
class Template:
    """JSON that was read, with all its expressions."""

    form: Any
    expressions: tuple[Expression, ...]

    def value(self, names: Names) -> Any:
        """The JSON that it comes to; a text that is one expression and nothing else keeps the type of its value."""
        return _filled(self.form, names)


def read_template(given: Any) -> Template:
    """Invalid, naming the place, when an expression in it cannot be read."""
    form = _read(given, 0)
    return Template(form, tuple(_expressions(form)))


def _read(given: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise Invalid(f"a template is nested at most {_DEEPEST} deep")
    if isinstance(given, dict):
        return {key: _read(value, depth + 1) for key, value in given.items()}
    if isinstance(given, list):
        return [_read(item, depth + 1) for item in given]
    if not isinstance(given, str) or "{{" not in given:
        return given
    parts = _HOLE.split(given)
    if any("{{" in part for part in parts[::2]):
        raise Invalid(f"a template closes what it opens, as in '{{{{ vars.x }}}}', got {given[:80]!r}")
    return _Text(tuple(parts[::2]), tuple(map(read_expression, parts[1::2])))


def _expressions(form: Any) -> Iterator[Expression]:
    if isinstance(form, _Text):
        yield from form.holes
    elif isinstance(form, dict | list):
        for item in form.values() if isinstance(form, dict) else form:
            yield from _expressions(item)


def _filled(form: Any, names: Names) -> Any:
    if isinstance(form, _Text):
        return form.value(names)
    if isinstance(form, dict):
        return {key: _filled(value, names) for key, value in form.items()}
    if isinstance(form, list):
        return [_filled(item, names) for item in form]
    return form
