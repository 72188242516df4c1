"""Metrics in the words of Prometheus, made of plain numbers when somebody asks for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric, UntypedMetricFamily
from prometheus_client.registry import Collector

from foliot.books.decided import DecisionCounts, Fate
from foliot.domain.errors import Unavailable
from foliot.domain.instants import MICROSECONDS
from foliot.domain.runs import Reason
from foliot.engine.counters import Counters, Histogram
from foliot.engine.loop import Engine
from foliot.http.service import Service
from foliot.http.traffic import Traffic
from foliot.rows import Backlog
from foliot.services.desk import Caller

K = TypeVar("K", str, tuple[str, str])

_NATIVE = "native"

_COUNTED = {
    "turns": ("foliot_turns", "transactions that looked for work"),
    "redelivered": ("foliot_redeliveries", "runs begun that another delivery had begun before"),
    "failed_launches": ("foliot_failed_launches", "runs that ended because the gate was not there"),
    "refused": ("foliot_refused_reports", "reports that came too late and were not recorded"),
    "fenced": ("foliot_fenced", "runs that were taken from this process"),
    "rescued": ("foliot_rescued", "runs taken from workers that are gone"),
    "outages": ("foliot_outages", "attempts that did not reach the database"),
    "clock_steps": ("foliot_clock_steps", "times that the wall clock was set"),
    "set_aside": ("foliot_set_aside", "times that a schedule was set aside because a turn failed for it"),
}
_MEASURED = {
    "lateness": ("foliot_lateness_seconds", "from the due time of a slot to its start"),
    "turn_seconds": ("foliot_turn_seconds", "how long transactions took that looked for work"),
    "batch_sizes": ("foliot_batch_size", "starts and outcomes that one transaction was about"),
    "rescue_seconds": ("foliot_rescue_seconds", "from the end of a dead worker's lease until its runs were taken over"),
}


def rendered(service: Service, traffic: Traffic) -> bytes:
    """All metrics of this process, as text."""
    registry = CollectorRegistry()
    registry.register(Metrics(service, traffic))
    return generate_latest(registry)


class Metrics(Collector):
    """Of one process, collected when somebody asks."""

    def __init__(self, service: Service, traffic: Traffic) -> None:
        self._service = service
        self._traffic = traffic

    def describe(self) -> Iterable[Metric]:
        """Nothing is asked for when it is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        engines = self._service.engines()
        counters = [engine.counters for engine in engines]
        # Who decides is an engine in its turn, or a verb.
        counts = [*counters, self._service.counts]
        yield from _of_seed(counters, counts)
        yield from _of_engines(engines)
        yield from _of_counters(counters)
        yield from _of_decisions(counts)
        charged = self._service.credits()
        yield CounterMetricFamily("foliot_credits_charged", "credits charged by this process", charged)
        yield from _of_database(backlog_of(self._service))
        yield from _of_traffic(self._traffic)


def backlog_of(service: Service) -> Backlog | None:
    """What is due of the targets that this process works on, or of all when it does not; None: no database."""
    engines = service.engines()
    targets = sorted({target for engine in engines for target in engine.targets}) if engines else None
    try:
        return service.verbs_for(Caller()).desk.read(lambda tx: tx.backlog(targets))
    except Unavailable:
        return None


def _of_seed(counters: Sequence[Counters], counts: Sequence[DecisionCounts]) -> Iterator[Metric]:
    """Under the names that they have always had, without the ending of a counter."""
    skipped = sum(each.decided[Fate.SKIP, Reason.OVERLAP] for each in counts)
    emitted = sum(each.started for each in counters)
    failed = sum(each.failed_launches for each in counters)
    yield UntypedMetricFamily("runs_emitted", "runs begun", emitted)
    yield UntypedMetricFamily("runs_skipped_overlap", "slots skipped because the run before was not over", skipped)
    yield UntypedMetricFamily("runs_failed_launch", "runs that ended because the gate was not there", failed)
    drift = HistogramMetricFamily("scheduling_drift_seconds", "between the planned time of a slot and its start")
    _add(drift, [], [each.drift for each in counters])
    yield drift


def _of_engines(engines: Sequence[Engine]) -> Iterator[Metric]:
    alive = GaugeMetricFamily("foliot_engines_working", "workers of this process that have not ended")
    alive.add_metric([], sum(not engine.vitals.is_over for engine in engines))
    yield alive
    silence = max((engine.vitals.silence() for engine in engines if not engine.vitals.is_over), default=0.0)
    yield GaugeMetricFamily("foliot_engine_silence_seconds", "since a worker's loop last went round", silence)
    yield GaugeMetricFamily("foliot_in_hand", "runs under way in this process", sum(e.in_hand for e in engines))
    abandoned = sum(engine.abandoned for engine in engines)
    yield GaugeMetricFamily("foliot_abandoned_threads", "threads that could not be stopped and work on", abandoned)


def _of_counters(counters: Sequence[Counters]) -> Iterator[Metric]:
    for attribute, (name, about) in _COUNTED.items():
        yield CounterMetricFamily(name, about, sum(getattr(each, attribute) for each in counters))
    for attribute, (name, about) in _MEASURED.items():
        family = HistogramMetricFamily(name, about, labels=["engine"])
        _add(family, [_NATIVE], [getattr(each, attribute) for each in counters])
        yield family
    started = CounterMetricFamily("foliot_runs_started", "runs begun", labels=["kind"])
    for kind, count in _summed([each.started_by_kind for each in counters]).items():
        started.add_metric([kind], count)
    yield started


def _of_decisions(counts: Sequence[DecisionCounts]) -> Iterator[Metric]:
    about = "runs that are over, also those that never began, by what came of them"
    ended = CounterMetricFamily("foliot_runs_ended", about, labels=["status"])
    for status, count in _summed([each.ended for each in counts]).items():
        ended.add_metric([status], count)
    yield ended
    about = "slots, triggers and backfills that were held, skipped, missed or cancelled, and why"
    decided = CounterMetricFamily("foliot_slots_decided", about, labels=["fate", "reason"])
    for (fate, reason), count in _summed([each.decided for each in counts]).items():
        decided.add_metric([fate, reason], count)
    yield decided


def _of_database(backlog: Backlog | None) -> Iterator[Metric]:
    yield GaugeMetricFamily("foliot_database_up", "whether the database answers", float(backlog is not None))
    if backlog is not None:
        yield GaugeMetricFamily("schedules_due", "schedules whose time has come and that wait", backlog.schedules)
        yield GaugeMetricFamily("foliot_runs_waiting", "runs that wait for nothing but a worker", backlog.runs)
        age = backlog.age / MICROSECONDS
        yield GaugeMetricFamily("foliot_queue_age_seconds", "for how long the first of all these waits", age)


def _of_traffic(traffic: Traffic) -> Iterator[Metric]:
    requests = CounterMetricFamily(
        "foliot_http_requests", "requests that were answered", labels=["method", "route", "status"]
    )
    # Copied: the server's loop goes on counting.
    for (method, route, status), count in dict(traffic.answered).items():
        requests.add_metric([method, route, str(status)], count)
    yield requests
    seconds = HistogramMetricFamily("foliot_http_request_seconds", "until the answer had left", labels=["route"])
    for route, histogram in dict(traffic.seconds).items():
        _add(seconds, [route], [histogram])
    yield seconds


def _summed(counters: Sequence[Mapping[K, int]]) -> dict[K, int]:
    summed: dict[K, int] = {}
    for each in counters:
        # Copied: the worker's loop goes on counting.
        for name, count in dict(each).items():
            summed[name] = summed.get(name, 0) + count
    return summed


def _add(family: HistogramMetricFamily, labels: Sequence[str], histograms: Sequence[Histogram]) -> None:
    if not histograms:
        return
    counts = [sum(column) for column in zip(*(each.counts for each in histograms), strict=True)]
    bounds = [*(str(bound) for bound in histograms[0].bounds), "+Inf"]
    buckets = list(zip(bounds, accumulate(counts), strict=True))
    family.add_metric(labels, buckets, sum(each.total for each in histograms))
