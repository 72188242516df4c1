"""Entries of one schedule, made in any order in one transaction: what is written is the last of them, whole."""

from itertools import product

import pytest

from foliot.books.entries import Crew, Entries
from foliot.books.permits import Permits
from foliot.domain.credits import Pricing
from foliot.domain.schedule import State
from tests.builders import NOON
from tests.stores.stage import Stage

CHANGES = {
    "move": ("swept_to", "wake_at", "pause_from", "pause_to", "running", "held", "marks", "last_result"),
    "advance": ("swept_to", "wake_at", "running"),
    "keep": ("running", "held", "remaining", "marks", "last_result", "last_failure"),
    "free": ("running",),
}
ORDERS = [order for length in (1, 2, 3) for order in product(CHANGES, repeat=length)]


@pytest.fixture
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(f"sqlite:///{tmp_path_factory.mktemp('entries') / 'foliot.db'}")


def test_the_last_state_is_written_whole_whatever_was_said_before(stage: Stage) -> None:
    for number, order in enumerate(ORDERS):
        ref = stage.schedule(f"s{number}", wake_at=NOON)
        before = stage.state(ref)
        after = _changed_by(order, before)

        def act(tx: object, order: tuple[str, ...] = order, before: State = before) -> None:
            entries = Entries(tx, Crew(), Permits(Pricing()))  # type: ignore[arg-type]
            state = before
            for place, verb in enumerate(order):
                state = _one_change(verb, place, state)
                getattr(entries, verb)(state)
            entries.write(tx)  # type: ignore[arg-type]

        stage.write(act)
        assert stage.state(ref) == after, order


def _changed_by(order: tuple[str, ...], state: State) -> State:
    for place, verb in enumerate(order):
        state = _one_change(verb, place, state)
    return state


def _one_change(verb: str, place: int, state: State) -> State:
    return state._replace(**{name: 100 * (place + 1) + count for count, name in enumerate(CHANGES[verb])})
