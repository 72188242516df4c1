"""Schedules that several create at the same moment: in one go, and as if each had been alone."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.access import Right, Role, principal_of
from foliot.domain.errors import Conflict
from foliot.ports import Transaction
from foliot.services.desk import Caller
from foliot.services.views import Schedule
from tests.databases import PostgresqlServer
from tests.stores.sharing import together
from tests.stores.waiting import until_somebody_waits

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


def upsert(program: Foliot, user: str, name: str, **options: Any) -> Schedule:
    caller = Caller(principal_of(user, Role.MEMBER, Right))
    return program.parts.verbs_for(caller).schedules.upsert(name, **{**DAILY, **options})


@contextmanager
def two_who_wait(url: str) -> Iterator[tuple[Foliot, ThreadPoolExecutor]]:
    """Somebody holds the deleted schedule `old` until two wait for it, each having seen that it is deleted."""
    program = Foliot(url, name="shared")
    program.graph("digest")(lambda given, ctx: given)
    create(program, "ann", "old")
    program.schedules.delete("old")
    is_held = Event()

    def hold(tx: Transaction) -> None:
        row = tx.schedule("old")
        assert row is not None
        tx.states([row.ref])
        is_held.set()
        until_somebody_waits(url, 2)

    with ThreadPoolExecutor(3) as threads:
        holding = threads.submit(program.parts.database.write, hold)
        assert is_held.wait(20)
        yield program, threads
        holding.result()
    program.close()


def test_on_a_server_too_one_of_two_creates_again_what_was_deleted(postgresql_server: PostgresqlServer) -> None:
    """Both were told so with the same token, and a grant was left that belonged to nothing."""
    with two_who_wait(postgresql_server.ready_database()) as (program, threads):
        asked = [threads.submit(create, program, "ann", "old", cron=f"{minute} 9 * * *") for minute in (1, 2)]

    first, second = sorted(asked, key=lambda each: each.exception() is not None)
    assert "there is a schedule 'old' already" in str(second.exception())
    assert first.result().token == 3


def test_who_puts_what_another_has_just_created_again_edits_that(postgresql_server: PostgresqlServer) -> None:
    url = postgresql_server.ready_database()
    with two_who_wait(url) as (program, threads):
        asked = [threads.submit(upsert, program, "ann", "old", cron=f"{minute} 9 * * *") for minute in (1, 2)]

    assert sorted(each.result().token for each in asked) == [3, 4]
    again = Foliot(url, name="shared")
    living = [grant.id for grant in again.grants.list() if grant.revoked_at is None]
    assert living == [again.schedules.get("old").grant]
    again.close()
