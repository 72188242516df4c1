"""What holds for the registrar's schedules when they do not say, in its words; the settings may say otherwise.

By itself, so that who reads the settings needs nothing of the time core.
"""

from enum import StrEnum
from typing import NamedTuple

from foliot.domain.policies import Policies

_POLICIES = Policies()


class OverlapPolicy(StrEnum):
    """What a schedule may say of slots that are due while a run of it is not over."""

    SKIP = "skip"
    ALLOW = "allow"
    QUEUE = "queue"


class CatchupPolicy(StrEnum):
    """And of those that are found late."""

    NONE = "none"
    FIRE_IMMEDIATELY = "fire_immediately"
    SPREAD = "spread"


class RegistrarDefaults(NamedTuple):
    """What holds when a schedule does not say."""

    overlap_policy: str = OverlapPolicy.SKIP
    catchup_policy: str = CatchupPolicy.NONE
    jitter_ms: int = 0
    lookahead_ms: int = _POLICIES.lookahead // 1000
    """Over how long `spread` lays out."""
    max_catchup_per_tick: int = _POLICIES.cap
