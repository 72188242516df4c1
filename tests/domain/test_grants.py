"""Grants: scopes are matched as whole texts, and each way of not being permitted has its own reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.grants import (
    EVERYTHING,
    REFUSALS,
    Grant,
    covers,
    refusal_of,
    scope_of,
    scopes_of,
)
from foliot.domain.runs import Reason

NOON = 1_794_744_000_000_000
NAMES = st.text("abc:./-", min_size=1, max_size=8).filter(lambda name: name.strip(":"))
TARGETS = st.builds(lambda provider, name: f"{provider}:{name}", st.sampled_from(["python", "langgraph", "dag"]), NAMES)


def a_grant(*scopes: str, expires_at: int | None = None, revoked_at: int | None = None) -> Grant:
    return Grant(1, "ann", 1, frozenset(scopes or {scope_of("python:poet")}), expires_at, revoked_at)


def test_a_scope_names_a_target_a_provider_or_everything() -> None:
    assert scope_of("langgraph:poet") == "graph:execute:langgraph:poet"
    assert scopes_of("graph:execute:langgraph:*") == {"graph:execute:langgraph:*"}
    assert EVERYTHING == "graph:execute:*"


@pytest.mark.parametrize(
    ("scope", "target", "is_covered"),
    [
        ("graph:execute:langgraph:poet", "langgraph:poet", True),
        ("graph:execute:langgraph:poet", "langgraph:poetry", False),
        ("graph:execute:langgraph:poet", "langgraph:poet:draft", False),
        ("graph:execute:langgraph:poet:draft", "langgraph:poet:draft", True),
        ("graph:execute:langgraph:poet", "python:poet", False),
        ("graph:execute:langgraph:*", "langgraph:poet", True),
        ("graph:execute:langgraph:*", "langgraph:poet:draft", True),
        ("graph:execute:langgraph:*", "langgraphs:poet", False),
        ("graph:execute:*", "http:anything", True),
    ],
)
def test_a_scope_covers_whole_texts_only(scope: str, target: str, is_covered: bool) -> None:
    assert covers(frozenset({scope}), target) is is_covered


@given(TARGETS, TARGETS)
def test_permission_for_one_target_is_permission_for_no_other(one: str, other: str) -> None:
    assert covers(frozenset({scope_of(one)}), other) is (one == other)


@pytest.mark.parametrize("target", ["python:*", "http:*", "python:a*", "python:*:x", "*:x", "*"])
def test_no_target_has_a_scope_that_is_wider_than_itself(target: str) -> None:
    with pytest.raises(Invalid, match=r"a target is one provider:name, without \*"):
        scope_of(target)


@pytest.mark.parametrize(
    "scope",
    [f"graph:execute:{name}" for name in ("python:a*", "python:*:x", "python:**", "pyth*", "*:a", "*:*", "python*:a")],
)
def test_what_looks_like_a_wildcard_and_is_none_is_refused_with_those_that_there_are(scope: str) -> None:
    with pytest.raises(Invalid, match=r"graph:execute:provider:\*, or for everything, graph:execute:\*, and is never"):
        scopes_of(scope, consents_to_everything=True)


def test_permission_for_everything_is_given_only_with_consent() -> None:
    with pytest.raises(Invalid, match="say `everything` besides, or name targets"):
        scopes_of([EVERYTHING])
    assert scopes_of([EVERYTHING], consents_to_everything=True) == {EVERYTHING}


@pytest.mark.parametrize("scopes", [[], ["graph:read:python:poet"], ["python:poet"], ["graph:execute:poet"], [7], ""])
def test_what_is_no_scope_is_refused(scopes: list[str]) -> None:
    with pytest.raises(Invalid):
        scopes_of(scopes)


@pytest.mark.parametrize(
    ("grant", "reason"),
    [
        (None, Reason.GRANT_NOT_FOUND),
        (a_grant(revoked_at=NOON - 1, expires_at=NOON - 1), Reason.GRANT_REVOKED),
        (a_grant(scope_of("python:other"), expires_at=NOON), Reason.GRANT_EXPIRED),
        (a_grant(scope_of("python:other"), expires_at=NOON + 1), Reason.GRANT_SCOPE),
        (a_grant(expires_at=NOON + 1), None),
        (a_grant(), None),
    ],
)
def test_each_way_of_not_being_permitted_has_its_own_reason_and_the_first_is_told(
    grant: Grant | None, reason: Reason | None
) -> None:
    assert refusal_of(grant, "python:poet", NOON) is reason
    assert reason is None or reason in REFUSALS
