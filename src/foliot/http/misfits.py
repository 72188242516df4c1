"""What does not fit the schema of a request, in our words: where it is, as it was written, and what is taken there.

The reader of requests tells a value that may be of several kinds once for each kind, under names of its own. Here it is
told once: of the kind that was meant, or which kinds there are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json import JSONDecodeError
from typing import Any, NamedTuple

Found = Mapping[str, Any]
"""An error as the reader tells it."""
_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}
_RULES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "missing": lambda _: "is missing: give it",
    "extra_forbidden": lambda _: "is not known here: mend how it is spelt, or leave it out",
    "string_too_short": lambda said: f"takes text of {said['min_length']:,} or more characters",
    "string_too_long": lambda said: f"takes text of at most {said['max_length']:,} characters",
    "string_unicode": lambda _: "takes text whose letters UTF-8 can say",
    "string_pattern_mismatch": lambda said: f"takes text of the form {said['pattern']}",
    "too_short": lambda said: f"takes at least {said['min_length']:,} of them",
    "too_long": lambda said: f"takes at most {said['max_length']:,} of them",
    "greater_than_equal": lambda said: f"takes {said['ge']:,} or more",
    "less_than_equal": lambda said: f"takes {said['le']:,} or less",
    "enum": lambda said: f"takes {said['expected']}",
    "literal_error": lambda said: f"takes {said['expected']}",
}
_WHOLE = "the body"
_LONGEST_NAME = 100
_CONTENT_TYPE = "Content-Type"
_JSON = f"{_CONTENT_TYPE}: application/json"


class Misfit(NamedTuple):
    """Something that does not fit."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where} {self.what}"


class _Step(NamedTuple):
    """An error, and what is left of the way to it."""

    way: Sequence[str | int]
    found: Found


def misfits(errors: Sequence[Found], body: Any, content_type: str | None) -> Iterator[Misfit]:
    """What is wrong with a request of that body, and never what was given."""
    if isinstance(body, bytes) and not content_type:
        # Nobody has read it as JSON: all that is wrong inside is that.
        yield Misfit(f"the header {_CONTENT_TYPE}", f"is missing: send the body under {_JSON}")
        return
    inside = [_Step(one["loc"][1:], one) for one in errors if one["loc"][0] == "body"]
    for one in errors:
        if one["type"] == "json_invalid":
            yield _no_json(one["loc"][-1])
            return
        if one["loc"][0] != "body":
            yield Misfit(_named(one["loc"][1:]), _what(one))
    yield from _within((), body, inside)


def unread(why: BaseException | None) -> Misfit:
    """What is wrong with a body that could not be read to its end."""
    if isinstance(why, JSONDecodeError):
        return _no_json(why.pos)
    if isinstance(why, UnicodeDecodeError):
        return Misfit(_WHOLE, f"takes JSON in UTF-8, and is none from byte {why.start}: encode its text as UTF-8")
    return Misfit(_WHOLE, "takes JSON in UTF-8, and has a number of too many digits: write long numbers as text")


def _no_json(position: int) -> Misfit:
    return Misfit(_WHOLE, f"takes JSON, and is none from character {position}")


def _within(place: tuple[str | int, ...], value: Any, steps: Iterable[_Step]) -> Iterator[Misfit]:
    kinds: dict[str | int, list[_Step]] = {}
    onwards: dict[str | int, list[_Step]] = {}
    for step in steps:
        if not step.way:
            how = f", as JSON under {_JSON}" if not place and _is_of_another_kind(step) else ""
            yield Misfit(_named(place), f"{_what(step.found)}{how}")
        elif _leads(step, value):
            onwards.setdefault(step.way[0], []).append(_Step(step.way[1:], step.found))
        else:
            # No part of what was sent: a kind that the value may be of.
            kinds.setdefault(step.way[0], []).append(_Step(step.way[1:], step.found))
    for part, rest in onwards.items():
        yield from _within((*place, part), _part(value, part), rest)
    meant = [rest for rest in kinds.values() if not any(_is_of_another_kind(step) for step in rest)]
    if meant:
        yield from _within(place, value, meant[0])
    elif kinds:
        said = dict.fromkeys(
            _KINDS[step.found["type"]] for rest in kinds.values() for step in rest if _is_of_another_kind(step)
        )
        *others, last = said
        yield Misfit(_named(place), f"takes {', '.join(others)} or {last}" if others else f"takes {last}")


def _leads(step: _Step, value: Any) -> bool:
    part = step.way[0]
    if isinstance(value, Mapping):
        return part in value or (len(step.way) == 1 and step.found["type"] == "missing")
    return isinstance(value, list) and isinstance(part, int)


def _part(value: Any, part: Any) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    return value[part] if part < len(value) else None


def _is_of_another_kind(step: _Step) -> bool:
    return not step.way and step.found["type"] in _KINDS


def _named(place: Sequence[str | int]) -> str:
    """As it was written, no longer than is of use: who names something sends whatever they like."""
    return ".".join(str(part)[:_LONGEST_NAME] for part in place) or _WHOLE


def _what(found: Found) -> str:
    kind = found["type"]
    if kind in _KINDS:
        return f"takes {_KINDS[kind]}"
    if kind in _RULES:
        return _RULES[kind](found.get("ctx", {}))
    return f"does not fit: {found['msg']}"
