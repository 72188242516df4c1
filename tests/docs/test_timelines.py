"""The timelines in the docs are what the programs beside them find."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from foliot.domain.policies import CatchUp, Overlap
from tests.docs.pages import ROOT, Program, blocks

PAGE = ROOT / "docs" / "how-to" / "catch-up-and-overlap.md"


def timelines(heading: str) -> dict[str, list[str]]:
    """By option, what the table below the heading says of each slot."""
    section = PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")][1:]
    return {re.findall(r"`(\w+)`", option)[0]: [cell.strip() for cell in cells] for option, *cells in rows}


@pytest.fixture(scope="module")
def told() -> dict[str, Callable[..., Any]]:
    program = Program()
    for block in blocks(PAGE, "python"):
        program.run(block)
    return program.names


@pytest.mark.parametrize("overlap", Overlap)
def test_a_timeline_of_overlap_is_what_happens(overlap: Overlap, told: dict[str, Callable[..., Any]]) -> None:
    assert told["overlapping"](str(overlap)) == timelines("Overlap")[overlap]


@pytest.mark.parametrize("catchup", CatchUp)
def test_a_timeline_of_catch_up_is_what_happens(catchup: CatchUp, told: dict[str, Callable[..., Any]]) -> None:
    overlap = "buffer_all" if catchup is CatchUp.ALL else "skip"
    assert told["caught_up"](catchup=str(catchup), overlap=overlap) == timelines("Catch-up")[catchup]
