"""What happens at clock changes, case by case. `docs/time.md` shows this table; tests run it."""

from typing import NamedTuple


class DstCase(NamedTuple):
    what: str
    zone: str
    cron: str
    day: str
    """The local day looked at."""
    local: tuple[str, ...]
    """The local times at which it fires that day, with their offsets."""
    gap: str = "auto"
    fold: str = "auto"


DST_CASES = (
    DstCase(
        "a time in the gap fires once, right after it", "Europe/Berlin", "30 2 * * *", "2026-03-29", ("03:00 +02:00",)
    ),
    DstCase("… unless told to skip it", "Europe/Berlin", "30 2 * * *", "2026-03-29", (), gap="skip"),
    DstCase("several times in the gap fire once", "Europe/Berlin", "0,20,40 2 * * *", "2026-03-29", ("03:00 +02:00",)),
    DstCase("… and join one that is there anyway", "Europe/Berlin", "0 2,3 * * *", "2026-03-29", ("03:00 +02:00",)),
    DstCase(
        "a starred minute or hour follows elapsed time: nothing is moved",
        "Europe/Berlin",
        "*/30 1-3 * * *",
        "2026-03-29",
        ("01:00 +01:00", "01:30 +01:00", "03:00 +02:00", "03:30 +02:00"),
    ),
    DstCase("… so a lone hour may be gone", "Europe/Berlin", "*/30 2 * * *", "2026-03-29", ()),
    DstCase("a repeated time fires once, at the first", "Europe/Berlin", "30 2 * * *", "2026-10-25", ("02:30 +02:00",)),
    DstCase("… or at the second", "Europe/Berlin", "30 2 * * *", "2026-10-25", ("02:30 +01:00",), fold="second"),
    DstCase("… or at both", "Europe/Berlin", "30 2 * * *", "2026-10-25", ("02:30 +02:00", "02:30 +01:00"), fold="both"),
    DstCase(
        "a starred minute fires in both of the repeated hours",
        "Europe/Berlin",
        "*/30 2 * * *",
        "2026-10-25",
        ("02:00 +02:00", "02:30 +02:00", "02:00 +01:00", "02:30 +01:00"),
    ),
    DstCase("west of Greenwich it is the same", "America/New_York", "30 2 * * *", "2026-03-08", ("03:00 -04:00",)),
    DstCase("… in autumn too", "America/New_York", "30 1 * * *", "2026-11-01", ("01:30 -04:00",)),
    DstCase("a change of half an hour", "Australia/Lord_Howe", "15 2 * * *", "2026-10-04", ("02:30 +11:00",)),
    DstCase("… and back", "Australia/Lord_Howe", "45 1 * * *", "2026-04-05", ("01:45 +11:00",)),
    DstCase("a change at a quarter to", "Pacific/Chatham", "0 3 * * *", "2026-09-27", ("03:45 +13:45",)),
    DstCase("midnight does not exist", "Asia/Beirut", "0 0 * * *", "2026-03-29", ("01:00 +03:00",)),
    DstCase("midnight occurs twice", "America/Havana", "0 0 * * *", "2026-11-01", ("00:00 -04:00",)),
    DstCase("a change of two hours", "Antarctica/Troll", "30 1 * * *", "2026-03-29", ("03:00 +02:00",)),
    DstCase(
        "a change of three hours, at a minute past midnight",
        "Antarctica/Casey",
        "30 0 * * *",
        "2020-10-04",
        ("03:01 +11:00",),
    ),
    DstCase("a new standard time", "America/Caracas", "45 2 * * *", "2016-05-01", ("03:00 -04:00",)),
    DstCase("a whole day does not exist", "Pacific/Apia", "0 12 * * *", "2011-12-30", ()),
    DstCase(
        "… its times fire when it is over", "Pacific/Apia", "0 12 * * *", "2011-12-31", ("00:00 +14:00", "12:00 +14:00")
    ),
    DstCase("summer time suspended for Ramadan", "Africa/Casablanca", "30 2 * * *", "2025-02-23", ("02:30 +01:00",)),
    DstCase("… and resumed", "Africa/Casablanca", "30 2 * * *", "2025-04-06", ("03:00 +01:00",)),
    DstCase(
        "summer is standard time and winter is behind it",
        "Europe/Dublin",
        "30 1 * * *",
        "2026-10-25",
        ("01:30 +01:00",),
    ),
)
