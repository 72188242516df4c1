"""What may leave the books: final runs that are old and have many newer ones, and workers long gone."""

from typing import TYPE_CHECKING

from foliot.domain.runs import FINAL
from tests.simulation.audit import Change, Row

if TYPE_CHECKING:
    from tests.simulation.judge import Judge

_LAW = "nothing is forgotten"


def judge_removal(judge: "Judge", now: int, change: Change, before: dict[int, list[int]]) -> None:
    """Something was deleted. `before` are the nominal times of each schedule's runs when the transaction began."""
    row, cutoff = change.row, now - judge.settings.keep_for
    match change.table:
        case "runs":
            why = _why_a_run_stays(judge, row, cutoff, before[row["schedule_ref"]])
            judge.story.counts["pruned"] += 1
        case "workers":
            is_gone = row["lease_until"] is None and (row["stopped_at"] or row["seen_at"]) < cutoff
            why = None if is_gone else "it may be there"
        case "gaps":
            pruned_before = judge.shadow.schedules[row["schedule_ref"]]["pruned_before"]
            why = None if row["last_at"] < pruned_before else "it is not older than what was removed"
        case _:
            why = "such things stay"
    if why is not None:
        judge.accuse(_LAW, f"{change.table} {row} was deleted, but {why}")


def _why_a_run_stays(judge: "Judge", row: Row, cutoff: int, nominals: list[int]) -> str | None:
    cursor = judge.shadow.cursors[row["schedule_ref"]]
    if row["status"] not in FINAL or row["ended_at"] is None:
        return "it is not over"
    if row["ended_at"] > cutoff:
        return "it is not old"
    if sum(nominal_at >= row["nominal_at"] for nominal_at in nominals) <= judge.settings.keep_runs:
        return f"of {len(nominals)} it is among the newest"
    if row["nominal_at"] > cursor["swept_to"]:
        return "it marks a slot to come"
    return "it is remembered" if row["ref"] in (cursor["last_result"], cursor["last_failure"]) else None
