"""What was read in a transaction that was undone is not believed."""

import pytest

from foliot.books.configurations import Configurations
from foliot.ports import Transaction
from tests.engine.timelines import Job, a_world


class _UndoneError(Exception):
    pass


def test_a_version_that_was_never_committed_is_not_taken_for_the_one_that_was() -> None:
    with a_world(Job(), every="5m", settled=False) as world:
        database = world.app.parts.database
        known = Configurations()

        def believe(tx: Transaction) -> str:
            row = tx.schedule("job")
            assert row is not None
            return known.of(tx, tx.states([row.ref]))[row.ref].policies.overlap

        def change_and_fail(tx: Transaction) -> None:
            known.begin()
            row = tx.schedule("job")
            assert row is not None
            tx.update_schedule(row.ref, version=row.version + 1)
            tx.set_version(row.ref, row.version + 1, row.target)
            assert believe(tx) == "skip"
            raise _UndoneError

        with pytest.raises(_UndoneError):
            database.write(change_and_fail)
        world.app.schedules.patch("job", overlap="allow_all")
        known.begin()
        assert database.read(believe) == "allow_all"
        known.commit()
