"""Access: what roles may, and what is whose."""

import pytest

from foliot.domain.access import (
    LOCAL_PRINCIPAL,
    RIGHTS,
    Right,
    Role,
    check_right,
    may_answer,
    principal_of,
    rights_of,
    role_of,
)
from foliot.domain.errors import Denied, Invalid


def test_an_admin_sees_everything_and_others_what_is_their_own() -> None:
    admin, member, viewer = (principal_of("ann", role, Right) for role in Role)
    assert [who.sees("bob") for who in (admin, member, viewer)] == [True, False, False]
    assert [who.sees("ann") for who in (admin, member, viewer)] == [True, True, True]
    assert [who.seen_owner for who in (admin, member, viewer)] == [None, "ann", "ann"]
    assert LOCAL_PRINCIPAL.sees("whoever")


def test_whoever_a_question_names_may_answer_it_and_else_who_sees_the_run() -> None:
    ann, bob = principal_of("a", Role.MEMBER, Right), principal_of("b", Role.MEMBER, Right)
    root = principal_of("r", Role.ADMIN, Right)
    assert [may_answer(who, "a", ()) for who in (ann, bob, root)] == [True, False, True]
    assert [may_answer(who, "a", ("b",)) for who in (ann, bob, root)] == [False, True, False]


@pytest.mark.parametrize("role", Role)
def test_a_key_never_has_more_rights_than_its_user(role: Role) -> None:
    assert principal_of("ann", role, Right).rights == RIGHTS[role]
    assert principal_of("ann", role, {Right.READ}).rights == {Right.READ}
    assert principal_of("ann", role, {Right.ADMIN}).may(Right.ADMIN) == (role is Role.ADMIN)


def test_what_is_not_allowed_is_said_with_who_can_help() -> None:
    with pytest.raises(Denied, match=r"the key k1 of eve may not change anything: ask an admin .* the right 'write'"):
        check_right(principal_of("eve", Role.VIEWER, Right, "k1"), Right.WRITE)
    check_right(principal_of("eve", Role.VIEWER, Right), Right.READ)


def test_roles_and_rights_are_taken_from_their_lists() -> None:
    assert role_of("viewer") is Role.VIEWER
    assert rights_of("read") == {Right.READ}
    assert rights_of(["read", "write"]) == {Right.READ, Right.WRITE}


@pytest.mark.parametrize("role", ["root", "", None, 7, ["admin"]])
def test_a_role_that_is_none_is_refused(role: object) -> None:
    with pytest.raises(Invalid, match="a role is 'admin', 'member', 'viewer'"):
        role_of(role)


@pytest.mark.parametrize("rights", ["all", [], None, 7, ["read", "all"], ["read", 7], {"read": "x", "no": 1}])
def test_rights_that_are_none_are_refused(rights: object) -> None:
    with pytest.raises(Invalid, match="rights 'read', 'write', 'decide', 'admin'"):
        rights_of(rights)
