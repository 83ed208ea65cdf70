"""A run as the model gives it, made from the JSON+ of a run of fio: to print again what fio printed."""

from __future__ import annotations

from typing import Any

import numpy as np

from raidsim.scenarios.fio.result import (
    DEFAULT_PERCENTILES,
    DirectionResult,
    DiskResult,
    FioRun,
    JobResult,
    LatencySeries,
    Series,
    ThreadRecord,
    bucket_of,
)


def recorded_run(document: dict[str, Any], pids: list[int], clones: list[int]) -> FioRun:
    """The run. What JSON does not say - process numbers and how many jobs are reported as one - is given."""
    jobs = [_job(job, pid, clone) for job, pid, clone in zip(document["jobs"], pids, clones, strict=True)]
    shared = document.get("global options", {})
    threads: list[ThreadRecord] = []
    for job, count in zip(jobs, clones, strict=True):
        for clone in range(count):
            threads.append(_thread(job, clone, len(threads) + 1, shared | job.options))
    elapsed = document["jobs"][0]["elapsed"]
    return FioRun(
        jobs=tuple(jobs),
        disks=tuple(_disk(disk) for disk in document["disk_util"]),
        global_options=shared,
        threads=tuple(threads),
        started=document["timestamp_ms"] / 1000 - elapsed,
    )


def _job(job: dict[str, Any], pid: int, clones: int) -> JobResult:
    ios = sum(job[name]["total_ios"] for name in ("read", "write", "trim"))
    options = job["job options"]
    listed = options.get("percentile_list")
    return JobResult(
        jobname=job["jobname"],
        groupid=job["groupid"],
        description=job.get("desc", ""),
        jobs=clones,
        pid=pid,
        elapsed_s=job["elapsed"],
        options=options,
        read=_direction(job["read"]),
        write=_direction(job["write"]),
        trim=_direction(job["trim"]),
        sync=_latency(job["sync"]["lat_ns"]),
        sync_ios=job["sync"]["total_ios"],
        job_runtime_s=job["job_runtime"] / 1000,
        user_cpu_s=job["usr_cpu"] * job["job_runtime"] / 1e5,
        system_cpu_s=job["sys_cpu"] * job["job_runtime"] / 1e5,
        context_switches=job["ctx"],
        major_faults=job["majf"],
        minor_faults=job["minf"],
        iodepth_level=_counts(job["iodepth_level"], ios),
        iodepth_submit=_counts(job["iodepth_submit"], ios),
        iodepth_complete=_counts(job["iodepth_complete"], ios),
        latency_ns=_counts(job["latency_ns"], ios),
        latency_us=_counts(job["latency_us"], ios),
        latency_ms=_counts(job["latency_ms"], ios),
        iodepth=job["latency_depth"],
        clat_percentiles=options.get("clat_percentiles") != "0",
        lat_percentiles=options.get("lat_percentiles") == "1",
        slat_percentiles=options.get("slat_percentiles") == "1",
        unit_base=int(options.get("unit_base", "0")),
        percentiles=tuple(map(float, listed.split(":"))) if listed else DEFAULT_PERCENTILES,
    )


def _counts(shares: dict[str, float], total: int) -> tuple[int, ...]:
    return tuple(round(share * total / 100) for share in shares.values())


def _direction(direction: dict[str, Any]) -> DirectionResult:
    return DirectionResult(
        io_bytes=direction["io_bytes"],
        total_ios=direction["total_ios"],
        runtime_s=direction["runtime"] / 1000,
        slat=_latency(direction["slat_ns"]),
        clat=_latency(direction["clat_ns"]),
        lat=_latency(direction["lat_ns"]),
        bw=_samples(direction, "bw", "dev"),
        iops=_samples(direction, "iops", "stddev"),
    )


def _samples(direction: dict[str, Any], name: str, spread: str) -> Series:
    moments = (direction[f"{name}_{each}"] for each in ("min", "max", "mean", spread))
    return Series(direction[f"{name}_samples"], *moments)


def _latency(series: dict[str, Any]) -> LatencySeries:
    bins = {int(bucket_of(np.array([int(value)]))[0]): count for value, count in series.get("bins", {}).items()}
    least, most, mean, spread = (series[name] * 1e-9 for name in ("min", "max", "mean", "stddev"))
    return LatencySeries(series["N"], least, most, mean, spread, bins)


def _disk(disk: dict[str, Any]) -> DiskResult:
    reads, writes, read_merges, write_merges = (
        disk[name] for name in ("read_ios", "write_ios", "read_merges", "write_merges")
    )
    read_s, write_s, queue_s = (disk[name] / 1000 for name in ("read_ticks", "write_ticks", "in_queue"))
    return DiskResult(disk["name"], reads, writes, read_merges, write_merges, read_s, write_s, queue_s, disk["util"])


def _thread(job: JobResult, clone: int, number: int, options: dict[str, str]) -> ThreadRecord:
    return ThreadRecord(job.jobname, number, job.groupid, clone, options)
