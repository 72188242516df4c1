"""The wire format: what is taken and given as JSON. Moments are RFC 3339 with Z, spans of time are text such as 90m."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, Strict
from pydantic_core import PydanticSerializationError, to_json


class Taken(BaseModel):
    """What is given to us: nothing that we do not know."""

    model_config = ConfigDict(extra="forbid", strict=False)


class Given(BaseModel):
    """What we give."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


def such_as(**example: Any) -> ConfigDict:
    """For `model_config`: what one may look like, in the API's description."""
    return ConfigDict(json_schema_extra={"examples": [example]})


def written_moment(moment: datetime) -> str:
    """RFC 3339, in UTC."""
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{in_utc.isoformat()[: -len('+00:00')]}Z"


Moment = Annotated[
    datetime,
    PlainSerializer(written_moment, return_type=Annotated[str, Field(json_schema_extra={"format": "date-time"})]),
]
"""A moment that we give."""
SaidMoment = Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
"""A moment that is given to us: the verbs read it, and refuse one that nobody can mean."""
Whole = Annotated[int, Strict(), Field(ge=-(2**53), le=2**53)]
"""A whole number that is given to us: one that every reader of JSON reads alike."""
Switch = Annotated[bool, Strict()]
Json = Any


def written(model: BaseModel) -> str:
    """The model as JSON. What programs gave may have halves of letters in it, which UTF-8 cannot say but JSON can."""
    try:
        return model.model_dump_json()
    except PydanticSerializationError:
        return json.dumps(model.model_dump(), separators=(",", ":"))


def written_plain(value: dict[str, Any]) -> str:
    """The same for what is no model, with moments in UTC."""
    try:
        return to_json(value).decode()
    except PydanticSerializationError:
        return json.dumps(value, separators=(",", ":"), default=written_moment)


class Problem(Given):
    """Why a request was not carried out."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: list[dict[str, str]] | None = None
    """All that does not fit, each with its place."""
    reason: str | None = None
    """Why the grant does not allow it."""
