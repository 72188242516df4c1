"""`foliot doctor`: what is wrong with a database and the service on it, offline, each with a remedy."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Exit, Option

from foliot.cli.exits import FAILED
from foliot.cli.output import Output, View, print_items
from foliot.domain.errors import Conflict, Invalid, NotFound, Refusal

if TYPE_CHECKING:
    from foliot.services.diagnosis import Symptom

_SYMPTOM = View({"CHECK": "name", "VERDICT": "verdict", "WHAT": "what", "REMEDY": "remedy"}, name="name")


def doctor(
    database: Annotated[
        str | None,
        Option(metavar="URL", help="Of this database; else FOLIOT_DATABASE, the settings file, foliot.db here."),
    ] = None,
    output: Annotated[Output, Option("--output", "-o", help="How the answer is written.")] = Output.TABLE,
) -> None:
    """Look at a database and the service on it: what is wrong, and what can be done. Exits with 1 when something fails.

    \b
    Examples:
      foliot doctor
      foliot doctor --database postgresql://db.internal/jobs -o json
    """
    found = run_doctor(database)
    print_items(found, _SYMPTOM, output)
    if any(symptom["verdict"] == "fail" for symptom in found):
        raise Exit(FAILED)


def run_doctor(database: str | None) -> list[dict[str, Any]]:
    """All that was looked at, as plain values."""
    return [{**symptom._asdict(), "verdict": str(symptom.verdict)} for symptom in _symptoms(database)]


def _symptoms(database: str | None) -> "Iterator[Symptom]":
    # Imported here: `--help` must not wait for the database's libraries.
    from foliot.cli.offline import database_of, reading  # noqa: PLC0415
    from foliot.clock import SystemClock  # noqa: PLC0415
    from foliot.services.diagnosis import Health, Symptom, symptoms  # noqa: PLC0415
    from foliot.stores.migration import NewerSchema  # noqa: PLC0415
    from foliot.stores.upkeep import sqlite_path  # noqa: PLC0415

    try:
        url = database_of(database)
        path = sqlite_path(url)
        with reading(url) as verbs:
            yield Symptom("database", Health.OK, "it is there, and has the schema of this release")
            yield from symptoms(verbs, SystemClock())
    except NewerSchema as refusal:
        yield Symptom("schema", Health.FAIL, str(refusal), "install the release that wrote it, or a newer one")
        return
    except Conflict as refusal:
        yield Symptom("schema", Health.FAIL, str(refusal), "`foliot migrate` brings it to this release")
        return
    except Invalid as refusal:
        remedy = "write it so: by --database, FOLIOT_DATABASE, or database in the settings file"
        yield Symptom("database", Health.FAIL, str(refusal), remedy)
        return
    except NotFound as refusal:
        remedy = "name it with --database: `foliot serve` says in its first line which one it works on"
        yield Symptom("database", Health.FAIL, str(refusal), remedy)
        return
    except Refusal as refusal:
        yield Symptom("database", Health.FAIL, str(refusal), "see that it is there and can be reached from here")
        return
    if path is not None:
        yield from _of_file(path)


def _of_file(path: Path) -> "Iterator[Symptom]":
    from foliot.services.diagnosis import disk, file_mode, sqlite_release  # noqa: PLC0415

    yield sqlite_release(sqlite3.sqlite_version_info)
    yield file_mode(str(path), path.stat().st_mode)
    yield disk(shutil.disk_usage(path.parent).free)
