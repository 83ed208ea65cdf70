"""From what the threads of fio counted to what fio reports: job by job, or group by group (stat.c of fio 3.33)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...model.core.exact_sums import sum_in_order
from ...model.fio.statistics import Direction, FioStatistics, Latencies
from ...model.fio.thread import FioThread
from .operation_log import OperationLog
from .plan import Plan
from .result import (
    BATCH_LEVELS,
    DEPTH_LEVELS,
    LATENCY_MS_LEVELS,
    LATENCY_NS_LEVELS,
    LATENCY_US_LEVELS,
    DirectionResult,
    JobResult,
    LatencySeries,
    Series,
    ThreadRecord,
)

_FIRST_PID = 1000


@dataclass(frozen=True, slots=True)
class Ran:
    """A thread that has run."""

    plan: Plan
    thread: FioThread
    number: int

    @property
    def statistics(self) -> FioStatistics:
        """What it counted."""
        return self.thread.statistics

    @property
    def span_s(self) -> float:
        """Its run time without the ramp (s)."""
        return self.statistics.ended_s - self.statistics.began_s


def job_results(ran: Sequence[Ran]) -> tuple[JobResult, ...]:
    """What is reported, in fio's order; jobs of a group with ``group_reporting`` as one."""
    groups: list[list[Ran]] = []
    for each in ran:
        each.statistics.fold()
        last = groups[-1][-1].plan if groups else None
        joins = each.plan.reporting.grouped and last is not None and last.groupid == each.plan.groupid
        if joins:
            groups[-1].append(each)
        else:
            groups.append([each])
    return tuple(_job(group) for group in groups)


def thread_records(ran: Sequence[Ran], operations: Sequence[OperationLog]) -> tuple[ThreadRecord, ...]:
    """Every job separately, with the `operations` of each by its number."""
    return tuple(
        ThreadRecord(
            jobname=each.plan.name,
            thread_number=each.plan.job.thread_number,
            groupid=each.plan.groupid,
            clone=each.plan.job.subjob_number,
            options={name: option.value for name, option in each.plan.section.options.items()},
            epoch_s=each.statistics.began_s,
            run_s=each.span_s,
            queued=each.plan.timing.kind == "async",
            completions=each.thread.completions,
            operations=operations[each.number],
            ended_s=each.thread.ended_s,
        )
        for each in ran
    )


def _job(group: Sequence[Ran]) -> JobResult:
    first, last = group[0].plan, group[-1].plan
    all_of = [each.statistics for each in group]
    clats = [
        direction.clat
        for each in group
        if "clat" not in each.plan.reporting.disables
        for direction in each.statistics.directions
    ]
    read, write, trim = (_direction(group, op) for op in range(3))
    # Of a group fio keeps the name of the first, and the options of the last (__show_run_stats).
    reporting = last.reporting
    return JobResult(
        jobname=first.name,
        groupid=first.groupid,
        description=first.reporting.description,
        jobs=len(group),
        pid=_FIRST_PID + group[0].number,
        elapsed_s=max(each.thread.ended_s for each in group),
        options={name: option.value for name, option in last.section.own.items() if not option.bare},
        read=read,
        write=write,
        trim=trim,
        sync=_latencies([each.statistics.sync for each in group if "clat" not in each.plan.reporting.disables]),
        sync_ios=sum(each.syncs for each in all_of),
        job_runtime_s=sum_in_order(each.span_s for each in group),
        user_cpu_s=sum_in_order(each.user_s for each in all_of),
        system_cpu_s=sum_in_order(each.system_s for each in all_of),
        context_switches=sum(each.switches for each in all_of),
        iodepth_level=_summed([each.depths for each in all_of], len(DEPTH_LEVELS)),
        iodepth_submit=_summed([each.submits for each in all_of], len(BATCH_LEVELS)),
        iodepth_complete=_summed([each.completes for each in all_of], len(BATCH_LEVELS)),
        latency_ns=_summed([clat.ladder_ns.tolist() for clat in clats], len(LATENCY_NS_LEVELS)),
        latency_us=_summed([clat.ladder_us.tolist() for clat in clats], len(LATENCY_US_LEVELS)),
        latency_ms=_summed([clat.ladder_ms.tolist() for clat in clats], len(LATENCY_MS_LEVELS)),
        iodepth=reporting.iodepth,
        error=next((each.thread.error for each in group if each.thread.error), 0),
        percentiles=reporting.percentiles,
        clat_percentiles=reporting.clat,
        lat_percentiles=reporting.lat,
        slat_percentiles=reporting.slat,
        unit_base=reporting.unit_base,
        kb_base=reporting.kb_base,
    )


def _summed(counts: Sequence[Sequence[int]], width: int) -> tuple[int, ...]:
    return tuple(sum(column) for column in zip(*counts, strict=True)) if counts else (0,) * width


def _direction(group: Sequence[Ran], op: int) -> DirectionResult:
    """Of one direction; the time is that of the longest."""
    each = [ran.statistics.directions[op] for ran in group]
    spans = [ran.span_s for ran in group if ran.statistics.directions[op].ios]

    def latency(name: str, of: Callable[[Direction], Latencies]) -> LatencySeries:
        measured = [ran for ran in group if name not in ran.plan.reporting.disables]
        return _latencies([of(ran.statistics.directions[op]) for ran in measured])

    return DirectionResult(
        io_bytes=sum(direction.bytes for direction in each),
        total_ios=sum(direction.ios for direction in each),
        runtime_s=max(spans, default=0.0),
        slat=latency("slat", lambda direction: direction.slat),
        clat=latency("clat", lambda direction: direction.clat),
        lat=latency("lat", lambda direction: direction.lat),
        bw=_samples([direction.bw_kib for direction in each]),
        iops=_samples([direction.iops for direction in each]),
    )


def _latencies(parts: Sequence[Latencies]) -> LatencySeries:
    """Several jobs' latencies as one (sum_stat)."""
    n, mean, squares = 0, 0.0, 0.0
    counts: dict[int, int] = {}
    for part in parts:
        if not part.n:
            continue
        total = n + part.n
        apart = part.mean_ns - mean
        squares += part.squares_ns + apart * apart * n * part.n / total
        mean += apart * part.n / total
        n = total
        for bucket, times in part.counts.items():
            counts[bucket] = counts.get(bucket, 0) + times
    if not n:
        return LatencySeries()
    least = min(part.least_ns for part in parts if part.n)
    most = max(part.most_ns for part in parts if part.n)
    deviation = math.sqrt(squares / (n - 1)) if n > 1 else 0.0
    return LatencySeries(n, 1e-9 * least, 1e-9 * most, 1e-9 * mean, 1e-9 * deviation, dict(sorted(counts.items())))


def _samples(parts: Sequence[Sequence[int]]) -> Series:
    """Samples of a rate; of several jobs, fio adds up least, most and mean (sum_stat with pure_sum)."""
    kept = [part for part in parts if part]
    if not kept:
        return Series()
    means = [sum(part) / len(part) for part in kept]
    squares = sum_in_order(
        sum_in_order((sample - mean) ** 2 for sample in part) for part, mean in zip(kept, means, strict=True)
    )
    n = sum(len(part) for part in kept)
    deviation = math.sqrt(squares / (n - 1)) if n > 1 else 0.0
    return Series(n, sum_in_order(map(min, kept)), sum_in_order(map(max, kept)), sum_in_order(means), deviation)
