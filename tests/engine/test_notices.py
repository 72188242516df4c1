"""What webhooks are told: each event once, from the table, until it has arrived or is given up."""

import asyncio
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from foliot import Context
from foliot.domain.instants import MICROSECONDS
from foliot.domain.notices import MOST_TRIES, Carried, Event
from foliot.engine.notifier import AT_ONCE, AT_ONCE_TO_ONE
from foliot.engine.settings import EngineSettings
from foliot.services.webhooks import Delivered, Webhook
from foliot.testing import World
from tests.engine.mailbox import ARRIVED, HOOK, REFUSED, SECRET, Mailbox
from tests.engine.timelines import Failing, Job, a_world, at

SLOT = "job:2026-11-15T12:05:00Z"


def hooked(world: World, *events: str, **options: Any) -> Webhook:
    return world.app.webhooks.create(HOOK, events or tuple(Event), secret_env=SECRET, **options)


def test_a_failure_is_told_when_its_last_attempt_is_over_and_the_recovery_when_it_went_well_again(
    database_url: str,
) -> None:
    mailbox = Mailbox()
    with a_world(Failing(2), database=database_url, carrier=mailbox, cron="5 12,13,14 * * *", retry=2) as world:
        webhook = hooked(world)
        world.advance_to(at("15:00"))
        assert mailbox.events == ["run.failed", "run.recovered"]
        failed, recovered = mailbox.told
        assert failed["id"] == f"{webhook.id}-1"
        assert (failed["schedule"], failed["owner"], failed["webhook"]) == ("job", "local", webhook.id)
        assert failed["data"] == {
            "run": f"{SLOT}~2",
            "kind": "slot",
            "scheduled_for": "2026-11-15T12:05:00Z",
            "attempt": 2,
            "reason": "internal",
            "error": "RuntimeError: it broke",
        }
        assert failed["text"] == f"job: {SLOT}~2 failed (internal: RuntimeError: it broke)"
        assert recovered["data"]["run"] == "job:2026-11-15T13:05:00Z~1"
        shown = world.app.webhooks.deliveries(webhook.id)
        assert [(one.event, one.state, one.tries) for one in shown] == [
            ("run.recovered", Delivered.ARRIVED, 1),
            ("run.failed", Delivered.ARRIVED, 1),
        ]


def test_whoever_asks_for_some_events_is_told_of_no_others() -> None:
    mailbox = Mailbox()
    with a_world(Failing(1), carrier=mailbox, cron="5 * * * *") as world:
        hooked(world, "run.recovered")
        world.advance_to(at("15:00"))
        assert mailbox.events == ["run.recovered"]


def test_what_happened_before_somebody_asked_is_not_told(database_url: str) -> None:
    mailbox = Mailbox()
    with a_world(Failing(1), database=database_url, carrier=mailbox, cron="5 12 * * *") as world:
        world.advance_to(at("12:10"))
        first = hooked(world)
        world.advance_to(at("12:20"))
        world.app.webhooks.delete(first.id)
        world.app.schedules.trigger("job")
        world.advance_to(at("12:30"))
        assert mailbox.events == []
        assert world.app.parts.database.read(lambda tx: tx.unaddressed(10)) == [], "nothing is written for nobody"


def test_slots_that_were_missed_in_a_row_are_told_once_with_their_number(database_url: str) -> None:
    mailbox = Mailbox()
    with a_world(Job(), database=database_url, carrier=mailbox, every="1m") as world:
        hooked(world)
        world.advance_to(at("12:10"))
        world.kill()
        world.advance_to(at("18:00:30"))
        world.restart()
        assert mailbox.events == ["run.missed"]
        assert mailbox.told[0]["data"] == {
            "count": 349,
            "first_at": "2026-11-15T12:11:00Z",
            "last_at": "2026-11-15T17:59:00Z",
        }


def test_what_a_pause_kept_back_was_not_missed() -> None:
    mailbox = Mailbox()
    with a_world(Job(), carrier=mailbox, every="1m") as world:
        hooked(world)
        world.app.schedules.pause("job")
        world.advance(hours=1)
        world.app.schedules.resume("job")
        world.advance(minutes=1)
        assert mailbox.events == []


def test_a_spent_budget_is_told_once_until_something_has_started_again(database_url: str) -> None:
    mailbox = Mailbox()

    async def costly(input: Any, ctx: Context) -> None:
        ctx.report_usage("call", cost="0.001")

    budget = {"credits": 20_000, "per": "hour"}
    with a_world(costly, database=database_url, carrier=mailbox, every="10m", budget=budget) as world:
        hooked(world)
        world.advance_to(at("12:55"))
        assert mailbox.events == ["budget.reached"]
        assert mailbox.told[0]["data"] == {
            "reason": "over_budget",
            "count": 1,
            "first_at": "2026-11-15T12:20:00Z",
            "last_at": "2026-11-15T12:20:00Z",
        }
        world.advance_to(at("13:55"))
        assert mailbox.events == ["budget.reached"] * 2, "at 13:10 or so one could start again"


def test_a_run_that_waits_for_a_person_is_told(database_url: str) -> None:
    mailbox = Mailbox()

    async def asking(input: Any, ctx: Context) -> None:
        if ctx.decision is None:
            ctx.ask("approval", who=["ann"], expires_in="1h")

    with a_world(asking, database=database_url, carrier=mailbox, cron="5 12 * * *") as world:
        hooked(world)
        world.advance_to(at("12:06"))
        assert mailbox.events == ["run.waiting"]
        said = mailbox.told[0]["data"]
        assert (said["run"], said["question"], said["who"]) == (f"{SLOT}~1", "approval", ["ann"])
        assert said["expires_at"] == "2026-11-15T13:05:00Z"


def test_what_a_verb_brings_about_is_told_too() -> None:
    """Somebody triggers a schedule whose budget is spent."""
    mailbox = Mailbox()
    with a_world(Job(), carrier=mailbox, manual=True, budget={"credits": 0}) as world:
        hooked(world)
        world.app.schedules.trigger("job")
        world.advance(seconds=1)
        assert mailbox.events == ["budget.reached"]


def test_a_letter_that_does_not_arrive_is_sent_again_later_and_later_and_then_given_up(database_url: str) -> None:
    mailbox = Mailbox(REFUSED)
    with a_world(Failing(), database=database_url, carrier=mailbox, cron="5 12 * * *") as world:
        webhook = hooked(world)
        world.advance(hours=1)
        (pending,) = world.app.webhooks.deliveries(webhook.id)
        assert (pending.state, pending.error) == (Delivered.PENDING, "it answered 500")
        assert pending.next_at is not None
        world.advance(hours=47)
        ids = {told["id"] for told in mailbox.told[:MOST_TRIES]}
        assert (len(ids), len({letter.body for letter in mailbox.letters[:MOST_TRIES]})) == (1, 1)
        waits = [(after - before).total_seconds() for before, after in pairwise(mailbox.times[:MOST_TRIES])]
        for wait, least in zip(waits, (10, 30, 90, 270, 810, 2430, 7290, 21600, 21600, 21600), strict=True):
            assert least - 1 <= wait <= least * 1.1 + 1
        first = world.app.webhooks.deliveries(webhook.id)[-1]
        assert (first.state, first.tries, first.next_at) == (Delivered.GIVEN_UP, MOST_TRIES, None)


def test_a_receiver_that_asks_to_wait_is_left_alone_and_one_that_is_gone_for_ever() -> None:
    mailbox = Mailbox(Carried(503, "it answered 503", 600.0), Carried(410, "it answered 410"))
    with a_world(Failing(), carrier=mailbox, cron="5 12 * * *") as world:
        webhook = hooked(world)
        world.advance(hours=20)
        assert len(mailbox.letters) == 2
        assert mailbox.times[1] - mailbox.times[0] >= timedelta(minutes=10)
        (gone,) = world.app.webhooks.deliveries(webhook.id)
        assert (gone.state, gone.tries, gone.error) == (Delivered.GIVEN_UP, 2, "it answered 410")


def test_what_has_arrived_is_not_sent_again_whoever_starts_again(database_url: str) -> None:
    mailbox = Mailbox()
    with a_world(Failing(), database=database_url, carrier=mailbox, cron="5 12 15 11 *") as world:
        hooked(world)
        world.advance_to(at("12:10"))
        world.kill()
        world.restart()
        world.advance(days=2)
        assert len(mailbox.letters) == 1


def test_whoever_dies_while_it_sends_leaves_it_to_be_sent_again(database_url: str) -> None:
    mailbox = Mailbox(takes=8.0)
    with a_world(Failing(), database=database_url, carrier=mailbox, cron="5 12 15 11 *") as world:
        webhook = hooked(world)
        world.advance_to(at("12:05:05"))
        assert (len(mailbox.letters), mailbox.under_way) == (1, 1)
        world.kill()
        world.restart()
        world.advance(minutes=10)
        assert [told["id"] for told in mailbox.told] == [f"{webhook.id}-1"] * 2
        (told,) = world.app.webhooks.deliveries(webhook.id)
        assert (told.state, told.tries) == (Delivered.ARRIVED, 2)


def test_what_is_under_way_when_a_worker_stops_may_end_or_is_sent_again() -> None:
    mailbox = Mailbox(takes=60.0)
    with a_world(Failing(), carrier=mailbox, cron="5 12 15 11 *") as world:
        webhook = hooked(world)
        world.advance_to(at("12:05:05"))
        world.stop()
        world.advance(seconds=10)
        (told,) = world.app.webhooks.deliveries(webhook.id)
        assert (told.state, told.error) == (Delivered.PENDING, "its sender stopped before an answer came")
        mailbox.takes = 0.0
        world.restart()
        world.advance(minutes=1)
        assert world.app.webhooks.deliveries(webhook.id)[0].state is Delivered.ARRIVED


def test_two_workers_send_each_letter_once(postgresql_server: Any) -> None:
    mailbox = Mailbox(takes=1.0)
    database = postgresql_server.ready_database()
    with a_world(Failing(), database=database, carrier=mailbox, workers=2, every="10s") as world:
        hooked(world)
        world.advance(minutes=10)
        ids = [told["id"] for told in mailbox.told]
        assert len(ids) == len(set(ids)) >= 50


def test_one_slow_receiver_keeps_no_other_waiting_and_what_is_under_way_is_bounded() -> None:
    class Slow(Mailbox):
        async def carry(self, letter: Any) -> Carried:
            if letter.url == HOOK:
                await asyncio.sleep(10.0)
            return await super().carry(letter)

    mailbox = Slow()
    with a_world(Failing(), carrier=mailbox, every="1s", overlap="allow_all") as world:
        slow = hooked(world)
        quick = world.app.webhooks.create("https://quick.test/", secret_env="FOLIOT_WEBHOOK_QUICK")
        world.advance(seconds=40)
        counted = world.app.webhooks.deliveries(quick.id)
        assert sum(one.state is Delivered.ARRIVED for one in counted) >= 38
        arrived = sum(one.state is Delivered.ARRIVED for one in world.app.webhooks.deliveries(slow.id))
        assert arrived == 3 * AT_ONCE_TO_ONE


def test_no_more_letters_are_under_way_at_once_than_a_process_may_have() -> None:
    mailbox = Mailbox(takes=5.0)
    with a_world(Failing(), carrier=mailbox, every="1s") as world:
        for number in range(8):
            world.app.webhooks.create(f"https://hook-{number}.test/", secret_env=SECRET)
        world.advance(seconds=30)
        assert mailbox.most_at_once == AT_ONCE


def test_a_letter_to_a_webhook_that_was_deleted_meanwhile_is_not_sent() -> None:
    mailbox = Mailbox(REFUSED, ARRIVED)
    with a_world(Failing(), carrier=mailbox, cron="5 12 15 11 *") as world:
        webhook = hooked(world)
        world.advance_to(at("12:05:05"))
        world.app.webhooks.delete(webhook.id)
        world.advance(hours=1)
        assert len(mailbox.letters) == 1


def test_an_error_nobody_foresaw_while_it_is_sent_is_a_failed_try() -> None:
    class Broken(Mailbox):
        async def carry(self, letter: Any) -> Carried:
            if not self.letters:
                self.letters.append(letter)
                raise RuntimeError("hunter2")
            return await super().carry(letter)

    mailbox = Broken()
    with a_world(Failing(), carrier=mailbox, cron="5 12 15 11 *") as world:
        webhook = hooked(world)
        world.advance_to(at("12:05:05"))
        assert world.app.webhooks.deliveries(webhook.id)[0].error == "it could not be sent: RuntimeError"
        world.advance(minutes=1)
        assert world.app.webhooks.deliveries(webhook.id)[0].state is Delivered.ARRIVED


def test_old_notices_are_removed_and_their_names_are_not_given_again(database_url: str) -> None:
    mailbox = Mailbox(ARRIVED)
    hour = 3600 * MICROSECONDS
    settings = EngineSettings(keep_for=hour, keep_runs=3, prune_every=hour // 4)
    with a_world(
        Failing(), database=database_url, carrier=mailbox, settings=settings, every="10m", covers=False
    ) as world:
        webhook = hooked(world)
        world.advance(hours=5)
        assert len(mailbox.letters) == 30
        assert len(world.app.webhooks.deliveries(webhook.id)) < 10
        world.app.schedules.pause("job")
        world.advance(hours=5)
        world.app.schedules.resume("job")
        world.advance(hours=1)
        ids = [told["id"] for told in mailbox.told]
        assert len(ids) == len(set(ids)) >= 36


@pytest.mark.parametrize("hears_all", [False, True])
def test_an_owner_is_told_of_their_own_schedules_and_an_admin_who_wants_it_of_everybodys(hears_all: bool) -> None:
    mailbox = Mailbox()
    with a_world(Failing(), carrier=mailbox) as world:
        world.app.schedules.create("anns", target="python:job", every="1h", user="ann")
        world.app.schedules.create("ours", target="python:job", every="1h")
        hooked(world, all_owners=hears_all)
        world.advance(hours=1)
        owners = {(told["schedule"], told["owner"]) for told in mailbox.told}
        assert owners == ({("anns", "ann"), ("ours", "local")} if hears_all else {("ours", "local")})


def test_a_letter_that_takes_longer_than_its_claim_is_sent_twice_and_arrives_once() -> None:
    """The second try took the place of the first, whose end was then nowhere to be found."""
    mailbox = Mailbox(takes=45.0)
    with a_world(Failing(), carrier=mailbox, cron="5 12 15 11 *") as world:
        webhook = hooked(world)
        world.advance_to(at("12:15"))
        (told,) = world.app.webhooks.deliveries(webhook.id)
        assert (told.state, told.tries, len(mailbox.letters), mailbox.under_way) == (Delivered.ARRIVED, 2, 2, 0)
        assert told.arrived_at is not None
        assert told.arrived_at < at("12:06")
