from datetime import datetime, timedelta

import pytest

from foliot import Calendar, Interval, Spec


@pytest.mark.parametrize(
    ("cron", "sentence"),
    [
        ("* * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("3/15 * * * *", "Every 15 minutes from :03"),
        ("*/7 * * * *", "At minutes 0 to 56 by 7 of every hour"),
        ("0 * * * *", "Every hour"),
        ("5 * * * *", "Every hour at :05"),
        ("0 */2 * * *", "Every 2 hours from 00:00"),
        ("0 9 * * MON-FRI", "At 09:00 on Monday to Friday"),
        ("0 9-17 * * *", "Every hour from 09:00 to 17:00"),
        ("*/15 9-17 * * 1-5", "Every 15 minutes from 09:00 to 17:45 on Monday to Friday"),
        ("0,30 8,12 * * *", "At 08:00, 08:30, 12:00 and 12:30 every day"),
        ("3-59/7 1,2,5,9 * * *", "At minutes 3 to 59 by 7 of hours 1, 2, 5 and 9 every day"),
        ("0 0 * * SAT,SUN", "At 00:00 on Saturday and Sunday"),
        ("0 0 13 * FRI", "At 00:00 on the 13th of the month or on Friday"),
        ("0 0 */2 * FRI", "At 00:00 on the 1st to the 31st by 2 of the month when it is Friday"),
        ("0 0 1 1 *", "At 00:00 on the 1st of January"),
        ("0 0 13 6 FRI", "At 00:00 on the 13th of June or on Friday in June"),
        ("0 0 * JAN-MAR,JUL *", "At 00:00 in January to March and July"),
        ("0 0 * * 5#3", "At 00:00 on the 3rd Friday of the month"),
        ("0 0 * * 5L", "At 00:00 on the last Friday of the month"),
        ("0 0 L * *", "At 00:00 on the last day of the month"),
        ("0 0 L-3 * *", "At 00:00 on the day 3 before the last of the month"),
        ("0 0 LW * *", "At 00:00 on the last workday of the month"),
        ("0 0 1,15W * *", "At 00:00 on the 1st and the workday nearest the 15th of the month"),
        ("* * * * * *", "Every second"),
        ("*/10 * * * * *", "Every 10 seconds"),
        ("*/10 * 9 * * *", "Every 10 seconds from 09:00 to 09:59"),
        ("30 0 9 * * *", "At 09:00:30 every day"),
        ("7 * * * * *", "At second 7 of every minute every day"),
        ("5,7 0-30 9,11 * * *", "At seconds 5 and 7 of minutes 0 to 30 of hours 9 and 11 every day"),
        ("*/30 */20 9,11 * * *", "Every 30 seconds of minutes 0, 20 and 40 of hours 9 and 11"),
        ("0 0 9 * * * 2026,2028-2030", "At 09:00 in 2026 and 2028 to 2030"),
        ("@every 90m", "Every 1 h 30 min"),
        ("@EVERY 5401s", "Every 1 h 30 min 1 s"),
        ("@every 90m/5m", "Every 1 h 30 min, shifted by 5 min"),
    ],
)
def test_cron_text_is_said_in_words(cron: str, sentence: str) -> None:
    assert Spec(cron=(cron,)).describe() == f"{sentence} (UTC)"


def test_everything_that_decides_is_in_the_sentence() -> None:
    spec = Spec(
        cron=("0 9 * * *",),
        intervals=(Interval(timedelta(hours=36)),),
        at=(datetime(2026, 12, 25, 9), datetime(2026, 12, 26, 9, 0, 30)),
        exclude=(Calendar(month="12", day_of_month="24"), Calendar(hour="12"), Calendar(hour="3", minute="30")),
        start_at=datetime(2026, 1, 1),
        end_at=datetime(2026, 12, 31),
        jitter=timedelta(seconds=30),
        timezone="Europe/Berlin",
    )
    assert spec.describe() == (
        "At 09:00 every day; every 1 d 12 h; once at 2026-12-25 09:00 and 2026-12-26 09:00:30, "
        "except on the 24th of December and from 12:00 to 12:59 and at 03:30, "
        "from 2026-01-01 00:00, until 2026-12-31 00:00, delayed by up to 30 s (Europe/Berlin)"
    )


def test_many_one_offs_are_counted() -> None:
    spec = Spec(at=tuple(datetime(2026, 1, day) for day in range(1, 11)))
    assert spec.describe() == "At 10 single times from 2026-01-01 00:00 to 2026-01-10 00:00 (UTC)"


def test_jitter_around_is_said_so() -> None:
    spec = Spec(cron=("0 9 * * *",), jitter=timedelta(milliseconds=500), jitter_mode="around")
    assert spec.describe() == "At 09:00 every day, moved by up to 500 ms either way (UTC)"


def test_a_chosen_rule_for_clock_changes_is_said() -> None:
    spec = Spec(cron=("0 2 * * *",), gap="skip", fold="both", jitter=timedelta(microseconds=1500))
    assert spec.describe() == "At 02:00 every day, with gap=skip and fold=both, delayed by up to 1500 µs (UTC)"


def test_a_manual_spec_says_so() -> None:
    assert Spec(manual=True).describe() == "Only when triggered by hand"


def test_an_exclusion_of_everything_says_so() -> None:
    assert Spec(cron=("0 9 * * *",), exclude=(Calendar(),)).describe() == "At 09:00 every day, except always (UTC)"
