"""What an endpoint is sent: any key and any run id fits into a header, and no two look the same there."""

from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foliot.executors.messages import in_a_header


@given(st.text(alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from("%% 2aé"))))
@example("%25")
@example("%é")
@example("%2é")
@example("  a  ")
@example("   ")
def test_any_text_is_read_back_from_a_header(text: str) -> None:
    written = in_a_header(text)
    assert written.isascii()
    assert written.isprintable()
    assert written == written.strip()
    assert unquote(written) == text


@pytest.mark.parametrize("text", ["digest:2026-11-15T12:00:00Z", "an order/7", "100%", "50% off", "~[]{}\"'"])
def test_what_a_header_takes_is_written_as_it_is(text: str) -> None:
    assert in_a_header(text) == text


def test_what_a_header_does_not_take_is_percent_encoded() -> None:
    assert in_a_header("ключ 1") == "%D0%BA%D0%BB%D1%8E%D1%87 1"
    assert in_a_header("100%41") == "100%2541"
