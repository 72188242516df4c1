"""Schedules that several create at the same moment: in one go, and as if each had been alone."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.access import Right, Role, principal_of
from foliot.domain.errors import Conflict
from foliot.services.desk import Caller
from foliot.services.views import Schedule
from tests.stores.sharing import together

DAILY = {"target": "python:digest", "cron": "0 9 * * *"}


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Foliot]:
    app = Foliot(f"sqlite:///{tmp_path / 'shared.db'}", name="shared")
    app.graph("digest")(lambda given, ctx: given)
    app.schedules.create("before", **DAILY)
    yield app
    app.close()


def create(program: Foliot, user: str, name: str, **options: Any) -> Schedule:
    caller = Caller(principal_of(user, Role.MEMBER, Right), f"request of {user}", "127.0.0.9")
    return program.parts.verbs_for(caller).schedules.create(name, **{**DAILY, **options})


def at_once(program: Foliot, *wanted: tuple[str, str]) -> tuple[list[Future[Any]], list[str]]:
    """What comes of each, and what was said to the database."""
    writer: Any = program.parts.database._writer  # type: ignore[union-attr]
    said: list[str] = []
    writer.connection.dbapi_connection.set_trace_callback(said.append)
    try:
        done = together(program.parts.database, lambda _: None, [partial(create, program, *one) for one in wanted])
    finally:
        writer.connection.dbapi_connection.set_trace_callback(None)
    return done[1:], said


def inserts(said: Sequence[str], table: str) -> int:
    return sum(text.startswith(f"INSERT INTO {table} ") for text in said)


def test_what_several_create_at_once_is_each_one_s_own_in_one_statement(program: Foliot) -> None:
    done, said = at_once(program, ("ann", "a"), ("bob", "b"), ("ann", "c"), ("ann", "d"))

    assert [each.result().id for each in done] == ["a", "b", "c", "d"]
    assert [inserts(said, table) for table in ("schedules", "cursors", "grants", "trail")] == [1, 1, 1, 1]
    users = {grant.id: grant.user for grant in program.grants.list()}
    assert [users[program.schedules.get(name).grant] for name in "abcd"] == ["ann", "bob", "ann", "ann"]
    assert program.parts.verbs.trail.verify().breaks == []


def test_the_trail_says_of_each_who_it_was_and_by_which_request(program: Foliot) -> None:
    at_once(program, ("ann", "a"), ("bob", "b"))

    noted = program.parts.verbs.trail.newest(limit=2).items
    assert [(one.actor, one.subject, one.request_id, one.address) for one in reversed(noted)] == [
        (user, f"schedule/{name}", f"request of {user}", "127.0.0.9") for user, name in (("ann", "a"), ("bob", "b"))
    ]


def test_one_that_is_there_already_is_refused_and_the_others_are_created(program: Foliot) -> None:
    done, _ = at_once(program, ("ann", "a"), ("bob", "before"), ("bob", "b"))

    assert [type(each.exception()) for each in done] == [type(None), Conflict, type(None)]
    assert str(done[1].exception()) == "the name 'before' is taken: choose another"
    assert {one.id for one in program.schedules.list()} == {"before", "a", "b"}


def test_of_two_who_create_the_same_at_once_one_does(program: Foliot) -> None:
    done, _ = at_once(program, ("ann", "same"), ("ann", "same"), ("ann", "other"))

    assert [type(each.exception()) for each in done] == [type(None), Conflict, type(None)]
    assert "there is a schedule 'same' already" in str(done[1].exception())


def test_one_that_was_deleted_lives_again_among_new_ones(program: Foliot) -> None:
    create(program, "ann", "old")
    program.schedules.delete("old")
    done, said = at_once(program, ("ann", "old"), ("ann", "a"), ("bob", "b"))

    assert [each.exception() for each in done] == [None, None, None]
    assert inserts(said, "schedules") == inserts(said, "cursors") == 1
    assert {one.id for one in program.schedules.list()} == {"before", "old", "a", "b"}


def test_of_two_who_create_again_what_was_deleted_one_does(program: Foliot) -> None:
    """Both were told that it was theirs, and the first one's was overwritten."""
    create(program, "ann", "old")
    program.schedules.delete("old")
    done, _ = at_once(program, ("ann", "old"), ("ann", "old"), ("ann", "a"))

    assert [type(each.exception()) for each in done] == [type(None), Conflict, type(None)]
    assert "there is a schedule 'old' already" in str(done[1].exception())
