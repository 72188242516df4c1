import copy
import json
import pickle
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Calendar, Interval, Invalid, Spec
from tests.builders import HARD_ZONES, a_spec, at, said

YEAR_2026 = (at("2026-01-01T00:00:00Z"), at("2026-12-31T23:59:59Z"))


def named(spec: Spec, start: str, end: str) -> list[str]:
    return said(list(spec.compile().between(at(start), at(end))))


def test_several_sources_are_one_set() -> None:
    spec = Spec(
        cron=("0 9 * * *", "0 9,10 * * *"),
        calendars=(Calendar(hour="11"),),
        intervals=(Interval(timedelta(hours=12)),),
        at=(datetime(2026, 5, 1, 9, tzinfo=UTC), datetime(2026, 5, 1, 13, 30, tzinfo=UTC)),
    )
    assert named(spec, "2026-05-01T00:00:01Z", "2026-05-01T23:59:59Z") == [
        "2026-05-01T09:00:00Z",
        "2026-05-01T10:00:00Z",
        "2026-05-01T11:00:00Z",
        "2026-05-01T12:00:00Z",
        "2026-05-01T13:30:00Z",
    ]


class TestCalendars:
    def test_unset_times_are_midnight_and_unset_days_are_every_day(self) -> None:
        assert named(Spec(calendars=(Calendar(),)), "2026-05-01T00:00:00Z", "2026-05-02T23:00:00Z") == [
            "2026-05-01T00:00:00Z",
            "2026-05-02T00:00:00Z",
        ]

    def test_all_fields_are_anded(self) -> None:
        friday_13th = Spec(calendars=(Calendar(day_of_month="13", day_of_week="FRI"),))
        assert named(friday_13th, "2026-01-01T00:00:00Z", "2026-12-31T00:00:00Z") == [
            "2026-02-13T00:00:00Z",
            "2026-03-13T00:00:00Z",
            "2026-11-13T00:00:00Z",
        ]

    def test_a_day_is_excluded_by_its_date(self) -> None:
        spec = Spec(cron=("0 */6 * * *",), exclude=(Calendar(month="12", day_of_month="25"),))
        assert named(spec, "2026-12-24T18:00:00Z", "2026-12-26T00:00:00Z") == [
            "2026-12-24T18:00:00Z",
            "2026-12-26T00:00:00Z",
        ]

    def test_an_exclusion_is_tested_on_the_instant_that_a_gap_shifts_to(self) -> None:
        berlin = Spec(cron=("30 2 * * *",), exclude=(Calendar(hour="3"),), timezone="Europe/Berlin")
        assert named(berlin, "2026-03-28T00:00:00Z", "2026-03-30T12:00:00Z") == [
            "2026-03-28T01:30:00Z",
            "2026-03-30T00:30:00Z",
        ]

    def test_a_time_excluded_on_the_wall_may_be_shifted_to_one_that_is_not(self) -> None:
        berlin = Spec(cron=("30 2 * * *",), exclude=(Calendar(hour="2"),), timezone="Europe/Berlin")
        assert named(berlin, "2025-01-01T00:00:00Z", "2027-01-01T00:00:00Z") == [
            "2025-03-30T01:00:00Z",
            "2026-03-29T01:00:00Z",
        ]

    def test_a_calendar_may_have_its_own_rule_for_clock_changes(self) -> None:
        spec = Spec(calendars=(Calendar(hour="2", minute="30", gap="skip"),), gap="shift", timezone="Europe/Berlin")
        assert named(spec, "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z") == ["2026-03-30T00:30:00Z"]


class TestIntervals:
    def test_an_interval_is_counted_from_the_epoch(self) -> None:
        spec = Spec(intervals=(Interval(timedelta(minutes=90), timedelta(minutes=5, seconds=44)),))
        times = spec.compile()
        assert times.next_after(at("2022-03-23T12:53:02Z")) == at("2022-03-23T13:35:44Z")

    def test_an_interval_may_be_counted_from_the_start(self) -> None:
        start = datetime(2025, 2, 3, 10, tzinfo=UTC)
        spec = Spec(intervals=(Interval(timedelta(days=365), anchor="start"),), start_at=start)
        assert named(spec, "2025-01-01T00:00:00Z", "2027-12-31T00:00:00Z") == [
            "2025-02-03T10:00:00Z",
            "2026-02-03T10:00:00Z",
            "2027-02-03T10:00:00Z",
        ]

    def test_the_first_slot_of_a_long_interval_is_not_lost(self) -> None:
        """Truncating division loses it: 60 years, 57 years into them, is due in 2026."""
        spec = Spec(intervals=(Interval(timedelta(days=60 * 365), timedelta(days=57 * 365)),))
        assert spec.compile().next_after(YEAR_2026[0]) == at("2026-12-18T00:00:00Z")

    def test_exclusions_on_some_days_are_kept_apart_from_those_on_others(self) -> None:
        """Two exclusions, and a day that leaves only midnight: such kinds of day were once mixed up."""
        only_midnight_at_weekends = (Calendar(hour="1-23", day_of_week="SAT,SUN"), Calendar(minute="1-59"))
        times = Spec(intervals=(Interval(timedelta(minutes=15)),), exclude=only_midnight_at_weekends).compile()
        saturday = at("2026-11-14T00:00:00Z")
        days = [times.count_between(saturday + day * 86_400, saturday + (day + 1) * 86_400 - 1) for day in range(3)]
        assert days == [1, 1, 24]

    def test_an_interval_of_its_own_phase_each_day_may_be_joined_by_one_offs_on_every_day(self) -> None:
        one_offs = tuple(datetime(2026, 1, 1, 12, 0, 1, tzinfo=UTC) + timedelta(days=day) for day in range(400))
        times = Spec(intervals=(Interval(timedelta(seconds=99_991)),), at=one_offs).compile()
        start, end = at("2026-01-01T00:00:00Z"), at("2027-02-05T00:00:00Z")
        by_hand = {instant for instant in range(start, end + 1) if instant % 99_991 == 0}
        by_hand |= {int(moment.timestamp()) for moment in one_offs}
        assert times.count_between(start, end) == len([instant for instant in by_hand if start <= instant <= end])

    def test_clock_changes_do_not_touch_intervals(self) -> None:
        spec = Spec(intervals=(Interval(timedelta(hours=1)),), timezone="Europe/Berlin")
        assert spec.compile().count_between(at("2026-10-25T00:00:00Z"), at("2026-10-25T23:59:59Z")) == 24


class TestBounds:
    def test_both_bounds_are_included(self) -> None:
        spec = Spec(
            cron=("0 * * * *",),
            start_at=datetime(2026, 5, 1, 9, tzinfo=UTC),
            end_at=datetime(2026, 5, 1, 11, tzinfo=UTC),
        )
        assert named(spec, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z") == [
            "2026-05-01T09:00:00Z",
            "2026-05-01T10:00:00Z",
            "2026-05-01T11:00:00Z",
        ]

    def test_a_start_within_a_second_begins_after_it(self) -> None:
        spec = Spec(cron=("0 * * * *",), start_at=datetime(2026, 5, 1, 9, 0, 0, 1, tzinfo=UTC))
        assert spec.compile().next_after(YEAR_2026[0]) == at("2026-05-01T10:00:00Z")

    def test_bounds_without_a_zone_are_on_the_wall_of_the_spec(self) -> None:
        spec = Spec(cron=("0 * * * *",), start_at=datetime(2026, 5, 1, 9), timezone="Europe/Berlin")
        assert spec.compile().next_after(YEAR_2026[0]) == at("2026-05-01T07:00:00Z")

    def test_the_ends_of_python_s_time_are_no_bounds(self) -> None:
        for zone in ("UTC", "America/New_York", "Europe/Berlin"):
            for first, last in ((datetime.min, datetime.max), (datetime.min.replace(tzinfo=UTC), None)):
                spec = Spec(cron=("0 9 * * *",), start_at=first, end_at=last, timezone=zone)
                assert spec.canonical() == Spec(cron=("0 9 * * *",), timezone=zone).canonical()
                assert spec.describe() == Spec(cron=("0 9 * * *",), timezone=zone).describe()

    @pytest.mark.parametrize("bound", [{"start_at": datetime(2200, 1, 1)}, {"end_at": datetime(1960, 1, 1)}])
    def test_bounds_that_leave_nothing_of_our_years_are_refused(self, bound: dict[str, Any]) -> None:
        with pytest.raises(Invalid, match="leave nothing of the years 1970-2199"):
            Spec(cron=("0 9 * * *",), **bound).compile()

    def test_an_end_before_the_start_is_refused(self) -> None:
        with pytest.raises(Invalid, match="end_at must not be before start_at"):
            Spec(cron=("* * * * *",), start_at=datetime(2026, 1, 2), end_at=datetime(2026, 1, 1)).compile()


class TestOneOffs:
    def test_a_one_off_is_an_instant(self) -> None:
        moment = datetime(2026, 5, 1, 9, tzinfo=ZoneInfo("Asia/Tokyo"))
        assert list(Spec(at=(moment,)).compile().between(*YEAR_2026)) == [at("2026-05-01T00:00:00Z")]

    def test_a_one_off_without_a_zone_is_on_the_wall_of_the_spec(self) -> None:
        spec = Spec(at=(datetime(2026, 5, 1, 9),), timezone="Europe/Berlin")
        assert list(spec.compile().between(*YEAR_2026)) == [at("2026-05-01T07:00:00Z")]

    def test_a_one_off_in_a_gap_is_shifted_and_in_a_fold_it_is_the_first(self) -> None:
        spec = Spec(at=(datetime(2026, 3, 29, 2, 30), datetime(2026, 10, 25, 2, 30)), timezone="Europe/Berlin")
        expected = ["2026-03-29T01:00:00Z", "2026-10-25T00:30:00Z"]
        assert said(list(spec.compile().between(*YEAR_2026))) == expected

    def test_a_fraction_of_a_second_is_rounded_up_so_that_it_is_never_early(self) -> None:
        spec = Spec(at=(datetime(2026, 5, 1, 9, 0, 0, 1, tzinfo=UTC),))
        assert list(spec.compile().between(*YEAR_2026)) == [at("2026-05-01T09:00:01Z")]

    def test_an_exclusion_removes_a_one_off_too(self) -> None:
        with pytest.raises(Invalid, match="never matches"):
            Spec(at=(datetime(2026, 5, 1, 9),), exclude=(Calendar(month="5"),)).compile()


class TestZones:
    def test_a_prefix_gives_the_zone(self) -> None:
        spec = Spec(cron=("TZ=Europe/Berlin 0 9 * * *", "CRON_TZ=Europe/Berlin 0 10 * * *"))
        assert spec.compile().next_after(at("2026-07-01T00:00:00Z")) == at("2026-07-01T07:00:00Z")

    def test_a_prefix_may_repeat_the_zone(self) -> None:
        spec = Spec(cron=("TZ=Europe/Berlin 0 9 * * *", "0 10 * * *"), timezone="Europe/Berlin")
        assert spec.canonical()["timezone"] == "Europe/Berlin"

    @pytest.mark.parametrize(
        ("cron", "timezone"),
        [
            (("TZ=Europe/Berlin 0 9 * * *",), "UTC"),
            (("TZ=Europe/Berlin 0 9 * * *", "TZ=Europe/Paris 0 9 * * *"), None),
            (("TZ=Europe/Berlin 0 9 * * *", "0 9 * * *"), None),
        ],
    )
    def test_zones_that_disagree_are_refused(self, cron: tuple[str, ...], timezone: str | None) -> None:
        with pytest.raises(Invalid, match="a spec has one time zone"):
            Spec(cron=cron, timezone=timezone).compile()

    @pytest.mark.parametrize(
        "name", ["Local", "Mars/Olympus", "europe/berlin", "../etc/passwd", "UTC+3", "", "Factory"]
    )
    def test_an_unknown_zone_is_refused(self, name: str) -> None:
        with pytest.raises(Invalid, match="timezone takes an IANA name"):
            Spec(cron=("* * * * *",), timezone=name).compile()

    def test_the_nearest_name_is_suggested(self) -> None:
        with pytest.raises(Invalid, match="did you mean 'Europe/Berlin'"):
            Spec(cron=("* * * * *",), timezone="Europe/Berln").compile()


class TestRefusals:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({}, "got none of them"),
            ({"cron": "* * * * *", "manual": True}, "a manual spec has no moments"),
            ({"cron": "* * * * *", "gap": "jump"}, "gap takes 'auto', 'shift', 'skip', got 'jump'"),
            ({"cron": "* * * * *", "fold": "third"}, "fold takes"),
            ({"cron": "* * * * *", "dialect": "quartz"}, "dialect takes"),
            ({"cron": "* * * * *", "jitter_mode": "before"}, "jitter_mode takes"),
            ({"cron": "* * * * *", "jitter": timedelta(-1)}, "jitter takes"),
            ({"cron": (5,)}, "cron takes str values, got 5"),
            ({"cron": 5}, "cron takes str values, got 5"),
            ({"cron": None}, "cron takes str values, got None"),
            ({"cron": "* * * * *", "exclude": None}, "exclude takes Calendar values, got None"),
            ({"cron": "* * * * *", "exclude": Calendar(gap="jump")}, "gap takes"),
            ({"cron": "* * * * *", "timezone": []}, "timezone takes an IANA name"),
            ({"cron": "0 0 * * fr\u0131#2"}, "cron field 'day_of_week' takes"),
            ({"intervals": Interval(timedelta.max)}, "takes whole seconds"),
            ({"cron": "* * * * *", "timezone": 5}, "timezone takes an IANA name"),
            ({"calendars": ({"hour": 5},)}, "calendars takes Calendar values"),
            ({"calendars": Calendar(hour="25")}, "calendar field 'hour' takes 0-23"),
            ({"calendars": Calendar(gap="jump")}, "gap takes"),
            ({"cron": "* * * * *", "exclude": Calendar(month="13")}, "exclude field 'month' takes 1-12"),
            ({"at": (date(2026, 5, 1),)}, "at takes datetime values"),
            ({"at": datetime(2300, 1, 1)}, "at takes moments of the years 1970-2199"),
            ({"cron": "* * * * *", "start_at": "now"}, "start_at takes a datetime"),
            ({"intervals": Interval(timedelta(0))}, "takes 1 second or more"),
            ({"intervals": Interval(timedelta(milliseconds=1500))}, "takes whole seconds"),
            ({"intervals": Interval(timedelta(hours=1), timedelta(hours=1))}, "'offset' takes 0 up to"),
            ({"intervals": Interval(timedelta(hours=1), -timedelta(hours=1))}, "'offset' takes 0 up to"),
            ({"intervals": Interval(cast(timedelta, 60))}, "'every' takes a timedelta"),
            ({"intervals": Interval(timedelta(hours=1), anchor="start")}, "takes a spec with start_at"),
            ({"intervals": Interval(timedelta(hours=1), anchor="end")}, "anchor takes"),
        ],
    )
    def test_a_wrong_spec_is_refused_with_what_is_wrong(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(Invalid) as refusal:
            Spec(**wrong).compile()
        assert message in str(refusal.value)

    @pytest.mark.parametrize(
        ("never", "message"),
        [
            ({"cron": "0 0 30 2 *"}, "field 'day_of_month' takes 1-29 when field 'month' is '2', got '30'"),
            ({"cron": "0 0 31 4,6,9,11 *"}, "takes 1-30"),
            ({"calendars": Calendar(day_of_month="29", month="2", year="2100")}, "never matches"),
            ({"cron": "* * * * *", "exclude": Calendar()}, "once its exclusions are taken out"),
            ({"cron": "0 12 * * *", "exclude": tuple(Calendar(hour=str(h)) for h in range(24))}, "never matches"),
            ({"cron": "0 0 9 * * * 2026", "start_at": datetime(2027, 1, 1)}, "never matches from 2027"),
            (
                {
                    "calendars": Calendar(hour="2", minute="30", day_of_month="29", month="3", year="2026"),
                    "gap": "skip",
                    "timezone": "Europe/Berlin",
                },
                "never matches",
            ),
            (
                {
                    "intervals": Interval(timedelta(hours=7), timedelta(minutes=30)),
                    "exclude": Calendar(minute="30"),
                    "timezone": "America/New_York",
                },
                "never matches",
            ),
        ],
    )
    def test_a_spec_that_names_no_moment_is_refused(self, never: dict[str, Any], message: str) -> None:
        with pytest.raises(Invalid) as refusal:
            Spec(**never).compile()
        assert message in str(refusal.value)

    def test_a_manual_spec_has_no_moments(self) -> None:
        times = Spec(manual=True).compile()
        assert times.next_after(0) is None
        assert times.previous_before(YEAR_2026[1]) is None
        assert list(times.between(*YEAR_2026)) == []


def test_a_single_value_may_stand_for_a_tuple_of_one() -> None:
    assert Spec(cron="0 9 * * *") == Spec(cron=("0 9 * * *",))
    assert (
        Spec(calendars=[Calendar(hour="9")])
        == Spec(calendars=(Calendar(hour="9"),))
        == Spec(calendars=Calendar(hour="9"))
    )


class TestCanonicalForm:
    def test_cron_becomes_structured_calendars(self) -> None:
        form = Spec(cron=("0 9-17 13 * FRI",), timezone="Europe/Berlin").canonical()
        assert len(form["calendars"]) == 2
        assert {json.dumps(calendar["hour"]) for calendar in form["calendars"]} == {
            '[{"start": 9, "end": 17, "step": 1}]'
        }
        assert form["calendars"][0]["gap"] == "shift"
        assert form["timezone"] == "Europe/Berlin"

    def test_specs_that_mean_the_same_have_the_same_form(self) -> None:
        one = Spec(cron=("0 9 * * MON-FRI", "@hourly"))
        other = Spec(cron=("0 * * * *", "TZ=UTC 0 0 9 ? * 1,2,3,4,5"), timezone="UTC")
        assert one.canonical() == other.canonical()

    def test_an_anchored_interval_becomes_an_offset(self) -> None:
        spec = Spec(intervals=(Interval(timedelta(hours=1), anchor="start"),), start_at=datetime(2026, 1, 1, 0, 20))
        assert spec.canonical()["intervals"] == [{"every": 3600, "offset": 1200}]

    @given(st.sampled_from(HARD_ZONES), st.integers(0, 2**32))
    def test_the_form_makes_a_spec_of_the_same_form_and_the_same_instants(self, zone: str, seed: int) -> None:
        start = at("2026-03-20T00:00:00Z")
        spec, _ = a_spec(Random(seed), zone, (start, start + 30 * 86_400), range(24), seconds=False)
        form = spec.canonical()
        again = Spec.from_canonical(json.dumps(form))
        assert again.canonical() == form
        assert Spec.from_canonical(form) == again
        try:
            expected = list(spec.compile().between(start, start + 10 * 86_400))
        except Invalid:
            return
        assert list(again.compile().between(start, start + 10 * 86_400)) == expected

    @pytest.mark.parametrize("cron", ["0 0 L * *", "0 0 LW,15W * *", "0 0 * * 5#2,5L", "0 0 13 * FRI", "@every 90m/5m"])
    def test_special_days_survive_the_round_trip(self, cron: str) -> None:
        spec = Spec(cron=(cron,), timezone="America/New_York")
        again = Spec.from_canonical(spec.canonical())
        assert again.canonical() == spec.canonical()
        assert list(again.compile().between(*YEAR_2026)) == list(spec.compile().between(*YEAR_2026))

    @pytest.mark.parametrize(
        "form",
        [
            "{",
            "[]",
            "{}",
            Spec(cron=("* * * * *",)).canonical() | {"calendars": [{"hour": "9"}]},
            Spec(cron=("* * * * *",)).canonical() | {"calendars": [{"hour": []}]},
            Spec(cron=("* * * * *",)).canonical() | {"calendars": [{"hours": [{"start": 1, "end": 1}]}]},
            Spec(cron=("* * * * *",)).canonical() | {"calendars": [{"hour": [{"start": "L", "end": 5}]}]},
            Spec(cron=("* * * * *",)).canonical() | {"calendars": [{"hour": [{"start": 10**5000, "end": 5}]}]},
            Spec(cron=("* * * * *",)).canonical() | {"at": [5]},
            Spec(cron=("* * * * *",)).canonical() | {"intervals": [{"every": 1e300, "offset": 0}]},
            Spec(cron=("* * * * *",)).canonical() | {"jitter_us": 10**40},
            Spec(cron=("* * * * *",)).canonical() | {"color": "red"},
            "[" * 200_000,
        ],
    )
    def test_anything_else_is_refused(self, form: Any) -> None:
        with pytest.raises(Invalid) as refusal:
            Spec.from_canonical(form)
        assert len(str(refusal.value)) < 1000


def test_a_spec_is_a_value() -> None:
    spec = Spec(cron=("0 9 * * MON-FRI",), exclude=(Calendar(month="8"),), timezone="Europe/Berlin")
    times = spec.compile()
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert len({spec, copy.copy(spec)}) == 1
    assert pickle.loads(pickle.dumps(times)).next_after(YEAR_2026[0]) == times.next_after(YEAR_2026[0])
