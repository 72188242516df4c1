"""What was not done, and why: skips have their true reason, and nothing began that was not permitted or paid for."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from math import inf

from tests.crash.evidence import Key, Note
from tests.crash.ledger import SECOND, Row
from tests.crash.plan import ESTIMATE, FIRST_PAYMENT, PAID, PAYMENT
from tests.crash.story import Facts

AT_THE_GATE = ("grant_revoked", "insufficient_credits")
"""Why a run may be skipped that was delivered before, to a process that died of it."""
_GRACE = 60.0
_BEFORE, _AFTER = 2.0, 0.5
"""Seconds from what a decision went by to when it was recorded, and by which clocks of one machine may differ."""
_LOOKED = 1.0
"""Seconds for which a process may go by what it has seen of a grant."""
_FROZEN = 10.0
_UNCLEAR = ("stop", "wake", "down", "up", "cut", "stall", "over")
_ALLOWED = {
    "overlap": ("skip",),
    "superseded": ("buffer_one", "cancel_other", "terminate_other"),
    "buffer_full": ("buffer_one", "buffer_all"),
}


def wrong_reasons(facts: Facts) -> Iterator[str]:
    """Skips whose reason is not borne out."""
    revoked = {name: list(_spans(facts, name)) for name in facts.plans}
    means = Means(facts)
    for row in facts.rows:
        if row.status == "skipped" and not _is_true(facts, row, revoked[row.schedule], means):
            yield f"unexplained: {row}"


def wrong_begins(facts: Facts) -> Iterator[str]:
    """Runs that began a second or more after their grant was revoked, or with nothing to pay for them."""
    means = Means(facts)
    spans = {name: list(_surely_revoked(facts, name)) for name in facts.plans}
    for execution in facts.executions:
        name, began = execution.key.schedule, execution.started
        if facts.was_stopped_before(execution, _FROZEN) or means.is_unclear(began):
            continue
        if any(since + _LOOKED < began < until for since, until in spans[name]):
            yield f"forbidden: {execution} began though its grant was revoked"
        is_paid = facts.plans[name].model == PAID and not means.was_charged(execution.key, began + _AFTER)
        if is_paid and not means.may_have_had(began, ESTIMATE[0]):
            yield f"forbidden: {execution} began though nobody could pay for it"


def _is_true(facts: Facts, row: Row, revoked: list[tuple[float, float]], means: "Means") -> bool:
    planned, at = facts.plans[row.schedule], (row.ended_at or 0) / SECOND
    match row.reason:
        case "missed":
            return at > row.due_at / SECOND + _GRACE
        case "paused" | "skipped_by_user":
            return planned.is_handled
        case "grant_revoked":
            return any(since - _AFTER <= at <= until + _BEFORE for since, until in revoked)
        case "insufficient_credits":
            lacks = means.may_have_lacked(at, ESTIMATE[1]) and not means.was_charged(row.key, at - _BEFORE)
            return planned.model == PAID and (means.is_unclear(at) or lacks)
        case _:
            return row.kind != "slot" or planned.is_handled or planned.overlap in _ALLOWED.get(row.reason or "", ())


def _spans(facts: Facts, name: str) -> Iterator[tuple[float, float]]:
    """When its grant may have been revoked: from when somebody set out to, until another was acknowledged."""
    since: float | None = None
    for note in _notes(facts, name):
        if note.what == "revoking" and since is None:
            since = note.at
        elif note.what == "permitted" and since is not None:
            yield since, note.at
            since = None
    if since is not None:
        yield since, float("inf")


def _surely_revoked(facts: Facts, name: str) -> Iterator[tuple[float, float]]:
    """When its grant was revoked, and nobody had set out to give it another one."""
    notes = _notes(facts, name)
    for place, note in enumerate(notes):
        if note.what == "revoked":
            setting_out = [other for other in notes[:place] if other.what == "permitting"]
            done = {other.pid: other.at for other in notes[:place] if other.what == "permitted"}
            if all(done.get(other.pid, 0.0) >= other.at or _is_dead(facts, other) for other in setting_out):
                until = next((other.at for other in notes[place:] if other.what == "permitting"), float("inf"))
                yield note.at, until


def _is_dead(facts: Facts, note: Note) -> bool:
    return any(done.what == "kill" and done.pid == note.pid for done in facts.story.disturbances)


def _notes(facts: Facts, name: str) -> list[Note]:
    what = ("revoking", "revoked", "permitting", "permitted")
    found = [note for note in facts.notes if note.what in what and note.keys[0].schedule == name]
    return sorted(found, key=lambda note: note.at)


class Means:
    """What there was to pay with, by what was posted to the account that runs are paid from."""

    def __init__(self, facts: Facts) -> None:
        posted = facts.story.ledger.postings
        payer = {posting.account for posting in posted if posting.reference.startswith((FIRST_PAYMENT, PAYMENT))}
        postings = sorted(
            (posting for posting in posted if posting.account in payer), key=lambda posting: posting.created_at
        )
        self._at = [posting.created_at / SECOND for posting in postings]
        self._balances: list[int] = [0]
        for posting in postings:
            self._balances.append(self._balances[-1] + posting.amount)
        self._charged: dict[int, float] = {}
        """By run, when it was charged first."""
        for receipt in facts.story.ledger.receipts:
            self._charged.setdefault(receipt.run, receipt.created_at / SECOND)
        self._rows = facts.row_of
        self._unclear = sorted(done.at for done in facts.story.disturbances if done.what in _UNCLEAR)

    def may_have_had(self, at: float, amount: int) -> bool:
        return max(self._around(at)) >= amount

    def may_have_lacked(self, at: float, amount: int) -> bool:
        return min(self._around(at)) < amount

    def _around(self, at: float) -> list[int]:
        return self._balances[bisect_left(self._at, at - _BEFORE) : bisect_right(self._at, at + _AFTER) + 1]

    def was_charged(self, key: Key, until: float) -> bool:
        """Whether a delivery of the run was let in and charged by then: the next is not asked whether it can pay."""
        return key in self._rows and self._charged.get(self._rows[key].ref, inf) <= until

    def is_unclear(self, at: float) -> bool:
        """Whether somebody was frozen or cut off then, and may have gone by what was long over."""
        place = bisect_left(self._unclear, at - _FROZEN)
        return place < len(self._unclear) and self._unclear[place] <= at + _AFTER


def wrong_postings(facts: Facts) -> Iterator[str]:
    """Every account has what was posted, each charge is posted once and as its receipt says."""
    ledger = facts.story.ledger
    posted: Counter[int] = Counter()
    for posting in ledger.postings:
        posted[posting.account] += posting.amount
    for account, balance in ledger.balances.items():
        if posted[account] != balance:
            yield f"money: account {account} has {balance}, and {posted[account]} was posted"
    charges = [posting for posting in ledger.postings if posting.kind == "charge"]
    for reference, times in Counter((charge.account, charge.reference) for charge in charges).items():
        if times > 1:
            yield f"money: {reference} was charged {times} times"
    for name, times in Counter(receipt.reference for receipt in ledger.receipts).items():
        if times > 1:
            yield f"money: {name} has {times} receipts"
    wanted = {receipt.reference: receipt.credits for receipt in ledger.receipts if receipt.credits}
    taken = {charge.reference: -charge.amount for charge in charges}
    for name in wanted.keys() | taken.keys():
        if wanted.get(name) != taken.get(name):
            yield f"money: {name} cost {wanted.get(name)}, and {taken.get(name)} was taken"
