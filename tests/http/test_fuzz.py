"""A little of `python -m tests.http.fuzz` every day: some requests of each kind to every operation."""

from foliot import Foliot
from tests.diet import on_sqlite_every_day
from tests.http.fuzz import Fuzzing

EXAMPLES = 2


@on_sqlite_every_day
def test_whatever_is_sent_is_answered_as_the_document_says_and_by_right_only(program: Foliot) -> None:
    fuzzing = Fuzzing(program)
    for operation in fuzzing.operations():
        fuzzing.fuzz(operation, EXAMPLES)
    assert fuzzing.problems == []
    assert fuzzing.counts["requests"] > 10
