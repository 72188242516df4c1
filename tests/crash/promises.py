"""What a verb has acknowledged, holds: whatever died since."""

from collections.abc import Iterator

from tests.crash.evidence import Note
from tests.crash.ledger import OPEN, SECOND, Filling
from tests.crash.story import Facts


def broken_promises(facts: Facts) -> Iterator[str]:
    for note in facts.notes:
        match note.what:
            case "declared":
                yield from _created_again(facts, note)
            case "triggered" | "skipped" | "cancelled" | "retried":
                yield from _not_there(facts, note)
            case "decided":
                yield from _asked_again(facts, note)
            case "filling":
                refs = {filling.ref for filling in facts.story.ledger.fillings}
                if note.keys[0].nominal_at not in refs:
                    yield f"lost: the backfill {note.keys[0]}, though it was acknowledged"
            case "given up":
                cancelled = {filling.ref for filling in facts.story.ledger.fillings if filling.cancelled_at is not None}
                if note.keys[0].nominal_at not in cancelled:
                    yield f"lost: the backfill {note.keys[0]} was cancelled, and that was acknowledged"
            case "created" | "deleted":
                cursor = facts.story.ledger.cursors.get(note.keys[0].schedule)
                if cursor is None or (note.what == "deleted" and cursor.deleted_at is None):
                    yield f"lost: {note.keys[0].schedule} was {note.what}, and that was acknowledged"
    yield from _ran_in_a_pause(facts)
    for filling in facts.story.ledger.fillings:
        yield from _not_filled(facts, filling)


def _created_again(facts: Facts, note: Note) -> Iterator[str]:
    for cursor in facts.cursors.values():
        if cursor.created_at > note.at * SECOND:
            yield f"lost: {cursor.schedule} was acknowledged and is created after that"


def _not_there(facts: Facts, note: Note) -> Iterator[str]:
    key = note.keys[0]
    row = facts.row_of.get(key)
    if not facts.is_known(key):
        return
    if row is None:
        yield f"lost: {key} was {note.what} and that was acknowledged"
    elif note.what == "skipped" and row.status != "skipped":
        yield f"ghost: {row} was skipped by a person"
    elif note.what == "cancelled" and row.status in OPEN:
        yield f"stuck: {row} was cancelled by a person"


def _asked_again(facts: Facts, note: Note) -> Iterator[str]:
    for execution in facts.ran[note.keys[0]]:
        if execution.started > note.at and execution.outcome == "asked":
            yield f"lost: {note.keys[0]} was decided and asks again: {execution}"


def _ran_in_a_pause(facts: Facts) -> Iterator[str]:
    """From the moment that a pause was acknowledged until somebody set out to end it, nothing began of itself."""
    handled = {planned.name for planned in facts.story.plan if planned.is_handled}
    since: float | None = None
    for note in sorted(facts.notes, key=lambda note: note.at):
        if note.what == "paused":
            since = note.at if since is None else since
        elif note.what == "resuming" and since is not None:
            for row in facts.rows:
                of_itself = row.schedule in handled and row.kind == "slot" and since < row.nominal_at / SECOND < note.at
                if of_itself and row.status != "skipped":
                    yield f"ghost: {row} in a pause from {since} to {note.at}"
            since = None


def _not_filled(facts: Facts, filling: Filling) -> Iterator[str]:
    planned = facts.plans[filling.schedule]
    kind = f"backfill {filling.ref}"
    wanted = {second * SECOND for second in range(filling.first, filling.last + 1) if second % planned.every == 0}
    found = [row.nominal_at for row in facts.rows if row.kind == kind and row.attempt == 1]
    # What one that was cancelled had not begun, nobody wants any more.
    for nominal_at in wanted - set(found) if filling.cancelled_at is None else ():
        yield f"lost: the slot {nominal_at} of {filling}"
    if len(found) != len(set(found)):
        yield f"doubled: {filling} has the slots {found}"
    if not wanted.issuperset(found):
        yield f"ghost: {filling} has the slots {found}"
    if filling.running or filling.ended_at is None:
        yield f"stuck: {filling}"
