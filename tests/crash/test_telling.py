"""The checker of what was told finds what it is there to find."""

import pytest

from foliot.domain.signing import SIGNATURE_HEADER, signature_of
from tests.crash.telling import SECRET, Telling, Told, wrongly_told
from tests.executors.receiver import Seen

ASKED = Told(1, "run.waiting", 7, 100, None, 110, 1)
FAILED = Told(2, "run.failed", 8, 101, None, 111, 1)


def received(delivery: str, secret: str = SECRET) -> Seen:
    signature = signature_of(b"{}", secret, 100)
    signed = {SIGNATURE_HEADER.lower(): signature, "foliot-delivery": delivery, "content-length": "2"}
    return Seen("POST", "/hook", signed, b"{}")


ALL = [received("w-1"), received("w-2")]
WELL = Telling("w", 50, [ASKED, FAILED], [(7, 100)])


def test_what_was_told_at_least_once_and_recorded_is_well() -> None:
    assert list(wrongly_told(WELL, ALL)) == []
    assert list(wrongly_told(WELL, [*ALL, received("w-1")])) == []
    assert list(wrongly_told(WELL, [*ALL, received("w-9")._replace(body=b"")])) == []
    assert list(wrongly_told(WELL._replace(told=[FAILED._replace(notice=9, at=40), *WELL.told]), ALL)) == []


@pytest.mark.parametrize(
    ("telling", "seen"),
    [
        pytest.param(WELL, ALL[:1], id="recorded and not received"),
        pytest.param(WELL._replace(told=[ASKED, FAILED._replace(arrived_at=None)]), ALL, id="received, not recorded"),
        pytest.param(WELL._replace(told=[ASKED, FAILED._replace(next_at=200)]), ALL, id="to be sent once more"),
        pytest.param(WELL, [*ALL, received("w-3")], id="never recorded"),
        pytest.param(WELL._replace(asked=[(7, 100), (9, 103)]), ALL, id="no notice of a question"),
        pytest.param(WELL._replace(asked=[]), ALL, id="a notice of no question"),
        pytest.param(WELL, [received("w-1", "somebody else's secret"), ALL[1]], id="signed by somebody else"),
    ],
)
def test_what_is_wrong_is_found(telling: Telling, seen: list[Seen]) -> None:
    assert len(list(wrongly_told(telling, seen))) == 1
