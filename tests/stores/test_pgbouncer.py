"""Behind PgBouncer in transaction mode: nothing rests on a session, for each transaction may have another."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint

from foliot import Foliot, Unavailable
from foliot.clock import SystemClock
from foliot.domain.runs import Kind
from foliot.executors.checkpoints import StoredCheckpoints
from foliot.stores.database import open_database
from foliot.stores.sessions import LIMITS, PLANS, Pooling
from foliot.stores.transaction import SqlTransaction
from tests.cli.serving import Serving, wait_for
from tests.databases import PostgresqlServer
from tests.poolers import Pooler, a_pooler

pytestmark = pytest.mark.slow

ALL_SETTINGS = "SELECT name, setting FROM pg_settings"
SCHEDULES, SLOTS = 150, 3000
PROGRAM = f"""
from foliot import Foliot

app = Foliot(name="busy")


@app.graph("count")
async def count(input, ctx):
    return (ctx.last_result or 0) + 1


for number in range({SCHEDULES}):
    app.schedule(f"s{{number}}", every="1s", overlap="buffer_all", catchup="all")(count)
"""


@pytest.fixture(scope="module")
def pooler(postgresql_server: PostgresqlServer) -> Iterator[Pooler]:
    with a_pooler(postgresql_server) as found:
        yield found


@pytest.fixture
def direct(postgresql_server: PostgresqlServer) -> str:
    """Past the pooler."""
    return postgresql_server.new_database()


def one(url: str, statement: str) -> Any:
    with psycopg.connect(url) as cx:
        found = cx.execute(statement.encode()).fetchone()
        assert found is not None
        return found[0]


class Client(httpx2.Client):
    """An admin who asks one of the processes."""

    def __init__(self, process: Serving) -> None:
        headers = {"Authorization": f"Bearer {process.profile['key']}"}
        super().__init__(base_url=process.profile["url"], headers=headers, timeout=30)

    def tell(self, path: str, body: Any = None) -> Any:
        answer = self.post(f"/api/v1/{path}", json=body or {})
        assert answer.status_code < 300, answer.text
        return answer.json()

    def told(self, path: str) -> Any:
        answer = self.get(f"/api/v1/{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def metric(self, name: str) -> float:
        lines = self.get("/metrics").text.splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith(f"{name} ")))


def ask_for_a_life(client: Client, number: int) -> None:
    """A schedule is made, triggered, paused, resumed and looked at, whichever process and session does it."""
    name = f"by-hand-{number}"
    client.tell("schedules", {"name": name, "target": "count", "manual": True})
    run = client.tell(f"schedules/{name}/trigger")
    client.tell(f"schedules/{name}/pause", {"note": "for a while"})
    client.tell(f"schedules/{name}/resume")
    assert client.told(f"runs/{run['id']}")["schedule"] == name
    assert client.told("runs?limit=50")["items"]
    assert client.told(f"schedules/{name}")["standing"] == "active"


def serving(folder: Path, database: str) -> Serving:
    folder.mkdir()
    (folder / "app.py").write_text(PROGRAM)
    return Serving(folder, "app.py", "--port", "0", "--database", database)


def have_slots_run(direct: str, clients: Sequence[Client]) -> int:
    """Ask each in turn until there are enough; how many schedules were triggered by hand."""
    asked = 0
    while one(direct, f"SELECT count(*) FROM runs WHERE kind = '{Kind.SLOT}' AND status = 'success'") < SLOTS:
        for client in clients:
            ask_for_a_life(client, asked)
            asked += 1
    return asked


def test_two_processes_and_their_apis_work_through_it_and_the_ledger_is_right(
    tmp_path: Path, pooler: Pooler, direct: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "FOLIOT_POOLER", "transaction")
    monkeypatch.setitem(os.environ, "FOLIOT_LOOK", "1s")
    with ExitStack() as stack:
        both = [stack.enter_context(serving(tmp_path / name, pooler.url(direct))) for name in ("one", "other")]
        clients = [stack.enter_context(Client(process)) for process in both]
        asked = have_slots_run(direct, clients)
        by_hand = f"SELECT count(*) FROM runs WHERE kind = '{Kind.MANUAL}' AND status = 'success'"
        wait_for("all that was triggered has run", lambda: one(direct, by_hand) == asked)
        assert all(client.metric("runs_emitted") > SLOTS / 10 for client in clients)
        ended = [(process.end(), process.said()) for process in both]

    assert [code for code, _ in ended] == [0, 0], ended
    for trouble in ("prepared statement", "Traceback", "a turn has failed", "not listening", '"level": "error"'):
        assert not any(trouble in words for _, words in ended), ended
    assert one(direct, "SELECT count(*) FROM runs WHERE status NOT IN ('success', 'pending')") == 0
    assert one(direct, "SELECT count(*) FROM runs WHERE token > 1 OR losses > 0") == 0
    program = Foliot(direct)
    audit = program.parts.verbs.audit.slots()
    program.close()
    assert (audit.found, audit.rows >= SLOTS) == (0, True), audit
    assert "ERROR" not in pooler.log()


def test_limits_and_plans_are_in_force_in_each_transaction_and_leave_no_trace_in_the_session(
    pooler: Pooler, direct: str
) -> None:
    database = open_database(pooler.url(direct), SystemClock(), pooling=Pooling(is_by_transaction=True))

    def in_force(tx: SqlTransaction) -> dict[str, str]:
        return dict(tx._all(ALL_SETTINGS))

    writing, reading = database.write(in_force), database.read(in_force)
    database.close()
    with psycopg.connect(pooler.url(direct)) as cx:
        afterwards: dict[str, str] = dict(cx.execute(ALL_SETTINGS).fetchall())

    assert {**LIMITS, **PLANS}.items() <= writing.items()
    assert LIMITS.items() <= reading.items()
    assert [found["enable_seqscan"] for found in (writing, reading, afterwards)] == ["off", "on", "on"]
    assert afterwards["statement_timeout"] == "0"


def test_who_is_not_told_of_the_pooler_is_told_how_to_say_so(pooler: Pooler, direct: str) -> None:
    program = Foliot(pooler.url(direct))
    with pytest.raises(Unavailable, match="a pooler is before this server: set FOLIOT_POOLER=transaction"):
        program.schedules.list()
    program.close()


def test_those_who_set_up_the_tables_of_langgraph_at_once_leave_no_lock_behind(pooler: Pooler, direct: str) -> None:
    """A lock of a session stayed with whichever session had it, and whoever came later waited for ever."""

    async def set_up() -> None:
        stores = [StoredCheckpoints(pooler.url(direct)) for _ in range(3)]
        await asyncio.gather(*(put(store) for store in stores))

    async def put(store: StoredCheckpoints) -> None:
        where: Any = {"configurable": {"thread_id": "one", "checkpoint_ns": ""}}
        async with store.saver() as saver:
            for _ in range(8):
                where = await saver.aput(where, empty_checkpoint(), {}, {})
            assert await saver.aget_tuple(where) is not None

    asyncio.run(asyncio.wait_for(set_up(), 60))
    assert one(direct, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0
