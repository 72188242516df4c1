"""The repertoire: which targets a worker takes up, by the numbers that the database gave them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.runs import OnUnknown
from foliot.ports import Gate, Transaction

_EVERY = ":*"
"""`provider:*` is every target of the provider, whoever adds it."""


class Learned(NamedTuple):
    """What the gate has, its numbers, those that no program has, and how often any of this was changed."""

    registered: Sequence[str]
    refs: Mapping[str, int]
    orphans: Mapping[str, int]
    known: int


class Repertoire:
    """What the gate can execute, and what nobody can: orphans, which end here as not found.

    New targets may be registered, or added to a provider, at any time.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.refs: dict[str, int] = {}
        """By name; first the one that has not started anything for the longest time."""
        self.holds: frozenset[int] = frozenset()
        """Those that want a person to be asked when nobody knows whether they were executed."""
        self.orphans: frozenset[int] = frozenset()
        """Those that no program has ever registered: the gate knows nothing of them."""
        self.counts_threads = False
        """Whether some target has room for a limited number of runs."""
        self.known = 0
        """How often targets had been changed when this was learned."""
        self._registered: Sequence[str] | None = None

    def is_current(self) -> bool:
        """Whether the gate has what it had when the numbers were learned."""
        return self._registered is not None and len(self._gate.targets()) == len(self._registered)

    def learn(self, tx: Transaction, worker: int) -> Learned:
        """Register what the gate has, and find the numbers; for `learned`."""
        names = self._gate.targets()
        tx.register_targets(tx.unregistered(names))
        tx.note_targets(worker, names)
        # Before the rest is read: what is changed meanwhile is news in the next turn.
        known = tx.news(0).targets
        refs = tx.target_refs(name for name in names if not name.endswith(_EVERY))
        for name in names:
            if name.endswith(_EVERY):
                refs |= tx.targets_of(name.removesuffix("*"))
        return Learned(names, refs, tx.orphans(), known)

    def learned(self, learned: Learned) -> None:
        self._registered = learned.registered
        self.known = learned.known
        self.refs = {**learned.refs, **learned.orphans}
        self.orphans = frozenset(learned.orphans.values())
        own = learned.refs.items()
        self.holds = frozenset(ref for name, ref in own if self._gate.on_unknown(name) is OnUnknown.HOLD)

    def forget(self) -> None:
        """The worker has a new number: what it takes up is to be said of that too."""
        self._registered = None

    def note_known(self, known: int) -> bool:
        """Targets were changed so often; whether that is news."""
        is_news = known != self.known
        if is_news:
            self._registered = None
        return is_news

    def rooms(self, free: int) -> dict[int, int]:
        """By target, how many runs could be started by a worker that can take so many."""
        rooms = {name: None if ref in self.orphans else self._gate.room(name) for name, ref in self.refs.items()}
        self.counts_threads = any(room is not None for room in rooms.values())
        return {self.refs[name]: _least(free, room) for name, room in rooms.items()}

    def be_fair(self, served: set[str]) -> None:
        """Who has just started something comes last in the next turn, lest a storm of one target takes all the room."""
        if served and len(self.refs) > 1:
            self.refs = dict(sorted(self.refs.items(), key=lambda target: target[0] in served))


def _least(free: int, room: int | None) -> int:
    return free if room is None else max(0, min(free, room))
