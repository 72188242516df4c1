"""Many who change the same thing at once: nobody's change is lost, and nothing is done twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from foliot import Conflict
from foliot.ports import Transaction
from foliot.services import desk
from tests.diet import on_both_every_day
from tests.http.clients import People

WRITERS = 50


@on_both_every_day
def test_no_update_is_lost_under_fifty_writers_with_tokens(people: People) -> None:
    """Each adds its name to what is there, and reads again when somebody else was first."""
    schedules = people.program.schedules
    schedules.create("board", manual=True, target="digest", memo=[])

    def add(name: int) -> None:
        while True:
            read = schedules.get("board")
            try:
                schedules.patch("board", token=read.token, memo=[*read.memo, name])
                return
            except Conflict:
                continue

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(add, range(WRITERS)))
    board = schedules.get("board")
    assert sorted(board.memo) == list(range(WRITERS))
    assert board.token == 1 + WRITERS


@on_both_every_day
def test_one_request_told_by_fifty_at_once_under_one_key_is_done_once(people: People) -> None:
    wish = {"name": "digest", "cron": "0 9 * * *"}
    client = people.ann

    def ask(_: int) -> tuple[int, str]:
        answer = client.post("/api/v1/schedules", json=wish, headers={"Idempotency-Key": "once"})
        return answer.status_code, answer.text

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = set(pool.map(ask, range(WRITERS)))
    assert len(answers) == 1
    assert answers.pop()[0] == 201
    deeds = people.program.parts.database.read(lambda tx: tx.newest_deeds(100, None, None, "ann"))
    assert [deed.action for deed in deeds] == ["schedule.create"]


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_who_is_overtaken_under_its_key_is_answered_as_who_was_first(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where several write beside each other: it was told that what it asks for is there already."""
    check_new, answers = desk._check_new, list[Any]()

    def ask() -> Any:
        wish = {"name": "digest", "cron": "0 9 * * *"}
        return people.ann.post("/api/v1/schedules", json=wish, headers={"Idempotency-Key": "once"})

    def overtaken(tx: Transaction, once: desk.Once) -> None:
        check_new(tx, once)
        monkeypatch.undo()
        with ThreadPoolExecutor(1) as pool:
            answers.append(pool.submit(ask).result())

    monkeypatch.setattr(desk, "_check_new", overtaken)
    answers.append(ask())
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].text == answers[1].text
    assert [answer.headers.get("idempotency-replayed") for answer in answers] == [None, "true"]
