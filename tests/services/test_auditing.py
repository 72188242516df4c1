"""The slot audit over a real database: counted, paged, of what the caller sees, beside whoever writes."""

from typing import Any

import pytest

from foliot import Foliot, Invalid, NotFound
from foliot.domain.access import Right, Role, principal_of
from foliot.domain.audit import Fault
from foliot.services import auditing
from foliot.services.auditing import SlotAudit
from foliot.services.desk import Caller
from foliot.stores.transaction import SqlTransaction
from foliot.testing import World
from tests.engine.tampering import check_tampering
from tests.engine.timelines import Failing, Job, a_world, at


def audited(world: World, **wanted: Any) -> SlotAudit:
    return world.app.parts.verbs.audit.slots(**wanted)


def do(world: World, statement: str) -> None:
    world.app.parts.database.write(lambda tx: tx._do(statement))


def test_slots_rows_gaps_attempts_and_others_are_counted(database_url: str) -> None:
    with a_world(Failing(1), database=database_url, every="1m", retry=2, settled=False) as world:
        world.advance_to(at("12:10"))
        world.app.schedules.trigger("job")
        world.kill()
        world.advance_to(at("15:00:30"))
        world.restart()
        world.advance()
        world.app.schedules.pause("job")
        world.advance_to(at("15:10:30"))
        audit = audited(world)
        assert audit.found == 0
        assert (audit.slots, audit.rows + audit.in_gaps) == (180, 180)
        assert audit.in_gaps >= 100
        assert (audit.schedules, audit.attempts, audit.others, audit.unjudged) == (1, 1, 1, 10)
        half = audited(world, since=at("12:06"), until=at("12:10"), schedule="job")
        assert (half.slots, half.rows, half.in_gaps, half.unjudged) == (5, 5, 0, 0)


def test_a_slot_that_was_skipped_ahead_is_counted_with_its_row_before_and_after_its_time(database_url: str) -> None:
    """It was a row more than there were slots, until it was swept, and for ever when an edit took its slot away."""
    with a_world(Job(), database=database_url, every="5m") as world:

        def counts(**wanted: Any) -> tuple[int, int]:
            audit = audited(world, **wanted)
            assert (audit.found, audit.in_gaps) == (0, 0)
            return audit.slots, audit.rows

        world.advance_to(at("12:11"))
        world.app.schedules.skip("job", at("12:30"))
        assert counts() == counts(until=at("12:30")) == (3, 3)
        assert counts(until=at("12:29")) == (2, 2)
        assert (counts(since=at("12:30")), counts(since=at("12:31"))) == ((1, 1), (0, 0))
        world.advance_to(at("12:41"))
        assert (counts(), counts(since=at("12:30"), until=at("12:30"))) == ((8, 8), (1, 1))
        world.app.schedules.skip("job", at("13:00"))
        world.app.schedules.patch("job", every="7m")
        assert counts() == (9, 9)
        world.advance_to(at("13:11"))
        assert counts() == (14, 14)
        world.app.schedules.skip("job", at("13:24"))
        world.app.schedules.pause("job")
        world.advance_to(at("13:26"))
        assert (counts(), audited(world).unjudged) == ((15, 15), 1)
        world.app.schedules.delete("job")
        assert counts() == (15, 15)


def test_whatever_one_row_is_changed_to_just_that_is_found(database_url: str) -> None:
    with a_world(Failing(2), database=database_url, every="1m", retry=3) as world:
        world.advance_to(at("12:10"))
        world.kill()
        world.advance_to(at("15:00:30"))
        world.restart()
        world.advance(minutes=2)
        assert check_tampering(world, most=5) > 15


def test_a_row_that_was_removed_by_hand_is_named(database_url: str) -> None:
    with a_world(Job(), database=database_url, every="5m", covers=False) as world:
        world.advance_to(at("12:30"))
        do(world, "DELETE FROM runs WHERE nominal_at = 1794745200000000")
        (violation,) = audited(world).violations
        assert (violation.schedule, violation.fault, violation.first_at) == ("job", Fault.MISSING, at("12:20"))
        assert violation.sentence == "2026-11-15T12:20:00Z has no row and lies in no gap"
        explained = world.app.schedules.explain("job", at("12:20"))
        assert (explained.verdict, explained.reason) == ("unknown", "not_recorded")
        do(world, "DELETE FROM runs")
        # So that the books are in order again.
        do(world, "UPDATE schedules SET spec_since = (SELECT swept_to FROM cursors)")


def test_a_spec_that_cannot_be_read_here_is_a_violation(database_url: str) -> None:
    with a_world(Job(), database=database_url) as world:
        world.app.schedules.create("job", target="job", cron="0 9 * * *", timezone="Europe/Paris")
        do(world, "UPDATE schedules SET spec = replace(spec, 'Europe/Paris', 'Europe/Lutetia')")
        (violation,) = audited(world).violations
        assert violation.fault is Fault.UNREADABLE
        do(world, "UPDATE schedules SET spec = replace(spec, 'Europe/Lutetia', 'Europe/Paris')")


def test_pages_follow_one_another_and_tell_how_far_they_are(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "_AT_ONCE", 3)
    monkeypatch.setattr(auditing, "_ROWS_AT_ONCE", 4)
    told: list[tuple[int, int]] = []
    with a_world(Job(), database=database_url) as world:
        for number in range(7):
            world.app.schedules.create(f"job-{number}", target="job", every="5m")
        world.app.schedules.delete("job-3")
        world.advance_to(at("12:16"))
        audit = audited(world, progress=lambda done, total: told.append((done, total)))
        assert (audit.schedules, audit.slots, audit.rows, audit.found) == (7, 18, 18, 0)
        assert told == [(3, 7), (6, 7), (7, 7)]


def test_violations_beyond_the_first_thousand_are_counted(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "MOST_LISTED", 2)
    with a_world(Job(), database=database_url, covers=False) as world:
        for number in range(4):
            world.app.schedules.create(f"job-{number}", target="job", every="5m")
        world.advance_to(at("12:11"))
        do(world, "DELETE FROM runs")
        audit = audited(world)
        assert (audit.found, len(audit.violations)) == (8, 2)
        do(world, "UPDATE schedules SET spec_since = (SELECT max(swept_to) FROM cursors)")


def test_everybody_audits_what_is_theirs(database_url: str) -> None:
    with a_world(Job(), database=database_url) as world:
        for user in ("ann", "bob"):
            world.app.schedules.create(f"of-{user}", target="job", every="5m", user=user)
        world.advance_to(at("12:11"))
        ann = world.app.parts.verbs_for(Caller(principal_of("ann", Role.VIEWER, frozenset({Right.READ}))))
        audit = ann.audit.slots()
        assert (audit.schedules, audit.slots, audit.rows) == (1, 2, 2)
        assert ann.audit.slots(schedule="of-ann").slots == 2
        with pytest.raises(NotFound):
            ann.audit.slots(schedule="of-bob")


def test_what_cannot_be_is_refused(database_url: str) -> None:
    app = Foliot(database_url)
    with pytest.raises(Invalid, match="since takes a moment before until"):
        app.parts.verbs.audit.slots(since=at("12:11"), until=at("12:10"))
    app.close()


def test_a_snapshot_sees_one_moment_while_others_write(database_url: str) -> None:
    app = Foliot(database_url)
    app.schedules.create("first", target="job", manual=True)

    def count(tx: SqlTransaction) -> int:
        return tx.count_schedules(None)

    def act(tx: SqlTransaction) -> tuple[int, int, int]:
        before = count(tx)
        app.schedules.create("second", target="job", manual=True)
        return before, count(tx), app.parts.database.read(count)

    assert app.parts.database.snapshot(act) == (1, 1, 2)
    app.close()
