"""Foliot: durable scheduling in Python."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foliot.app import Foliot
    from foliot.domain.calendar import Calendar
    from foliot.domain.credits import Model, Pricing, read_catalogue
    from foliot.domain.delivery import InProgress, KeyReused
    from foliot.domain.errors import Conflict, Denied, Invalid, NotFound, Refusal, Unavailable
    from foliot.domain.spec import Interval, Spec
    from foliot.engine.settings import EngineSettings
    from foliot.execution.context import Asked, Cancelled, Context, LimitExceeded
    from foliot.executors.actions import ActionContext

__all__ = [
    "ActionContext",
    "Asked",
    "Calendar",
    "Cancelled",
    "Conflict",
    "Context",
    "Denied",
    "EngineSettings",
    "Foliot",
    "InProgress",
    "Interval",
    "Invalid",
    "KeyReused",
    "LimitExceeded",
    "Model",
    "NotFound",
    "Pricing",
    "Refusal",
    "Spec",
    "Unavailable",
    "read_catalogue",
]

_HOMES = {
    "foliot.app": ("Foliot",),
    "foliot.domain.calendar": ("Calendar",),
    "foliot.domain.credits": ("Model", "Pricing", "read_catalogue"),
    "foliot.domain.delivery": ("InProgress", "KeyReused"),
    "foliot.domain.errors": ("Conflict", "Denied", "Invalid", "NotFound", "Refusal", "Unavailable"),
    "foliot.domain.spec": ("Interval", "Spec"),
    "foliot.engine.settings": ("EngineSettings",),
    "foliot.execution.context": ("Asked", "Cancelled", "Context", "LimitExceeded"),
    "foliot.executors.actions": ("ActionContext",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Imported when it is asked for: `foliot --help` needs none of it, and a preview no database."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'foliot' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOME_OF[name]), name)
