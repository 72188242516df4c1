from datetime import datetime

import pytest

from foliot import Calendar, Spec
from tests.builders import at

NOW = at("2026-11-15T00:00:00Z")


def messages(spec: Spec, code: str, now: int = NOW) -> list[str]:
    return [warning.message for warning in spec.warnings(now) if warning.code == code]


def test_an_ordinary_spec_has_no_warnings() -> None:
    assert Spec(cron=("0 9 * * MON-FRI",), timezone="Europe/Berlin").warnings(NOW) == []
    assert Spec(cron=("*/15 * * * *",), timezone="Europe/Berlin").warnings(NOW) == []
    assert Spec(manual=True).warnings(NOW) == []


@pytest.mark.parametrize(
    "cron",
    ["*/7 * * * *", "0-59/7 * * * *", "*/45 * * * *", "0 */5 * * *", "0 0 */2 * *", "0 0 * */5 *", "0 0 * * */2"],
)
def test_a_step_that_does_not_divide_its_range_is_warned_about(cron: str) -> None:
    assert len(messages(Spec(cron=(cron,)), "uneven_step")) == 1


@pytest.mark.parametrize("cron", ["*/15 * * * *", "3/15 * * * *", "0 */6 * * *", "0-30/7 * * * *", "*/1 * * * *"])
def test_a_step_that_divides_its_range_is_not(cron: str) -> None:
    assert messages(Spec(cron=(cron,)), "uneven_step") == []


def test_an_uneven_step_says_how_long_the_odd_gap_is() -> None:
    (message,) = messages(Spec(cron=("*/45 * * * *",)), "uneven_step")
    assert "after 45 comes 0 again, 15 later" in message


def test_a_step_over_weekdays_goes_round_by_way_of_sunday() -> None:
    (message,) = messages(Spec(cron=("0 0 * * 1/2",)), "uneven_step")
    assert "after 7 comes 1 again, 1 later" in message


def test_both_day_fields_are_warned_about() -> None:
    (message,) = messages(Spec(cron=("0 0 13 * FRI",)), "both_day_fields")
    assert "day_of_month is '13' OR day_of_week is 'FRI'" in message
    assert messages(Spec(calendars=(Calendar(day_of_month="13", day_of_week="FRI"),)), "both_day_fields") == []


def test_a_spec_rarer_than_yearly_is_warned_about() -> None:
    (message,) = messages(Spec(cron=("0 0 29 2 *",)), "rare")
    assert "next 2028-02-29 00:00, then 2032-02-29 00:00" in message
    assert messages(Spec(cron=("0 0 1 1 *",)), "rare") == []
    assert messages(Spec(cron=("0 9 * * *",), start_at=datetime(2029, 1, 1)), "rare") == []


def test_a_spec_without_a_future_is_warned_about() -> None:
    (message,) = messages(Spec(cron=("0 0 9 * * * 2020",)), "exhausted")
    assert "after 2026-11-15 00:00" in message


def test_a_part_that_never_matches_is_warned_about() -> None:
    (message,) = messages(Spec(cron=("0 0 30 2 *", "0 9 * * *")), "never_matches")
    assert "month '2' has at most 29 days" in message


class TestClockChanges:
    def test_times_really_affected_in_the_next_24_months_are_warned_about(self) -> None:
        assert messages(Spec(cron=("30 2 * * *",), timezone="Europe/Berlin"), "dst") == [
            "On 2027-03-28 02:30 does not exist in Europe/Berlin: it runs at 03:00.",
            "On 2027-10-31 02:30 occurs twice in Europe/Berlin: it runs once, at the first.",
            "On 2028-03-26 02:30 does not exist in Europe/Berlin: it runs at 03:00.",
            "On 2028-10-29 02:30 occurs twice in Europe/Berlin: it runs once, at the first.",
        ]

    def test_the_chosen_rule_is_said(self) -> None:
        skipped = Spec(cron=("30 2 28 3 *",), timezone="Europe/Berlin", gap="skip")
        assert messages(skipped, "dst") == ["On 2027-03-28 02:30 does not exist in Europe/Berlin: skipped."]
        second = Spec(cron=("0,30 2 31 10 *",), timezone="Europe/Berlin", fold="second")
        assert messages(second, "dst") == [
            "On 2027-10-31 02:00, 02:30 occur twice in Europe/Berlin: it runs once, at the second."
        ]

    def test_a_long_list_of_times_is_cut(self) -> None:
        (first, *_) = messages(Spec(cron=("*/5 2 * * *",), timezone="Europe/Berlin"), "dst")
        assert first == "On 2027-03-28 02:00, 02:05, 02:10, 02:15 and 8 more do not exist in Europe/Berlin: skipped."

    def test_days_on_which_it_does_not_fire_do_not_count(self) -> None:
        assert messages(Spec(cron=("30 2 * * MON-FRI",), timezone="Europe/Berlin"), "dst") == []


def test_an_old_zone_name_is_warned_about() -> None:
    spec = Spec(cron=("0 9 * * *",), timezone="US/Eastern")
    assert messages(spec, "deprecated_zone") == ["'US/Eastern' is an old name: use 'America/New_York'."]


@pytest.mark.parametrize(("zone", "where"), [("Etc/GMT+5", "5 h behind UTC"), ("Etc/GMT-3", "3 h ahead of UTC")])
def test_a_fixed_offset_is_warned_about_with_its_real_direction(zone: str, where: str) -> None:
    (message,) = messages(Spec(cron=("0 9 * * *",), timezone=zone), "fixed_offset_zone")
    assert where in message
