"""What is given on the command line: files, JSON, labels and moments."""

import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foliot.domain.errors import Invalid
from foliot.domain.instants import instant_of


def text_in(file: str) -> str:
    """What is in the file; `-` is standard input."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, ValueError) as error:
        raise Invalid(f"{file!r} cannot be read: {_why(error)}") from error


def _why(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "there is no such file: mend its name, or give - for standard input"
        case IsADirectoryError():
            return "it is a directory: name a file in it"
        case PermissionError():
            return "you may not read it: have its permissions changed"
        case OSError():
            return error.strerror or type(error).__name__
        case UnicodeDecodeError():
            return "it is no text in UTF-8"
        case _:
            return str(error)


def json_given(option: str, text: str | None) -> Any:
    """JSON, or `@file` with JSON in it; None when nothing is given."""
    if text is None:
        return None
    try:
        return json.loads(text_in(text[1:]) if text.startswith("@") else text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, Invalid):
            raise
        remedy = """text is JSON in quotes, such as '"warmer"'"""
        raise Invalid(f"{option} takes JSON, or @file with JSON in it, got {text[:80]!r}: {error}; {remedy}") from error


def input_given(text: str | None) -> dict[str, Any]:
    """The `input` that is given by --input, null or not, instead of a schedule's own; empty when nothing is given."""
    return {} if text is None else {"input": json_given("--input", text)}


def labels_given(texts: Iterable[str] | None, option: str = "--label") -> dict[str, str] | None:
    """`team=mail`, several times; None when nothing is given."""
    labels = {}
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise Invalid(f"{option} takes name=value, such as team=mail, got {text!r}")
        labels[name] = value
    return labels or None


def moment_given(option: str, text: str | None) -> str | None:
    """As it was written; None when nothing is given."""
    if text is not None:
        instant_of(text, option)
    return text


def check_range(start: str | None, end: str | None) -> None:
    """Invalid when what `--from` and `--to` say are no moments, or the last is before the first."""
    first, last = moment_given("--from", start), moment_given("--to", end)
    if first is not None and last is not None and instant_of(last, "--to") < instant_of(first, "--from"):
        raise Invalid(f"--to takes a moment not before --from, got {last} before {first}")


def document_in(file: str) -> Any:
    """A YAML file, of which JSON is one kind, with its moments as text."""
    # Imported here: it takes longer than most of what is asked for.
    import yaml  # noqa: PLC0415

    try:
        return _plain(yaml.safe_load(text_in(file)))
    except (yaml.YAMLError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise Invalid(f"{file!r} is no YAML: {said}") from error


def _plain(value: Any) -> Any:
    """YAML takes what looks like a moment for one: here it is text, as JSON has it."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat().replace("+00:00", "Z")
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
