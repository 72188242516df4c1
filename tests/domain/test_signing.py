"""Signatures: only who has the secret can sign, only that body and only for a while; a digest tells a token."""

import hmac
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.signing import (
    TOLERANCE,
    callback_token,
    is_signed,
    is_token_of,
    secret_of,
    signature_of,
    token_digest,
)

SECRET, OTHER = "the secret of the receiver", "another secret altogether"
NOW = 1_800_000_000
SECRETS = st.text("abzAZ09-_ é☃", min_size=16, max_size=40)


def test_a_signature_is_what_anybody_with_the_secret_can_compute() -> None:
    digest = hmac.new(SECRET.encode(), b'1800000000.{"a":1}', sha256).hexdigest()
    assert signature_of(b'{"a":1}', SECRET, NOW) == f"t=1800000000,v1={digest}"


@given(st.binary(max_size=200), SECRETS, st.integers(0, 10**10), st.integers(-TOLERANCE, TOLERANCE))
def test_what_was_signed_is_verified_within_the_tolerance(body: bytes, secret: str, at: int, skew: int) -> None:
    assert is_signed(body, signature_of(body, secret, at), [secret], at + skew)


@given(st.binary(max_size=50), st.binary(max_size=50), SECRETS)
def test_another_body_is_not_signed(body: bytes, other: bytes, secret: str) -> None:
    assert is_signed(other, signature_of(body, secret, NOW), [secret], NOW) == (other == body)


@given(st.binary(max_size=50), SECRETS, SECRETS)
def test_another_secret_has_not_signed(body: bytes, secret: str, other: str) -> None:
    assert is_signed(body, signature_of(body, secret, NOW), [other], NOW) == (other == secret)


@pytest.mark.parametrize("late", [TOLERANCE + 1, -TOLERANCE - 1, 10**9])
def test_a_message_that_is_too_old_or_from_the_future_is_not_taken(late: int) -> None:
    assert not is_signed(b"x", signature_of(b"x", SECRET, NOW), [SECRET], NOW + late)


def test_the_time_is_signed_too() -> None:
    signature = signature_of(b"x", SECRET, NOW).replace(str(NOW), str(NOW + 1))
    assert not is_signed(b"x", signature, [SECRET], NOW)


def test_while_a_secret_is_replaced_the_old_and_the_new_one_are_taken() -> None:
    for secret in (SECRET, OTHER):
        assert is_signed(b"x", signature_of(b"x", secret, NOW), [OTHER, SECRET], NOW)
    both = f"{signature_of(b'x', OTHER, NOW)},{signature_of(b'x', SECRET, NOW).partition(',')[2]}"
    assert is_signed(b"x", both, [SECRET], NOW)
    assert not is_signed(b"x", both, [], NOW)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "t=1800000000",
        "v1=00",
        "t=,v1=00",
        "t=x,v1=00",
        "t=٣,v1=00",
        "t=1,t=2,v1=00",
        "t=1800000000,v1=é",
        "," * 9999,
    ],
)
def test_a_header_that_is_none_is_no_signature(header: str) -> None:
    assert not is_signed(b"x", header, [SECRET], NOW)


@given(st.text(max_size=80))
def test_no_header_breaks_the_reader(header: str) -> None:
    assert not is_signed(b"x", header, [SECRET], NOW)


@pytest.mark.parametrize("secret", ["", "hunter2", "x" * 1001, 7, "\ud800" * 20])
def test_a_secret_that_keeps_nobody_out_is_refused_and_not_shown(secret: object) -> None:
    with pytest.raises(Invalid, match="a secret takes text") as refusal:
        secret_of(secret)  # type: ignore[arg-type]
    assert str(secret) not in str(refusal.value) or secret in ("", 7)


@given(SECRETS, st.text(min_size=1, max_size=30), st.text(max_size=70))
def test_a_token_is_known_by_its_digest_and_nothing_else_is(secret: str, run_id: str, other: str) -> None:
    run_id = run_id.encode("ascii", "replace").decode()
    token = callback_token(secret, run_id)
    assert is_token_of(token, token_digest(token))
    assert is_token_of(other, token_digest(token)) == (other == token)
    assert token not in token_digest(token)


def test_every_attempt_has_a_token_of_its_own_that_no_signature_is() -> None:
    tokens = {callback_token(SECRET, f"digest:2026-11-15T09:00:00Z~{attempt}") for attempt in (1, 2, 3)}
    assert len(tokens) == 3
    assert callback_token(SECRET, "a~1") != callback_token(OTHER, "a~1")
