"""Where somebody who is told what changes has come to."""

import pytest

from foliot.domain.watching import MOST_OLD, Watched, frame_of, read_token, token_of, watched


def test_a_token_leads_back_to_its_place_and_no_other_text_does() -> None:
    place = watched(5, 100, [7, 3, 101])
    assert place == Watched(5, 100, (3, 7))
    assert read_token(token_of(place)) == place
    for text in ("", "x", "é", "W10", "bnVsbA", token_of(place) * 400, token_of(Watched(-1, 0, ()))):
        assert read_token(text) is None


def test_of_more_open_runs_than_a_token_names_the_others_are_looked_at_again() -> None:
    place = watched(5, 10_000, range(1, 2 * MOST_OLD))
    assert (len(place.olds), place.floor) == (MOST_OLD, MOST_OLD)


@pytest.mark.parametrize("data", ["a\nevent: x", "a\r\rid: 5", "a\r\n\r\ndata: b"])
def test_nothing_in_the_data_of_an_event_is_taken_for_another(data: str) -> None:
    frame = frame_of("run", data, "t")
    assert frame.count("\n\n") == 1
    assert "\r" not in frame
    assert all(line.startswith(("event: run", "data: ", "id: t")) for line in frame.strip().split("\n"))
