"""How things are shown to people: which columns, and by which field each is called."""

from foliot.cli.output import Item, View
from foliot.domain.budgets import Window


def _schedule(one: Item) -> Item:
    """For people: when it fires in words, and of its policies those that say something."""
    policies = {name: value for name, value in one["policies"].items() if value is not None}
    first = {name: one[name] for name in ("id", "name")}
    when = {"when": one["spec"]["summary"]}
    return {**first, **when, **_with_use(one), "spec": one["spec"]["said"], "policies": policies}


def _with_use(one: Item) -> Item:
    """For people: how much of its budget is used, in a line."""
    return {**one, "budget_use": _use_in_words(one["budget_use"])} if "budget_use" in one else one


_SPANS = {Window.HOUR: "hour", Window.DAY: "day", Window.MONTH: "30 days"}


def _use_in_words(use: Item) -> str:
    spent = f"{use['spent']:,} of {use['credits']:,} credits spent in the last {_SPANS[use['per']]}"
    return f"{spent}, {use['reserved']:,} reserved, {use['left']:,} left; {_room_in_words(use)}"


def _room_in_words(use: Item) -> str:
    if use["has_room"]:
        return "there is room"
    return f"room from {use['room_at']}" if use["room_at"] else "nobody can say when there is room"


def _run(one: Item) -> Item:
    """For people: of each attempt what tells it from the others."""
    return {**one, "attempts": [_attempt(attempt) for attempt in one["attempts"]]} if "attempts" in one else one


def _attempt(one: Item) -> Item:
    return {
        "attempt": one["attempt"],
        "status": one["status"],
        "reason": one["reason"] or one["hold"],
        "started": one["started_at"],
        "ended": one["ended_at"],
        "error": _first_line(one),
    }


def _first_line(one: Item) -> str | None:
    return (one["error"] or "").partition("\n")[0] or None


GRANT = View(
    {
        "ID": "id",
        "USER": "user",
        "SCOPES": "scopes",
        "EXPIRES": "expires_at",
        "REVOKED": "revoked_at",
        "BUDGET": "budget",
    },
    details=_with_use,
)
SCHEDULE = View(
    {
        "ID": "id",
        "STANDING": "standing",
        "WHEN": lambda one: one["spec"]["summary"],
        "TARGET": "target",
        "NEXT": "next_at",
        "NOTE": "note",
    },
    details=_schedule,
)
RUN = View(
    {
        "ID": "id",
        "STATUS": "status",
        "REASON": lambda one: one["reason"] or one["hold"],
        "STARTED": "started_at",
        "ENDED": "ended_at",
        "ERROR": _first_line,
    },
    details=_run,
)
BACKFILL = View(
    {
        "ID": "id",
        "SCHEDULE": "schedule",
        "FROM": "start",
        "TO": "end",
        "WHICH": "which",
        "STARTED": "started",
        "RUNNING": "running",
        "ENDED": "ended_at",
    }
)
