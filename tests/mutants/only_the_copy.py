"""A pytest plugin: refuses to run any test unless the program under test is the copy that it was told to be."""

import os

import pytest

import foliot

PLACE = "FOLIOT_MUTANT"
"""In the environment: where the copy of the package lies."""


def pytest_configure(config: pytest.Config) -> None:
    expected = os.environ[PLACE]
    found = os.path.dirname(foliot.__file__ or "")
    if found != expected:
        raise pytest.UsageError(f"foliot is imported from {found}, not from {expected}")
