"""What is printed survives whatever it is made of, and every encoding of who reads it."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from foliot.cli.output import Output, View, escape_what_cannot_be_said, fitting, print_document, print_item, print_items
from tests.cli.conftest import CommandLine

ODD = {"id": "x\ud800", "note": "größer 中 😀 \ud83d", "more": {"list": [{"deep": "\udfff"}]}}
VIEW = View({"ID": "id", "NOTE": "note", "MORE": "more"})
READ: dict[Output, Callable[[str], Any]] = {
    Output.JSON: json.loads,
    Output.JSONL: json.loads,
    Output.YAML: yaml.safe_load,
}


@pytest.mark.parametrize("output", Output)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_every_form_can_be_written_in_every_encoding_and_what_is_for_programs_read_back(
    monkeypatch: pytest.MonkeyPatch, output: Output, encoding: str
) -> None:
    def written(show: Any, shown: Any) -> str:
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding)
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", stream)
            escape_what_cannot_be_said()
            show(shown)
        stream.flush()
        return raw.getvalue().decode(encoding)

    one = written(lambda odd: print_item(odd, VIEW, output), ODD)
    several = written(lambda odd: print_items([odd], VIEW, output), ODD)
    document = written(lambda odd: print_document(odd, output), ODD)
    if output in READ:
        assert READ[output](one) == ODD
        assert READ[output](several) == (ODD if output is Output.JSONL else [ODD])
        assert (json.loads if output is Output.JSON else yaml.safe_load)(document) == ODD
    else:
        assert "x\\ud800" in one
        assert "x\\ud800" in several


def test_what_the_encoding_can_say_is_not_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    for output in (Output.JSON, Output.JSONL, Output.YAML, Output.TABLE):
        print_items([{"id": "größer 中 😀"}], VIEW, output)
        assert "größer 中 😀" in capsys.readouterr().out


def test_a_terminal_is_not_told_what_to_do_by_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    item = {"id": "x", "note": "\x1b[2J\x07", "more": "one\ntwo\x1b[0m"}
    print_items([item], VIEW, Output.TABLE)
    print_item(item, VIEW, Output.TABLE)
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert said.count("\\x1b[2J\\x07") == 2
    assert "two\\x1b[0m" in said


@pytest.mark.parametrize("output", Output)
def test_half_a_letter_goes_to_the_server_and_comes_back(foliot: CommandLine, name: str, output: Output) -> None:
    made = foliot("schedule", "create", name, "--manual", "--input", '{"half": "\\ud800"}', "-o", output)
    assert made == foliot("schedule", "show", name, "-o", output)
    if output is not Output.NAME:
        assert "\\ud800" in made.lower()


def test_an_id_that_utf_8_cannot_say_is_refused_in_words(foliot: CommandLine) -> None:
    assert "a run id looks like" in foliot.refused(2, "run", "show", "x\udcff")
    assert "letters that UTF-8 can say" in foliot.refused(2, "run", "list", "--schedule", "x\udcff")


def test_a_table_has_a_column_for_all_that_any_of_its_rows_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Only what the first one says was shown: an edge for errors looked like any other."""
    edges = [{"source": "a", "target": "b"}, {"source": "a", "target": "c", "when": "error"}]
    print_item({"id": "prices", "edges": edges}, VIEW, Output.TABLE)
    assert "  a       c       error" in capsys.readouterr().out.splitlines()


RUNS = ["ID", "STATUS", "REASON", "STARTED", "ENDED", "ERROR"]
SLOT = ["digest:2026-11-18T09:48:00Z~1", "success", "", "2026-11-18T09:48:00Z", "2026-11-18T09:48:25Z", ""]
FAILED = [*SLOT[:1], "error", "internal", *SLOT[3:5], "the printer burns, and nobody is there"]


@pytest.mark.parametrize(
    ("rows", "width", "shown"),
    [
        ([SLOT], 200, RUNS),
        ([SLOT], 90, ["ID", "STATUS", "REASON", "STARTED", "ENDED"]),
        ([SLOT], 85, ["ID", "STATUS", "STARTED", "ENDED"]),
        ([SLOT], 80, ["ID", "STATUS", "STARTED"]),
        ([SLOT, FAILED], 80, ["ID", "STATUS", "REASON", "ERROR"]),
        ([SLOT, FAILED], 40, ["ID", "STATUS"]),
        ([], 10, ["ID", "STATUS"]),
    ],
)
def test_where_there_is_no_room_columns_go_and_not_halves_of_words(
    rows: list[list[str]], width: int, shown: list[str]
) -> None:
    """A run took ten lines of two letters each."""
    assert [RUNS[number] for number in fitting(RUNS, rows, width)] == shown
