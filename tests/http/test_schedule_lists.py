"""Lists of schedules over HTTP: filtered, in every order, page by page, and to each only what is theirs."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from foliot.services import schedule_lists
from foliot.testing import World
from tests.diet import on_both_every_day
from tests.http.clients import People

pytestmark = on_both_every_day

URL = "/api/v1/schedules"


def a_wish(name: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "target": "digest", "cron": "0 9 * * *", **options}


def made(client: TestClient, *wishes: dict[str, Any]) -> None:
    answer = client.post(f"{URL}/bulk", json={"items": wishes})
    assert answer.status_code == 201, answer.text


def ids(client: TestClient, **query: Any) -> list[str]:
    """All pages of it, one after the other."""
    found: list[str] = []
    after = None
    while True:
        page = client.get(URL, params=query | ({} if after is None else {"after": after}))
        assert page.status_code == 200, page.text
        found += [one["id"] for one in page.json()["items"]]
        after = page.json()["next"]
        if after is None:
            return found


def test_a_list_shows_a_schedule_as_it_is_but_for_what_may_be_long(people: People) -> None:
    made(people.ann, a_wish("digest", input={"x": 1}, memo="why", labels={"team": "mail"}))
    (shown,) = people.ann.get(URL).json()["items"]
    whole = people.ann.get(f"{URL}/digest").json()
    assert shown == {name: value for name, value in whole.items() if name not in ("input", "memo")}


def test_each_sees_their_own_and_an_admin_sees_all_or_those_of_one(people: People) -> None:
    made(people.ann, a_wish("anns"))
    made(people.bob, a_wish("bobs"))
    for sort in ("id", "name", "next"):
        assert (ids(people.ann, sort=sort), ids(people.bob, sort=sort)) == (["anns"], ["bobs"])
        assert sorted(ids(people.root, sort=sort)) == ["anns", "bobs"]
        assert ids(people.root, owner="ann", sort=sort) == ["anns"]
    assert ids(people.ann, owner="ann") == ["anns"]
    assert people.ann.get(URL, params={"owner": "bob"}).status_code == 403


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"q": "DIG"}, ["digest", "digging"]),
    ({"q": "große"}, ["groe-sachen"]),
    ({"q": "Große S"}, ["groe-sachen"]),
    ({"q": "%"}, []),
    ({"q": "_"}, []),
    ({"q": "\\"}, []),
    ({"target": "python:digest"}, ["digest", "digging", "done", "groe-sachen", "idle", "manual"]),
    ({"target": "digest", "q": "di"}, ["digest", "digging"]),
    ({"target": "other"}, ["else"]),
    ({"label": "team=mail"}, ["digest", "digging"]),
    ({"label": ["team=mail", "env=a=b"]}, ["digging"]),
    ({"label": "team="}, []),
    ({"standing": "paused"}, ["idle"]),
    ({"standing": "completed"}, ["done"]),
    ({"standing": "active", "target": "digest"}, ["digest", "digging", "groe-sachen", "manual"]),
    ({"needs_attention": "true"}, []),
    ({"needs_attention": "false", "q": "digest"}, ["digest"]),
    ({"set": "ours"}, ["declared"]),
    ({"app": "ours"}, ["declared"]),
    ({"app": "theirs"}, []),
]


@pytest.fixture
def several(world: World, people: People) -> People:
    """Schedules of every standing, a minute after noon."""
    made(
        people.ann,
        a_wish("digest", labels={"team": "mail"}),
        a_wish("digging", labels={"team": "mail", "env": "a=b"}, cron="0 8 * * *"),
        a_wish("Große Sachen", cron="0 0 1 1 *"),
        a_wish("idle"),
        a_wish("manual", manual=True, cron=None),
        a_wish("done", cron=None, at="2026-11-15T12:00:01Z"),
        a_wish("else", target="python:other"),
        a_wish("gone"),
    )
    people.ann.delete(f"{URL}/gone")
    people.ann.post(f"{URL}/idle/pause", json={"until": "2026-11-16T00:00:00Z"})
    declared = {"set": "ours", "schedules": [a_wish("declared", target="third", cron="0 7 * * *")]}
    people.ann.post(f"{URL}/apply", json=declared)
    world.advance("1m")
    return people


def test_a_filter_leaves_those_for_which_all_of_it_holds(several: People) -> None:
    for query, expected in FILTERS:
        assert ids(several.ann, **query) == expected, query
        assert ids(several.root, limit=1, **query) == expected, query
        assert sorted(ids(several.root, sort="next", limit=2, **query)) == expected, query


def test_each_standing_is_found_by_the_word_that_is_shown(several: People) -> None:
    shown = {one["id"]: one["standing"] for one in several.ann.get(URL).json()["items"]}
    for standing in ("active", "paused", "completed"):
        assert ids(several.ann, standing=standing) == sorted(one for one, word in shown.items() if word == standing)


NEXT = ["declared", "digging", "digest", "else", "groe-sachen"]
IDLE = ["idle", "manual", "done"]


def test_what_fires_next_comes_first_and_what_does_not_comes_last_however_long_the_pages(several: People) -> None:
    for client in (several.ann, several.root):
        for limit in (1, 2, 3, 200):
            found = ids(client, sort="next", limit=limit)
            assert found == NEXT + IDLE
    shown = several.ann.get(URL, params={"sort": "next"}).json()["items"]
    assert [one["next_at"] is None for one in shown] == [False] * 5 + [True] * 3


def test_by_name_large_letters_stand_by_themselves_and_pages_follow_on_each_other(several: People) -> None:
    by_name = ids(several.ann, sort="name")
    assert sorted(by_name) == sorted(NEXT + IDLE)
    for client in (several.ann, several.root):
        assert ids(client, sort="name", limit=1) == by_name


def test_who_looks_for_what_is_rare_looks_at_a_few_at_a_time_and_finds_it(
    several: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule_lists, "LOOKED_AT", 2)
    monkeypatch.setattr(schedule_lists, "FEW", 1)
    for sort, expected in (("id", sorted(NEXT + IDLE)), ("next", NEXT + IDLE)):
        for client in (several.ann, several.root):
            assert ids(client, sort=sort, limit=3) == expected
    for query, found in FILTERS:
        assert sorted(ids(several.ann, sort="next", **query)) == found, query
        assert sorted(ids(several.ann, sort="name", **query)) == found, query


@pytest.mark.parametrize(
    "query",
    [
        {"sort": "luck"},
        {"standing": "deleted"},
        {"label": "team"},
        {"label": ["team=a", "team=b"]},
        {"label": "a b=c"},
        {"q": "\x00"},
        {"after": "x"},
        {"after": "WyJhIl0", "sort": "next"},
        {"target": "no:*"},
        {"limit": 1000},
    ],
    ids=str,
)
def test_a_question_that_nothing_can_answer_is_refused_in_words(people: People, query: dict[str, Any]) -> None:
    refused = people.ann.get(URL, params=query)
    assert (refused.status_code, bool(refused.json()["detail"])) == (422, True)
