"""The list of fail points is complete: nothing in the program writes but through a boundary that has a name."""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import foliot
from foliot.ports import Transaction
from tests.crash.doom import COMMITS, PLACES, READS, writes
from tests.crash.nursery import Nursery
from tests.crash.scene import Scene
from tests.diet import on_sqlite_every_day

DOORS = {
    "engine.loop.Engine._begin": ("register",),
    "engine.loop.Engine._take_turn": (
        *(
            "sweep",
            "end of a pause",
            "launch",
            "record",
            "settle",
            "settle a failure",
            "settle with care",
            "heartbeat",
            "let go",
        ),
        *("ask", "expire", "take up", "rescue", "hand back", "feed", "end of a fill"),
    ),
    "engine.loop.Engine._learn_targets": ("learn targets",),
    "engine.loop.Engine._finish": ("leave",),
    "engine.loop.Engine._prune": ("prune", "remove"),
    "engine.notifier.Notifier._work": ("address", "hand over", "note a delivery"),
    # It records what has ended last, as that does.
    "engine.notifier.Notifier.stop": ("note a delivery",),
    "services.webhooks.WebhookVerbs.create": ("subscribe",),
    "services.webhooks.WebhookVerbs.delete": ("unsubscribe",),
    # It writes a deed, and nothing else.
    "services.webhooks.WebhookVerbs.test": ("subscribe",),
    "services.schedules.ScheduleVerbs.create": ("create",),
    "services.schedules.ScheduleVerbs.create_many": ("create",),
    "services.schedules.ScheduleVerbs.upsert": ("declare", "edit"),
    "services.schedules.ScheduleVerbs.replace": ("replace",),
    # It is the same as `replace`, but for where the options come from.
    "services.schedules.ScheduleVerbs.patch": ("replace",),
    "services.schedules.ScheduleVerbs.pause": ("pause",),
    "services.schedules.ScheduleVerbs.resume": ("resume",),
    "services.schedules.ScheduleVerbs.trigger": ("trigger",),
    # It is a trigger and the record of a request, in one transaction.
    "services.launching.RunLauncher.launch": ("trigger",),
    "services.schedules.ScheduleVerbs.skip": ("skip",),
    "services.schedules.ScheduleVerbs.backfill": ("fill",),
    "services.backfills.BackfillVerbs.cancel": ("give up",),
    "services.declaring.DeclarationVerbs.apply": ("apply",),
    "services.bulk.BulkVerbs._each": ("change many",),
    "services.schedules.ScheduleVerbs.delete": ("delete",),
    # They are those of schedules, in other words.
    "services.registrar.RegistrarVerbs.upsert": ("declare", "edit"),
    "services.registrar.RegistrarVerbs.pause": ("pause", "resume"),
    "services.registrar.RegistrarVerbs.delete": ("delete",),
    "services.grants.GrantVerbs.create": ("permit",),
    "services.grants.GrantVerbs.extend": ("extend",),
    "services.grants.GrantVerbs.rescope": ("rescope",),
    # It is the same as `rescope`, but for what of the grant it changes.
    "services.grants.GrantVerbs.allow": ("rescope",),
    "services.grants.GrantVerbs.change": ("rescope",),
    "services.grants.GrantVerbs.revoke": ("revoke",),
    "services.accounts.AccountVerbs.top_up": ("pay",),
    "services.accounts.AccountVerbs.refund": ("refund",),
    "services.accounts.AccountVerbs.limit": ("limit",),
    "services.grants.GrantVerbs.local": ("permit",),
    "execution.requests.Requests._carry_out": ("request",),
    # It fences who was at it, or keeps that a person is asked: the record of a request, as when one is taken.
    "execution.delivered.WorkersGate.execute": ("request",),
    # One row: before it a token is good, after it it was used.
    "http.doors._is_first_use": ("request",),
    "execution.requests.Requests._finish": ("answer a request",),
    # It gives back what could not be begun, and a person what nobody knows of: one word of one row, as in an answer.
    "execution.requests.Requests._perform": ("answer a request",),
    "services.requests.RequestVerbs.decide": ("answer a request",),
    # It writes one number, which the next beat writes again.
    "execution.requests.Requests._beat": ("answer a request",),
    "execution.till.Till._charge": ("charge",),
    "execution.till.Till.report": ("report",),
    "services.runs.RunVerbs.cancel": ("cancel",),
    "services.runs.RunVerbs.decide": ("decide",),
    # It is the same as `decide`, but for who says what of the run.
    "services.runs.RunVerbs.report": ("decide",),
    "services.runs.RunVerbs.terminate": ("terminate",),
    "services.runs.RunVerbs.retry": ("retry",),
    "services.workflows.WorkflowVerbs.deploy": ("deploy",),
    "services.people.UserVerbs.put": ("admit",),
    "services.people.UserVerbs.disable": ("admit",),
    "services.people.KeyVerbs.create": ("admit",),
    # It is the same as `create`, but for who made the key.
    "services.people.KeyVerbs.adopt": ("admit",),
    "services.people.KeyVerbs.revoke": ("admit",),
    # It writes when a key was used last, which its next use writes again.
    "services.people.Doorkeeper._look_up": ("admit",),
}
"""Who asks for a transaction that writes, and by which names their commits are crashed at."""
_CRASHED_ELSEWHERE = {
    "executors.journal.Journal.begin",
    "executors.journal.Journal.keep",
    "engine.loop.Engine._set_aside",
}
"""In `tests/executors/test_dag_crash.py`: what is recorded of a workflow's nodes is not for the ledger's checker; and
in `tests/engine/test_poison.py`: no scene of ours has a schedule that the engine fails on."""
_GONE_WITH_THEIR_PROCESS = {"simulator.Rehearsal.copy", "simulator.Rehearsal.play"}
"""They write to a file that nobody reads after them."""
_PASSING_ON = {
    "services.desk.Desk._committed",
    "engine.loop.Engine._write",
    "engine.notifier.Notifier._write",
    "execution.records.Records.write",
    "execution.records.Records.write_surely",
}


def test_whoever_writes_is_crashed_at_every_commit() -> None:
    assert set(_askers()) - _PASSING_ON - _CRASHED_ELSEWHERE - _GONE_WITH_THEIR_PROCESS == set(DOORS)
    assert {name for names in DOORS.values() for name in names} == set(COMMITS)


def test_every_commit_is_a_fail_point() -> None:
    placed = [boundary for boundaries in PLACES.values() for boundary in boundaries]
    assert sorted(placed) == sorted({*COMMITS, "migrate", "dispatch", "run"})


def test_what_counts_as_reading_exists() -> None:
    assert set(dir(Transaction)) >= READS


def test_judging_what_is_ready_has_a_name_though_nothing_of_it_starts() -> None:
    judged = ["news", "earliest", "ready", "states_free", "end", "keep"]
    put_aside = ["news", "earliest", "ready", "states_free", "park"]
    assert COMMITS["take up"](judged)
    assert COMMITS["take up"](put_aside)
    assert not COMMITS["take up"](["news", "earliest", "ready", "due", "start_new", "advance"])


@on_sqlite_every_day
def test_no_transaction_writes_that_no_boundary_names(
    new_database_url: Callable[[], str], nursery: Nursery, tmp_path: Path
) -> None:
    kinds = tmp_path / "kinds"
    for plan in ("few", "handled"):
        scene = Scene(nursery, new_database_url(), tmp_path / plan, plan, kinds)
        scene.work_and_stop()
        scene.to_the_end()
        scene.end()
    met = [json.loads(line) for line in kinds.read_text().splitlines()]
    unnamed = [did for did in met if not any(is_it(did) for is_it in COMMITS.values())]
    assert unnamed == []
    assert {"move", "start_new", "finish", "record", "renew"} <= {call for did in met for call in writes(did)}


def _askers() -> Iterator[str]:
    """The functions that call `write` of a database or of what stands before one."""
    root = Path(foliot.__file__).parent
    for path in root.rglob("*.py"):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        for name, function in _functions(ast.parse(path.read_text()), module):
            if any(_asks_to_write(node) for node in ast.walk(function)):
                yield name


def _functions(tree: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    """The outermost ones, by their names: what is inside one is part of it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}.{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{name}.{node.name}")


WAYS_TO_WRITE = ("write", "write_shown", "write_along", "_write", "write_surely")


def _asks_to_write(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr not in WAYS_TO_WRITE:
        return False
    owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    return owner in ("_desk", "desk", "database", "_database", "_records") or (
        owner == "self" and node.attr == "_write"
    )
