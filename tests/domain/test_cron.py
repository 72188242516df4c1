from datetime import timedelta

import pytest

from foliot import Invalid
from foliot.domain.calendar import Reading
from foliot.domain.cron import Every, read_cron
from foliot.domain.fields import Dialect


def reading(text: str, dialect: Dialect = Dialect.CRON) -> Reading:
    moments = read_cron(text, dialect).moments
    assert isinstance(moments, Reading)
    return moments


def test_five_fields_begin_with_the_minute() -> None:
    read = reading("5 4 3 2 1")
    assert [field.text for field in read.fields] == ["0", "5", "4", "3", "2", "*", "1"]


def test_six_fields_begin_with_the_second() -> None:
    assert [field.text for field in reading("6 5 4 3 2 1").fields] == ["6", "5", "4", "3", "2", "*", "1"]


def test_seven_fields_end_with_the_year() -> None:
    assert [field.text for field in reading("6 5 4 3 2 1 2030").fields] == ["6", "5", "4", "3", "2", "2030", "1"]


def test_any_white_space_separates_fields() -> None:
    assert reading("  5\t4  3 2 1 ").fields == reading("5 4 3 2 1").fields


@pytest.mark.parametrize(
    ("text", "either"),
    [
        ("0 0 13 * FRI", True),
        ("0 0 1-31 * FRI", True),
        ("0 0 * * FRI", False),
        ("0 0 */2 * FRI", False),
        ("0 0 13 * *", False),
        ("0 0 13 * */2", False),
        ("0 0 13 * ?", False),
        ("0 0 ? * FRI", False),
        ("0 0 13,* * FRI", True),
    ],
)
def test_both_day_fields_are_ored_only_when_neither_begins_with_a_star(text: str, either: bool) -> None:
    assert reading(text).either_day is either


@pytest.mark.parametrize(
    ("macro", "text"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
        ("@Daily", "0 0 * * *"),
    ],
)
def test_a_macro_stands_for_its_fields(macro: str, text: str) -> None:
    assert reading(macro).fields == reading(text).fields


@pytest.mark.parametrize(
    ("text", "period", "offset"),
    [
        ("@every 90m", timedelta(minutes=90), timedelta()),
        ("@every 1h30m/5m", timedelta(minutes=90), timedelta(minutes=5)),
        ("@every 1.5h", timedelta(minutes=90), timedelta()),
        ("TZ=Europe/Berlin @every 2d", timedelta(days=2), timedelta()),
    ],
)
def test_every_is_an_interval(text: str, period: timedelta, offset: timedelta) -> None:
    assert read_cron(text).moments == Every(period, offset)


@pytest.mark.parametrize("prefix", ["TZ=", "CRON_TZ="])
def test_a_prefix_names_the_zone(prefix: str) -> None:
    assert read_cron(f"{prefix}Europe/Berlin 0 9 * * *").zone == "Europe/Berlin"
    assert read_cron("0 9 * * *").zone is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "5, 6 or 7 fields"),
        ("* * * *", "field 'day_of_week' (0-7 or SUN-SAT) is missing"),
        ("* * * * * * * *", "got 8"),
        ("0 25 * * *", "cron field 'hour' takes 0-23, got '25' in '0 25 * * *' (character 3)"),
        ("TZ=UTC 0 25 * * *", "(character 10)"),
        ("TZ= 0 9 * * *", "takes a time zone"),
        ("@reboot", "cron macro takes one of @yearly"),
        ("@every", "takes one duration"),
        ("@everyday 5m", "takes one duration"),
        ("@every 5", "cron macro '@every' takes a duration such as '90s' or '1h30m', got '5'"),
        ("@every 5m/x", "the offset of cron macro '@every' takes a duration"),
        ("@every 1h 30m", "takes one duration"),
        ("*" * 10_001, "at most 10000 characters"),
    ],
)
def test_wrong_text_is_refused_with_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read_cron(text)
    assert message in str(refusal.value)


class TestTemporalDialect:
    def test_six_fields_end_with_the_year(self) -> None:
        read = reading("0 9 * * * 2026", Dialect.TEMPORAL)
        assert (read.second.text, read.hour.text, read.year.text) == ("0", "9", "2026")

    def test_day_fields_are_anded(self) -> None:
        assert not reading("0 0 13 * FRI", Dialect.TEMPORAL).either_day

    def test_a_hash_begins_a_comment(self) -> None:
        read = reading("0 0 * * 5#2", Dialect.TEMPORAL)
        assert read.day_of_week.text == "5"

    def test_a_position_counts_from_the_beginning_of_the_text(self) -> None:
        with pytest.raises(Invalid) as refusal:
            reading("TZ=UTC 0 25 * * * # nightly", Dialect.TEMPORAL)
        assert "(character 10)" in str(refusal.value)
