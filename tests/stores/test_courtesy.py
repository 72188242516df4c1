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

    with courtesy.hurrying():
        reading = begun(read, courtesy._reading.locked)
        done.append("turned")
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
    courtesy, done = Courtesy(at_most=0), list[str]()
    with courtesy.hurrying(), courtesy.reading(), courtesy.reading():
        done.append("read all the same")
    assert done


def test_a_turn_that_fails_lets_others_read() -> None:
    courtesy = Courtesy(_LONG)
    try:
        with courtesy.hurrying():
            raise ValueError
    except ValueError:
        pass
    with courtesy.reading():
        assert courtesy._nobody_hurries.is_set()
