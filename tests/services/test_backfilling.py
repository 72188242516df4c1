"""What is looked at before a backfill is started."""

from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.errors import Invalid

SPAN = ("2020-01-01T00:00:00Z", "2026-01-01T00:00:00Z")


def test_whether_so_many_are_meant_is_asked_while_others_write(tmp_path: Path) -> None:
    """It was asked by the one who writes: counting took half a minute, and no slot was judged meanwhile."""
    app = Foliot(f"sqlite:///{tmp_path / 'test.db'}")
    app.graph("digest")(lambda given, ctx: given)
    app.schedules.create("digest", target="python:digest", every="1m")
    written: list[str] = []
    writer: Any = app.parts.database._writer  # type: ignore[union-attr]
    writer.connection.dbapi_connection.set_trace_callback(written.append)

    with pytest.raises(Invalid, match="is started only when that is meant: confirm it, or narrow it"):
        app.schedules.backfill("digest", *SPAN)

    assert written == []
    writer.connection.dbapi_connection.set_trace_callback(None)
    assert app.schedules.backfill("digest", *SPAN, confirm=True).id == 1
    app.close()
