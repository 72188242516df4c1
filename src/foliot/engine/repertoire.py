"""The repertoire: which targets a worker executes, by the numbers that the database gave them."""

from collections.abc import Mapping, Sequence

from foliot.domain.runs import OnUnknown
from foliot.ports import Gate, Transaction

_EVERY = "*"
"""`provider:*` is every target of the provider, whoever adds it."""


class Repertoire:
    """What the gate can execute. New targets may be registered, or added to a provider, at any time."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.refs: dict[str, int] = {}
        """By name; first the one that has not started anything for the longest time."""
        self.holds: frozenset[int] = frozenset()
        """Those that want a person to be asked when nobody knows whether they were executed."""
        self.counts_threads = False
        """Whether some target has room for a limited number of runs."""
        self._registered: Sequence[str] | None = None
        self._known = 0
        """How many targets the database had."""

    def is_current(self) -> bool:
        """Whether the gate has what it had when the numbers were learned."""
        return self._registered is not None and len(self._gate.targets()) == len(self._registered)

    def learn(self, tx: Transaction) -> tuple[Sequence[str], Mapping[str, int], int]:
        """What the gate has, the numbers, and how many targets there are; for `learned`."""
        names = self._gate.targets()
        refs = tx.target_refs(name for name in names if not name.endswith(_EVERY))
        for name in names:
            if name.endswith(_EVERY):
                refs |= tx.targets_of(name.removesuffix(_EVERY))
        return names, refs, tx.news(0).targets

    def learned(self, registered: Sequence[str], refs: Mapping[str, int], known: int) -> None:
        self._registered = registered
        self._known = known
        self.refs = dict(refs)
        self.holds = frozenset(ref for name, ref in refs.items() if self._gate.on_unknown(name) is OnUnknown.HOLD)

    def note_known(self, known: int) -> bool:
        """The database knows so many targets; whether one that was added may be ours."""
        is_news = known != self._known and any(name.endswith(_EVERY) for name in self._registered or ())
        self._known = known
        if is_news:
            self._registered = None
        return is_news

    def rooms(self, free: int) -> dict[int, int]:
        """By target, how many runs could be started by a worker that can take so many."""
        rooms = {name: self._gate.room(name) for name in self.refs}
        self.counts_threads = any(room is not None for room in rooms.values())
        return {self.refs[name]: _least(free, room) for name, room in rooms.items()}

    def be_fair(self, served: set[str]) -> None:
        """Who has just started something comes last in the next turn, lest a storm of one target takes all the room."""
        if served and len(self.refs) > 1:
            self.refs = dict(sorted(self.refs.items(), key=lambda target: target[0] in served))


def _least(free: int, room: int | None) -> int:
    return free if room is None else max(0, min(free, room))
