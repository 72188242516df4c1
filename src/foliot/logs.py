"""The log: one line for each record, as JSON or for people; of what is said besides the words, only known fields."""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from structlog.dev import ConsoleRenderer, plain_traceback

FIELDS = (
    *("schedule", "slot", "kind", "attempt", "status", "reason", "size", "run_id", "trace_id"),
    *("request_id", "method", "route", "milliseconds", "user", "service", "worker", "target"),
)
"""What may stand beside the words: nothing that people have given a schedule, sent along, or keep to themselves."""
_NAME = "foliot"
_IN_ITS_SLOT = ("schedule", "kind", "run_id")
"""What people read in the name of a slot."""
_WORD = 6
"""The width of what a decision is called."""
_QUIET = ("alembic", "httpx2", "uvicorn")
"""What they say of an ordinary day is no news to anybody."""
_SUSPICIOUS = re.compile(r"fol_|earer|asic|://|DETAIL|CONTEXT|\[", re.IGNORECASE)
_KEYS = re.compile(r"fol_[0-9a-f]{12}_[A-Za-z0-9_-]+")
_BEARERS = re.compile(r"(?i)\b(bearer|basic)\s+[^\s'\"]+")
_LOGINS = re.compile(r"://[^/\s'\"@]*@")
_QUERIES = re.compile(r"(\w+://[^\s'\"?#]*)[?#][^\s'\"]*")
_DETAILS = re.compile(r"^\s*(DETAIL|CONTEXT|\[parameters|\[SQL).*$\n?", re.MULTILINE)
"""What a database adds to its words: whole rows, perhaps."""


def configure_logs(level: str = "info", format: str = "auto", stream: TextIO | None = None) -> None:
    """Write the log to the stream, else to stderr: `text` for people, `json` for programs, `auto` by who looks."""
    stream = stream or sys.stderr
    is_for_people = format == "text" or (format == "auto" and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_ForPeople(has_colours=stream.isatty()) if is_for_people else _ForPrograms())
    handler.set_name(_NAME)
    ours, root = logging.getLogger(_NAME), logging.getLogger()
    for logger in (ours, root):
        for before in [known for known in logger.handlers if known.get_name() == _NAME]:
            logger.removeHandler(before)
    ours.setLevel(level.upper())
    ours.addHandler(handler)
    ours.propagate = False
    if not root.handlers:
        # A program that has a log of its own keeps it.
        root.setLevel(level.upper())
        root.addHandler(handler)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


class _ForPrograms(logging.Formatter):
    """A line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(self.event(record), ensure_ascii=False)

    def event(self, record: logging.LogRecord) -> dict[str, Any]:
        """What is told of the record."""
        said = record.__dict__
        event = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": redacted(record.getMessage()),
        }
        for name in FIELDS:
            value = said.get(name)
            if value is not None:
                event[name] = value
        if record.exc_info:
            event["exception"] = redacted(self.formatException(record.exc_info))
        return event


class _ForPeople(_ForPrograms):
    """The same on a line that fits a screen, with colours where they are seen."""

    def __init__(self, *, has_colours: bool) -> None:
        super().__init__()
        self._render = ConsoleRenderer(
            pad_event_to=_WORD,
            colors=has_colours,
            timestamp_key="at",
            sort_keys=False,
            exception_formatter=plain_traceback,
        )

    def format(self, record: logging.LogRecord) -> str:
        event = self.event(record)
        event["at"] = event["at"][11:23]
        if record.name.startswith(_NAME):
            del event["logger"]
        if "slot" in event:
            for name in _IN_ITS_SLOT:
                event.pop(name, None)
        if event.get("attempt") == 1:
            del event["attempt"]
        # A trace is looked for by programs.
        event.pop("trace_id", None)
        return str(self._render(None, "", event))


def redacted(text: str) -> str:
    """The text without what looks like a key, a login or a query, and without what a database adds to its words."""
    if not _SUSPICIOUS.search(text):
        return text
    text = _DETAILS.sub("", text)
    text = _KEYS.sub("fol_…", text)
    text = _BEARERS.sub(r"\1 …", text)
    text = _LOGINS.sub("://…@", text)
    return _QUERIES.sub(r"\1?…", text)
