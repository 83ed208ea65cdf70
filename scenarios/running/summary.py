"""A run that is over, summed up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ...model.core.exact_sums import sum_in_order
from ...model.statistics import bottleneck
from ...model.tasks.prices import NotedPrices
from ..machine.drives import is_solid_state
from .base.prediction import CacheHits, DriveActivity, Prediction
from .base.run import Run, drive_usage
from .base.wear import wear

if TYPE_CHECKING:
    from ...model.cache.device import CacheDevice
    from ..machine.drives import Drive, Queue

PERCENTILE_FIGURES = {"p50_seconds": "p50_s", "p90_seconds": "p90_s", "p99_seconds": "p99_s", "p999_seconds": "p99.9_s"}
"""Figures of latency beside the mean, and what :attr:`Prediction.latencies` calls them."""


def prediction_of(run: Run, seconds: float, rate: float, figures: Mapping[str, float] | None = None) -> Prediction:
    """What a run that is over gives, with the duration (s) and rate (bytes/s) of its whole workload."""
    usages = run.usages()
    machine = run.machine
    latencies = run.latencies()
    iops = {op: values["n"] / run.span for op, values in latencies.items()}
    rebuilds = run.rebuilds()
    given = {"rate": rate, "seconds": seconds, "iops": sum_in_order(iops.values())} if figures is None else figures
    sync = {"resync_rate": min(each.rate for each in rebuilds)} if rebuilds else {}
    return Prediction(
        seconds=seconds,
        measured_s=run.span,
        rate=rate,
        iops=iops,
        usages=usages,
        bottleneck=bottleneck(usages, run.longest_wait()),
        latencies=latencies,
        latency_bins=run.latency_bins(),
        member_ios=sum(disk.reads + disk.writes for disk in machine.disks.values()),
        rebuilds=rebuilds,
        events=machine.engine.scheduled_events,
        figures={**given, **sync},
        scale=machine.scale,
        wear=wear(machine.disks.values(), run.span),
        prices_read=prices_read(machine.price_lists),
        waits=run.waits(),
        ssd_caches=tuple(_cache_hits(run, name, cache) for name, cache in machine.ssd_caches.items()),
        drives=tuple(drive_activity(disk, machine.queues.get(name), run.span) for name, disk in machine.disks.items()),
    )


def _cache_hits(run: Run, name: str, cache: CacheDevice) -> CacheHits:
    spec = run.machine.scenario.caches[name]
    dirty, held = cache.dirty_bytes, cache.held_bytes
    before = run.cached.get(name, (dirty, held))
    size = spec.data_bytes(run.machine.scenario.capacity(spec.cache))
    return CacheHits(
        name,
        cache.read_hits,
        cache.read_hits + cache.read_misses,
        cache.write_hits,
        cache.write_hits + cache.write_misses,
        dirty,
        _until(cache.dirty_limit - dirty, dirty - before[0], run.span),
        held,
        _until(size - held, held - before[1], run.span),
    )


def _until(left: int, more: int, span: float) -> float | None:
    """Time (s) after which nothing is left, at the rate of the measurement."""
    return left / more * span if left > 0 and more > 0 and span > 0 else None


def drive_activity(drive: Drive, queue: Queue | None, span_s: float) -> DriveActivity:
    """What a drive did in `span_s` seconds; of one without a queue of the host, the kernel's view is the host's."""
    commands = drive.reads + drive.writes
    inside_s = drive.busy_s if is_solid_state(drive) else drive.inside_s
    busy_s, waited_s, completed = inside_s, drive.latency_s, commands
    if queue is not None:
        counted = queue.statistics
        busy_s, waited_s, completed = counted.busy_s, counted.waited_s, counted.completed
    return DriveActivity(
        drive.name,
        commands / span_s if span_s else 0.0,
        waited_s / completed if completed else 0.0,
        drive_usage(drive, span_s).utilization if span_s else 0.0,
        min(1.0, inside_s / span_s) if span_s else 0.0,
        min(1.0, busy_s / span_s) if span_s else 0.0,
    )


def prices_read(price_lists: Iterable[NotedPrices]) -> tuple[str, ...]:
    """Names of the prices that hosts have read."""
    return tuple(sorted({name for prices in price_lists for name in prices.read}))


def cpu_share(prediction: Prediction) -> float:
    """Utilization of the host's processors; they come first."""
    return next(usage.utilization for usage in prediction.usages if usage.kind == "cpu")


def latency_figures(latencies: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Mean and percentiles of latencies (s), by "read_mean_seconds" and so on."""
    return {
        f"{op}_{figure}": values[key]
        for op, values in latencies.items()
        for figure, key in {"mean_seconds": "mean_s", **PERCENTILE_FIGURES}.items()
    }
