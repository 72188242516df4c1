"""A worker's turn goes before those who look, and these go one after the other; but nobody waits for ever."""

import threading
from collections.abc import Callable

from foliot.stores.courtesy import Courtesy

_LONG = 60.0


def begun(act: Callable[[], None], is_waiting: Callable[[], bool]) -> threading.Thread:
    """A thread that does it, and has come so far that it waits."""
    thread = threading.Thread(target=act)
    thread.start()
    while not is_waiting():
        pass
    return thread


def test_who_looks_lets_a_turn_pass_that_has_begun() -> None:
    courtesy, done = Courtesy(_LONG), list[str]()

    def look() -> None:
        with courtesy.looking():
            done.append("looked")

    with courtesy.hurrying():
        looking = begun(look, courtesy._looking.locked)
        done.append("turned")
    looking.join(_LONG)
    assert done == ["turned", "looked"]


def test_who_looks_does_not_look_beside_another() -> None:
    courtesy, done = Courtesy(_LONG), list[str]()
    arrived = threading.Event()

    def look() -> None:
        arrived.set()
        with courtesy.looking():
            done.append("second")

    with courtesy.looking():
        looking = begun(look, arrived.is_set)
        done.append("first")
    looking.join(_LONG)
    assert done == ["first", "second"]


def test_a_turn_that_takes_long_and_a_look_that_takes_long_are_not_waited_for() -> None:
    courtesy, done = Courtesy(at_most=0), list[str]()
    with courtesy.hurrying(), courtesy.looking(), courtesy.looking():
        done.append("looked all the same")
    assert done


def test_a_turn_that_fails_lets_others_look() -> None:
    courtesy = Courtesy(_LONG)
    try:
        with courtesy.hurrying():
            raise ValueError
    except ValueError:
        pass
    with courtesy.looking():
        assert courtesy._nobody_hurries.is_set()
