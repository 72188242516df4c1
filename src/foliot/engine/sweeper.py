"""The sweeper: from schedules that are due to rows of the ledger, and runs to launch."""

from foliot.books.configurations import Configurations
from foliot.books.entries import Entries
from foliot.books.posting import post_sweep
from foliot.domain.instants import MICROSECONDS
from foliot.domain.schedule import State
from foliot.ports import Transaction

_ROWS_AT_ONCE = 5000
"""A batch of schedules that owe many slots each ends early: what is left is due still."""
NEWEST_SHARE = 8
"""One in so many is taken from the newest, lest a storm of old slots buries them."""
_STORM = MICROSECONDS // 2
"""When those due for longer than this fill a batch, it is a storm."""


def sweep(tx: Transaction, entries: Entries, known: Configurations, target: int, limit: int, until: int) -> bool:
    """Sweep schedules of the target that were due at `until`, at most `limit`; whether there are more."""
    states = tx.due(target, until, limit)
    has_more = len(states) == limit
    if has_more and (states[0].wake_at or until) < until - _STORM:
        states = _with_newest(states, tx.due_newest(target, until, max(1, limit // NEWEST_SHARE)))[:limit]
    states = entries.crew.chosen(states, lambda state: state.ref)
    configurations = known.of(tx, states)
    entries.permits.prepare(tx, configurations.values())
    for state in states:
        if len(entries) >= _ROWS_AT_ONCE:
            has_more = True
            break
        if entries.crew.must_wait(state):
            has_more = True
            continue
        post_sweep(tx, entries, configurations[state.ref], state)
    entries.write(tx)
    return has_more


def _with_newest(states: list[State], newest: list[State]) -> list[State]:
    seen = {state.ref for state in states}
    return [state for state in newest if state.ref not in seen] + states
