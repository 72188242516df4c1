"""What a seed has in store: which faults there are, how often, and how bad they are."""

from random import Random
from typing import NamedTuple

from tests.simulation.shaky import DEATH_AFTER, DEATH_INSIDE, LOST_REPLY, MISHAPS, REFUSED, SLOW_COMMIT

KILL = "killed at an await"
FREEZE = "frozen"
OUTAGE = "outage"
CLOCK_STEP = "database clock step"
SKEW = "worker clock step"
STOP = "graceful stop"
BLOWS = (KILL, FREEZE, OUTAGE, CLOCK_STEP, SKEW, STOP)
"""What happens to a worker, or to all of them, at a moment."""
GATE_AWAY = "gate away"
GATE_BLIND = "gate blind"
LOST_HINT = "lost hint"
ALL_KINDS = (*MISHAPS, *BLOWS, GATE_AWAY, GATE_BLIND, LOST_HINT, SLOW_COMMIT)

FOR_CLIENTS = (REFUSED, LOST_REPLY, DEATH_INSIDE, DEATH_AFTER)
_LONG = 90 * 86400.0


class Weather(NamedTuple):
    """Every seed has a climate of its own: some kinds of faults not at all, others more often."""

    blows: tuple[str, ...]
    between: float
    """Seconds from one blow to the next, on average."""
    mishaps: tuple[str, ...]
    mishap_share: float
    slow_share: float
    slow_for: float
    gate_away_share: float
    lost_hint_share: float
    inline: bool
    """Whether transactions are made on the loop's own thread."""
    most_running: int
    skews: tuple[int, int, int]
    """How far the clocks of the three machines are ahead, in seconds."""
    keep_for: float
    keep_runs: int
    """Final runs are kept for so many seconds, and so many of each schedule."""


def weather_of(seed: int) -> Weather:
    chance = Random(f"{seed} weather")
    is_fine = seed % 25 == 0

    def some(kinds: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(kind for kind in kinds if chance.random() < 0.6)

    return Weather(
        blows=() if is_fine else some(BLOWS),
        between=chance.choice((900.0, 1800.0, 3600.0)),
        mishaps=() if is_fine else some(MISHAPS),
        mishap_share=chance.choice((0.002, 0.01, 0.03)),
        slow_share=0.0 if is_fine else chance.choice((0.0, 0.002, 0.01)),
        slow_for=chance.choice((5.0, 120.0, 900.0)),
        gate_away_share=0.0 if is_fine else chance.choice((0.0, 0.0, 0.02, 0.3)),
        lost_hint_share=0.0 if is_fine else chance.choice((0.0, 0.2, 1.0)),
        inline=chance.random() < 0.3,
        most_running=chance.choice((2, 4, 100)),
        skews=(0, chance.choice((0, 7, -40)), chance.choice((0, -3, 200))),
        keep_for=chance.choice((3600.0, 7200.0, _LONG, _LONG)),
        keep_runs=chance.randint(2, 8),
    )


CALM = Weather(
    (), 1e9, (), 0.0, 0.0, 0.0, 0.0, 0.0, inline=False, most_running=100, skews=(0, 0, 0), keep_for=_LONG, keep_runs=100
)
