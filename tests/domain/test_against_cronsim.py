"""Against cronsim, the best Python reading of the Debian rule, around every clock change of ten years in hard zones.

cronsim errs at some odd changes. There the brute force is the judge: it must agree with us, and the class of the
difference must be one of those listed here with its reason.
"""

from collections import Counter
from datetime import UTC, datetime
from random import Random
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

from foliot import Spec
from foliot.domain.zones import load_zone
from tests.builders import HARD_ZONES, RANGES, a_field, at, said
from tests.oracle import PlainCalendar, PlainSpec, WallClock, instants_of

START, END = at("2016-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z")
HOUR = 3600
FIELDS = ("minute", "hour", "day_of_month", "month", "day_of_week")


def an_expression(random: Random, hours: list[int]) -> tuple[str, dict[str, frozenset[int]]]:
    texts, sets = [], {}
    for name in FIELDS:
        # cronsim walks to the next match day by day, so that months and dates are seldom restricted here.
        often_any = name in ("day_of_month", "month", "day_of_week") and random.random() < (
            0.7 if name == "day_of_week" else 0.9
        )
        text, values = (
            ("*", frozenset(RANGES[name])) if often_any else a_field(random, name, hours if name == "hour" else ())
        )
        texts.append(text)
        sets[name] = values
    return " ".join(texts), sets


class PatientCronSim(CronSim):
    """cronsim, given up on when it goes round in circles, as it does in Chatham."""

    patience = 200_000

    def tick(self, seconds: int = 1) -> None:
        self.patience -= 1
        if not self.patience:
            raise RecursionError
        super().tick(seconds)


def by_cronsim(expression: str, zone: str, start: int, end: int) -> list[int]:
    found = []
    try:
        for moment in PatientCronSim(expression, datetime.fromtimestamp(start - 1, UTC).astimezone(ZoneInfo(zone))):
            instant = int(moment.timestamp())
            if instant > end:
                break
            found.append(instant)
    except RecursionError:
        pass
    return found


def by_brute_force(expression: str, sets: dict[str, frozenset[int]], clock: WallClock) -> list[int]:
    minute, hour, day_of_month, _, day_of_week = expression.split()
    elapsed = minute.startswith("*") or hour.startswith("*")
    whole = {"second": frozenset({0}), "year": frozenset(RANGES["year"]), **sets}
    days = [whole]
    if not day_of_month.startswith("*") and not day_of_week.startswith("*"):
        days = [
            whole | {"day_of_week": frozenset(RANGES["day_of_week"])},
            whole | {"day_of_month": frozenset(RANGES["day_of_month"])},
        ]
    gap, fold = ("skip", "both") if elapsed else ("shift", "first")
    return instants_of(PlainSpec(tuple(PlainCalendar(**sets, gap=gap, fold=fold) for sets in days)), clock)


def class_of_difference(expression: str, size: int, wall_minute: int) -> str:
    """What kind of job and of clock change: by how many minutes, and at which minute on the wall."""
    minute, hour, *_ = expression.split()
    job = "wildcard" if minute.startswith("*") or hour.startswith("*") else "fixed"
    if size % 60:
        return f"{job}, not by whole hours"
    if wall_minute % 60:
        return f"{job}, not at a full hour"
    if size > 0 and wall_minute % 1440 == 0:
        return f"{job}, gap at midnight"
    return f"{job}, whole hours at a full hour"


EXPECTED_DIFFERENCES = {
    "wildcard, not by whole hours": "cronsim goes on in steps of an hour from a full hour, and ends up half past",
    "wildcard, not at a full hour": "the same; in Chatham it goes round in circles and never returns",
    "wildcard, gap at midnight": "cronsim begins a day at 00:00, which does not exist, and fires there",
}


@pytest.mark.parametrize("zone", HARD_ZONES)
def test_around_clock_changes_we_agree_with_cronsim_or_the_written_rule_says_why_not(zone: str) -> None:
    table = load_zone(zone)
    random = Random(zone)
    differences: Counter[str] = Counter()
    examples = {}
    compared = 0
    for change in table.changes(START, END):
        before, after = table.offset_at(change - 1), table.offset_at(change)
        start, end = change - 8 * HOUR, change + 8 * HOUR
        hours = [(change + offset + nudge) // HOUR % 24 for offset in (before, after) for nudge in (-HOUR, 0, HOUR)]
        for _ in range(10):
            expression, sets = an_expression(random, hours)
            ours = list(Spec(cron=(expression,), timezone=zone).compile().between(start, end))
            theirs = by_cronsim(expression, zone, start, end)
            compared += len(ours)
            if ours != theirs:
                assert said(ours) == said(by_brute_force(expression, sets, WallClock(zone, start, end, 60))), (
                    expression,
                    zone,
                )
                kind = class_of_difference(expression, (after - before) // 60, (change + before) // 60)
                differences[kind] += 1
                examples[kind] = (expression, said([change]), said(sorted(set(ours) ^ set(theirs)))[:4])
    assert compared > 50 or not table.changes(START, END)
    assert set(differences) <= set(EXPECTED_DIFFERENCES), (differences, examples)
