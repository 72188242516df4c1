"""Expressions: what they come to, what they refuse, and that nothing of Python is reached through them."""

import ast
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain import expressions, templates
from foliot.domain.expressions import read_expression
from foliot.domain.templates import read_template

NAMES = {
    "inputs": {"count": 3, "name": "Ann", "tags": ["a", "b"], "nothing": None, "odd-key": 1, "deep": {"x": [10, 20]}},
    "vars": {"total": 2.5},
}


def value(text: str) -> Any:
    return read_expression(text).value(NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inputs.count", 3),
        ("inputs['odd-key']", 1),
        ("inputs.deep.x[-1]", 20),
        ("inputs.count + 1 > 3 and not false", True),
        ("1 < inputs.count <= 3", True),
        ("inputs.name + '!'", "Ann!"),
        ("inputs.tags + ['c']", ["a", "b", "c"]),
        ("'a' in inputs.tags and 'z' not in inputs.tags and 'count' in inputs", True),
        ("inputs.nothing is None and inputs.nothing == null", True),
        ("-inputs.count * 2 // 4 % 5", 3),
        ("7 / 2", 3.5),
        ("len(inputs.tags) + max(1, 2) - min([4, 3]) + sum([1, 2]) + abs(-1)", 5),
        ("lower(inputs.name) + upper('x') + str(1) + str(true)", "annX1true"),
        ("int('4') + float('0.5') + round(2.567, 2)", 7.07),
        ("get(inputs, 'absent', 9) + get(inputs.tags, 7, 1) + get(null, 'x', 0)", 10),
        ("{'a': inputs.count, 'b': [1]}", {"a": 3, "b": [1]}),
        ("'many' if inputs.count > 2 else 'few'", "many"),
        ("inputs.absent if false else 'not looked at'", "not looked at"),
        ("false and inputs.absent", False),
        ("true or inputs.absent", True),
    ],
)
def test_an_expression_comes_to_a_value(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "takes text"),
        ("1 +", r"is not one \(invalid syntax, character"),
        ("x" * 3000, "at most 2,000 characters"),
        ("__import__('os')", "calls what is no function here"),
        ("().__class__", "which is none of a workflow's"),
        ("inputs.__class__", "'__class__', which is none of a workflow's"),
        ("inputs.name.upper()", "calls what is no function here"),
        ("[x for x in inputs]", r"something else than .* \(character 1\)"),
        ("(lambda: 1)()", "calls what is no function here"),
        ("inputs.count if 1 else (y := 2)", "something else"),
        ("f'{inputs}'", "something else"),
        ("b'x'", "something else"),
        ("1j", "something else"),
        ("...", "something else"),
        ("inputs.tags[0:1]", "something else"),
        ("2 ** 9", "operator"),
        ("1 << 9", "operator"),
        ("~1", "operator"),
        ("10 ** 18 ** 9", "operator"),
        ("9999999999999999999", "a number beyond"),
        ("1e999", "a number beyond"),
        ("len()", "gives 0 values to len, which takes 1 to 1"),
        ("len(x=1)", "no function here"),
        ("{**inputs}", "spreads"),
        ("[*inputs.tags]", "something else"),
        ("-" * 100 + "1", "nested more than 40 deep"),
        ("(" * 300 + "1" + ")" * 300, "is not one"),
        ("await inputs", "is not one|something else"),
    ],
)
def test_what_is_not_understood_is_refused_before_anything_is_computed(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        read_expression(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("inputs.absent", r"finds no 'absent' .*get\(x, 'absent', default\).*\(character 1\)"),
        ("1 + inputs.nothing.x", r"looks up 'x' in null.*\(character 5\)"),
        ("inputs.tags[5]", "finds no place 5 among 2"),
        ("inputs.tags['a']", "looks up 'a' in list"),
        ("other", "names 'other', which is not there: there are inputs, vars"),
        ("1 / 0", "cannot be computed: division by zero"),
        ("'a' * 1000000", "it takes numbers, got str and int"),
        ("'%s' % 1", "it takes numbers"),
        ("true + 1", "it takes numbers"),
        ("1 < 'a'", "cannot be computed"),
        ("1 in 2", "`in` takes a list"),
        ("int('x')", "cannot be computed"),
        ("int('" + "9" * 40 + "')", "at most 30 digits"),
        ("1000000000 * 1000000000 * 1000000000", "a number beyond"),
        ("lower(1)", "cannot be computed"),
        ("len(1)", "cannot be computed"),
        ("round(1.5, 99)", "0 to 12 digits"),
        ("float('inf')", "a number beyond"),
        ("float('nan')", "a number beyond"),
    ],
)
def test_what_cannot_be_computed_is_told_with_its_place(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        value(text)


def test_text_cannot_be_grown_without_end() -> None:
    grown = read_expression("x + x")
    text = "x" * 60_000
    with pytest.raises(Invalid, match="more than 100,000 items or characters"):
        grown.value({"x": text})


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_invalid_and_nothing_else(text: str) -> None:
    try:
        expression = read_expression(text)
    except Invalid:
        return
    with suppress(Invalid):
        json.dumps(expression.value(NAMES))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_a_value_that_is_named_is_given_as_it_is(found: Any) -> None:
    assert read_expression("x.y").value({"x": {"y": found}}) == found
    assert read_template({"a": ["{{ x }}"]}).value({"x": found}) == {"a": [found]}


def test_it_is_known_what_an_expression_looks_at() -> None:
    uses = read_expression("nodes.a.output.b + vars['c'] + len(inputs) + get(vars, 'd', null)").uses
    assert uses == {("nodes", "a"), ("vars", "c"), ("inputs", None), ("vars", None)}


@pytest.mark.parametrize("module", [expressions, templates])
def test_nothing_is_executed(module: Any) -> None:
    tree = ast.parse(Path(module.__file__).read_text())
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"eval", "exec", "compile", "getattr", "setattr", "__import__"}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ inputs.count }}", 3),
        ("{{ inputs.tags }}", ["a", "b"]),
        ("n={{ inputs.count }}, {{ inputs.tags }}", 'n=3, ["a", "b"]'),
        ("{{inputs.name}}", "Ann"),
        ({"deep": ["{{ inputs.name }}!", 1, None]}, {"deep": ["Ann!", 1, None]}),
        ("{ inputs.count }", "{ inputs.count }"),
        (7, 7),
    ],
)
def test_a_template_is_filled_and_one_expression_alone_keeps_its_type(template: Any, expected: Any) -> None:
    assert read_template(template).value(NAMES) == expected


@pytest.mark.parametrize("template", ["{{ inputs.count", "{{ 1 + }}", "{{ }}", ["{{ x[1:2] }}"]])
def test_a_template_that_cannot_be_read_is_refused(template: Any) -> None:
    with pytest.raises(Invalid):
        read_template(template)
