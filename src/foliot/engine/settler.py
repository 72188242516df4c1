"""The settler: outcomes into the ledger, each under its token, and all that follows from them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.books.configurations import Configurations, Scheduled
from foliot.books.ending import RunEnd, post_end
from foliot.books.entries import Entries
from foliot.books.telling import tell_question
from foliot.domain.runs import Kind, Order, Status
from foliot.domain.schedule import State
from foliot.domain.settlement import BY_ORDER, Outcome
from foliot.ports import Launch, Transaction
from foliot.rows import Finish


class Report(NamedTuple):
    """What became of a run that this worker launched."""

    launch: Launch
    outcome: Outcome
    order: Order | None
    ended_at: int
    reported_at: float
    """On the steady clock."""


class StaleReports(Exception):
    """A token among many was stale: the transaction must be undone and done again with care."""


class Settled(NamedTuple):
    refused: list[Report]
    """Reports that came too late: the run is somebody else's now, or over."""


def settle_all(tx: Transaction, entries: Entries, known: Configurations, reports: Sequence[Report]) -> None:
    """Settle them all, supposing that every token is good; StaleReports when one is not."""
    states = {state.ref: state for state in tx.states({report.launch.schedule_ref for report in reports})}
    finishes = [Finish(report.launch.ref, report.launch.token, report.outcome, ended_at(report)) for report in reports]
    if not tx.finish(finishes):
        raise StaleReports
    configurations: dict[int, Scheduled] = {}
    asking: list[Report] = []
    for report in reports:
        ref = report.launch.schedule_ref
        state = states[ref]
        if report.outcome.question is not None:
            asking.append(report)
        elif _is_plain(report, state):
            states[ref] = state.moved(state.swept_to, state.wake_at, state.running - 1)
            entries.free(states[ref])
        else:
            configurations = configurations or known.of(tx, states.values())
            states[ref] = post_end(tx, entries, configurations[ref], state, end_of(report))
    if asking:
        _settle_asking(tx, entries, configurations or known.of(tx, states.values()), states, asking)
    entries.write(tx)


def _settle_asking(
    tx: Transaction,
    entries: Entries,
    configurations: Mapping[int, Scheduled],
    states: dict[int, State],
    reports: Sequence[Report],
) -> None:
    """Runs that wait to be told something; but one that was asked to stop, and did not hear it, is over."""
    orders = tx.orders_of(report.launch.ref for report in reports)
    for report in reports:
        launch, question, ref = report.launch, report.outcome.question, report.launch.schedule_ref
        if launch.ref in orders:
            outcome = BY_ORDER[orders[launch.ref]]
            tx.conclude(launch.ref, outcome)
            entries.decide(launch.schedule_id, launch, outcome.status, outcome.reason)
            end = end_of(report._replace(outcome=outcome))
            states[ref] = post_end(tx, entries, configurations[ref], states[ref], end)
        elif question is not None:
            entries.ask(launch.schedule_id, launch, launch.token, question)
            tell_question(entries, configurations[ref], launch, question)


def settle_with_care(tx: Transaction, entries: Entries, known: Configurations, reports: Sequence[Report]) -> Settled:
    """Settle those whose token is good; those already recorded, by an answer that was lost, are left as they are."""
    tx.states({report.launch.schedule_ref for report in reports})
    standing = tx.standing(report.launch.ref for report in reports)
    good, refused = [], []
    for report in reports:
        token, status = standing.get(report.launch.ref, (0, Status.CANCELLED))
        if token != report.launch.token or status is Status.PENDING:
            refused.append(report)
        elif status is Status.RUNNING:
            good.append(report)
    if good:
        settle_all(tx, entries, known, good)
    return Settled(refused)


def ended_at(report: Report) -> int | None:
    """When the run ended; one that waits has not."""
    return report.ended_at if report.outcome.question is None else None


def _is_plain(report: Report, state: State) -> bool:
    """Whether a success frees its schedule and changes nothing else: the case that must be fast."""
    return (
        report.outcome.status is Status.SUCCESS
        and report.launch.occupies
        and report.outcome.result is None
        and state.held == 0
        and state.last_result is None
        and state.last_failure is None
    )


def end_of(report: Report) -> RunEnd:
    launch = report.launch
    return RunEnd(
        ref=launch.ref,
        schedule_ref=launch.schedule_ref,
        kind=Kind(launch.kind),
        backfill=launch.backfill,
        nominal_at=launch.nominal_at,
        attempt=launch.attempt,
        occupies=launch.occupies,
        order=report.order,
        input=launch.own_input,
        overlap=launch.overlap,
        outcome=report.outcome,
        was_delivered=launch.token > 1,
    )
