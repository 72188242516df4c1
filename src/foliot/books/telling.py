"""Telling: what happened that somebody outside may want to hear of, written down with what happened."""

from collections.abc import Sequence

from foliot.books.configurations import Scheduled
from foliot.books.entries import Entries
from foliot.domain.admission import Skip
from foliot.domain.generation import Generation
from foliot.domain.notices import of_budget, of_end, of_misses, of_question, tally_of
from foliot.domain.questions import Question
from foliot.domain.runs import Kind, Reason
from foliot.domain.settlement import Memory, Outcome
from foliot.domain.slots import SlotKey
from foliot.ports import Launch
from foliot.rows import RunRow


def tell_end(
    entries: Entries,
    schedule: Scheduled,
    slot: SlotKey,
    run: tuple[int, int],
    outcome: Outcome,
    memory: Memory,
    *,
    had_failed: bool,
) -> None:
    """The last attempt at a slot is over; `run` is its row and the attempt."""
    if entries.has_audience and memory is not Memory.NOTHING:
        ref, attempt = run
        entries.tell(schedule.ref, ref, of_end(slot, attempt, outcome, memory, had_failed=had_failed))


def tell_question(entries: Entries, schedule: Scheduled, run: Launch | RunRow, question: Question) -> None:
    """The run waits to be told something."""
    if entries.has_audience:
        slot = SlotKey(schedule.id, Kind(run.kind), run.nominal_at, run.backfill)
        notice = of_question(slot, run.attempt, question, entries.now + question.expires_in)
        entries.tell(schedule.ref, run.ref, notice)


def tell_generation(entries: Entries, schedule: Scheduled, generation: Generation) -> None:
    """Slots were found that nobody had started in time."""
    if not (generation.missed or generation.gaps) or not entries.has_audience:
        return
    missed = [miss.slot.nominal_at for miss in generation.missed if miss.reason is Reason.MISSED]
    gaps = [(gap.first_at, gap.last_at, gap.size) for gap in generation.gaps if gap.reason is Reason.MISSED]
    tally = tally_of([*((at, at, 1) for at in missed), *gaps])
    if tally is not None:
        entries.tell(schedule.ref, None, of_misses(tally))


def tell_skips(entries: Entries, schedule: Scheduled, refusals_before: int, skips: Sequence[Skip]) -> None:
    """Some of what wanted to start has waited too long, or found a budget spent."""
    if not skips or not entries.has_audience:
        return
    late = [skip.applicant.nominal_at for skip in skips if skip.reason is Reason.MISSED]
    tally = tally_of([(at, at, 1) for at in late])
    if tally is not None:
        entries.tell(schedule.ref, None, of_misses(tally))
    unpaid = [skip.applicant.nominal_at for skip in skips if skip.reason is Reason.OVER_BUDGET]
    tell_unpaid(entries, schedule, refusals_before, unpaid)


def tell_unpaid(entries: Entries, schedule: Scheduled, refusals_before: int, nominals: Sequence[int]) -> None:
    """These were not started, for a budget is spent."""
    tally = tally_of([(at, at, 1) for at in nominals])
    if tally is not None and entries.has_audience:
        entries.tell(schedule.ref, None, of_budget(tally, refusals_before))
