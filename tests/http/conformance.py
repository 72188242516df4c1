"""Answers against the API's own description."""

import re
from typing import Any

import jsonschema_rs


class Described:
    """What the OpenAPI document says of answers."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = document["components"]
        self._paths = {re.compile(re.sub(r"\{\w+\}", "(.+)", path)): said for path, said in document["paths"].items()}

    def check(self, answer: Any) -> None:
        """AssertionError unless its status, its kind and its body are as the document says."""
        asked = f"{answer.request.method} {answer.request.url.path} -> {answer.status_code}: {answer.text[:500]}"
        said = self._operation(answer.request)["responses"].get(str(answer.status_code))
        assert said is not None, asked
        kind = answer.headers["content-type"]
        assert kind in said["content"], asked
        schema = {**said["content"][kind]["schema"], "components": self._components}
        wrong = [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(answer.json())]
        assert wrong == [], asked

    def _operation(self, request: Any) -> Any:
        method = request.method.lower()
        (found,) = (said for path, said in self._paths.items() if path.fullmatch(request.url.path) and method in said)
        return found[method]
