"""What an edit does to the times to come."""

import pytest

from foliot.domain.comparison import Comparison, compare
from foliot.domain.spec import Spec

NOON = 1_794_744_000
"""2026-11-15T12:00:00Z, a Sunday."""


def compared(before: Spec, after: Spec, count: int = 20) -> Comparison:
    return compare(before.compile(), after.compile(), NOON, count)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (Spec(cron="0 9 * * *"), Spec(cron="0 9 * * *"), "keeps all of the next 20 times"),
        (Spec(cron="0 9 * * *"), Spec(cron="0 9 * * MON-FRI"), "moves 5 of the next 20 times"),
        (Spec(cron="0 9 * * *"), Spec(cron="0 10 * * *"), "moves 20 of the next 20 times"),
        (Spec(cron="0 9 * * *"), Spec(cron="0 9,18 * * *"), "keeps all of the next 20 times and adds 20 between them"),
        (Spec(cron="0 9 * * *"), Spec(manual=True), "drops all of the next 20 times: nothing is to come any more"),
        (Spec(manual=True), Spec(cron="0 9 * * *"), "nothing was to come, and 20 times are now"),
        (Spec(manual=True), Spec(manual=True), "nothing was to come"),
        (Spec(cron="0 0 9 1 1 * 2027"), Spec(cron="0 0 9 1 1 * 2027"), "keeps the next time"),
    ],
)
def test_an_edit_is_told_in_a_sentence(before: Spec, after: Spec, sentence: str) -> None:
    assert compared(before, after).sentence == sentence


def test_what_is_kept_and_moved_adds_up_to_what_was_to_come() -> None:
    found = compared(Spec(cron="*/10 * * * *"), Spec(cron="*/15 * * * *"), 6)
    assert (found.kept, found.moved, found.added) == (2, 4, 2)
    assert [instant - NOON for instant in found.after[:2]] == [900, 1800]


def test_what_is_added_is_counted_up_to_the_last_of_the_times_that_were_to_come() -> None:
    found = compared(Spec(cron="0 9 * * *"), Spec(cron="0 10 * * *"))
    assert (found.kept, found.moved, found.added) == (0, 20, 19)
