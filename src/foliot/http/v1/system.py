"""The service itself over HTTP: what doctor and pages want to know. Nothing secret is among it."""

import sqlite3

from starlette.responses import Response

from foliot.domain.access import Right
from foliot.domain.zones import tzdata_version
from foliot.http.asking import Asked, answered, needs
from foliot.http.openapi import routes
from foliot.http.schemas import Given, Moment

router = routes("/system", "system")


class ShownWorker(Given):
    """A worker that has not left."""

    name: str
    started_at: Moment
    seen_at: Moment
    lease_until: Moment | None
    running: int


class ShownEngine(Given):
    """An engine of the process that answers."""

    name: str
    in_hand: int
    started: int
    settled: int
    outages: int


class ShownDatabase(Given):
    """Where everything is kept."""

    kind: str
    schema_version: str
    url: str | None
    """Without its password; for admins."""


class ShownSystem(Given):
    """What the service is made of, and who works for it."""

    version: str
    now: Moment
    database: ShownDatabase
    tzdata: str
    sqlite: str
    workers: list[ShownWorker]
    engines: list[ShownEngine]


@router.get("", response_model=ShownSystem)
@needs(Right.READ)
def get(asked: Asked) -> Response:
    """Versions, database, workers, and the engines of the process that answers."""
    found, made_of = asked.verbs.system.look(), asked.service.made_of()
    url = made_of.url if asked.principal.may(Right.ADMIN) else None
    return answered(
        ShownSystem(
            version=made_of.version,
            now=found.now,
            database=ShownDatabase(kind=made_of.kind, schema_version=made_of.schema, url=url),
            tzdata=tzdata_version(),
            sqlite=sqlite3.sqlite_version,
            workers=[ShownWorker.model_validate(worker) for worker in found.workers],
            engines=[ShownEngine.model_validate(engine) for engine in made_of.engines],
        )
    )
