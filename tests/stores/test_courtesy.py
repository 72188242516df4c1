"""A turn of the engine goes first, then who writes, then those who read, one by one; but nobody waits for ever."""

import threading
from collections.abc import Callable

from foliot.courtesy import Courtesy

_LONG = 60.0


def begun(act: Callable[[], None], is_waiting: Callable[[], bool]) -> threading.Thread:
    """A thread that does it, and has come so far that it waits."""
    thread = threading.Thread(target=act)
    thread.start()
    while not is_waiting():
        pass
    return thread


def test_who_reads_lets_a_turn_pass_that_has_begun() -> None:
    courtesy, done = Courtesy(_LONG), list[str]()

    def read() -> None:
        with courtesy.reading():
            done.append("read")

    courtesy.hurry()
    reading = begun(read, courtesy._reading.locked)
    done.append("turned")
    courtesy.rest()
    reading.join(_LONG)
    assert done == ["turned", "read"]


def test_who_reads_does_not_read_beside_another() -> None:
    courtesy, done = Courtesy(_LONG), list[str]()
    arrived = threading.Event()

    def read() -> None:
        arrived.set()
        with courtesy.reading():
            done.append("second")

    with courtesy.reading():
        reading = begun(read, arrived.is_set)
        done.append("first")
    reading.join(_LONG)
    assert done == ["first", "second"]


def test_a_turn_that_takes_long_and_a_read_that_takes_long_are_not_waited_for() -> None:
    courtesy, done = Courtesy(at_most=0, before_a_write=0), list[str]()
    courtesy.hurry()
    with courtesy.reading(), courtesy.reading():
        done.append("read all the same")
    courtesy.let_pass_before_a_write()
    assert done


def test_who_reads_lets_pass_who_writes() -> None:
    courtesy, done = Courtesy(_LONG), list[str]()

    def read() -> None:
        with courtesy.reading():
            done.append("read")

    with courtesy.writing():
        reading = begun(read, courtesy._reading.locked)
        done.append("written")
    reading.join(_LONG)
    assert done == ["written", "read"]
    assert not courtesy.has_waited(), "the engine owes nothing to who has not waited for it"


def test_while_one_of_the_two_goes_first_nobody_else_does() -> None:
    courtesy = Courtesy(_LONG)
    courtesy.hurry()
    with courtesy.writing():
        courtesy.rest()
        assert not courtesy._nobody_is_waited_for.is_set()
        courtesy.hurry()
    assert not courtesy._nobody_is_waited_for.is_set()
    courtesy.rest()
    assert courtesy._nobody_is_waited_for.is_set()


def test_who_writes_lets_a_turn_pass() -> None:
    courtesy, done = Courtesy(before_a_write=_LONG), list[str]()
    arrived = threading.Event()

    def write() -> None:
        arrived.set()
        courtesy.let_pass_before_a_write()
        done.append("written")

    courtesy.hurry()
    writing = begun(write, arrived.is_set)
    done.append("turned")
    courtesy.rest()
    writing.join(_LONG)
    assert done == ["turned", "written"]


def test_who_hurried_is_told_once_that_others_have_waited() -> None:
    courtesy = Courtesy(at_most=0, before_a_write=0)
    courtesy.let_pass()
    courtesy.let_pass_before_a_write()
    assert not courtesy.has_waited()

    for wait in (courtesy.let_pass, courtesy.let_pass_before_a_write):
        courtesy.hurry()
        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join(_LONG)
        courtesy.rest()
        assert (courtesy.has_waited(), courtesy.has_waited()) == (True, False)


def test_who_computes_much_lets_a_turn_pass_before_each_part_of_it() -> None:
    courtesy, done = Courtesy(_LONG), list[object]()
    parts = courtesy.politely(range(2))
    done.append(next(parts))

    courtesy.hurry()
    computing = begun(lambda: done.extend(parts), lambda: courtesy._has_waited)
    done.append("turned")
    courtesy.rest()
    computing.join(_LONG)
    assert done == [0, "turned", 1]


def test_who_goes_first_does_not_wait_for_itself() -> None:
    courtesy = Courtesy(_LONG)
    with courtesy.writing():
        assert list(courtesy.politely("ab")) == ["a", "b"]
    courtesy.hurry()
    assert list(courtesy.politely("ab")) == ["a", "b"]
    assert not courtesy.has_waited()
