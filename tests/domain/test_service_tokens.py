"""Service tokens: what one must be and say, to the second, and in words that give nothing away."""

import json
from base64 import urlsafe_b64encode
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.errors import Invalid
from foliot.domain.service_tokens import (
    LEEWAY,
    LONGEST_LIFE,
    LONGEST_TOKEN,
    Algorithm,
    ServiceAccess,
    TokenRefused,
    TokenRules,
    algorithm_of,
    key_for,
    read_token,
    rules_of,
    secrets_of,
    service_of,
)

NOW = 1_800_000_000.0
RULES = TokenRules(Algorithm.EDDSA, "issuer", "audience", {"new": "key 1", "old": "key 2"}, frozenset({"old"}))
HEADER = {"alg": "EdDSA", "typ": "JWT", "kid": "new"}
CLAIMS = {"iss": "issuer", "aud": "audience", "sub": "worker", "jti": "7", "iat": NOW, "exp": NOW + 300}


def text_of(header: Any = HEADER, claims: Any = CLAIMS, signature: bytes = b"signed") -> str:
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    return ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def judged(now: Any = NOW, **changed: Any) -> str:
    """The service, or why not; None leaves a claim out."""
    said = {name: value for name, value in {**CLAIMS, **changed}.items() if value is not None}
    try:
        return service_of(said, RULES, now).service
    except TokenRefused as refusal:
        return str(refusal)


def test_a_token_is_taken_apart_and_what_is_signed_is_its_text() -> None:
    token = read_token(text_of())
    assert (token.header, token.claims, token.signature) == (HEADER, CLAIMS, b"signed")
    assert token.signed.decode() == text_of().rpartition(".")[0]


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "a.b", "a.b.c.d", text_of() + "=", text_of() + "é", " " + text_of(), text_of() + "\n", "é.é.é"],
)
def test_what_is_not_written_like_a_token_is_none(text: str) -> None:
    with pytest.raises(TokenRefused):
        read_token(text)


def test_the_same_bytes_written_otherwise_are_no_token() -> None:
    text = text_of(signature=b"0")
    assert text.endswith(".MA")
    with pytest.raises(TokenRefused, match="it is no token"):
        read_token(text[:-1] + "B")


@given(st.text(max_size=60))
def test_whatever_is_read_is_a_token_or_refused(text: str) -> None:
    for tried in (text, f"{text}.{text}.{text}", f"{text_of()[:40]}{text}{text_of()[40:]}"):
        with suppress(TokenRefused):
            assert isinstance(read_token(tried).claims, dict)


def test_a_token_has_a_longest_length_and_no_part_twice() -> None:
    with pytest.raises(TokenRefused, match="too long"):
        read_token("a" * (LONGEST_TOKEN + 1))
    twice = urlsafe_b64encode(b'{"a": 1, "a": 1}').rstrip(b"=").decode()
    with pytest.raises(TokenRefused, match="something twice"):
        read_token(f"{twice}.{twice}.{twice}")
    for wrong in (list[str](), "text", 1, None):
        with pytest.raises(TokenRefused, match="cannot be read"):
            read_token(text_of(claims=wrong))


def test_the_key_is_one_of_ours_by_the_name_that_the_token_says() -> None:
    assert key_for(HEADER, RULES) == "key 1"
    assert key_for({**HEADER, "typ": "jwt"}, RULES) == "key 1"
    unnamed = TokenRules(Algorithm.HS256, "i", "a", {None: "the only one"})
    assert key_for({"alg": "HS256", "typ": "JWT"}, unnamed) == "the only one"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"alg": "none"}, "signed in another way"),
        ({"alg": "HS256"}, "signed in another way"),
        ({"alg": "eddsa"}, "signed in another way"),
        ({"alg": None}, "signed in another way"),
        ({"alg": ["EdDSA"]}, "signed in another way"),
        ({"typ": "at+jwt"}, "of another type"),
        ({"typ": None}, "of another type"),
        ({"crit": []}, "brings its own key"),
        ({"jku": "https://others"}, "brings its own key"),
        ({"jwk": {}}, "brings its own key"),
        ({"x5c": []}, "brings its own key"),
        ({"x5u": ""}, "brings its own key"),
        ({"kid": "strange"}, "nobody here knows its key"),
        ({"kid": None}, "nobody here knows its key"),
        ({"kid": ["new"]}, "nobody here knows its key"),
        ({"kid": "old"}, "its key was revoked"),
    ],
)
def test_a_header_that_chooses_how_it_is_judged_is_refused(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(TokenRefused, match=why):
        key_for({**HEADER, **changed}, RULES)


def test_a_good_token_says_which_service_it_is() -> None:
    assert judged() == "worker"
    assert judged(aud=["others", "audience"]) == "worker"
    assert service_of({**CLAIMS, "once": True}, RULES, NOW).is_once
    assert not service_of(CLAIMS, RULES, NOW).is_once


@pytest.mark.parametrize("name", ["iss", "aud", "sub", "jti", "iat", "exp"])
def test_nothing_may_be_left_out(name: str) -> None:
    assert judged(**{name: None}) != "worker"


def test_it_is_good_until_its_end_and_from_its_beginning_give_or_take_what_clocks_differ() -> None:
    end = NOW + 300
    assert [judged(now) for now in (end + LEEWAY - 0.001, end + LEEWAY)] == ["worker", "it has expired"]
    assert [judged(now) for now in (NOW - LEEWAY, NOW - LEEWAY - 0.001)] == ["worker", "it is not valid yet"]
    assert [judged(NOW, nbf=NOW + wait) for wait in (LEEWAY, LEEWAY + 1)] == ["worker", "it is not valid yet"]


def test_it_lives_for_ten_minutes_at_most() -> None:
    assert judged(exp=NOW + LONGEST_LIFE) == "worker"
    for end in (NOW + LONGEST_LIFE + 1, NOW, NOW - 1):
        assert judged(exp=end) == "it lives for too long"


@pytest.mark.parametrize("value", ["1800000300", True, [NOW], {}, float("inf"), float("nan"), -1, 10**400, 1e12])
@pytest.mark.parametrize("name", ["iat", "exp", "nbf"])
def test_a_moment_is_a_number_of_seconds(name: str, value: Any) -> None:
    assert judged(**{name: value}) == "it does not say when it was made and when it ends"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"iss": "others"}, "somebody else has issued it"),
        ({"iss": ["issuer"]}, "somebody else has issued it"),
        ({"aud": "others"}, "it is for somebody else"),
        ({"aud": []}, "it is for somebody else"),
        ({"aud": {"audience": 1}}, "it is for somebody else"),
        ({"aud": "audience2"}, "it is for somebody else"),
        ({"sub": ""}, "it does not say whose"),
        ({"sub": "a\nb"}, "it does not say whose"),
        ({"sub": "x" * 81}, "it does not say whose"),
        ({"jti": 7}, "it does not say whose"),
        ({"jti": "x" * 256}, "it does not say whose"),
        ({"once": "true"}, "it does not say whether it is good for one request"),
        ({"once": 1}, "it does not say whether it is good for one request"),
    ],
)
def test_claims_that_are_not_ours_to_take_are_refused(changed: dict[str, Any], why: str) -> None:
    assert judged(**changed).startswith(why)


@pytest.mark.parametrize(
    ("algorithm", "key", "said"),
    [
        ("RS256", "x" * 40, "tokens are signed by EdDSA or HS256, got 'RS256'"),
        ("none", "x" * 40, "tokens are signed by EdDSA or HS256, got 'none'"),
        ("HS256", "short", "KEY takes at least 32 characters for HS256"),
        ("HS256", '{"a": "' + "x" * 40 + '", "b": "short"}', "KEY takes at least 32 characters for HS256"),
        ("HS256", '{"a": "' + "x" * 40 + '", "a": "y"}', "KEY takes a key, or a JSON object"),
        ("HS256", '{"a": 7}', "KEY takes a key, or a JSON object"),
        ("EdDSA", "   ", "KEY takes a key, or a JSON object"),
        ("HS256", "{}", "KEY takes a key, or a JSON object"),
        ("HS256", "{", "KEY takes a key, or a JSON object"),
    ],
)
def test_rules_that_cannot_be_kept_are_refused_without_showing_a_key(algorithm: str, key: str, said: str) -> None:
    with pytest.raises(Invalid, match=said) as refusal:
        rules_of("KEY", algorithm, key, "issuer", "audience", ())
    assert not key.strip("{ ") or key not in str(refusal.value)


def test_tokens_are_taken_of_one_issuer_and_for_one_audience_only() -> None:
    for issuer, audience in ((None, "audience"), ("", "audience"), ("issuer", "")):
        with pytest.raises(Invalid, match="of one issuer and for one audience"):
            rules_of("KEY", "EdDSA", "key", issuer, audience, ())


def test_keys_are_known_by_their_ids_and_shown_nowhere() -> None:
    rules = rules_of("KEY", "EdDSA", '{"a": "secret one", "b": "secret two"}', "issuer", "audience", ["b"])
    assert list(rules.keys.items()) == [("a", "secret one"), ("b", "secret two")]
    assert rules.revoked == frozenset({"b"})
    assert "secret" not in repr(rules)
    assert "secret" not in repr(ServiceAccess(("secret one",), rules, ("secret two",)))
    assert algorithm_of("HS256") is Algorithm.HS256


def test_one_secret_or_two_while_one_replaces_the_other() -> None:
    assert secrets_of("SECRET", "a-secret-of-sixteen\n") == ("a-secret-of-sixteen",)
    assert secrets_of("SECRET", "a-secret-of-sixteen another-of-sixteen") == (
        "a-secret-of-sixteen",
        "another-of-sixteen",
    )


@pytest.mark.parametrize("text", ["short", "x" * 300, "a-secret-of-sixteen " * 3, "sécret-sécret-sécret"])
def test_secrets_that_keep_nobody_out_are_refused_unseen(text: str) -> None:
    with pytest.raises(Invalid, match="SECRET takes one secret of 16 to 256") as refusal:
        secrets_of("SECRET", text)
    assert text not in str(refusal.value)
