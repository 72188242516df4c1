"""Targets: registered once and for good, counted when they change, and orphans until then."""

from typing import Any

from tests.builders import NOON
from tests.stores.stage import Stage


def orphans(stage: Stage) -> list[str]:
    return list(stage.read(lambda tx: tx.orphans()))


def changes(stage: Stage) -> int:
    return stage.read(lambda tx: tx.news(0).targets)


def test_a_target_is_an_orphan_until_some_program_registers_it(stage: Stage) -> None:
    mine, theirs = stage.target("python:orphaned"), stage.target("python:found")
    known = stage.read(lambda tx: tx.orphans())
    assert {known["python:orphaned"], known["python:found"]} == {mine, theirs}

    stage.write(lambda tx: tx.register_targets(["python:found", "python:never-named"]))

    assert "python:orphaned" in orphans(stage)
    assert not {"python:found", "python:never-named"} & set(orphans(stage))
    assert stage.target("python:found") == theirs


def test_what_is_registered_stays_so_since_then(stage: Stage) -> None:
    stage.write(lambda tx: tx.register_targets(["python:old"]))
    assert stage.read(lambda tx: tx.unregistered(["python:young", "python:old"])) == ["python:young"]

    def later(name: str) -> int:
        def act(tx: Any) -> int:
            tx.now = NOON * 2
            tx.register_targets([name])
            return int(tx._all("SELECT registered_at FROM targets WHERE name = ?", name)[0][0])

        return stage.write(act)

    assert later("python:young") == NOON * 2
    assert later("python:old") < NOON * 2


def test_a_provider_that_was_registered_as_a_whole_has_no_orphans_and_is_no_target_itself(stage: Stage) -> None:
    ref = stage.target("whole:a")
    stage.target("wholesome:b")
    stage.write(lambda tx: tx.register_targets(["whole:*"]))

    assert stage.read(lambda tx: tx.unregistered(["whole:*"])) == []
    assert "whole:a" not in orphans(stage)
    assert "wholesome:b" in orphans(stage)
    assert stage.read(lambda tx: tx.targets_of("whole:")) == {"whole:a": ref}


def test_every_target_that_is_new_or_newly_registered_is_a_change_and_nothing_else_is(stage: Stage) -> None:
    counted = [changes(stage)]
    for act in (
        lambda tx: tx.target_refs(["python:one", "python:two"]),
        lambda tx: tx.target_refs(["python:one"]),
        lambda tx: tx.register_targets(tx.unregistered(["python:one"])),
        lambda tx: tx.register_targets(tx.unregistered(["python:one"])),
        lambda tx: tx.revoke([]),
    ):
        stage.write(act)
        counted.append(changes(stage))
    first = counted[0]
    assert counted == [first, first + 1, first + 1, first + 2, first + 2, first + 2]
