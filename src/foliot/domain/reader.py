"""Reads what a workflow is written of: the fields of one JSON object, each refused by its name."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NoReturn

from foliot.domain.errors import Invalid
from foliot.domain.expressions import TAKEN, Expression, read_expression
from foliot.domain.templates import Template, read_template

ROOT_NAMES = ("inputs", "trigger", "vars", "nodes", "globals")
"""What every expression of a workflow may name."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
_CARRIED = ("tool", "slug", "connection_id", "configuration", "requires_auth", "description")
"""What others wrote for themselves: kept in the document, and nothing here."""


class Reader:
    """Reads the fields of one object; what is wrong with one is told with the object's name."""

    def __init__(self, what: str, given: Any) -> None:
        if not isinstance(given, dict):
            raise Invalid(f"{what} takes a JSON object, got {given!r:.80}")
        self.what = what
        self.given = given

    def only(self, *known: str) -> None:
        if unknown := sorted(set(self.given) - set(known) - set(_CARRIED)):
            self.refuse(f"takes {', '.join(known)}, got {', '.join(map(repr, unknown))}")

    def refuse(self, words: str) -> NoReturn:
        raise Invalid(f"{self.what} {words}")

    def read(self, key: str, how: Callable[[Any], Any]) -> Any:
        """What that makes of the field; its refusals are told with the object's name."""
        try:
            return how(self.given.get(key))
        except Invalid as refusal:
            raise Invalid(f"{self.what}: {key}: {refusal}") from None

    def name(self, key: str) -> str:
        return named(self.given.get(key), f"{self.what} takes {key}")

    def optional_name(self, key: str) -> str | None:
        return None if self.given.get(key) is None else self.name(key)

    def variable(self, key: str, default: str) -> str:
        return variable_of(self.given.get(key, default), f"{self.what}: {key}")

    def whole(self, key: str, low: int, high: int, default: int) -> int:
        value = self.given.get(key, default)
        if type(value) is not int or not low <= value <= high:
            self.refuse(f"takes {key} from {low:,} to {high:,}, got {value!r:.80}")
        return value

    def word(self, key: str, kind: type[StrEnum], default: str | None = None) -> Any:
        value = self.given.get(key, default)
        if value not in list(kind):
            self.refuse(f"takes {key} of {', '.join(map(repr, map(str, kind)))}, got {value!r:.80}")
        return kind(str(value))

    def expression(self, key: str) -> Expression:
        found: Expression = self.read(key, lambda given: read_expression(_bare(given)))
        return found

    def template(self, key: str, default: Any = None) -> Template:
        found: Template = self.read(key, lambda given: read_template(default if given is None else given))
        return found

    def objects(self, key: str) -> list["Reader"]:
        value = self.given.get(key)
        if not isinstance(value, list) or not value:
            self.refuse(f"takes {key}, a list of objects, got {value!r:.80}")
        return [Reader(f"{self.what}: {key}[{number}]", item) for number, item in enumerate(value)]


def _bare(given: Any) -> Any:
    """An expression may be written as in a template."""
    wrapped = re.fullmatch(r"\s*\{\{(.*)\}\}\s*", given, re.DOTALL) if isinstance(given, str) else None
    return wrapped[1] if wrapped else given


def named(name: Any, what: str) -> str:
    """A name as workflows have them; Invalid, for what it is, when it is none."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Invalid(f"{what} of 1 to 100 letters, digits, '_', '-', '.', got {name!r:.120}")
    return name


def variable_of(name: Any, what: str) -> str:
    if not isinstance(name, str) or not _VARIABLE.fullmatch(name) or name in (*TAKEN, *ROOT_NAMES, "output"):
        taken = ", ".join(sorted((*TAKEN, *ROOT_NAMES, "output")))
        raise Invalid(f"{what} takes a name of letters, digits and '_' that is none of {taken}, got {name!r:.80}")
    return name
