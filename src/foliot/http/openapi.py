"""The API as OpenAPI says it. What routes have in common is added here, so that no router has to repeat it.

A router declares its paths, models and examples, and with `also` what only some routes answer. From the method, the
path and the right that is needed follow the problems that a route may answer, and that writes take a key.
"""

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts

from foliot.http.asking import LONGEST_KEY, PUBLIC, SERVICE, SIGNED, right_of
from foliot.http.errors import PROBLEM, TITLES
from foliot.http.routing import router_at
from foliot.http.schemas import Problem

Operation = dict[str, Any]

ETAG: dict[str, Any] = {
    "headers": {
        "ETag": {"description": "Its conflict token, for `If-Match`.", "schema": {"type": "string"}, "required": True}
    }
}
"""For `responses={200: ETAG}` of what can be changed under `If-Match`."""
_SCHEMA = "#/components/schemas/Problem"
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request under the same key is carried out once, and answered alike for a day.",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"},
}
_KEY_HOLDERS = "HTTPBearer"
_SERVICES = "Service"
_SCHEMES = {
    _KEY_HOLDERS: "An API key: `foliot key create` makes one.",
    _SERVICES: "The secret of a service, or a token that it was issued.",
}
"""What is sent as `Authorization: Bearer …`."""
_DEFAULTS = ("HTTPValidationError", "ValidationError")
"""What FastAPI says of errors, which are not ours."""


def routes(prefix: str, tag: str) -> APIRouter:
    """A router of version 1, whose operations are named by the tag and the name of their function."""
    return routes_at(f"/api/v1{prefix}", tag)


def routes_at(prefix: str, tag: str) -> APIRouter:
    """The same for routes that have no version."""
    return router_at(prefix, tags=[tag], generate_unique_id_function=_name_of)


def also(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For `responses=`: problems that not every route of its kind answers, such as 402."""
    return {status: _problem(status) for status in statuses}


def document(app: FastAPI) -> dict[str, Any]:
    """The whole API, as OpenAPI 3.1."""
    said = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    for route, method, operation in _operations(app, said):
        right = right_of(route.endpoint)
        if right not in (None, PUBLIC):
            operation["x-right"] = str(right)
        if right not in (None, PUBLIC, SIGNED):
            operation["security"] = [{_SERVICES if right == SERVICE else _KEY_HOLDERS: []}]
        if method != "get" and right not in (None, PUBLIC, SIGNED):
            _take_key(operation)
        for status in sorted(_statuses(route, method, operation)):
            operation["responses"].setdefault(str(status), _problem(status))
        _only_ours(operation)
    components = said.setdefault("components", {})
    components["securitySchemes"] = {
        name: {"type": "http", "scheme": "bearer", "description": what} for name, what in _SCHEMES.items()
    }
    schemas = components.setdefault("schemas", {})
    for operation in (one for path in said["paths"].values() for one in path.values()):
        _show_body(operation, schemas)
    schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    for name in _DEFAULTS:
        schemas.pop(name, None)
    return said


def _name_of(route: APIRoute) -> str:
    return f"{route.tags[0]}_{route.name}"


def _operations(app: FastAPI, said: dict[str, Any]) -> Iterator[tuple[APIRoute, str, Operation]]:
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in sorted(route.methods or ()):
                yield route, method.lower(), said["paths"][context.path_format][method.lower()]


def _statuses(route: APIRoute, method: str, operation: Operation) -> Iterator[int]:
    """What a route of that kind may answer when it does not do what it is asked."""
    # Whatever the method, a body may come with it: too deep, too slow or too large.
    yield from (400, 408, 413, 503)
    if right_of(route.endpoint) != PUBLIC:
        # The last for what the query says and the route does not know.
        yield from (401, 403, 429, 422)
    if "{" in route.path:
        yield 404
    elif operation.get("parameters"):
        yield 422
    if method != "get":
        yield from (409, 422)


def _take_key(operation: Operation) -> None:
    """A write takes a key; one that cannot do without it says so itself."""
    said = operation.setdefault("parameters", [])
    if all(parameter["name"] != _KEY["name"] for parameter in said):
        said.append(_KEY)


def _show_body(operation: Operation, schemas: dict[str, Any]) -> None:
    """The example of a body stands beside its schema too: of one that may be left out many readers find no other."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is None:
        return
    for form in body["schema"].get("anyOf", [body["schema"]]):
        whole = schemas[form["$ref"].rpartition("/")[2]] if "$ref" in form else form
        for example in whole.get("examples", [])[:1]:
            body.setdefault("example", example)


def _only_ours(operation: Operation) -> None:
    """What is invalid is answered like every other problem."""
    said = operation["responses"].get("422", {})
    if PROBLEM not in said.get("content", {}) and said:
        operation["responses"]["422"] = _problem(422)


def _problem(status: int) -> dict[str, Any]:
    return {"description": TITLES[status], "content": {PROBLEM: {"schema": {"$ref": _SCHEMA}}}}
