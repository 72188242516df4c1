"""Any text at all is either read or refused with Invalid."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from foliot import Calendar, Invalid, Spec
from foliot.domain.cron import read_every
from tests.fuzz.reading import read_anything

likely = st.text("0123456789*/,-#?LW@ TZ=:abcdefghijklmnopqrstuvwxyzJANFEBMONTUE", max_size=60)
fields = st.one_of(likely, st.text(max_size=20))


@given(st.one_of(likely, st.text(max_size=200)))
def test_any_cron_text_is_read_or_refused(text: str) -> None:
    read_anything(text)


@given(
    st.lists(
        st.sampled_from(["*", "*/7", "0", "59", "L", "LW", "15W", "5#2", "5L", "MON-FRI", "?", "1-5/2", "JAN", "2026"]),
        min_size=4,
        max_size=8,
    )
)
def test_any_row_of_plausible_fields_is_read_or_refused(row: list[str]) -> None:
    read_anything(" ".join(row))


@given(fields, fields, fields)
def test_any_calendar_is_read_or_refused(minute: str, day_of_month: str, day_of_week: str) -> None:
    with suppress(Invalid):
        Spec(calendars=(Calendar(minute=minute, day_of_month=day_of_month, day_of_week=day_of_week),)).canonical()


@given(st.text(max_size=80))
def test_any_duration_is_read_or_refused(text: str) -> None:
    with suppress(Invalid):
        read_every("every", text)


@given(st.text(max_size=80))
def test_any_zone_name_is_known_or_refused(name: str) -> None:
    with suppress(Invalid):
        Spec(cron=("* * * * *",), timezone=name).compile()
