"""The states of a workflow's nodes: what is recorded of each, in each iteration of the loops around it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from foliot.domain.events import ErrorCode

Path = tuple[int, ...]
"""Which iteration of each loop around a node, the outermost first."""


class NodeStatus(StrEnum):
    PENDING = "PENDING"
    """Nothing is recorded of it."""
    RUNNING = "RUNNING"
    DONE = "DONE"
    ERROR = "ERROR"
    SKIPPED = "SKIPPED"


class Place(NamedTuple):
    """A node in one iteration of the loops around it."""

    node: str
    path: Path = ()

    def __str__(self) -> str:
        return f"{self.node}[{path_text(self.path)}]" if self.path else self.node


class NodeState(NamedTuple):
    """What is recorded of a place."""

    status: NodeStatus
    output: Any = None
    vars: Mapping[str, Any] = {}
    """The variables that it has set."""
    reason: ErrorCode | None = None
    error: str | None = None
    """Why it failed; why it was skipped, when that is because something before it failed."""

    @property
    def is_over(self) -> bool:
        return self.status is not NodeStatus.RUNNING


def path_text(path: Path) -> str:
    return ".".join(map(str, path))


def read_path(text: str) -> Path:
    return tuple(map(int, text.split("."))) if text else ()
