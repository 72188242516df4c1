import pytest

from foliot import Invalid, Spec
from foliot.domain.clock_changes import Effect
from foliot.services.preview import preview
from tests.builders import at, said


def test_a_preview_has_the_times_after_the_moment_and_what_clock_changes_do() -> None:
    spec = Spec(cron=("30 2 * * *",), timezone="Europe/Berlin", fold="both")
    seen = preview(spec, at("2026-10-25T00:30:00Z"), 2)
    assert said([time.nominal_at for time in seen.times]) == ["2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"]
    assert [time.dst for time in seen.times] == [Effect.SECOND, None]
    assert [time.offset for time in seen.times] == [3600, 3600]


def test_skipped_times_are_those_up_to_the_last_time_shown() -> None:
    spec = Spec(cron=("30 2 * * *",), timezone="Europe/Berlin", gap="skip")
    assert preview(spec, at("2026-03-01T00:00:00Z"), 3).skipped == ()
    assert said(preview(spec, at("2026-03-28T12:00:00Z"), 1).skipped) == ["2026-03-29T02:30:00Z"]


def test_a_spec_without_a_future_has_an_empty_preview() -> None:
    seen = preview(Spec(cron=("0 0 9 * * * 2020",)), at("2026-01-01T00:00:00Z"), 5)
    assert seen.times == ()
    assert [warning.code for warning in seen.warnings] == ["exhausted"]


@pytest.mark.parametrize("count", [0, -1, 10_001])
def test_the_count_is_bounded(count: int) -> None:
    with pytest.raises(Invalid, match="count takes 1-10000"):
        preview(Spec(cron=("0 9 * * *",)), 0, count)
