"""Observation: each execution is a span of its run's trace, where a program has set up OpenTelemetry."""

from collections.abc import Awaitable
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


async def observed(launch: Launch, context: Context, work: Awaitable[Outcome]) -> Outcome:
    """What the work comes to, in a span of the trace that the run's id names; in none where nobody looks."""
    tracer = _tracer()
    if tracer is None:
        return await work
    attributes: dict[str, str | int] = {
        "foliot.run_id": context.run_id,
        "foliot.schedule": launch.schedule_id,
        "foliot.target": launch.target,
        "foliot.attempt": launch.attempt,
        "foliot.user": launch.grant.user,
    }
    of_the_run = trace.set_span_in_context(trace.NonRecordingSpan(_root(context.trace_id)))
    with tracer.start_as_current_span(f"run {launch.target}", context=of_the_run, attributes=attributes) as span:
        outcome = await work
        _note(span, outcome)
        return outcome


def _note(span: "Span", outcome: Outcome) -> None:
    span.set_attribute("foliot.status", str(outcome.status))
    if outcome.reason is not None:
        span.set_attribute("foliot.reason", str(outcome.reason))
    if outcome.status is Status.ERROR:
        span.set_status(trace.StatusCode.ERROR, outcome.error or str(outcome.reason))


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
