"""Many who change the same thing at once: nobody's change is lost, and nothing is done twice."""

from concurrent.futures import ThreadPoolExecutor

from foliot import Conflict
from tests.http.clients import People

WRITERS = 50


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
