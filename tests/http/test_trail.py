"""The trail of changes, read and verified over the network."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.access import Role
from foliot.domain.trail import Deed, SignedDeed
from foliot.http.paging import cursor_of
from tests.diet import on_both_every_day
from tests.http.clients import People

pytestmark = on_both_every_day


def test_the_trail_is_listed_for_admins_the_newest_first(people: People) -> None:
    for name in ("one", "two", "three"):
        people.ann.post("/api/v1/schedules", json={"name": name, "cron": "0 9 * * *", "target": "python:digest"})
    first = people.root.get("/api/v1/trail", params={"actor": "ann", "limit": 2}).json()
    assert [deed["subject"] for deed in first["items"]] == ["schedule/three", "schedule/two"]
    rest = people.root.get("/api/v1/trail", params={"actor": "ann", "after": first["next"]}).json()
    assert ([deed["subject"] for deed in rest["items"]], rest["next"]) == (["schedule/one"], None)
    of_two = people.root.get("/api/v1/trail", params={"subject": "schedule/two"}).json()["items"]
    assert [(deed["actor"], deed["action"]) for deed in of_two] == [("ann", "schedule.create")]
    assert people.ann.get("/api/v1/trail").status_code == 403


@pytest.mark.parametrize("role", list(Role))
def test_whoever_is_made_a_user_is_in_the_trail_whatever_their_role(people: People, role: str) -> None:
    for _ in range(2):
        people.root.put("/api/v1/users/carl", json={"role": role})
    found = people.root.get("/api/v1/trail", params={"subject": "user/carl"}).json()["items"]
    assert [(deed["actor"], deed["action"], deed["details"]) for deed in found] == [
        ("root", "user.put", {"role": role})
    ]


def test_that_a_program_makes_a_schedule_its_own_is_in_the_trail(people: People, program: Foliot) -> None:
    options: dict[str, Any] = {"target": "python:digest", "cron": "0 9 * * *"}
    program.schedules.upsert("digest", **options)
    for _ in range(2):
        program.schedules.upsert("digest", app="shop", **options)
    found = people.root.get("/api/v1/trail", params={"subject": "schedule/digest"}).json()["items"]
    assert [(deed["action"], deed["details"].get("app")) for deed in found] == [
        ("schedule.adopt", "shop"),
        ("schedule.create", None),
    ]


def test_the_grant_that_a_program_makes_for_itself_is_in_the_trail(people: People, program: Foliot) -> None:
    made = {program.grants.local().id for _ in range(2)}
    (grant,) = made
    found = people.root.get("/api/v1/trail", params={"subject": f"grant/{grant}"}).json()["items"]
    assert [(deed["actor"], deed["action"]) for deed in found] == [("local", "grant.create")]


def test_the_whole_chain_is_verified_in_pages(people: People) -> None:
    for number in range(4):
        people.root.put(f"/api/v1/users/u{number}", json={"role": "viewer"})
    checked, after, hashes = 0, None, []
    while True:
        params = {"limit": 3, **({"after": after} if after else {})}
        page = people.root.get("/api/v1/trail/verify", params=params).json()
        assert page["breaks"] == []
        checked, after = checked + page["checked"], page["next"]
        hashes.append(page["hash"])
        if after is None:
            break
    whole = people.root.get("/api/v1/trail/verify").json()
    assert (checked, hashes[-1], whole["next"]) == (whole["checked"], whole["hash"], None)


def test_an_entry_that_was_changed_by_hand_is_found(people: People, program: Foliot) -> None:
    people.root.put("/api/v1/users/carl", json={"role": "viewer"})
    program.parts.database.write(lambda tx: tx._do("UPDATE trail SET actor = 'bob' WHERE ref = 2"))
    found = people.root.get("/api/v1/trail/verify").json()["breaks"]
    assert found == [{"number": 2, "what": "entry 2 is not as it was written"}]


def append(program: Foliot, count: int) -> None:
    deeds = [SignedDeed(Deed("test", f"test/{number}"), "ann") for number in range(count)]
    program.parts.database.write(lambda tx: tx.append_deeds(deeds))


def test_entries_that_were_taken_from_the_end_are_found_at_once_and_for_good(people: People, program: Foliot) -> None:
    people.client("root")
    append(program, 3)
    last = people.root.get("/api/v1/trail/verify").json()["last"]
    program.parts.database.write(lambda tx: tx._do(f"DELETE FROM trail WHERE ref >= {last - 1}"))
    cut = {"number": last, "what": f"the newest 2 entries, {last - 1} to {last}, are missing"}
    assert people.root.get("/api/v1/trail/verify").json()["breaks"] == [cut]
    append(program, 2)
    gap = {"number": last + 1, "what": f"entry {last - 1} to {last} is missing"}
    assert people.root.get("/api/v1/trail/verify").json()["breaks"] == [gap]


def _carry_out(text: str, tx: Any) -> None:
    tx._do(text)


def test_a_count_of_entries_that_is_behind_is_no_break_and_is_put_right(people: People, program: Foliot) -> None:
    """It once counted transactions, and somebody may have taken it away."""
    people.client("root")
    append(program, 3)
    for wrong in ("UPDATE revisions SET number = 1 WHERE name = 'trail'", "DELETE FROM revisions"):
        program.parts.database.write(partial(_carry_out, wrong))
        assert people.root.get("/api/v1/trail/verify").json()["breaks"] == []
        append(program, 2)
        found = people.root.get("/api/v1/trail/verify").json()
        assert (found["breaks"], program.parts.database.read(lambda tx: tx.newest_written())) == ([], found["last"])


def test_entries_of_many_who_write_at_once_are_counted_each(people: People, program: Foliot) -> None:
    before = people.root.get("/api/v1/trail/verify").json()["last"]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: append(program, 1 + number % 3), range(30)))
        assert people.root.get("/api/v1/trail/verify").json()["breaks"] == []
    found = people.root.get("/api/v1/trail/verify").json()
    assert (found["breaks"], found["last"]) == ([], before + 60)
    assert program.parts.database.read(lambda tx: tx.newest_written()) == found["last"]


def test_a_place_that_is_not_ours_is_refused(people: People) -> None:
    people.root.put("/api/v1/users/carl", json={"role": "viewer"})
    for after in ("x", "%00", cursor_of(5), cursor_of("x", 5)):
        assert people.root.get("/api/v1/trail/verify", params={"after": after}).status_code == 422
