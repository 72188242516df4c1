"""API keys: written in one way, kept as a digest."""

import pytest

from foliot.domain.keys import is_key, key_digest, key_of

KEY = key_of("0123456789ab", "A" * 43)


def test_a_key_is_known_again_by_its_digest_alone() -> None:
    assert KEY.digest == key_digest(KEY.text)
    assert KEY.id in KEY.text
    assert "A" * 43 not in KEY.digest


@pytest.mark.parametrize(
    "text", ["", "fol_", KEY.text[:-1], KEY.text + "A", KEY.text.upper(), " " + KEY.text, KEY.text + "\n", "fol_x_y"]
)
def test_what_is_not_written_like_a_key_is_none(text: str) -> None:
    assert is_key(KEY.text)
    assert not is_key(text)
