"""A turn of the engine goes before those who read, and these go one after the other; but nobody waits for ever."""

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


def test_while_a_turn_waits_for_the_disk_others_read() -> None:
    courtesy, done = Courtesy(_LONG), list[str]()

    def read() -> None:
        with courtesy.reading():
            done.append("read")

    courtesy.hurry()
    courtesy.lend()
    reading = threading.Thread(target=read)
    reading.start()
    reading.join(_LONG)
    courtesy.take_back()
    assert done == ["read"]
    assert not courtesy._nobody_needs_it.is_set()


def test_who_writes_lets_a_turn_pass_also_while_that_waits_for_the_disk() -> None:
    courtesy, done = Courtesy(before_a_write=_LONG), list[str]()
    arrived = threading.Event()

    def write() -> None:
        arrived.set()
        courtesy.let_pass_before_a_write()
        done.append("written")

    courtesy.hurry()
    courtesy.lend()
    writing = begun(write, arrived.is_set)
    done.append("turned")
    courtesy.rest()
    writing.join(_LONG)
    assert done == ["turned", "written"]


def test_who_does_not_hurry_lends_nothing() -> None:
    courtesy = Courtesy(_LONG)
    courtesy.hurry()
    lending = threading.Thread(target=courtesy.lend)
    lending.start()
    lending.join(_LONG)
    assert not courtesy._nobody_needs_it.is_set()

    courtesy.rest()
    courtesy.take_back()
    assert courtesy._nobody_needs_it.is_set()


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


def test_who_hurries_does_not_wait_for_itself() -> None:
    courtesy = Courtesy(_LONG)
    courtesy.hurry()
    assert list(courtesy.politely("ab")) == ["a", "b"]
    assert not courtesy.has_waited()
