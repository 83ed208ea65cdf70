"""fio's normal output (stat.c, show_thread_status_normal and what it calls, of fio 3.33)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator

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
)
from . import numbers
from .disk_shares import MemberMeans, flat
from .job_header import job_header

_LINE = 80
_LATENCIES_A_LINE = 5
_ERRORS = {5: "func=check_min_rate, error=Input/output error"}
_SYNCS = "fsync/fdatasync/sync_file_range"


def normal_text(run: FioRun) -> str:
    """What fio prints of a run."""
    lines = [*job_header(run), ""]
    ended = time.asctime(time.gmtime(run.started + numbers.elapsed_s(run.jobs)))
    for job in run.jobs:
        if numbers.all_ios(job):
            lines += _job(run, job, ended)
    for groupid in sorted({job.groupid for job in run.jobs}):
        lines += ["", f"Run status group {groupid} (all jobs):", *_group(run, groupid)]
    if run.disks:
        lines += ["", "Disk stats (read/write):", *map(_disk, flat(run.disks))]
    return "\n".join(lines) + "\n"


def _job(run: FioRun, job: JobResult, ended: str) -> Iterator[str]:
    why = f" ({_ERRORS[job.error]})" if job.error else ""
    yield f"{job.jobname}: (groupid={job.groupid}, jobs={job.jobs}): err={job.error:2d}{why}: pid={job.pid}: {ended}"
    if job.description:
        yield f"  Description  : [{job.description}]"
    group = numbers.group_rates(run.jobs, job.groupid)
    for name, direction in job.directions.items():
        if direction.io_bytes:
            yield from _direction(job, name, direction, group[name])
    yield from _distribution(job)
    if job.sync.n:
        yield f"  {_SYNCS}:"
        yield _latency("sync", job.sync)
        yield from _percentiles(job, "sync", job.sync)
    total_s = job.job_runtime_s or math.inf
    yield (
        f"  cpu          : usr={100 * job.user_cpu_s / total_s:.2f}%, sys={100 * job.system_cpu_s / total_s:.2f}%, "
        f"ctx={job.context_switches}, majf={job.major_faults}, minf={job.minor_faults}"
    )
    yield from _depths(job)
    directions = job.directions.values()
    ios = (*(each.total_ios for each in directions), job.sync_ios)
    yield (
        f"     issued rwts: total={_listed(ios)} short={_listed(each.short_ios for each in directions)},0 "
        f"dropped={_listed(each.drop_ios for each in directions)},0"
    )
    yield f"     latency   : target=0, window=0, percentile=100.00%, depth={job.iodepth}"


def _listed(counts: Iterable[int]) -> str:
    return ",".join(map(str, counts))


def _direction(job: JobResult, name: str, direction: DirectionResult, group_rate: int) -> Iterator[str]:
    milliseconds, rate = numbers.run_ms(direction), numbers.bytes_per_second(direction)
    if not milliseconds:
        return
    yield (
        f"  {name}: IOPS={numbers.short(1000 * direction.total_ios // milliseconds)}, BW={numbers.rate(job, rate)} "
        f"({numbers.rate(job, rate, other=True)})({numbers.size(job, direction.io_bytes)}/{milliseconds}msec)"
        + ("; 0 zone resets" if name == "write" else "")
    )
    for label, series in (("slat", direction.slat), ("clat", direction.clat), (" lat", direction.lat)):
        if series.n:
            yield _latency(label, series)
    for label, series, wanted in (
        ("slat", direction.slat, job.slat_percentiles),
        ("clat", direction.clat, job.clat_percentiles),
        ("lat", direction.lat, job.lat_percentiles),
    ):
        if wanted and series.n:
            yield from _percentiles(job, label, series)
    if direction.bw.n:
        yield _bandwidth(job, direction.bw, numbers.share_of_group(direction.bw, group_rate))
    if direction.iops.n:
        ios = direction.iops
        yield (
            f"   iops        : min={int(ios.min):5d}, max={int(ios.max):5d}, avg={ios.mean:5.2f}, "
            f"stdev={ios.stddev:5.2f}, samples={ios.n}"
        )


def _latency(label: str, series: Series) -> str:
    """Least, most, mean and spread in ns, or in us or ms if all are large enough for it (display_lat)."""
    least, most = numbers.whole_ns(series.min), numbers.whole_ns(series.max)
    mean, spread = series.mean * 1e9, series.stddev * 1e9
    unit, scale = "nsec", 1
    for larger, factor in (("msec", 1_000_000), ("usec", 1000)):
        if least > 2 * factor and most > 100 * factor - 1 and spread > factor:
            unit, scale = larger, factor
            break
    return (
        f"    {label} ({unit}): min={numbers.short(least // scale, 6)}, max={numbers.short(most // scale, 6)}, "
        f"avg={mean / scale:5.2f}, stdev={spread / scale:5.2f}"
    )


def _percentiles(job: JobResult, label: str, series: LatencySeries) -> Iterator[str]:
    """The block of percentiles, as many in a line as fit (show_clat_percentiles)."""
    values = [series.percentile_ns(percent) for percent in job.percentiles]
    if not values:
        return
    least, most = min(values), max(values)
    thousands, unit = 0, "nsec"
    if least > 2_000_000 and most > 99_999_999:
        thousands, unit = 2, "msec"
    elif least > 2000 and most > 99_999:
        thousands, unit = 1, "usec"
    precision = max(len(f"{percent!r}".partition(".")[2].removesuffix("0")) for percent in job.percentiles)
    width = max(5, len(str(most // 1000**thousands)))
    a_line = (_LINE - 7) // (precision + 10 + width)
    shown = []
    for percent, value in zip(job.percentiles, values, strict=True):
        for _ in range(thousands):
            value = -(-value // 1000)
        shown.append(f" {percent:{precision + 3}.{precision}f}th=[{value:{width}d}]")
    yield f"    {label} percentiles ({unit}):"
    for start in range(0, len(shown), a_line):
        last = start + a_line >= len(shown)
        yield "     |" + ",".join(shown[start : start + a_line]) + ("" if last else ",")


def _bandwidth(job: JobResult, samples: Series, share: float) -> str:
    bits, binary = job.unit_base == 1, job.kb_base == 1024
    least, most, mean, spread = (int(samples.min), int(samples.max), samples.mean, samples.stddev)
    if bits:
        least, most, mean, spread = 8 * least, 8 * most, 8 * mean, 8 * spread
    unit = {(True, True): "Kibit", (True, False): "kbit", (False, True): "KiB", (False, False): "kB"}[bits, binary]
    if mean > job.kb_base**2:
        least, most = least // job.kb_base, most // job.kb_base
        mean, spread = mean / job.kb_base, spread / job.kb_base
        unit = "Mibit" if bits else "MiB"
    return (
        f"   bw ({unit:>5}/s): min={least:5d}, max={most:5d}, per={share:.2f}%, "
        f"avg={mean:5.2f}, stdev={spread:5.2f}, samples={samples.n}"
    )


def _distribution(job: JobResult) -> Iterator[str]:
    """I/Os by completion latency, five to a line."""
    for unit, names, counts in (
        ("nsec", LATENCY_NS_LEVELS, job.latency_ns),
        ("usec", LATENCY_US_LEVELS, job.latency_us),
        ("msec", LATENCY_MS_LEVELS, job.latency_ms),
    ):
        shares = numbers.percentages(counts, numbers.all_ios(job), 0.01)
        shown = [f"{name}={share:.2f}%" for name, share in zip(names, shares, strict=True) if share]
        for start in range(0, len(shown), _LATENCIES_A_LINE):
            yield f"  lat ({unit})   : " + ", ".join(shown[start : start + _LATENCIES_A_LINE])


def _depths(job: JobResult) -> Iterator[str]:
    levels, submitted, completed = numbers.depth_shares(job)
    for label, names, shares in (
        ("  IO depths    ", DEPTH_LEVELS, levels),
        ("     submit    ", BATCH_LEVELS, submitted),
        ("     complete  ", BATCH_LEVELS, completed),
    ):
        yield f"{label}: " + ", ".join(f"{name}={share:.1f}%" for name, share in zip(names, shares, strict=True))


def _group(run: FioRun, groupid: int) -> Iterator[str]:
    """What a group moved in each direction together, and the slowest and fastest of what is reported."""
    jobs = [job for job in run.jobs if job.groupid == groupid]
    together = numbers.group_rates(run.jobs, groupid)
    for name, label in (("read", "   READ"), ("write", "  WRITE"), ("trim", "   TRIM")):
        moved = [job.directions[name] for job in jobs if numbers.run_ms(job.directions[name])]
        if not moved:
            continue
        first = jobs[-1]
        rates = [numbers.bytes_per_second(each) for each in moved]
        times = [numbers.run_ms(each) for each in moved]
        total = sum(each.io_bytes for each in moved)

        def rate(number: int, other: bool = False, job: JobResult = first) -> str:
            return numbers.rate(job, number, other)

        yield (
            f"{label}: bw={rate(together[name])} ({rate(together[name], True)}), "
            f"{rate(min(rates))}-{rate(max(rates))} ({rate(min(rates), True)}-{rate(max(rates), True)}), "
            f"io={numbers.size(first, total)} ({numbers.size(first, total, True)}), "
            f"run={min(times)}-{max(times)}msec"
        )


def _disk(disk: DiskResult) -> str:
    means = MemberMeans.of(disk)
    line = (
        f"{'  ' if means else ''}  {disk.name}: ios={disk.read_ios}/{disk.write_ios}, "
        f"merge={disk.read_merges}/{disk.write_merges}, "
        f"ticks={numbers.whole_ms(disk.read_ticks_s)}/{numbers.whole_ms(disk.write_ticks_s)}, "
        f"in_queue={numbers.whole_ms(disk.in_queue_s)}, util={min(100.0, disk.util):.2f}%"
    )
    if means is not None:
        line += (
            f", aggrios={means.ios[0]}/{means.ios[1]}, aggrmerge={means.merges[0]}/{means.merges[1]}, "
            f"aggrticks={means.ticks_ms[0]}/{means.ticks_ms[1]}, aggrin_queue={means.in_queue_ms}, "
            f"aggrutil={means.util:.2f}%"
        )
    return line
