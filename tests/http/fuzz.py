"""Whatever is sent to the API: no error of ours, nothing that the OpenAPI does not say, and no success without a right.

`python -m tests.http.fuzz` sends some hundred requests to each operation, on SQLite and on PostgreSQL, made by
Schemathesis from the OpenAPI document: as it says, and deliberately not so. Each is also sent by nobody, and each that
changes something by somebody who may only look.
"""

import argparse
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation.modes import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from foliot import Foliot
from foliot.domain.pace import Pace
from tests.databases import KINDS, a_postgresql_server
from tests.http.belongings import FLOW
from tests.http.clients import People
from tests.http.service_clients import BY_SECRET, SECRET

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
)
DOCUMENT = "/api/v1/openapi.json"
ENDLESS = ("/api/v1/events",)
"""Answers that do not end by themselves are tried elsewhere."""
_UNLIMITED = Pace(1e9, 10**9)
_ASKING = {"service": ("a service",), "write or service": ("root", "ann", "a service")}
"""Who asks for what needs that right, besides admins and members."""


class Fuzzing:
    """Requests to one service, and what was wrong with the answers."""

    def __init__(self, program: Foliot) -> None:
        self.http = program.parts.http(_UNLIMITED, BY_SECRET)
        people = People(program, lambda: TestClient(self.http, raise_server_exceptions=False))
        self._headers = {who: dict(people.client(who).headers) for who in ("root", "ann", "eve", "nobody")}
        self._headers["a service"] = {"authorization": f"Bearer {SECRET}"}
        self.schema = schemathesis.openapi.from_asgi(DOCUMENT, self.http, headers=self._headers["root"])
        self._known = _things(program)
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def operations(self) -> Iterator[Any]:
        for found in self.schema.get_all_operations():
            operation: Any = found.ok()  # type: ignore[union-attr]  # A document with errors is a finding.
            if operation.path not in ENDLESS:
                yield operation

    def fuzz(self, operation: Any, examples: int, seed: int = 0) -> None:
        """So many requests as the document says, and as many that are not so."""
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                strategy = operation.as_strategy(generation_mode=mode)
                self._send_all(operation, strategy, examples, seed)
            # One that cannot be made wrong, or a finding: the others are tried as well.
            except (Exception, BaseExceptionGroup) as error:
                if type(error).__name__ not in ("Unsatisfiable", "SkipTest"):
                    self.problems.append(f"{operation.label}: {type(error).__name__}: {error}"[:2000])

    def _send_all(self, operation: Any, strategy: Any, examples: int, seed: int) -> None:
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=seed == 0,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def send(case: Any) -> None:
            asking = _ASKING.get(operation.definition.raw.get("x-right"), ("root", "ann"))
            for who in asking:
                self._send(case, who)
            known = {name: self._known[name] for name in case.path_parameters or {} if name in self._known}
            if known:
                # What is there is asked for in the same words: an id that was made up leads nowhere.
                case.path_parameters = {**case.path_parameters, **known}
                for who in asking:
                    self._send(case, who)
            self._check_refused(case, "nobody", 401)
            if operation.definition.raw.get("x-right") not in (None, "read"):
                self._check_refused(case, "eve", 403)

        send()

    def _send(self, case: Any, who: str) -> None:
        response = self._call(case, who)
        self.counts["requests"] += 1
        self.counts[f"{response.status_code // 100}xx"] += 1
        case.validate_response(response, checks=CHECKS)

    def _check_refused(self, case: Any, who: str, status: int) -> None:
        if "x-right" not in case.operation.definition.raw:
            return
        response = self._call(case, who)
        self.counts["requests"] += 1
        self.counts["without a right"] += 1
        # Whoever is refused for the size or shape of a request is not told more; and some requests lose their key. An
        # empty part of a path makes it another, of which it is no secret that nothing is there.
        is_nowhere = response.status_code == 404 and "/api/v1/openapi.json lists what there is" in response.text
        if not is_nowhere and response.status_code not in (status, 401, 400, 413, 422):
            raise AssertionError(f"{who} was answered {response.status_code}: {response.text[:300]}")

    def _call(self, case: Any, who: str) -> Any:
        given = {name: value for name, value in (case.headers or {}).items() if name.lower() != "authorization"}
        headers = {**given, **{name: value for name, value in self._headers[who].items() if name == "authorization"}}
        case.headers = given
        return case.call(headers=headers)


def _things(program: Foliot) -> dict[str, Any]:
    """One of each kind, by what paths call it."""
    verbs = program.parts.verbs
    schedule = verbs.schedules.create("known", target="digest", cron="0 9 * * *", user="ann")
    days = ("2026-11-01T00:00:00Z", "2026-11-03T00:00:00Z")
    verbs.workflows.deploy({"workflow_id": "known", **FLOW}, user="ann")
    return {
        "schedule_id": schedule.id,
        "run_id": verbs.schedules.trigger("known").id,
        "number": verbs.schedules.backfill("known", *days).id,
        "grant_id": schedule.grant,
        # Not one who asks: they would be locked out.
        "user": "carl",
        "workflow_id": "known",
        "version": 1,
        "key_id": verbs.keys.create("known", user="ann").id,
        "graph_id": "python:digest",
    }


@contextmanager
def a_program(kind: str) -> Iterator[Foliot]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield from _opened(f"sqlite:///{Path(folder) / 'fuzz.db'}")
        return
    with a_postgresql_server() as server:
        server.hurry()
        yield from _opened(server.new_database())


def _opened(url: str) -> Iterator[Foliot]:
    app = Foliot(url, name="fuzz")

    @app.graph("digest")
    def digest(input: object, ctx: object) -> object:
        return input

    try:
        yield app
    finally:
        app.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.http.fuzz", description=__doc__)
    parser.add_argument("--examples", type=int, default=100, help="of each kind, for each operation")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--operation", help="those whose name has this in it")
    options = parser.parse_args()
    # Every refusal is told there, and here there is hardly anything else.
    logging.getLogger("foliot").addHandler(logging.NullHandler())
    problems = 0
    for kind in [options.only] if options.only else KINDS:
        with a_program(kind) as program:
            fuzzing = Fuzzing(program)
            number = 0
            for operation in fuzzing.operations():
                if options.operation is None or options.operation in operation.label:
                    number += 1
                    fuzzing.fuzz(operation, options.examples)
            counted = ", ".join(f"{what} {count:,}" for what, count in sorted(fuzzing.counts.items()))
            print(f"{kind}: {number} operations, {counted}, problems {len(fuzzing.problems)}", flush=True)
            print("\n".join(fuzzing.problems), flush=True)
            problems += len(fuzzing.problems)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
