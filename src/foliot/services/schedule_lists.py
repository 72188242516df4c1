"""Lists of schedules, a stretch at a time. Each looks at so many rows at most, however many there are.

By id, the schedules of one owner lie beside each other. By name and by what fires next they do not: those of whoever
has few are looked up and put in order, and for others all are gone through.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.errors import Invalid
from foliot.domain.schedule import Ordering, Standing, State, labels_of, name_of, slug_of, target_said, text_of
from foliot.lines import Walk
from foliot.ports import Transaction
from foliot.rows import ScheduleFilter, ScheduleRow
from foliot.services.desk import Desk
from foliot.services.stretches import Place, Stretch

LOOKED_AT = 5_000
"""So many rows are looked at for one stretch, where a filter leaves out most."""
FEW = 1_000
_TRIES = 3
"""Windows that are looked into, while nothing is found."""
_WALKS = {
    Ordering.ID: (Walk.BY_ID,),
    Ordering.NAME: (Walk.BY_NAME,),
    Ordering.NEXT: (Walk.COMING, Walk.IDLE),
}
LISTED_STANDINGS = (Standing.ACTIVE, Standing.PAUSED, Standing.COMPLETED)
"""What is deleted is not listed."""

Line = tuple[ScheduleRow, State]


class Meant(NamedTuple):
    """Which schedules somebody means, as they say it."""

    text: str | None = None
    ids: Sequence[str] | None = None
    app: str | None = None
    set: str | None = None
    target: str | None = None
    labels: Mapping[str, str] | None = None
    standing: str | None = None
    needs_attention: bool | None = None
    owner: str | None = None


def filter_of(desk: Desk, meant: Meant) -> ScheduleFilter:
    """The same as the database is asked, among those that the caller sees; Invalid where nothing can be meant."""
    seen = desk.principal.seen_owner
    return ScheduleFilter(
        app=None if meant.app is None else name_of("app", meant.app),
        target=None if meant.target is None else target_said(meant.target),
        labels=labels_of(meant.labels),
        owner=seen if meant.owner is None else desk.user(meant.owner),
        ids=None if meant.ids is None else tuple(map(slug_of, meant.ids)),
        text=text_of("q", meant.text) or None,
        declared=None if meant.set is None else name_of("set", meant.set),
        standings=() if meant.standing is None else (standing_said(meant.standing),),
        needs_attention=meant.needs_attention,
    )


def is_everything(desk: Desk, wanted: ScheduleFilter) -> bool:
    """Whether it leaves out none of those that the caller sees, whatever was said."""
    return wanted == filter_of(desk, Meant())


def standing_said(text: str) -> Standing:
    if text not in list(LISTED_STANDINGS):
        raise Invalid(f"standing takes {', '.join(map(repr, map(str, LISTED_STANDINGS)))}, got {text!r}")
    return Standing(text)


def ordering_said(text: str) -> Ordering:
    if text not in list(Ordering):
        raise Invalid(f"sort takes {', '.join(map(repr, map(str, Ordering)))}, got {text!r}")
    return Ordering(text)


def list_lines(
    tx: Transaction, wanted: ScheduleFilter, ordering: Ordering, after: Place | None, limit: int
) -> Stretch[Line]:
    """The next of what is wanted."""
    walks = _WALKS[ordering]
    number, key = _entered(ordering, after)
    few = _few(tx, wanted, ordering)
    found: list[Line] = []
    tries = _TRIES
    while True:
        walk = walks[number]
        end = None if few is not None else tx.key_beyond(walk, wanted.owner, key, LOOKED_AT)
        found += tx.schedule_lines(walk, wanted, key, end, few, limit + 1 - len(found))
        if len(found) > limit:
            row, state = found[limit - 1]
            return Stretch(found[:limit], _place(ordering, row, state))
        if end is not None:
            tries -= 1
            key = end
        elif number + 1 < len(walks):
            number, key = number + 1, None
        else:
            return Stretch(found, None)
        if not tries or (found and end is not None):
            return Stretch(found, _left(ordering, number, key))


def _few(tx: Transaction, wanted: ScheduleFilter, ordering: Ordering) -> list[int] | None:
    """All that are the owner's, where that is quicker than to go through those of everybody."""
    if wanted.owner is None or ordering is Ordering.ID:
        return None
    refs = tx.schedules_of(wanted.owner, FEW + 1)
    return refs if len(refs) <= FEW else None


def _entered(ordering: Ordering, after: Place | None) -> tuple[int, Place | None]:
    """On which walk a place is, and its key there."""
    if after is None or ordering is not Ordering.NEXT:
        return 0, after
    is_idle, wake_at, ref = after
    return (1, (ref,)) if is_idle else (0, (wake_at, ref))


def _place(ordering: Ordering, row: ScheduleRow, state: State) -> Place:
    match ordering:
        case Ordering.ID:
            return (row.id,)
        case Ordering.NAME:
            return (row.name, row.id)
        case Ordering.NEXT:
            is_coming = state.wake_at is not None and state.pause_from is None
            return (0, state.wake_at or 0, row.ref) if is_coming else (1, 0, row.ref)


def _left(ordering: Ordering, number: int, key: Place | None) -> Place:
    """Where it was left, between two schedules or two walks."""
    if ordering is not Ordering.NEXT:
        assert key is not None, "it has gone some way"
        return key
    return (1, 0, *(key or (0,))) if number else (0, *(key or ()))
