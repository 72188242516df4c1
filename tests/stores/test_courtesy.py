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
