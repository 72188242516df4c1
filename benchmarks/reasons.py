"""Why a figure is not reached, and what would reach it: by the figure's name, or by database and name."""

_LONE = "a lone slot on an idle engine: late, p99"
_TAKE_TURNS = (
    "one process prepares ten thousand schedules while the server waits, and waits while the server writes them; to"
    " prepare the next ones meanwhile, and fewer checks of keys for each row, would reach it"
)
_FOUR_PROCESSES = (
    "two workers and the two server processes that serve them share two cores, so that each waits for the others;"
    " a core for each, or the server on a machine of its own, would reach it"
)

REASONS: dict[str, str] = {
    "sqlite, share of it on 1,000,000 runs": (
        "the slots of schedules that have a past go to a page of the index each, where without one they fill the last"
        " page together: more to write and to sync (the rate itself is what is wanted of it); an index by time first"
        " would keep them together, and make every list of a schedule's runs slow"
    ),
    f"sqlite, {_LONE}": (
        "a run starts when its row is on disk, and the slowest two of two hundred met a slow sync or a stall of the"
        " machine (p50 is what the engine itself takes); a disk and a core that are not shared would reach it"
    ),
    f"postgresql, {_LONE}": (
        "a turn asks the server ten times, one after the other, and each time another process must be given a core;"
        " a turn in fewer questions, by a function on the server, and cores that are not shared would reach it"
    ),
    "postgresql, creation, specs repeat": _TAKE_TURNS,
    "postgresql, creation, 30,000 that all differ": _TAKE_TURNS,
    "postgresql, 1,000 each second for 10 s: late, p50": _FOUR_PROCESSES,
    "postgresql, 1,000 each second for 10 s: late, p99": _FOUR_PROCESSES,
    "postgresql, 10,000 each second for 10 s: missed": _FOUR_PROCESSES,
    "postgresql, 10,000 each second for 10 s: late, p99": _FOUR_PROCESSES,
}
