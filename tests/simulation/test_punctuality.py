"""Who is to blame for lateness, told in small."""

from tests.simulation import weather
from tests.simulation.punctuality import PROMPT, Owed, Punctuality, due_since
from tests.simulation.shaky import REFUSED
from tests.simulation.worker import LOOK

ANYTHING = 1


def two_workers() -> Punctuality:
    workers = Punctuality()
    for name in ("a", "b"):
        workers.begin(name, 0.0, most=1, threads=1)
        workers.watches[name].look(10.0, 10.0)
    return workers


def test_a_worker_that_knew_and_was_well_is_to_blame_after_a_moment() -> None:
    workers = two_workers()
    assert workers.idler(Owed(100.0, 5.0), 100.0 + PROMPT) is None
    assert workers.idler(Owed(100.0, 5.0), 101.0 + PROMPT) is not None


def test_who_has_not_looked_since_has_until_the_next_look() -> None:
    workers = two_workers()
    assert workers.idler(Owed(100.0, 50.0), 100.0 + LOOK) is None
    assert workers.idler(Owed(100.0, 50.0), 101.0 + LOOK + PROMPT) is not None


def test_the_trouble_of_one_is_no_excuse_for_the_other() -> None:
    workers = two_workers()
    workers.suffer(weather.OUTAGE, 90.0, 400.0, "a")
    assert str(workers.idler(Owed(100.0, 5.0), 300.0)).startswith("b ")
    workers.suffer(weather.OUTAGE, 90.0, 400.0, "b")
    assert workers.idler(Owed(100.0, 5.0), 400.0 + PROMPT) is None
    assert workers.idler(Owed(100.0, 5.0), 401.0 + PROMPT) is not None


def test_an_outage_is_one_for_those_who_come_meanwhile() -> None:
    workers = Punctuality()
    workers.suffer(weather.OUTAGE, 90.0, 2000.0, None)
    workers.begin("a", 100.0, most=1, threads=1)
    assert workers.idler(Owed(95.0, 5.0), 2000.0) is None


def test_a_hiccup_excuses_for_a_moment_only() -> None:
    workers = two_workers()
    for name in ("a", "b"):
        workers.suffer(REFUSED, 105.0, 105.0, name)
    assert workers.idler(Owed(100.0, 5.0), 105.0 + PROMPT) is None
    assert workers.idler(Owed(100.0, 5.0), 106.0 + PROMPT) is not None


def test_the_dead_are_not_to_blame() -> None:
    workers = two_workers()
    for name in ("a", "b"):
        workers.suffer(weather.KILL, 101.0, 101.0, name)
    assert workers.idler(Owed(100.0, 5.0), 5000.0) is None


def test_who_has_no_room_cannot_start_but_can_record() -> None:
    workers = two_workers()
    for name in ("a", "b"):
        workers.lease(name, (1, 1), 90.0, is_sync=False)
        workers.release(name, (1, 1), 300.0, by_itself=True)
    assert workers.idler(Owed(100.0, 5.0, ANYTHING), 300.0 + PROMPT) is None
    assert workers.idler(Owed(100.0, 5.0, ANYTHING), 301.0 + PROMPT) is not None
    assert workers.idler(Owed(100.0, 5.0), 300.0) is not None


def test_a_thread_that_was_given_up_on_is_no_room_for_what_needs_one() -> None:
    workers = two_workers()
    for name in ("a", "b"):
        workers.lease(name, (1, 1), 90.0, is_sync=True)
        workers.in_thread(name, (1, 1), 500.0)
        workers.release(name, (1, 1), 95.0, by_itself=True)
    assert workers.idler(Owed(100.0, 5.0, ANYTHING), 500.0, is_sync=True) is None
    assert workers.idler(Owed(100.0, 5.0, ANYTHING), 500.0, is_sync=False) is not None


def test_what_is_due_is_so_since_the_clock_last_came_to_it() -> None:
    steady = [(0.0, 0)]
    assert due_since(steady, 7_000_000) == 7.0
    back = [(0.0, 0), (10.0, -5_000_000)]
    assert due_since(back, 3_000_000) == 3.0
    assert due_since(back, 7_000_000) == 12.0
    forth = [(0.0, 0), (10.0, 60_000_000)]
    assert due_since(forth, 20_000_000) == 10.0
    assert due_since(forth, 80_000_000) == 20.0


def test_who_was_told_has_no_need_to_look() -> None:
    workers = two_workers()
    workers.hear("b", 50.0)
    assert str(workers.idler(Owed(100.0, 50.0), 101.0 + PROMPT)).startswith("b ")


def test_who_was_told_of_something_else_in_the_same_instant_knows_nothing_of_what_was_written_after_it() -> None:
    workers = two_workers()
    workers.hear("b", 50.0)
    written = workers.moment(50.0)
    assert workers.idler(Owed(100.0, written), 101.0 + PROMPT) is None
    workers.hear("b", 50.0)
    assert str(workers.idler(Owed(100.0, written), 101.0 + PROMPT)).startswith("b ")
