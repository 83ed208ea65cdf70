"""From the description of a load to its jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ...model.core.engine import Engine
from ...model.loads import arrivals
from ...model.loads.closed_load import ClosedLoad
from ...model.loads.direct_load import DirectLoad
from ...model.loads.locality import Hot, Normal, Places, Uniform, Zipf
from ...model.loads.open_load import OpenLoad
from ...model.loads.pattern import LoadPattern
from ...model.loads.thinking_load import ThinkingLoad
from ...model.tasks.host import Host
from ...model.tasks.io_call_price import submission
from ..description.any_workload import LoadsSpec
from ..description.caches import PastLoadSpec
from ..description.load_parts import (
    BurstyArrivals,
    ConstantArrivals,
    HistogramArrivals,
    HotLocality,
    NormalLocality,
    ZipfLocality,
)
from ..description.workloads import LoadSpec

FIRST_ISSUER = 100
"""Of the programs' issuers (:attr:`raidsim.model.core.request.Request.issuer`)."""


def several_on(engine: Engine, host: Host, workload: LoadsSpec, targets: Mapping[str, Any]) -> list[list[DirectLoad]]:
    """The jobs of each of several loads, on the targets by name. A load that begins later is silent until then."""
    found: list[list[DirectLoad]] = []
    first = 0
    for load in workload.loads:
        begin, end = workload.times(load)
        begin_s = 0.0 if load.begin is None else workload.warm_up + begin
        jobs: list[DirectLoad] = []
        for number, name in enumerate(load.targets):
            jobs += jobs_on(engine, host, load, number, targets[name], first, load.name, begin_s)
        first += len(jobs)
        found.append(jobs)
        if load.end is not None:
            for job in jobs:
                engine.call_at(workload.warm_up + end, partial(_stop, job))
    return found


def _stop(job: DirectLoad, _: Any) -> None:
    job.stop()


def jobs_on(
    engine: Engine,
    host: Host,
    workload: LoadSpec,
    number: int,
    target: Any,
    first: int = 0,
    called: str = "load",
    begin_s: float = 0.0,
) -> list[DirectLoad]:
    """The jobs of a load on the target of this number; sequential ones begin at equal distances.

    Parameters
    ----------
    engine
        The clock, and the random streams.
    host
        Whose CPU the jobs use.
    workload
        The load.
    number, target
        The target.
    first
        Jobs of other loads, whose issuers come before.
    called
        Name of the load, for its random streams.
    begin_s
        When the jobs begin (s).
    """
    share = share_of_a_job(workload, target.capacity)
    sequential = workload.pattern == "sequential"
    largest = max(max(sizes) for sizes in workload.sizes)
    pattern = None if workload.plain else pattern_of(engine, workload, target.name, share)
    jobs: list[DirectLoad] = []
    for job in range(workload.jobs):
        name = f"{target.name}/{called} {job}"
        start = workload.start + (job * share if sequential else 0)
        common: dict[str, Any] = {
            "size": largest,
            "read_share": workload.read_share,
            "sequential": sequential,
            "start": start,
            "span": share,
            "issuer": FIRST_ISSUER + first + number * workload.jobs + job,
            "name": name,
            "fsync": workload.fsync,
            "independent": workload.users_are_independent,
            "begin_s": begin_s,
            "ios": None if pattern is None else pattern.ios(engine.streams, name, start, share),
        }
        jobs.append(_job(engine, host, workload, target, number * workload.jobs + job, common))
    return jobs


def share_of_a_job(workload: LoadSpec, capacity: int) -> int:
    """Bytes of a target of `capacity` bytes that each job of a load goes over."""
    span = workload.span or capacity - workload.start
    if workload.pattern != "sequential":
        return span
    largest = max(max(sizes) for sizes in workload.sizes)
    unit = workload.align or largest
    return max(largest, span // workload.jobs // unit * unit)


def _job(
    engine: Engine, host: Host, workload: LoadSpec, target: Any, number: int, common: dict[str, Any]
) -> DirectLoad:
    name = common["name"]
    iops = workload.job_iops
    costs = submission(host.prices, workload.engine)
    cost: dict[str, Any]
    if iops is not None:
        gaps = _gaps(engine, workload, name, number, iops)
        cost = {"submit_s": costs.submit_s, "complete_s": costs.wake_s, "cpu": host.cpu, "pages": costs.pages}
        return OpenLoad(engine, target, iops=iops, gaps=gaps, **cost, **common)
    cost = {
        "depth": workload.depth,
        "submit_s": costs.submit_s,
        "wake_s": costs.wake_s,
        "cpu": host.cpu,
        "host": host,
        "pages": costs.pages,
    }
    if not workload.think_time:
        return ClosedLoad(engine, target, **common, **cost)
    think = arrivals.constant_think(workload.think_time)
    if workload.think_distribution == "exponential":
        think = arrivals.exponential_think(engine.streams.generator(f"{name} thinking"), workload.think_time)
    return ThinkingLoad(engine, target, think=think, **common, **cost)


def _gaps(engine: Engine, workload: LoadSpec, name: str, number: int, iops: float) -> Iterator[float] | None:
    """Times between the I/Os of job `number` of all; None if a plain load draws them itself."""
    if workload.plain:
        return None
    spec = workload.arrivals
    random = engine.streams.generator(f"{name} arrivals")
    match spec:
        case ConstantArrivals():
            return arrivals.constant(iops, (number + 1) / (workload.jobs * len(workload.targets)))
        case BurstyArrivals():
            return arrivals.bursty(random, iops, spec.burst_factor, spec.burst_share, spec.burst_length)
        case HistogramArrivals():
            scale = 1.0 / (iops * spec.mean_s)
            if spec.times is not None:
                return arrivals.listed(random, spec.times, scale)
            return arrivals.histogram(random, spec.gaps or {}, scale)
    return arrivals.poisson(random, iops)


def pattern_of(engine: Engine, workload: LoadSpec, target: str, span: int) -> LoadPattern:
    """What the I/Os of each job on a target are drawn from, over a span (bytes)."""
    given = {"sequential_share": workload.sequential_share, "run_length": workload.run_length}
    return LoadPattern(
        workload.read_share,
        workload.sizes,
        locality(engine, workload, target, span),
        workload.pattern,
        workload.align,
        **{name: value for name, value in given.items() if value is not None},
    )


def locality(engine: Engine, workload: LoadSpec | PastLoadSpec, target: str, span: int) -> Places:
    """Which offsets of a span random I/Os prefer."""
    spec = workload.locality
    smallest = min(min(sizes) for sizes in workload.sizes)
    match spec:
        case ZipfLocality():
            blocks = max(1, span // (spec.block or smallest))
            # All jobs of a target have the same favorites.
            shift = float(engine.streams.generator(f"{target}/load favourites").random())
            return Zipf(blocks, spec.theta, spec.clustered, shift)
        case HotLocality():
            return Hot(spec.share, spec.of, span // smallest, spec.clustered)
        case NormalLocality():
            return Normal(spec.around, spec.deviation)
    return Uniform()
