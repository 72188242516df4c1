"""Programs to try the Python surface with."""

from datetime import UTC, datetime
from typing import Any

from foliot import Foliot

START = datetime(2026, 11, 15, 12, tzinfo=UTC)


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-15T{clock}+00:00")


def a_program(name: str = "foliot", *declared: str, **options: Any) -> Foliot:
    """An app that declares schedules of these names, every five minutes, unless told otherwise."""
    app = Foliot("sqlite:///not-used.db", name=name)

    @app.graph("job")
    def job() -> None:
        """Nothing to do."""

    for schedule in declared:
        app.schedule(schedule, **{"every": "5m"} | options)(job)
    return app
