"""Asking executors what they run: whatever they answer, those who ask for work get something sound."""

import inspect
import logging
from collections.abc import Iterable, Sequence
from typing import Any

from foliot.domain.errors import Invalid
from foliot.domain.runs import OnUnknown
from foliot.domain.schedule import target_of
from foliot.execution.executing import Executor, Reporting
from foliot.execution.reception import got

log = logging.getLogger("foliot.execution")

_METHODS = {"targets": 0, "room": 1, "on_unknown": 1, "run": 1, "close": 0}
"""What an executor is asked, and with how many arguments."""


def check_executor(name: str, executor: object) -> None:
    """Invalid unless it is an object that can be asked all that an executor is asked."""
    remedy = "see how-to/write-a-provider"
    if isinstance(executor, type):
        made = f"{executor.__name__}()"
        raise Invalid(f"the executor of {name!r} takes an object, got the class {executor.__name__}: give {made}")
    methods = {part: getattr(executor, part, None) for part in _METHODS}
    absent = [part for part, method in methods.items() if not callable(method)]
    if absent:
        raise Invalid(f"the executor of {name!r} lacks {', '.join(absent)}: {remedy}")
    for part, method in methods.items():
        if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
            raise Invalid(f"the executor of {name!r} takes a plain {part}, got an async one: {remedy}")
        if not _takes(method, _METHODS[part]):
            raise Invalid(f"the executor of {name!r} takes a {part} of {_METHODS[part]} arguments: {remedy}")


def _takes(method: Any, arguments: int) -> bool:
    try:
        inspect.signature(method).bind(*[""] * arguments)
    except TypeError:
        return False
    except ValueError:  # It is not written in Python, and does not say.
        return True
    return True


class Asking:
    """Asks on the gate's behalf. What an executor does wrong is said once, and goes no further."""

    def __init__(self) -> None:
        self._sound: dict[str, frozenset[str]] = {}
        """By provider, the targets that were looked at when it was asked last."""
        self._said: set[tuple[str, str]] = set()

    def targets(self, provider: str, executor: Executor) -> Sequence[str]:
        """Those that are its own to run; none while it cannot say."""
        try:
            names = list(executor.targets())
        except Exception:  # It must not keep the others from their work.
            self.complain(provider, "targets", "it raised, so nothing of it is run", raised=True)
            return ()
        if not _all_in(names, self._sound.get(provider, frozenset())):
            names = [name for name in names if self._is_target(provider, name)]
            self._sound[provider] = frozenset(names)
        return names

    def _is_target(self, provider: str, name: object) -> bool:
        is_sound = isinstance(name, str) and name.startswith(f"{provider}:")
        if is_sound and name != f"{provider}:*":
            try:
                target_of(str(name))
            except Invalid:
                is_sound = False
        if not is_sound:
            self.complain(provider, "targets", f"they are {provider}:name, got {got(name)}, which is not run")
        return is_sound

    def room(self, provider: str, executor: Executor, target: str) -> int | None:
        """As if there were no limit, when it cannot say."""
        try:
            room: object = executor.room(target)
        except Exception:  # It must not keep the others from their work.
            self.complain(provider, "room", "it raised, so nothing is limited by it", raised=True)
            return None
        if room is None or isinstance(room, int):
            return room
        self.complain(provider, "room", f"it is a whole number or None, got {got(room)}, so nothing is limited by it")
        return None

    def on_unknown(self, provider: str, executor: Executor, target: str) -> OnUnknown:
        """A person is asked, when it cannot say."""
        try:
            said: object = executor.on_unknown(target)
        except Exception:  # It must not keep the others from their work.
            self.complain(provider, "on_unknown", "it raised, so a person is asked", raised=True)
            return OnUnknown.HOLD
        if isinstance(said, str) and said in list(OnUnknown):
            return OnUnknown(said)
        words = " or ".join(OnUnknown)
        self.complain(provider, "on_unknown", f"it is {words}, got {got(said)}, so a person is asked")
        return OnUnknown.HOLD

    def report_digest(self, provider: str, executor: Executor, target: str, run_id: str) -> str | None:
        """None also when it cannot say: then only a person knows how a run ended that was cut off."""
        if not isinstance(executor, Reporting):
            return None
        try:
            return executor.report_digest(target, run_id)
        except Exception:  # It must not keep the others from their work.
            self.complain(provider, "report_digest", "it raised, so nobody can report later", raised=True)
            return None

    def complain(self, provider: str, about: str, what: str, *, raised: bool = False) -> None:
        """Say what an executor does wrong, once of each thing."""
        if (provider, about) not in self._said:
            self._said.add((provider, about))
            log.error("%s of the provider %r: %s", about, provider, what, exc_info=raised)


def _all_in(names: Iterable[object], known: frozenset[str]) -> bool:
    try:
        return known.issuperset(names)
    except TypeError:  # Something among them cannot even be a name.
        return False
