import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import Invalid
from foliot.domain.schedule import json_text, labels_of, relabelled, slug_of, target_of, text_of, user_of
from tests.builders import HOUR, NOON, a_paused_state, a_state


def nested(levels: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(levels - 1):
        deep = [deep]
    return deep


class TestPause:
    def test_a_schedule_that_nobody_paused_is_not_paused(self) -> None:
        assert not a_state().is_paused(NOON)

    def test_a_pause_without_an_end_lasts(self) -> None:
        assert a_paused_state(NOON, None).is_paused(NOON + 10**6 * HOUR)

    def test_a_pause_is_over_at_its_very_end(self) -> None:
        state = a_paused_state(NOON, NOON + HOUR)
        assert state.is_paused(NOON + HOUR - 1)
        assert not state.is_paused(NOON + HOUR)


class TestSlug:
    @pytest.mark.parametrize(
        ("name", "slug"),
        [
            ("digest", "digest"),
            ("Daily Digest", "daily-digest"),
            ("  daily  digest! ", "daily-digest"),
            ("Müller & Söhne", "muller-sohne"),
            ("team/mail:digest~1#2", "team-mail-digest-1-2"),
            ("v1.2_b", "v1.2_b"),
            ("..hidden..", "hidden"),
            ("x" * 100, "x" * 100),
        ],
    )
    def test_an_id_is_a_plain_form_of_the_name(self, name: str, slug: str) -> None:
        assert slug_of(name) == slug

    @pytest.mark.parametrize("name", ["", "  ", None, 5, "日報", "!!", "x" * 101])
    def test_a_name_that_leaves_no_id_is_refused(self, name: Any) -> None:
        with pytest.raises(Invalid, match=r"a schedule takes a (printable )?name"):
            slug_of(name)

    @given(st.text())
    def test_an_id_is_fit_for_a_url_and_a_slot_key_and_is_its_own_id(self, name: str) -> None:
        try:
            slug = slug_of(name)
        except Invalid:
            return
        assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.")
        assert slug_of(slug) == slug


class TestTarget:
    @pytest.mark.parametrize("target", ["python:digest", "http:https://example.org/hook", "dag:a.b-c", "x_1:y"])
    def test_a_target_is_a_provider_and_a_name(self, target: str) -> None:
        assert target_of(target) == target

    @pytest.mark.parametrize(
        "target", ["digest", "python:", ":digest", "Python:x", "python:a b", "python:a#b", "python:" + "x" * 201, None]
    )
    def test_anything_else_is_refused(self, target: Any) -> None:
        with pytest.raises(Invalid, match="a target is provider:name"):
            target_of(target)


class TestLabels:
    def test_labels_are_in_order_whatever_order_they_came_in(self) -> None:
        assert list(labels_of({"team": "mail", "env": "", "a/b": "c"})) == ["a/b", "env", "team"]

    def test_no_labels_are_an_empty_mapping(self) -> None:
        assert labels_of(None) == {}

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (["team"], "labels take a mapping"),
            ({"": "x"}, "a label's name takes"),
            ({"-a": "x"}, "a label's name takes"),
            ({"x" * 64: "x"}, "a label's name takes"),
            ({5: "x"}, "a label's name takes"),
            ({"team": 5}, "label 'team' takes printable text of at most 200 characters, got 5"),
            ({"team": "x" * 201}, "label 'team' takes printable text of at most 200"),
        ],
    )
    def test_anything_else_is_refused_by_name(self, labels: Any, message: str) -> None:
        with pytest.raises(Invalid, match=message):
            labels_of(labels)


class TestJson:
    def test_the_same_value_is_the_same_text(self) -> None:
        assert json_text("input", {"b": 1, "a": [True, None]}) == '{"a":[true,null],"b":1}'
        assert json_text("input", {"a": [True, None], "b": 1}) == '{"a":[true,null],"b":1}'

    def test_nothing_is_no_text(self) -> None:
        assert json_text("input", None) is None

    def test_what_json_cannot_say_is_refused_by_name(self) -> None:
        endless: list[Any] = []
        endless.append(endless)
        for value in ({1, 2}, float("nan"), object(), endless, {"a": 1, 2: 3}):
            with pytest.raises(Invalid, match="input takes what JSON can say"):
                json_text("input", value)

    def test_nesting_without_end_is_refused_by_name(self) -> None:
        with pytest.raises(Invalid, match="input takes what JSON can say"):
            json_text("input", nested(100_000))

    def test_a_value_is_kept_as_deep_as_everybody_can_read_it(self) -> None:
        assert json_text("input", nested(100)) is not None
        with pytest.raises(Invalid, match="input takes JSON of at most 100 levels: make it flatter"):
            json_text("input", nested(101))

    def test_a_value_too_long_is_refused_by_name(self) -> None:
        with pytest.raises(Invalid, match="memo takes at most 1,000,000 characters of JSON, got 1,000,002"):
            json_text("memo", "x" * 1_000_000)

    @pytest.mark.parametrize("letter", ["é", "𝄞", "\ud800"])
    def test_letters_are_counted_and_not_the_escapes_that_they_are_kept_as(self, letter: str) -> None:
        assert json.loads(json_text("memo", letter * 999_998) or "") == letter * 999_998
        with pytest.raises(Invalid, match="got 1,000,001"):
            json_text("memo", letter * 999_999)


class TestRelabelling:
    def test_labels_are_put_there_or_instead_others_go_and_the_rest_stay(self) -> None:
        before = {"env": "test", "owner": "ann", "team": "mail"}
        assert relabelled(before, {"env": "prod", "a": "b"}, ["owner", "none"]) == {
            "a": "b",
            "env": "prod",
            "team": "mail",
        }

    def test_a_schedule_does_not_come_to_more_than_a_hundred_labels(self) -> None:
        many = {f"l{number}": "x" for number in range(100)}
        assert len(relabelled(many, {"l1": "y"}, [])) == 100
        with pytest.raises(Invalid, match="at most 100 labels, and would have 101"):
            relabelled(many, {"new": "x"}, [])

    def test_one_that_has_more_already_may_lose_some(self) -> None:
        many = {f"l{number}": "x" for number in range(120)}
        assert len(relabelled(many, {}, ["l0"])) == 119


class TestTexts:
    @pytest.mark.parametrize("text", ["", "why", "two\nlines", "für später", "日本語"])
    def test_what_people_write_is_kept(self, text: str) -> None:
        assert text_of("note", text) == text

    @pytest.mark.parametrize("text", ["\0", "\udcff", "x" * 1001, "bell\a"])
    def test_what_a_database_cannot_hold_is_refused_by_name(self, text: str) -> None:
        with pytest.raises(Invalid, match="note takes printable text"):
            text_of("note", text)

    @pytest.mark.parametrize("text", ["python:\0", "python:\udcff"])
    def test_a_target_is_printable(self, text: str) -> None:
        with pytest.raises(Invalid, match="provider:name"):
            target_of(text)


class TestUsers:
    @pytest.mark.parametrize("user", [".", "..", "../ann", "acme/."])
    def test_nobody_has_an_id_that_a_path_leaves_out(self, user: str) -> None:
        with pytest.raises(Invalid, match="which a path leaves out"):
            user_of(user)

    def test_dots_among_others_are_letters(self) -> None:
        assert user_of("...") == "..."
        assert user_of("ann.b/c..d") == "ann.b/c..d"
