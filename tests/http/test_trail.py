"""The trail of changes, read and verified over the network."""

from foliot import Foliot
from foliot.http.paging import cursor_of
from tests.http.clients import People


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


def test_a_place_that_is_not_ours_is_refused(people: People) -> None:
    people.root.put("/api/v1/users/carl", json={"role": "viewer"})
    for after in ("x", "%00", cursor_of(5), cursor_of("x", 5)):
        assert people.root.get("/api/v1/trail/verify", params={"after": after}).status_code == 422
