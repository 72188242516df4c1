"""The benchmarks run, and say what they found; how fast is for `make bench` to tell."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from benchmarks import throughput
from benchmarks.databases import new_databases
from benchmarks.figures import UNEXPLAINED, Figure, Findings, keep, kept, table
from benchmarks.page import PAGE, panels, with_figures
from benchmarks.picture import draw

SMALL = throughput.Sizes(rounds=1, slots=300, history=900, apscheduler=10)


def some_findings() -> Findings:
    found = Findings("scale", "sqlite")
    found.add("start of the engine", 6.0, "s", at_most=5)
    found.add("creation", 20_000, "schedules/s", at_least=10_000, goal=15_000, beside={"a peer": 300})
    for name in ("late p50, ms", "late p99, ms", "CPU a due slot, us", "idle CPU, %", "memory, MB"):
        found.series[name] = [[1_000, 3.0], [1_000_000, 4.5]]
    return found


@pytest.mark.slow
def test_a_measurement_of_throughput_tells_its_figures() -> None:
    found = Findings("throughput", "sqlite")
    with new_databases("sqlite") as urls:
        throughput.measure(found, urls, SMALL)
    first = found.figures[0]
    assert first.name == "throughput, one process"
    assert first.measured > 0
    assert set(first.beside) == {"APScheduler", "raw yardstick"}


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [
        (Figure("rate", 9, at_least=10, goal=20), "MISSED"),
        (Figure("rate", 10, at_least=10, goal=20), "reached"),
        (Figure("rate", 20, at_least=10, goal=20), "goal"),
        (Figure("late", 81, at_most=80), "MISSED"),
        (Figure("late", 80, at_most=80), "reached"),
        (Figure("late", float("nan"), at_most=80), "MISSED"),
        (Figure("told", 1), ""),
    ],
)
def test_a_figure_knows_whether_it_is_reached(figure: Figure, verdict: str) -> None:
    assert figure.verdict == verdict


def test_a_figure_that_is_not_reached_is_named_with_its_reason() -> None:
    found = Findings("lateness", "postgresql")
    found.add("a lone slot on an idle engine: late, p99", 6.0, "ms", at_most=5)
    found.add("throughput, one process", 12_000, "slots/s", at_least=10_000, goal=20_000)
    told = table([found])
    assert "Not reached, and why:\n  postgresql, a lone slot on an idle engine: late, p99: a turn asks" in told
    assert "postgresql, throughput, one process: (the goal) " in told


def test_nothing_on_the_page_that_is_not_reached_lacks_its_reason() -> None:
    assert UNEXPLAINED not in PAGE.read_text()


def test_what_was_measured_is_written_into_the_page_and_nothing_else_is_touched(tmp_path: Path) -> None:
    keep(some_findings(), tmp_path)
    page = "before\n<!-- figures -->\nold\n<!-- /figures -->\nafter\n"
    written = with_figures(page, kept(tmp_path))
    assert written.startswith("before\n<!-- figures -->\n")
    assert written.endswith("<!-- /figures -->\nafter\n")
    assert "| creation | 20,000 schedules/s | ≥ 10,000 | 15,000 | goal | a peer 300 |" in written
    assert "old" not in written
    assert with_figures(written, kept(tmp_path)) == written


def test_what_was_not_measured_now_stays_on_the_page_with_its_reasons(tmp_path: Path) -> None:
    keep(some_findings(), tmp_path)
    both = with_figures("<!-- figures -->\n<!-- /figures -->\n", kept(tmp_path))
    assert "- **SQLite, start of the engine**: " in both
    later = Findings("lateness", "sqlite")
    later.add("10,000 each second for 10 s: late, p99", 900.0, "ms", at_most=700)
    (folder := tmp_path / "later").mkdir()
    keep(later, folder)
    written = with_figures(both, kept(folder))
    assert "| creation | 20,000 schedules/s | ≥ 10,000 | 15,000 | goal | a peer 300 |" in written
    assert [line[:60] for line in written.split("\n") if line.startswith("- **")] == [
        "- **SQLite, 10,000 each second for 10 s: late, p99**: with i",
        "- **SQLite, start of the engine**: not explained yet",
    ]
    mended = some_findings()
    mended.figures[0] = Figure("start of the engine", 4.0, "s", at_most=5)
    keep(mended, folder)
    assert "- **SQLite, start" not in with_figures(written, kept(folder))


def test_the_picture_has_a_line_for_every_series() -> None:
    picture = ElementTree.fromstring(draw(panels([some_findings()])))
    assert len(picture.findall(".//{*}polyline")) == 5
