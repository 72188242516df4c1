"""Foliot: durable scheduling in Python."""

from typing import TYPE_CHECKING, Any

from foliot.domain.calendar import Calendar
from foliot.domain.credits import Model, Pricing, read_catalogue
from foliot.domain.delivery import InProgress, KeyReused
from foliot.domain.errors import Conflict, Denied, Invalid, NotFound, Refusal, Unavailable
from foliot.domain.spec import Interval, Spec

if TYPE_CHECKING:
    from foliot.app import Foliot
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

_LATER = {
    "ActionContext": "foliot.executors.actions",
    "Asked": "foliot.execution.context",
    "Cancelled": "foliot.execution.context",
    "Context": "foliot.execution.context",
    "EngineSettings": "foliot.engine.settings",
    "Foliot": "foliot.app",
    "LimitExceeded": "foliot.execution.context",
}


def __getattr__(name: str) -> Any:
    """What needs a database is imported when it is asked for: a preview does without."""
    if name not in _LATER:
        raise AttributeError(f"module 'foliot' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_LATER[name]), name)
