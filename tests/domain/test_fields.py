import pytest

from foliot import Invalid
from foliot.domain.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    HOUR,
    MINUTE,
    MONTH,
    YEAR,
    Dialect,
    FieldKind,
    LastDay,
    LastOfWeekday,
    LastWorkday,
    NearestWorkday,
    NthWeekday,
    Source,
    SpecialDay,
    parse_field,
)


def values(kind: FieldKind, text: str, dialect: Dialect = Dialect.CRON) -> list[int]:
    return kind.values(parse_field(kind, text, Source("cron", text), dialect).values)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (HOUR, "*", list(range(24))),
        (HOUR, "9-17", list(range(9, 18))),
        (HOUR, "09", [9]),
        (MINUTE, "5/15", [5, 20, 35, 50]),
        (MINUTE, "5-30/10", [5, 15, 25]),
        (MINUTE, "0-59/20,7", [0, 7, 20, 40]),
        (MINUTE, "*,5", list(range(60))),
        (MINUTE, "*/100", [0]),
        (MONTH, "jan,Feb,MARCH,sept", [1, 2, 3, 9]),
        (MONTH, "may/3", [5, 8, 11]),
        (DAY_OF_WEEK, "7", [0]),
        (DAY_OF_WEEK, "0-7", list(range(7))),
        (DAY_OF_WEEK, "5-7", [0, 5, 6]),
        (DAY_OF_WEEK, "1-7/2", [0, 1, 3, 5]),
        (DAY_OF_WEEK, "1/2", [0, 1, 3, 5]),
        (DAY_OF_WEEK, "MON-FRI", [1, 2, 3, 4, 5]),
        (DAY_OF_WEEK, "FRI-SUN", [0, 5, 6]),
        (DAY_OF_WEEK, "SUN-TUE", [0, 1, 2]),
        (DAY_OF_WEEK, "thurs,Tues", [2, 4]),
        (DAY_OF_WEEK, "?", list(range(7))),
        (DAY_OF_MONTH, "?", list(range(1, 32))),
        (YEAR, "2026-2030/2", [2026, 2028, 2030]),
        (YEAR, "1970,2199", [1970, 2199]),
    ],
)
def test_a_field_means_these_values(kind: FieldKind, text: str, expected: list[int]) -> None:
    assert values(kind, text) == expected


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (DAY_OF_MONTH, "L", (LastDay(0),)),
        (DAY_OF_MONTH, "l-3", (LastDay(3),)),
        (DAY_OF_MONTH, "LW", (LastWorkday(),)),
        (DAY_OF_MONTH, "15W,1w", (NearestWorkday(15), NearestWorkday(1))),
        (DAY_OF_WEEK, "5L", (LastOfWeekday(5),)),
        (DAY_OF_WEEK, "FRIL", (LastOfWeekday(5),)),
        (DAY_OF_WEEK, "7#1", (NthWeekday(0, 1),)),
        (DAY_OF_WEEK, "fri#5", (NthWeekday(5, 5),)),
    ],
)
def test_a_day_field_knows_special_days(kind: FieldKind, text: str, expected: tuple[SpecialDay, ...]) -> None:
    assert parse_field(kind, text, Source("cron", text)).specials == expected


@pytest.mark.parametrize(
    ("kind", "text", "rule"),
    [
        (HOUR, "24", "0-23"),
        (MINUTE, "60", "0-59"),
        (MINUTE, "-1", "0-59"),
        (MINUTE, "", "0-59"),
        (MINUTE, "1,,2", "0-59"),
        (MINUTE, "5-*", "0-59"),
        (MINUTE, "*-5", "0-59"),
        (MINUTE, "1-2-3", "0-59"),
        (MINUTE, "1/2/3", "0-59"),
        (MINUTE, "+5", "0-59"),
        (MINUTE, "1.5", "0-59"),
        (MINUTE, "٣", "0-59"),
        (MINUTE, "1" * 5000, "0-59"),
        (MINUTE, "*/0", "a step of 1 or more"),
        (MINUTE, "*/-1", "0-59"),
        (MINUTE, "*/", "a step of 1 or more"),
        (MINUTE, "*/x", "a step of 1 or more"),
        (MINUTE, "L", "0-59"),
        (MINUTE, "?", "0-59"),
        (HOUR, "18-13", "ranges running forwards"),
        (DAY_OF_WEEK, "FRI-TUE", "ranges running forwards"),
        (DAY_OF_WEEK, "5-0", "ranges running forwards"),
        (DAY_OF_WEEK, "8", "0-7 or SUN-SAT"),
        (DAY_OF_WEEK, "mo", "0-7 or SUN-SAT"),
        (DAY_OF_WEEK, "mondayx", "0-7 or SUN-SAT"),
        (DAY_OF_WEEK, "L", "a weekday before 'L'"),
        (DAY_OF_WEEK, "5#6", "1-5 after '#'"),
        (DAY_OF_WEEK, "5#", "1-5 after '#'"),
        (DAY_OF_WEEK, "15W", "0-7 or SUN-SAT"),
        (DAY_OF_MONTH, "0", "1-31"),
        (DAY_OF_MONTH, "32W", "1-31"),
        (DAY_OF_MONTH, "L-31", "L-0 to L-30"),
        (DAY_OF_MONTH, "W", "1-31"),
        (MONTH, "13", "1-12 or JAN-DEC"),
        (MONTH, "ju", "1-12 or JAN-DEC"),
        (YEAR, "1969", "1970-2199"),
        (YEAR, "2200", "1970-2199"),
    ],
)
def test_a_wrong_item_is_refused_with_the_field_and_its_rule(kind: FieldKind, text: str, rule: str) -> None:
    with pytest.raises(Invalid) as refusal:
        parse_field(kind, text, Source("cron", text))
    assert f"cron field '{kind.name}' takes" in str(refusal.value)
    assert rule in str(refusal.value)


def test_a_refusal_names_the_item_the_whole_text_and_the_position() -> None:
    with pytest.raises(Invalid) as refusal:
        parse_field(HOUR, "9,25", Source("cron", "0 9,25 * * *", 2))
    assert str(refusal.value) == "cron field 'hour' takes 0-23, got '25' in '0 9,25 * * *' (character 5)"


def test_a_very_long_text_is_quoted_in_part() -> None:
    with pytest.raises(Invalid) as refusal:
        parse_field(HOUR, "x" * 9000, Source("cron", "x" * 9000))
    assert len(str(refusal.value)) < 600


def test_temporal_text_knows_names_of_two_letters_and_no_special_days() -> None:
    assert values(DAY_OF_WEEK, "tu,th", Dialect.TEMPORAL) == [2, 4]
    for kind, text in ((DAY_OF_MONTH, "L"), (DAY_OF_MONTH, "15W"), (DAY_OF_WEEK, "5L"), (DAY_OF_WEEK, "?")):
        with pytest.raises(Invalid):
            values(kind, text, Dialect.TEMPORAL)
