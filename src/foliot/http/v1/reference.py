"""The API's own description over HTTP."""

import json

from fastapi import Request
from starlette.responses import Response

from foliot.domain.access import Right
from foliot.http.asking import Asked, needs
from foliot.http.openapi import document, routes

router = routes("", "reference")


@router.get("/openapi.json", response_model=dict[str, object])
@needs(Right.READ)
def openapi(request: Request, _: Asked) -> Response:
    """All that may be asked here, as OpenAPI 3.1."""
    state = request.app.state
    if not hasattr(state, "openapi"):
        state.openapi = json.dumps(document(request.app))
    return Response(state.openapi, media_type="application/json")
