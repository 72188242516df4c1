"""How things are shown to people: which columns, and by which field each is called."""

from foliot.cli.output import Item, View


def _schedule(one: Item) -> Item:
    """For people: when it fires in words, and of its policies those that say something."""
    policies = {name: value for name, value in one["policies"].items() if value is not None}
    first = {name: one[name] for name in ("id", "name")}
    return {**first, "when": one["spec"]["summary"], **one, "spec": one["spec"]["said"], "policies": policies}


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
