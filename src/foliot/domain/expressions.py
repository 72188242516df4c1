"""Expressions: what a workflow may compute from named JSON values. Read as Python, interpreted here, never executed."""

import ast
import json
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from foliot.domain.errors import Invalid

Names = Mapping[str, Any]

_LONGEST = 2000
_DEEPEST = 40
_LARGEST_NUMBER = 10**18
_LONGEST_RESULT = 100_000
_MOST_DIGITS = 30
_WORDS = {"true": True, "false": False, "null": None}
"""As JSON spells them."""

_TAKES = "numbers, text, names, x.key, x['key'], comparisons, and/or/not, + - * / // %, [..], {..} and " + (
    "functions such as len(x)"
)


@dataclass(frozen=True, slots=True)
class Expression:
    """A text that was read, and what of the names it looks at."""

    text: str
    tree: ast.expr
    uses: frozenset[tuple[str, str | None]]
    """Each name with the key that is looked up in it; None where the name is used as a whole."""

    def value(self, names: Names) -> Any:
        """What it comes to; Invalid, with the place, when it comes to nothing."""
        return _Reckoning(self.text, names).value(self.tree)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.uses)


def read_expression(text: Any) -> Expression:
    """Invalid, naming the place, unless it is an expression of the kind that is understood here."""
    if not isinstance(text, str) or not text.strip():
        raise Invalid(f"an expression takes text such as 'inputs.count > 3', got {text!r}")
    if len(text) > _LONGEST:
        raise Invalid(f"an expression takes at most {_LONGEST:,} characters, got {len(text):,}")
    text = text.strip()
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.msg if isinstance(error, SyntaxError) else "it cannot be read"
        at = (error.offset or 1) if isinstance(error, SyntaxError) else 1
        raise Invalid(f"expression {_shown(text)} is not one ({said}, character {at}): write as in Python") from None
    _check(tree, text, 1)
    return Expression(text, tree, frozenset(_uses(tree)))


def text_of_value(value: Any) -> str:
    """A value inside of text: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def _refuse(text: str, node: ast.expr, words: str) -> NoReturn:
    raise Invalid(f"expression {_shown(text)} {words} (character {node.col_offset + 1})")


def _check(node: ast.expr, text: str, depth: int) -> None:
    """Whether all of it is understood: before anything is computed."""
    if depth > _DEEPEST:
        _refuse(text, node, f"is nested more than {_DEEPEST} deep")
    if type(node) not in _CHECKS:
        _refuse(text, node, f"has something else than {_TAKES}")
    words = _CHECKS[type(node)](node)
    if words is not None:
        _refuse(text, node, words)
    children = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    for child in children:
        if isinstance(child, ast.expr):
            _check(child, text, depth + 1)


def _wrong_constant(node: Any) -> str | None:
    if node.value is not None and type(node.value) not in (bool, int, float, str):
        return f"has something else than {_TAKES}"
    is_large = isinstance(node.value, int | float) and not abs(node.value) <= _LARGEST_NUMBER
    return "has a number beyond 10**18" if is_large else None


def _wrong_name(node: Any) -> str | None:
    name = node.id if isinstance(node, ast.Name) else node.attr
    return f"has the name {name!r}, which is none of a workflow's" if name.startswith("__") else None


def _wrong_call(node: Any) -> str | None:
    if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS or node.keywords:
        return f"calls what is no function here: there are {', '.join(_FUNCTIONS)}"
    least, most = _FUNCTIONS[node.func.id].takes
    if not least <= len(node.args) <= most:
        return f"gives {len(node.args)} values to {node.func.id}, which takes {least} to {most}"
    return None


def _wrong_operator(node: Any) -> str | None:
    signs = node.ops if isinstance(node, ast.Compare) else [node.op]
    is_known = all(isinstance(sign, ast.And | ast.Or) or type(sign) in _OPERATORS for sign in signs)
    return None if is_known else f"has an operator that is none of {_TAKES}"


def _wrong_mapping(node: Any) -> str | None:
    return "spreads a mapping: name its keys" if None in node.keys else None


def _nothing_wrong(_: Any) -> None:
    return None


_CHECKS: dict[type[ast.AST], Callable[[Any], str | None]] = {
    ast.Constant: _wrong_constant,
    ast.Name: _wrong_name,
    ast.Attribute: _wrong_name,
    ast.Call: _wrong_call,
    ast.Dict: _wrong_mapping,
    **dict.fromkeys((ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp), _wrong_operator),
    **dict.fromkeys((ast.Subscript, ast.List, ast.IfExp), _nothing_wrong),
}
"""What is understood, and what may be wrong with each."""


def _uses(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    match node:
        case ast.Call(args=args):
            for argument in args:
                yield from _uses(argument)
        case ast.Attribute(value=ast.Name(id=name), attr=key):
            yield name, key
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
            yield name, key
        case ast.Name(id=name):
            if name not in _WORDS:
                yield name, None
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _uses(child)


class _Reckoning:
    """One computation of an expression."""

    def __init__(self, text: str, names: Names) -> None:
        self._text = text
        self._names = names

    def value(self, node: ast.expr) -> Any:
        return _WAYS[type(node)](self, node)

    def constant(self, node: Any) -> Any:
        return node.value

    def named(self, node: Any) -> Any:
        if node.id in _WORDS:
            return _WORDS[node.id]
        if node.id not in self._names:
            there = ", ".join(sorted(self._names))
            _refuse(self._text, node, f"names {node.id!r}, which is not there: there are {there}")
        return self._names[node.id]

    def attribute(self, node: Any) -> Any:
        return self._looked_up(node, self.value(node.value), node.attr)

    def subscript(self, node: Any) -> Any:
        return self._looked_up(node, self.value(node.value), self.value(node.slice))

    def either(self, node: Any) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def listed(self, node: Any) -> Any:
        return [self.value(item) for item in node.elts]

    def mapping(self, node: Any) -> Any:
        pairs = zip(node.keys, node.values, strict=True)
        return {text_of_value(self.value(key)): self.value(value) for key, value in pairs}

    def operation(self, node: Any) -> Any:
        values = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        return self._bounded(node, _OPERATORS[type(node.op)], *map(self.value, values))

    def call(self, node: Any) -> Any:
        return self._bounded(node, _FUNCTIONS[node.func.id].call, *map(self.value, node.args))

    def _looked_up(self, node: ast.expr, owner: Any, key: Any) -> Any:
        if isinstance(owner, Mapping) and isinstance(key, str):
            if key in owner:
                return owner[key]
            there = ", ".join(list(map(str, owner))[:10]) or "nothing"
            _refuse(self._text, node, f"finds no {key!r} (there is {there}): get(x, {key!r}, default) takes another")
        if isinstance(owner, list | str) and type(key) is int:
            if -len(owner) <= key < len(owner):
                return owner[key]
            _refuse(self._text, node, f"finds no place {key} among {len(owner)}")
        words = "null" if owner is None else type(owner).__name__
        _refuse(self._text, node, f"looks up {key!r} in {words}: get(x, {key!r}, default) takes what is there")

    def first(self, node: Any) -> Any:
        """`and` gives the first that is false, `or` the first that is true; what comes after it is not looked at."""
        *values, last = node.values
        for value in map(self.value, values):
            if bool(value) is isinstance(node.op, ast.Or):
                return value
        return self.value(last)

    def comparison(self, node: Any) -> bool:
        left = self.value(node.left)
        for sign, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            if not self._bounded(node, _OPERATORS[type(sign)], left, right):
                return False
            left = right
        return True

    def _bounded(self, node: ast.expr, act: Callable[..., Any], *values: Any) -> Any:
        try:
            result = act(*values)
        except (TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as error:
            _refuse(self._text, node, f"cannot be computed: {error}")
        if isinstance(result, bool):
            return result
        if isinstance(result, int | float) and not abs(result) <= _LARGEST_NUMBER:
            _refuse(self._text, node, "comes to a number beyond 10**18")
        if isinstance(result, list | str) and len(result) > _LONGEST_RESULT:
            _refuse(self._text, node, f"comes to more than {_LONGEST_RESULT:,} items or characters")
        return result


_WAYS: dict[type[ast.AST], Callable[[_Reckoning, Any], Any]] = {
    ast.Constant: _Reckoning.constant,
    ast.Name: _Reckoning.named,
    ast.Attribute: _Reckoning.attribute,
    ast.Subscript: _Reckoning.subscript,
    ast.BoolOp: _Reckoning.first,
    ast.IfExp: _Reckoning.either,
    ast.List: _Reckoning.listed,
    ast.Dict: _Reckoning.mapping,
    ast.Compare: _Reckoning.comparison,
    ast.UnaryOp: _Reckoning.operation,
    ast.BinOp: _Reckoning.operation,
    ast.Call: _Reckoning.call,
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_numbers(act: Callable[..., Any]) -> Callable[..., Any]:
    """Only numbers: Python would repeat text, and format it, to any length."""

    def checked(*values: Any) -> Any:
        if not all(map(_is_number, values)):
            raise TypeError(f"it takes numbers, got {' and '.join(type(value).__name__ for value in values)}")
        return act(*values)

    return checked


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, str | list) and type(left) is type(right):
        return operator.add(left, right)
    return _of_numbers(operator.add)(left, right)


def _is_in(item: Any, container: Any) -> bool:
    if not isinstance(container, list | str | Mapping):
        raise TypeError(f"`in` takes a list, a mapping or text, got {type(container).__name__}")
    return item in container


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _add,
    ast.Sub: _of_numbers(operator.sub),
    ast.Mult: _of_numbers(operator.mul),
    ast.Div: _of_numbers(operator.truediv),
    ast.FloorDiv: _of_numbers(operator.floordiv),
    ast.Mod: _of_numbers(operator.mod),
    ast.USub: _of_numbers(operator.neg),
    ast.UAdd: _of_numbers(operator.pos),
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: _is_in,
    ast.NotIn: lambda item, container: not _is_in(item, container),
}


@dataclass(frozen=True, slots=True)
class _Function:
    call: Callable[..., Any]
    takes: tuple[int, int] = (1, 1)


def _get(container: Any, key: Any, default: Any = None) -> Any:
    """The value at that key or place; the default when there is none, or nothing to look in."""
    if isinstance(container, Mapping):
        return container.get(key, default)
    if isinstance(container, list | str) and type(key) is int and -len(container) <= key < len(container):
        return container[key]
    return default


def _int(value: Any) -> int:
    if isinstance(value, str) and len(value) > _MOST_DIGITS:
        raise ValueError(f"a whole number takes at most {_MOST_DIGITS} digits")
    return int(value)


def _round(value: Any, digits: Any = 0) -> Any:
    if not isinstance(digits, int) or not 0 <= digits <= 12:
        raise ValueError("round takes 0 to 12 digits")
    return round(value, digits) if digits else round(value)


_FUNCTIONS: dict[str, _Function] = {
    "len": _Function(len),
    "min": _Function(lambda *values: min(*values) if len(values) > 1 else min(values[0]), (1, 20)),
    "max": _Function(lambda *values: max(*values) if len(values) > 1 else max(values[0]), (1, 20)),
    "sum": _Function(lambda values: sum(map(_of_numbers(operator.pos), values))),
    "abs": _Function(_of_numbers(abs)),
    "round": _Function(_of_numbers(_round), (1, 2)),
    "int": _Function(_int),
    "float": _Function(float),
    "bool": _Function(bool),
    "str": _Function(text_of_value),
    "lower": _Function(lambda text: text.lower()),
    "upper": _Function(lambda text: text.upper()),
    "get": _Function(_get, (2, 3)),
}
TAKEN = frozenset({*_FUNCTIONS, *_WORDS})
"""Words that no variable can have for its name."""
