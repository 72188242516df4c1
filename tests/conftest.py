"""Zones come from the tzdata package for the oracles too, and hypothesis has two speeds."""

import zoneinfo

from hypothesis import HealthCheck, settings

zoneinfo.reset_tzpath(to=[])

settings.register_profile(
    "quick", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("quick")
