"""Observation: each execution is a span of its run's trace, where a program has set up OpenTelemetry."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from foliot.domain.runs import Status
from foliot.domain.settlement import Outcome
from foliot.execution.context import Context
from foliot.ports import Launch

if TYPE_CHECKING:
    from opentelemetry.trace import Span, SpanContext, Tracer, TracerProvider

_NAME = "foliot"


def _opentelemetry() -> Any:
    """The package, which is an extra; None where it is not."""
    try:
        from opentelemetry import trace  # noqa: PLC0415
    except ImportError:
        return None
    return trace


trace = _opentelemetry()


class Observed:
    """An execution under observation: it is told what came of it."""

    __slots__ = ("_span",)

    def __init__(self, span: "Span | None" = None) -> None:
        self._span = span

    def came_to(self, outcome: Outcome) -> None:
        if self._span is None:
            return
        self._span.set_attribute("foliot.status", str(outcome.status))
        if outcome.reason is not None:
            self._span.set_attribute("foliot.reason", str(outcome.reason))
        if outcome.status is Status.ERROR:
            self._span.set_status(trace.StatusCode.ERROR, outcome.error or str(outcome.reason))


_UNSEEN = Observed()


@contextmanager
def observed(launch: Launch, context: Context) -> Iterator[Observed]:
    """A span around what happens inside, in the trace that the run's id names; nothing where nobody looks."""
    tracer = _tracer()
    if tracer is None:
        yield _UNSEEN
        return
    attributes: dict[str, str | int] = {
        "foliot.run_id": context.run_id,
        "foliot.schedule": launch.schedule_id,
        "foliot.target": launch.target,
        "foliot.attempt": launch.attempt,
        "foliot.user": launch.grant.user,
    }
    of_the_run = trace.set_span_in_context(trace.NonRecordingSpan(_root(context.trace_id)))
    with tracer.start_as_current_span(f"run {launch.target}", context=of_the_run, attributes=attributes) as span:
        yield Observed(span)


def _tracer() -> "Tracer | None":
    """None as long as the program has set up nobody who would hear of spans: most have not."""
    if trace is None:
        return None
    provider: TracerProvider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer(_NAME)


def _root(trace_id: str) -> "SpanContext":
    """The run itself, as the parent of its deliveries: it follows from the run's id too."""
    sampled = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    root: SpanContext = trace.SpanContext(
        int(trace_id, 16), int(trace_id[:16], 16) or 1, is_remote=True, trace_flags=sampled
    )
    return root
