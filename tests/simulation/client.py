"""A client beside the workers: it creates, edits, pauses, triggers, skips, stops, pays and deletes at drawn moments."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from foliot.domain.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from foliot.domain.instants import instant_of, moment_of
from foliot.domain.schedule import OWN
from foliot.execution.records import Records
from foliot.execution.till import Till
from foliot.services.desk import Desk, Shop
from foliot.services.grants import GrantVerbs
from foliot.services.runs import RunVerbs
from foliot.services.schedules import ScheduleVerbs
from foliot.services.views import Run
from tests.simulation.conductor import Killed
from tests.simulation.purse import Purse
from tests.simulation.shaky import Fate, ShakyDatabase
from tests.simulation.story import Story
from tests.simulation.usage import INPUTS, PRICING, USERS, drawn_budget, drawn_run_limits
from tests.simulation.wishes import Wishes
from tests.simulation.worker import ASYNC_JOB, SYNC_JOB

REFUSALS = (Conflict, Denied, Invalid, NotFound)
OVERLAPS = ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all")
FAR = "2090-01-01T00:00:00Z"
"""An instant that never comes: how a schedule is brought to rest."""


def drawn_timing(chance: Random) -> dict[str, Any]:
    timing: dict[str, Any] = chance.choice(
        (
            {"every": f"{chance.randint(12, 60)}m"},
            {"every": f"{chance.choice((7, 15, 20, 45))}m"},
            {"cron": chance.choice(("*/15 * * * *", "7,37 * * * *", "5 */2 * * *", "*/20 6-18 * * *"))},
        )
    )
    if chance.random() < 0.4:
        timing |= {"jitter": chance.choice(("20s", "3m", "20m")), "jitter_mode": chance.choice(("after", "around"))}
    return timing


def drawn_policies(chance: Random) -> dict[str, Any]:
    policies: dict[str, Any] = {"catchup": chance.choice(("none", "last", "all", "spread"))}
    for share, options in (
        (0.3, {"retry": {"attempts": chance.randint(2, 3), "backoff": chance.choice(("10s", "3m"))}}),
        (0.4, {"timeout": chance.choice(("4m", "15m", "30m"))}),
        (0.15, {"pause_on_failure": True}),
        (0.15, {"limit": chance.randint(3, 40)}),
        (0.3, {"buffer": chance.randint(1, 4)}),
        (0.2, {"catchup_window": chance.choice(("10m", "1h"))}),
        (0.2, {"catchup_cap": chance.randint(1, 3)}),
        (0.2, {"grace": chance.choice(("5s", "5m"))}),
        (0.3, {"lookahead": "10m"}),
        (0.15, {"budget": drawn_budget(chance)}),
        (0.2, drawn_run_limits(chance)),
    ):
        if chance.random() < share:
            policies |= options
    return policies


def drawn_schedule(chance: Random, overlap: str) -> dict[str, Any]:
    return {
        "target": f"python:{chance.choice((ASYNC_JOB, SYNC_JOB))}",
        "user": chance.choice(USERS),
        "input": chance.choice(INPUTS),
        "overlap": overlap,
        **drawn_timing(chance),
        **drawn_policies(chance),
    }


class Client:
    """One person with a program. What it is told holds; what it is not told may have happened."""

    def __init__(
        self,
        fate: Fate,
        story: Story,
        wishes: Wishes,
        chance: Random,
        wake: Callable[[bool, int | None], None],
        now: Callable[[], int],
    ) -> None:
        self.name = "client"
        self.is_dead = False
        self.steady: Callable[[], float] = lambda: 0.0
        self.acknowledged: Callable[[str, str, object], None] = lambda verb, what, result: None
        self._story = story
        self._wishes = wishes
        self._chance = chance
        self._now = now
        database = ShakyDatabase(fate, self)
        desk = Desk(Shop(database, wake, PRICING))
        self.schedules = ScheduleVerbs(desk)
        self.runs = RunVerbs(desk)
        self.grants = GrantVerbs(desk)
        self.purse = Purse(self, desk, Till(Records(database, inline=True), PRICING), chance)
        self.names: list[str] = []
        self._shared: list[str] = []

    def settle_in(self) -> None:
        """A schedule of every overlap policy, and two more."""
        self.purse.settle_in()
        for number, overlap in enumerate((*OVERLAPS, *self._chance.sample(OVERLAPS, 2))):
            name = f"s{number}-{overlap.replace('_', '-')}"
            self.names.append(name)
            while not self.do("create", name, partial(self._create, name, overlap)):
                pass

    def _create(self, name: str, overlap: str) -> Any:
        return self.schedules.create(name, **drawn_schedule(self._chance, overlap))

    def do(self, verb: str, what: str, act: Callable[[], Any]) -> bool:
        """Whether it is known to be done, or known not to be possible."""
        wish = self._wishes.ask(verb, what, self.steady())
        self._story.tell(self.steady(), f"client: {verb} {what}")
        self._story.counts[f"verb: {verb}"] += 1
        try:
            result = act()
        except REFUSALS as refusal:
            self._story.tell(self.steady(), f"client: refused: {refusal}")
            self._wishes.refused(wish)
        except (Unavailable, Killed):
            # It may have happened. A dead client is started again.
            self.is_dead = False
            self._story.tell(self.steady(), "client: unknown")
            self._story.counts["unknown to the client"] += 1
            return False
        else:
            self._wishes.done(wish)
            self.acknowledged(verb, what, result)
        return True

    def act(self) -> None:
        """One verb, drawn."""
        deeds: list[tuple[int, Callable[[str], Any]]] = [
            (6, self._edit_timing),
            (6, self._edit_policies),
            (6, self._pause),
            (10, self._resume),
            (10, self._trigger),
            (5, self._skip_to_come),
            (4, self._skip_waiting),
            (8, self._stop),
            (6, self._retry),
            (4, self._backfill),
            (2, self._delete),
            (4, self._create_again),
            (2, self.revoke),
            (1, self._let_expire),
            (5, self._permit_again),
            *self.purse.deeds(),
        ]
        (deed,) = self._chance.choices([deed for _, deed in deeds], [weight for weight, _ in deeds])
        try:
            deed(self._chance.choice(self.names))
        except (*REFUSALS, Unavailable):
            return

    def _edit_timing(self, name: str) -> None:
        changes = drawn_timing(self._chance)
        if "jitter" not in changes and self._chance.random() < 0.5:
            changes["jitter"] = None
        if "cron" in changes:
            changes["every"] = None
        else:
            changes["cron"] = None
        self.do("patch", name, lambda: self.schedules.patch(name, **changes))

    def _edit_policies(self, name: str) -> None:
        changes = drawn_policies(self._chance)
        if self._chance.random() < 0.3:
            changes["overlap"] = self._chance.choice(OVERLAPS)
        if self._chance.random() < 0.3:
            changes |= dict.fromkeys(("limit", "pause_on_failure", "budget", "max_calls", "max_tokens", "max_credits"))
        if self._chance.random() < 0.2:
            changes["input"] = self._chance.choice(INPUTS)
        if self._chance.random() < 0.2:
            changes["target"] = f"python:{self._chance.choice((ASYNC_JOB, SYNC_JOB))}"
        self.do("patch", name, lambda: self.schedules.patch(name, **changes))

    def _pause(self, name: str) -> None:
        minutes = self._chance.choice((None, None, 3, 30, 90))
        until = None if minutes is None else moment_of(self._now()) + timedelta(minutes=minutes)
        self.do("pause", name, lambda: self.schedules.pause(name, until=until))

    def _resume(self, name: str) -> None:
        paused = [schedule.id for schedule in self.schedules.list() if schedule.paused]
        name = self._chance.choice(paused) if paused else name
        self.do("resume", name, lambda: self.schedules.resume(name))

    def _trigger(self, name: str) -> None:
        overlap = self._chance.choice((None, None, *OVERLAPS))
        given = self._chance.choice((OWN, 1, *INPUTS))
        self.do("trigger", name, lambda: self.schedules.trigger(name, overlap=overlap, input=given))

    def _skip_to_come(self, name: str) -> None:
        moments = self.schedules.times(name, count=4)
        self._skip(name, instant_of(self._chance.choice(moments), "moment"))

    def _skip_waiting(self, _: str) -> None:
        waiting = self.runs.list(status="pending", kind="slot")
        if waiting:
            run = self._chance.choice(waiting)
            self._skip(run.schedule, instant_of(run.scheduled_for, "moment"))

    def _skip(self, name: str, nominal_at: int) -> None:
        self.do("skip", f"{name} {nominal_at}", lambda: self.schedules.skip(name, moment_of(nominal_at)))

    def _stop(self, _: str) -> None:
        open_ones = self.runs.list(status="running") + self.runs.list(status="pending")
        verb = self._chance.choice(("cancel", "cancel", "terminate"))
        self._on_a_run(verb, open_ones)

    def _retry(self, _: str) -> None:
        self._on_a_run("retry", self.runs.list(status=self._chance.choice(("error", "skipped", "cancelled"))))

    def _on_a_run(self, verb: str, runs: list[Run]) -> None:
        if runs:
            run = self._chance.choice(runs)
            self.do(verb, run.id, lambda: getattr(self.runs, verb)(run.id))

    def _backfill(self, name: str) -> None:
        end = moment_of(self._now()) - timedelta(minutes=self._chance.choice((0, 30)))
        start = end - timedelta(minutes=self._chance.choice((20, 60, 120)))
        options: dict[str, Any] = {
            "which": self._chance.choice(("missing", "failed", "all")),
            "order": self._chance.choice(("oldest_first", "newest_first")),
            "concurrency": self._chance.choice((None, 1, 3)),
            "input": self._chance.choice((None, "again", *INPUTS)),
        }
        self.do("backfill", name, lambda: self.schedules.backfill(name, start, end, **options))

    def _delete(self, name: str) -> None:
        self.do("delete", name, lambda: self.schedules.delete(name))

    def _create_again(self, name: str) -> None:
        alive = {schedule.id for schedule in self.schedules.list()}
        gone = [other for other in self.names if other not in alive]
        name = self._chance.choice(gone) if gone else name
        self.do("create", name, lambda: self._create(name, self._chance.choice(OVERLAPS)))

    def revoke(self, name: str) -> None:
        try:
            grant, stop = self.schedules.get(name).grant, self._chance.random() < 0.3
        except (*REFUSALS, Unavailable):
            return
        self.do("revoke", grant, lambda: self.grants.revoke(grant, stop=stop))

    def _let_expire(self, name: str) -> None:
        grant = self.schedules.get(name).grant
        until = moment_of(self._now()) + timedelta(minutes=self._chance.choice((1, 20, 60)))
        self.do("extend", grant, lambda: self.grants.extend(grant, until))

    def _permit_again(self, name: str) -> None:
        """Whoever is refused is helped first."""
        refused = [schedule.id for schedule in self.schedules.list() if schedule.needs_attention]
        name = self._chance.choice(refused) if refused else name
        self.do("patch", name, lambda: self.schedules.patch(name, grant=self._new_grant()))

    def _new_grant(self) -> str:
        """One of its own, or one that others have too, and its budget with them."""
        if self._shared and self._chance.random() < 0.4:
            return self._chance.choice(self._shared)
        budget = drawn_budget(self._chance) if self._chance.random() < 0.4 else None
        grant = self.grants.create("graph:execute:python:*", user=self._chance.choice(USERS), budget=budget).id
        self._shared.append(grant)
        return grant

    def bring_to_rest(self) -> None:
        """No new slots from now on; what there is goes on."""
        for grant in self.grants.list():
            self.do("allow", grant.id, partial(self.grants.allow, grant.id, None))
        for schedule in self.schedules.list():
            changes: dict[str, Any] = {"cron": None, "every": None, "jitter": None, "at": FAR}
            changes |= dict.fromkeys(("pause_on_failure", "budget"))
            self.do("patch", schedule.id, partial(self.schedules.patch, schedule.id, **changes))
            self.do("resume", schedule.id, partial(self.schedules.resume, schedule.id))
