"""Times of day as marks on a grid: one bit per step of `grain` seconds, midnight the lowest."""

from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress

from foliot.domain.durations import DAY, HOUR, MINUTE

_MOST_IN_A_TUPLE = 1440
_FEW = 8


@lru_cache(maxsize=256)
def marked_seconds(hour: int, minute: int, second: int, grain: int) -> int:
    """A day's marks where hour, minute and second match; each is a set of numbers as bits."""
    if grain % MINUTE == 0:
        in_hour = sum((minute >> m & second & 1) << place for place, m in enumerate(range(0, 60, grain // MINUTE)))
    else:
        in_minute = sum((second >> s & 1) << place for place, s in enumerate(range(0, 60, grain)))
        in_hour = _repeated(in_minute, minute, MINUTE // grain)
    return _repeated(in_hour, hour, HOUR // grain)


def _repeated(marks: int, places: int, width: int) -> int:
    """The marks, once for each of the places, which are `width` apart."""
    return sum(marks << place * width for place in range(places.bit_length()) if places >> place & 1)


def every_nth(first: int, step: int, size: int) -> int:
    """Marks at first, first + step, … below size."""
    if step * _FEW > size:
        return sum(1 << place for place in range(first, size, step))
    marks = 1
    width = step
    while width < size:
        marks |= marks << width
        width *= 2
    return marks << first & (1 << size) - 1


def flags(marks: int, size: int) -> bytes:
    """The same, a byte each: 1 where there is a mark."""
    return f"{marks:0{size}b}"[::-1].encode().translate(_DIGITS)


_DIGITS = bytes(digit == ord("1") for digit in range(256))


def seconds_of(marks: int, grain: int) -> Sequence[int]:
    """The marked seconds, ascending, in the form that is quickest to search and small to keep."""
    count = marks.bit_count()
    if count <= _FEW:
        return tuple(place * grain for place in _places(marks))
    if count <= _MOST_IN_A_TUPLE:
        return _tuple_of_seconds(marks, grain)
    first = _lowest(marks)
    step = _lowest(marks & marks - 1) - first
    if marks == every_nth(first, step, first + count * step):
        return range(first * grain, (first + count * step) * grain, step * grain)
    return array("i", compress(range(0, DAY, grain), flags(marks, DAY // grain)))


def _lowest(marks: int) -> int:
    return (marks & -marks).bit_length() - 1


def _places(marks: int) -> Iterable[int]:
    while marks:
        yield _lowest(marks)
        marks &= marks - 1


@lru_cache(maxsize=512)
def _tuple_of_seconds(marks: int, grain: int) -> tuple[int, ...]:
    return tuple(compress(_steps(grain), flags(marks, DAY // grain)))


@lru_cache(maxsize=16)
def _steps(grain: int) -> Sequence[int]:
    # The integers of a tuple are shared by all that is picked from it; a per-second one would be too large to keep.
    return tuple(range(0, DAY, grain)) if grain >= MINUTE else range(0, DAY, grain)
