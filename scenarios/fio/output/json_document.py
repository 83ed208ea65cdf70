"""fio's ``--output-format=json`` and ``json+`` (stat.c, show_thread_status_json, and json.c of fio 3.33)."""

from __future__ import annotations

import json
import time
from typing import Any

from ..result import (
    BATCH_LEVELS,
    DEPTH_LEVELS,
    LATENCY_MS_LEVELS,
    LATENCY_NS_LEVELS,
    LATENCY_US_LEVELS,
    DirectionResult,
    DiskResult,
    FioRun,
    JobResult,
    LatencySeries,
    Series,
    bucket_value,
)
from . import numbers
from .disk_shares import MemberMeans, flat

_UNKNOWN_ETA = 2**31 - 1
_KNOWN_ETA_S = 3
"""fio guesses no time to go (INT_MAX) before it has run for 3 s (eta.c, calc_thread_status)."""


def json_document(run: FioRun, plus: bool) -> dict[str, Any]:
    """What fio prints of a run, as JSON.

    Parameters
    ----------
    run
        The run.
    plus
        With the buckets of latency of ``json+``, for those kinds of latency of which percentiles are asked.
    """
    elapsed = numbers.elapsed_s(run.jobs)
    ended = run.started + elapsed
    document: dict[str, Any] = {
        "fio version": run.version,
        "timestamp": int(ended),
        "timestamp_ms": int(ended * 1000),
        "time": time.asctime(time.gmtime(ended)),
    }
    if run.global_options:
        document["global options"] = dict(run.global_options)
    document["jobs"] = [_job(run, job, elapsed, plus) for job in run.jobs]
    if run.disks:
        document["disk_util"] = [_disk(disk) for disk in flat(run.disks)]
    return document


def json_text(document: dict[str, Any]) -> str:
    """The document in fio's own layout, with six decimals and a space on both sides of the colon."""
    return _text(document, "") + "\n"


def _text(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [f"{inner}{_string(key)} : {_text(each, inner)}" for key, each in value.items()]
        return _block("{", lines, "}", indent)
    if isinstance(value, list):
        return _block("[", [inner + _text(each, inner) for each in value], "]", indent)
    if isinstance(value, float):
        return f"{value:f}"
    return _string(value) if isinstance(value, str) else str(value)


def _block(first: str, lines: list[str], last: str, indent: str) -> str:
    return "\n".join((first, ",\n".join(lines), indent + last)) if lines else f"{first}\n{indent}{last}"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _job(run: FioRun, job: JobResult, elapsed: int, plus: bool) -> dict[str, Any]:
    group = numbers.group_rates(run.jobs, job.groupid)
    document: dict[str, Any] = {
        "jobname": job.jobname,
        "groupid": job.groupid,
        "error": job.error,
        "eta": 0 if elapsed >= _KNOWN_ETA_S else _UNKNOWN_ETA,
        "elapsed": elapsed,
    }
    if job.options:
        document["job options"] = dict(job.options)
    for name, direction in job.directions.items():
        document[name] = _direction(job, direction, group[name], plus)
    document["sync"] = {
        "total_ios": job.sync_ios,
        "lat_ns": _latency(job, job.sync, job.clat_percentiles or job.lat_percentiles, plus),
    }
    total_s = job.job_runtime_s
    levels, submitted, completed = numbers.depth_shares(job)
    document |= {
        "job_runtime": numbers.whole_ms(total_s),
        "usr_cpu": _decimal(100 * job.user_cpu_s / total_s if total_s else 0.0),
        "sys_cpu": _decimal(100 * job.system_cpu_s / total_s if total_s else 0.0),
        "ctx": job.context_switches,
        "majf": job.major_faults,
        "minf": job.minor_faults,
        "iodepth_level": _shares(DEPTH_LEVELS, levels),
        "iodepth_submit": _shares(BATCH_LEVELS, submitted),
        "iodepth_complete": _shares(BATCH_LEVELS, completed),
    }
    for unit, names, counts in (
        ("ns", LATENCY_NS_LEVELS, job.latency_ns),
        ("us", LATENCY_US_LEVELS, job.latency_us),
        ("ms", LATENCY_MS_LEVELS, job.latency_ms),
    ):
        document[f"latency_{unit}"] = _shares(names, numbers.percentages(counts, numbers.all_ios(job), 0.01))
    document |= {"latency_depth": job.iodepth, "latency_target": 0, "latency_percentile": 100.0, "latency_window": 0}
    if job.description:
        document["desc"] = job.description
    return document


def _direction(job: JobResult, direction: DirectionResult, group_rate: int, plus: bool) -> dict[str, Any]:
    milliseconds, rate = numbers.run_ms(direction), numbers.bytes_per_second(direction)
    bandwidth, ios = direction.bw, direction.iops
    return {
        "io_bytes": direction.io_bytes,
        "io_kbytes": direction.io_bytes >> 10,
        "bw_bytes": rate,
        "bw": rate // 1024,
        "iops": _decimal(1000.0 * direction.total_ios / milliseconds if milliseconds else 0.0),
        "runtime": milliseconds,
        "total_ios": direction.total_ios,
        "short_ios": direction.short_ios,
        "drop_ios": direction.drop_ios,
        "slat_ns": _latency(job, direction.slat, job.slat_percentiles, plus),
        "clat_ns": _latency(job, direction.clat, job.clat_percentiles, plus),
        "lat_ns": _latency(job, direction.lat, job.lat_percentiles, plus),
        "bw_min": int(bandwidth.min),
        "bw_max": int(bandwidth.max),
        "bw_agg": _decimal(numbers.share_of_group(bandwidth, group_rate)),
        "bw_mean": _decimal(bandwidth.mean),
        "bw_dev": _decimal(bandwidth.stddev),
        "bw_samples": bandwidth.n,
        "iops_min": int(ios.min),
        "iops_max": int(ios.max),
        "iops_mean": _decimal(ios.mean),
        "iops_stddev": _decimal(ios.stddev),
        "iops_samples": ios.n,
    }


def _latency(job: JobResult, series: LatencySeries, percentiles: bool, plus: bool) -> dict[str, Any]:
    document: dict[str, Any] = {**_moments_ns(series), "N": series.n}
    if percentiles and series.n:
        document["percentile"] = {f"{percent:f}": series.percentile_ns(percent) for percent in job.percentiles}
        if plus:
            document["bins"] = {str(bucket_value(bucket)): count for bucket, count in series.counts.items()}
    return document


def _moments_ns(series: Series) -> dict[str, Any]:
    return {
        "min": numbers.whole_ns(series.min),
        "max": numbers.whole_ns(series.max),
        "mean": _decimal(series.mean * 1e9),
        "stddev": _decimal(series.stddev * 1e9),
    }


def _shares(names: tuple[str, ...], shares: list[float]) -> dict[str, float]:
    return {name: _decimal(share) for name, share in zip(names, shares, strict=True)}


def _disk(disk: DiskResult) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": disk.name,
        "read_ios": disk.read_ios,
        "write_ios": disk.write_ios,
        "read_merges": disk.read_merges,
        "write_merges": disk.write_merges,
        "read_ticks": numbers.whole_ms(disk.read_ticks_s),
        "write_ticks": numbers.whole_ms(disk.write_ticks_s),
        "in_queue": numbers.whole_ms(disk.in_queue_s),
        "util": _decimal(min(100.0, disk.util)),
    }
    means = MemberMeans.of(disk)
    if means is not None:
        document |= {
            "aggr_read_ios": means.ios[0],
            "aggr_write_ios": means.ios[1],
            "aggr_read_merges": means.merges[0],
            "aggr_write_merge": means.merges[1],
            "aggr_read_ticks": means.ticks_ms[0],
            "aggr_write_ticks": means.ticks_ms[1],
            "aggr_in_queue": means.in_queue_ms,
            "aggr_util": _decimal(means.util),
        }
    return document


def _decimal(number: float) -> float:
    """With the six decimals that fio prints."""
    return round(float(number), 6)
