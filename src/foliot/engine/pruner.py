"""The pruner: removes final runs that are old, and nothing that the future still rests on."""

from foliot.domain.runs import FINAL
from foliot.engine.settings import EngineSettings
from foliot.ports import Transaction

_AT_ONCE = 1000


def prune(tx: Transaction, settings: EngineSettings, after: int) -> int | None:
    """Look at a page of the oldest runs beyond that key and remove what may go; the next key, None at the end.

    A run may go when it ended long ago and its schedule has many newer ones. Kept for ever: what is open, what the
    next run is handed as last result or failure, and rows of slots still to come.
    """
    cutoff = tx.now - settings.keep_for
    page = tx.prunable(after, cutoff, _AT_ONCE)
    if not page:
        tx.remove_stopped(cutoff)
        tx.remove_requests(cutoff)
        tx.remove_node_states(cutoff)
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
    return page[-1][0]
