"""The pruner: removes final runs that are old, and nothing that the future still rests on."""

from foliot.domain.delivery import ANSWERS_KEPT
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import FINAL
from foliot.engine.settings import EngineSettings
from foliot.ports import Clock, Transaction

_AT_ONCE = 1000


class Pruner:
    """When old runs are removed, and how far that has come: a page at a time."""

    def __init__(self, clock: Clock, settings: EngineSettings) -> None:
        self._clock = clock
        self._settings = settings
        self._every = settings.prune_every / MICROSECONDS
        self._pruned_at = clock.steady() - self._every
        self._after = 0

    def is_due(self) -> bool:
        """Whether it is time, when there is nothing better to do."""
        return self._clock.steady() - self._pruned_at >= self._every

    def is_late(self) -> bool:
        """Whether there was never a quiet moment for it."""
        return self._clock.steady() - self._pruned_at >= 2 * self._every

    def page(self, tx: Transaction) -> int | None:
        return prune(tx, self._settings, self._after)

    def did(self, found: int | None) -> None:
        """Whatever the page said is next; None: that was the last."""
        self._after = found or 0
        if found is None:
            self._pruned_at = self._clock.steady()


def prune(tx: Transaction, settings: EngineSettings, after: int) -> int | None:
    """Look at a page of the oldest runs beyond that key and remove what may go; the next key, None at the end.

    After the last page what else is old goes too; answers by the thousand, until there are none left.

    A run may go when it ended long ago and its schedule has many newer ones. Kept for ever: what is open, what the
    next run is handed as last result or failure, and rows of slots still to come.
    """
    cutoff = tx.now - settings.keep_for
    page = tx.prunable(after, cutoff, _AT_ONCE)
    if not page:
        if tx.remove_answers(tx.now - ANSWERS_KEPT, _AT_ONCE) == _AT_ONCE:
            return after
        tx.remove_stopped(cutoff)
        if settings.prunes_executions:
            tx.remove_requests(cutoff)
            tx.remove_node_states(cutoff)
        tx.remove_notices(cutoff)
        return None
    states = {state.ref: state for state in tx.states_free({schedule_ref for _, schedule_ref, _, _, _ in page})}
    newest_kept = {ref: tx.newest_runs_from(ref, settings.keep_runs) for ref in states}
    gone: dict[int, int] = {}
    refs = []
    for ref, schedule_ref, nominal_at, status, ended_at in page:
        state, oldest_kept = states.get(schedule_ref), newest_kept.get(schedule_ref)
        if state is None or oldest_kept is None or status not in FINAL or ended_at is None:
            continue
        if nominal_at > min(oldest_kept, state.swept_to) or ended_at > cutoff:
            continue
        if ref not in (state.last_result, state.last_failure):
            refs.append(ref)
            gone[schedule_ref] = max(gone.get(schedule_ref, 0), nominal_at + 1)
    tx.remove(refs)
    for row in tx.configurations(gone):
        tx.update_schedule(row.ref, pruned_before=max(row.pruned_before, gone[row.ref]))
        tx.remove_gaps(row.ref, gone[row.ref])
        tx.remove_past_specs(row.ref, gone[row.ref])
    return page[-1][0]
