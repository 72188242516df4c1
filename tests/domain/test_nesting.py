"""How deep JSON is nested."""

import json

from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.nesting import is_deeper


@given(
    st.recursive(st.none() | st.text(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner)),
    st.integers(0, 8),
)
def test_how_deep_json_is_is_told_without_reading_it(value: object, most: int) -> None:
    def depth(part: object) -> int:
        if isinstance(part, dict):
            return 1 + max(map(depth, part.values()), default=0)
        return 1 + max(map(depth, part), default=0) if isinstance(part, list) else 0

    text = json.dumps(value).encode()
    assert is_deeper(text, most) == (depth(value) > most)


def test_what_is_no_json_is_as_deep_as_it_opens_brackets() -> None:
    assert not is_deeper(b"]" * 100_000, 32)
    assert not is_deeper(b"[" * 32, 32)
    assert is_deeper(b"[" * 33, 32)
    assert is_deeper(b"}{[" * 100_000, 32)


def test_brackets_in_texts_do_not_count() -> None:
    assert not is_deeper(json.dumps(["[" * 10_000, '\\"[[[']).encode(), 1)
