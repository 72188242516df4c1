"""Foliot: durable scheduling in Python."""

from foliot.domain.calendar import Calendar
from foliot.domain.errors import Invalid
from foliot.domain.spec import Interval, Spec

__all__ = ["Calendar", "Interval", "Invalid", "Spec"]
