"""The trail: what was altered, left out or put in is seen."""

from typing import Any

import pytest

from foliot.domain.errors import Invalid
from foliot.domain.trail import BEGINNING, Break, Noted, TrailEntry, against, binding, breaks, cut_off, deed, noted_of


def a_trail(deeds: int) -> list[TrailEntry]:
    entries: list[TrailEntry] = []
    for number in range(1, deeds + 1):
        entry = TrailEntry(number, 1000 + number, "ann", "schedule.pause", "schedule/digest", None, "r1", "::1", "")
        entries.append(entry._replace(hash=binding(entries[-1].hash if entries else BEGINNING, entry)))
    return entries


def test_a_trail_as_it_was_written_has_no_breaks() -> None:
    assert list(breaks(a_trail(5))) == []
    whole = a_trail(5)
    assert list(breaks(whole[3:], whole[2].hash, 3)) == []


@pytest.mark.parametrize("field", ["at", "actor", "action", "subject", "details", "request_id", "address"])
def test_an_entry_that_was_altered_is_found(field: str) -> None:
    trail = a_trail(5)
    other: dict[str, Any] = {field: 7 if field == "at" else "other"}
    trail[2] = trail[2]._replace(**other)
    assert list(breaks(trail)) == [Break(3, "entry 3 is not as it was written")]


def test_an_entry_that_was_taken_out_is_found() -> None:
    trail = a_trail(5)
    assert list(breaks(trail[:2] + trail[3:])) == [Break(4, "entry 3 is missing")]
    assert list(breaks(trail[:1] + trail[4:])) == [Break(5, "entry 2 to 4 is missing")]


def test_an_entry_that_was_altered_with_its_own_hash_breaks_the_next_one() -> None:
    trail = a_trail(5)
    other = trail[2]._replace(actor="eve")
    trail[2] = other._replace(hash=binding(trail[1].hash, other))
    assert list(breaks(trail)) == [Break(4, "entry 4 is not as it was written")]


def test_an_entry_that_was_put_in_is_found_wherever_it_is() -> None:
    trail = a_trail(5)
    eve = trail[0]._replace(actor="eve", hash="5" * 64)
    assert list(breaks([eve._replace(ref=0), *trail])) == [
        Break(0, "entry 0 was put in: none was ever written there"),
    ]
    moved = [entry._replace(ref=entry.ref + 1) for entry in trail[2:]]
    assert [one.ref for one in breaks([*trail[:2], eve._replace(ref=3), *moved])] == [3, 4, 5, 6]
    assert list(breaks([*trail, eve._replace(ref=6)])) == [Break(6, "entry 6 is not as it was written")]


def test_a_noted_entry_shows_that_the_end_was_cut_off_or_all_was_written_anew() -> None:
    noted = Noted(3, "a" * 64)
    assert against(noted, 3, "a" * 64) is None
    assert against(noted, 2, "b" * 64) == Break(3, "entry 3 was noted and is not there: the end was cut off")
    assert against(noted, 3, "b" * 64) == Break(3, "entry 3 is not the one that was noted: all of it was written anew")


def test_an_entry_is_noted_as_its_number_and_its_hash() -> None:
    assert noted_of(f"17:{'a' * 64}") == Noted(17, "a" * 64)
    for text in ("17", f"0:{'a' * 64}", f"17:{'A' * 64}", f"17:{'a' * 63}", f"x:{'a' * 64}"):
        with pytest.raises(Invalid, match="an entry is noted as its number and its hash"):
            noted_of(text)


def test_a_deed_keeps_what_was_said_and_leaves_out_what_was_not() -> None:
    said = deed("schedule.pause", "schedule", "digest", {"note": "freeze", "until": None})
    assert said == ("schedule.pause", "schedule/digest", '{"note":"freeze"}')


def test_a_chain_that_ends_before_what_was_written_says_how_much_is_missing() -> None:
    assert cut_off(12, 12) is None
    # What counts was behind once: that proves nothing.
    assert cut_off(13, 12) is None
    assert cut_off(11, 12) == Break(12, "the newest entry, 12, is missing")
    assert cut_off(0, 12) == Break(12, "the newest 12 entries, 1 to 12, are missing")
