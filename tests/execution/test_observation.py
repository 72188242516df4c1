"""Executions are spans of their runs' traces where a program has set up OpenTelemetry, and nothing elsewhere."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from foliot import Foliot
from foliot.execution import observation
from foliot.testing import virtual
from tests.sdk.worlds import START


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What the program's own provider hears."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(observation.trace, "get_tracer_provider", lambda: provider)
    return exporter


def an_app() -> Foliot:
    app = Foliot("sqlite:///not-used.db")

    @app.graph("outer")
    async def outer(input: Any, ctx: Any) -> None:
        with observation.trace.get_tracer_provider().get_tracer("mine").start_as_current_span("inner"):
            await asyncio.sleep(1)

    @app.graph("fail")
    def fail(input: Any, ctx: Any) -> None:
        raise ValueError("no luck")

    return app


def test_an_execution_is_a_span_of_the_runs_trace_and_what_it_does_lies_in_it(spans: InMemorySpanExporter) -> None:
    app = an_app()
    with virtual(app, START) as world:
        app.schedules.create("digest", target="outer", every="1h")
        world.advance(hours=1, seconds=2)
        (run,) = world.runs("digest")
    inner, outer = spans.get_finished_spans()
    assert {f"{span.context.trace_id:032x}" for span in (inner, outer)} == {run.trace_id}
    assert inner.parent is not None
    assert inner.parent.span_id == outer.context.span_id
    assert outer.name == "run python:outer"
    assert dict(outer.attributes or {}) == {
        "foliot.run_id": run.id,
        "foliot.schedule": "digest",
        "foliot.target": "python:outer",
        "foliot.attempt": 1,
        "foliot.user": "local",
        "foliot.status": "success",
    }


def test_what_a_function_in_a_thread_does_lies_in_the_span_of_its_run(
    spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    app = Foliot(f"sqlite:///{tmp_path / 'ledger.db'}")

    @app.graph("plain")
    def plain() -> None:
        with observation.trace.get_tracer_provider().get_tracer("mine").start_as_current_span("inner"):
            """Nothing to do."""

    assert asyncio.run(app.execute("plain", key="k1")).ok
    inner, outer = spans.get_finished_spans()
    assert inner.parent is not None
    assert inner.parent.span_id == outer.context.span_id
    app.close()


def test_a_failure_is_an_error_of_its_span(spans: InMemorySpanExporter) -> None:
    app = an_app()
    with virtual(app, START) as world:
        app.schedules.create("digest", target="fail", every="1h")
        world.advance(hours=1, seconds=2)
    (span,) = spans.get_finished_spans()
    assert span.status.status_code is trace.StatusCode.ERROR
    assert (span.attributes or {})["foliot.reason"] == "internal"


def test_where_nobody_listens_nothing_is_made() -> None:
    assert observation._tracer() is None


def test_without_the_package_runs_have_their_trace_all_the_same() -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from foliot import Foliot\nfrom foliot.testing import virtual\n"
        "app = Foliot('sqlite:///not-used.db')\n"
        "app.graph('job')(lambda input, ctx: ctx.trace_id)\n"
        "with virtual(app, '2026-11-15T12:00:00Z') as world:\n"
        "    app.schedules.create('digest', target='job', every='1h')\n"
        "    world.advance(hours=1, seconds=1)\n"
        "    (run,) = world.runs('digest')\n"
        "    print(run.result == run.trace_id, len(run.trace_id))\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.split() == ["True", "32"]
