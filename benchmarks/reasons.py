"""Why a figure, or its goal, is not reached, and what would reach it: by its name, or by database and name."""

_LONE = "a lone slot on an idle engine: late, p99"
_TAKE_TURNS = (
    "one process prepares ten thousand schedules while the server waits, and waits while the server writes them; to"
    " prepare the next ones meanwhile, and fewer checks of keys for each row, would reach it"
)
_FOUR_PROCESSES = (
    "two workers and the two server processes that serve them share two cores, so that each waits for the others;"
    " a core for each, or the server on a machine of its own, would reach it"
)
_ONE_SECOND = (
    "all slots of a second are due at its beginning, and the last is as late as it takes to record them all before any"
    " starts; smaller transactions start the first ones sooner, and all of them later"
)
_ALL_OF_A_CORE = (
    "with its gate the engine starts about ten thousand slots a second on one core of this machine, so ten thousand due"
    " each second leave nothing over: it falls behind, and a slot that comes due while the last one of its schedule is"
    " still at work is skipped for overlap, as its policy says; fewer microseconds a slot, or a faster core, would"
    " reach it"
)
_ALL_IN_ONE = (
    "each of these specs is read, checked and compiled, and none of it is shared with another, in the one process that"
    " also writes them; a second process that prepares the next ones meanwhile would reach it"
)
_DEEPER = (
    "it grows a little with every size, as the indexes do and as less of them stays in the caches of a core, and a"
    " hundred slots a second are small batches, which share little; what part each has in it was not measured"
)
_STALLS = (
    "this machine stands still for tens of milliseconds now and then, whatever runs on it, and a hundred slots a second"
    " for ten seconds meet it or do not; cores that are not shared would reach it"
)

_ONE_INTERPRETER = (
    "requests and the engine share one interpreter: beside requests a slot waits for what one of them had begun when"
    " its turn did, and beside the creation of five hundred at once for their transaction, since nobody else writes to"
    " SQLite during it; on PostgreSQL the API may be a process of its own (`foliot serve --no-worker`), which was not"
    " measured"
)

_MOST_OF_IT_HTTP = (
    "a creation takes one or two milliseconds of the one interpreter, most of them in what reads requests, checks them"
    " and writes answers, and the engine needs its part; these cores are shared with others, and the same commit makes"
    " half as many in one hour as in another; cores that are not shared would reach it"
)

_BEHIND_A_TURN = (
    "a read that comes during a turn of the engine lets it pass, and then shares the one interpreter with it: what is"
    " slow by the hour is slow twice; cores that are not shared would reach it"
)

REASONS: dict[str, str] = {
    "200 reads a second beside 500 slots a second at once: p99": _BEHIND_A_TURN,
    "200 reads a second beside 500 slots a second spread: p99": _BEHIND_A_TURN,
    "creation one by one beside 500 slots a second": _MOST_OF_IT_HTTP,
    "500 slots a second spread, beside 200 reads a second: late, p99": _ONE_INTERPRETER,
    "500 slots a second spread, beside 300 creations a second: late, p99": _ONE_INTERPRETER,
    "500 slots a second spread, beside creation of 5,000 a second: late, p99": _ONE_INTERPRETER,
    "500 slots a second at once, beside 200 reads a second: late, p99": _ONE_INTERPRETER,
    "500 slots a second at once, beside 300 creations a second: late, p99": _ONE_INTERPRETER,
    "500 slots a second at once, beside creation of 5,000 a second: late, p99": _ONE_INTERPRETER,
    "throughput, one process": (
        "one process has one core, and a slot takes some 97 microseconds of it, about 12 of them at the gate; the rest"
        " is SQLite and the Python around its statements; what is left to gain is in fewer and wider statements, not in"
        " the rules"
    ),
    "sqlite, share of it on 1,000,000 runs": (
        "the slots of schedules that have a past go to a page of the index each, where without one they fill the last"
        " page together: more to write and to sync (the rate itself is what is wanted of it); an index by time first"
        " would keep them together, and make every list of a schedule's runs slow"
    ),
    "postgresql, share of it on 1,000,000 runs": (
        "the slots of schedules that have a past go to a page of the index each, and each such page is written to the"
        " server's log whole once after a checkpoint; rarer checkpoints would reach it"
    ),
    f"sqlite, {_LONE}": (
        "a run starts when its row is on disk, and the slowest two of two hundred met a slow sync or a stall of the"
        " machine (p50 is what the engine itself takes); a disk and a core that are not shared would reach it"
    ),
    f"postgresql, {_LONE}": (
        "a turn asks the server ten times, one after the other, and each time another process must be given a core;"
        " a turn in fewer questions, by a function on the server, and cores that are not shared would reach it"
    ),
    "creation, specs repeat": _TAKE_TURNS,
    "sqlite, creation, 30,000 that all differ": _ALL_IN_ONE,
    "postgresql, creation, 30,000 that all differ": _TAKE_TURNS,
    "sqlite, 1,000 each second for 10 s: late, p50": _ONE_SECOND,
    "sqlite, 1,000 each second for 10 s: late, p99": _ONE_SECOND,
    "sqlite, 10,000 each second for 10 s: missed": _ALL_OF_A_CORE,
    "sqlite, 10,000 each second for 10 s: late, p99": _ALL_OF_A_CORE,
    "postgresql, 1,000 each second for 10 s: late, p50": _FOUR_PROCESSES,
    "postgresql, 1,000 each second for 10 s: late, p99": _FOUR_PROCESSES,
    "postgresql, 10,000 each second for 10 s: missed": _FOUR_PROCESSES,
    "postgresql, 10,000 each second for 10 s: late, p99": _FOUR_PROCESSES,
    "100,000 slots due at once: share of the ordinary rate": (
        "what is newly due meanwhile is served in between, a little in every turn, which an ordinary backlog does"
        " without; to let it wait for the storm would reach it"
    ),
    "up to 1,000,000 schedules: p50 later than with 1,000, at most": _STALLS,
    "up to 1,000,000 schedules: p99 later than with 1,000, at most": _STALLS,
    "up to 1,000,000 schedules: CPU a due slot, times that with 1,000, at most": _DEEPER,
}
