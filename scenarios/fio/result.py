"""What a run of fio's jobs on the model came to, in the terms of fio's own statistics (stat.h of fio 3.33).

Times are seconds and rates bytes per second, but where fio itself counts in whole units of its own: the buckets of
latency are of nanoseconds, and the samples of bandwidth are whole KiB/s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...model.core.exact_sums import sum_in_order
from ...model.fio.statistics import FioCompletions, bucket_of, bucket_value
from ...model.programs.operation import Operation
from ...model.waits.trail import IoWaits

__all__ = [
    "BATCH_LEVELS",
    "DEFAULT_PERCENTILES",
    "DEPTH_LEVELS",
    "FIO_VERSION",
    "LATENCY_MS_LEVELS",
    "LATENCY_NS_LEVELS",
    "LATENCY_US_LEVELS",
    "DirectionResult",
    "DiskResult",
    "FioRun",
    "JobResult",
    "LatencySeries",
    "Series",
    "bucket_of",
    "bucket_value",
]

FIO_VERSION = "fio-3.33"

DEPTH_LEVELS = ("1", "2", "4", "8", "16", "32", ">=64")
BATCH_LEVELS = ("0", "4", "8", "16", "32", "64", ">=64")
LATENCY_NS_LEVELS = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
LATENCY_US_LEVELS = LATENCY_NS_LEVELS
LATENCY_MS_LEVELS = (*LATENCY_NS_LEVELS, "2000", ">=2000")
DEFAULT_PERCENTILES = (
    1.0,
    5.0,
    10.0,
    20.0,
    30.0,
    40.0,
    50.0,
    60.0,
    70.0,
    80.0,
    90.0,
    95.0,
    99.0,
    99.5,
    99.9,
    99.95,
    99.99,
)


@dataclass(frozen=True, slots=True)
class Series:
    """Mean and spread of samples, as fio keeps them (``struct io_stat``); all 0 without samples.

    Attributes
    ----------
    n
        Samples.
    min, max, mean, stddev
        Of the samples, `stddev` with n - 1 (0 with one sample). Latencies in seconds; bandwidth in KiB/s and IOPS, of
        which each sample is a whole number, as in fio.
    """

    n: int = 0
    min: float = 0.0
    max: float = 0.0
    mean: float = 0.0
    stddev: float = 0.0


@dataclass(frozen=True, slots=True)
class LatencySeries(Series):
    """Latencies of I/Os: mean and spread in seconds, and how many fell in each of fio's buckets.

    Attributes
    ----------
    counts
        I/Os by fio's bucket (`bucket_of`; 29 groups of 64), only buckets with any, in rising order. What
        "json+" gives as ``bins`` is ``{bucket_value(bucket): count}``.
    """

    counts: dict[int, int] = field(default_factory=dict)

    def percentile_ns(self, percent: float) -> int:
        """The latency in nanoseconds that `percent` of the I/Os did not pass (stat.c, calc_clat_percentiles)."""
        wanted = percent / 100.0 * sum_in_order(self.counts.values())
        passed = 0
        value = 0
        for bucket, count in self.counts.items():
            passed += count
            value = bucket_value(bucket)
            if passed >= wanted:
                break
        return value


@dataclass(frozen=True, slots=True)
class DirectionResult:
    """Reads, writes or trims of a job.

    Attributes
    ----------
    io_bytes, total_ios, short_ios, drop_ios
        Bytes moved, I/Os, those that came back short, and those dropped (never on the model).
    runtime_s
        From the job's start (after ramp_time) to its end in this direction; fio reports it in ms, rounded up.
    slat, clat, lat
        Submission, completion and total latency. `slat` has no samples for synchronous engines, as in fio.
    bw
        Bandwidth of each 500 ms (``bwavgtime``), KiB/s.
    iops
        I/Os per second of each 500 ms (``iopsavgtime``).
    """

    io_bytes: int = 0
    total_ios: int = 0
    short_ios: int = 0
    drop_ios: int = 0
    runtime_s: float = 0.0
    slat: LatencySeries = LatencySeries()
    clat: LatencySeries = LatencySeries()
    lat: LatencySeries = LatencySeries()
    bw: Series = Series()
    iops: Series = Series()

    @property
    def bytes_per_second(self) -> float:
        """Bandwidth."""
        return self.io_bytes / self.runtime_s if self.runtime_s else 0.0

    @property
    def ios_per_second(self) -> float:
        """I/Os per second."""
        return self.total_ios / self.runtime_s if self.runtime_s else 0.0


@dataclass(frozen=True, slots=True)
class JobResult:
    """A job, or the jobs of a group reported as one (``group_reporting``).

    Attributes
    ----------
    jobname, groupid, description
        As in the job file; groups count from 0.
    jobs
        How many jobs this is the report of.
    pid
        Of the first one: a number that only tells jobs apart.
    error
        Always 0.
    elapsed_s
        From the start of fio to the end of the job; fio prints whole seconds.
    options
        As written in the job's own section (global ones are in `FioRun.global_options`), by their full names, in fio's
        order of parsing. Flags that stand without a value are left out, as in fio's JSON.
    read, write, trim
        By direction.
    sync
        Latency of fsync, fdatasync and sync_file_range.
    sync_ios
        How many of them were fsync: ``total_ios`` of ``sync``, in which fio counts no others.
    job_runtime_s
        ``job_runtime``: total run time.
    user_cpu_s, system_cpu_s
        CPU time of the job's threads.
    context_switches, major_faults, minor_faults
        ``ctx``, ``majf``, ``minf``; faults are not modeled and are 0.
    iodepth_level, iodepth_submit, iodepth_complete
        Counts by `DEPTH_LEVELS`, `BATCH_LEVELS` and `BATCH_LEVELS`. Levels are counts of I/Os; the other two of calls,
        where "4" is 1 to 4 I/Os. Percentages are of their sums (all 0 without any).
    latency_ns, latency_us, latency_ms
        I/Os of all directions by completion latency, counts by `LATENCY_NS_LEVELS`, `LATENCY_US_LEVELS` and
        `LATENCY_MS_LEVELS`; percentages are of all I/Os.
    iodepth
        ``iodepth``, reported as latency_depth.
    percentiles
        ``percentile_list``, rising.
    clat_percentiles, lat_percentiles, slat_percentiles
        Which percentiles are reported.
    unit_base, kb_base
        As the options (0: chosen by fio).
    """

    jobname: str
    groupid: int
    description: str
    jobs: int
    pid: int
    elapsed_s: float
    options: dict[str, str]
    read: DirectionResult
    write: DirectionResult
    trim: DirectionResult
    sync: LatencySeries
    sync_ios: int
    job_runtime_s: float
    user_cpu_s: float
    system_cpu_s: float
    context_switches: int
    iodepth_level: tuple[int, ...]
    iodepth_submit: tuple[int, ...]
    iodepth_complete: tuple[int, ...]
    latency_ns: tuple[int, ...]
    latency_us: tuple[int, ...]
    latency_ms: tuple[int, ...]
    iodepth: int = 1
    error: int = 0
    major_faults: int = 0
    minor_faults: int = 0
    percentiles: tuple[float, ...] = DEFAULT_PERCENTILES
    clat_percentiles: bool = True
    lat_percentiles: bool = False
    slat_percentiles: bool = False
    unit_base: int = 0
    kb_base: int = 1024

    @property
    def directions(self) -> dict[str, DirectionResult]:
        """Reads, writes and trims by fio's names."""
        return {"read": self.read, "write": self.write, "trim": self.trim}


@dataclass(frozen=True, slots=True)
class DiskResult:
    """A disk's part in the run (``disk_util``), as fio takes it from /sys/block/NAME/stat.

    Attributes
    ----------
    name
        "md0", "sda".
    read_ios, write_ios, read_merges, write_merges
        Requests done, and requests merged into others before.
    read_ticks_s, write_ticks_s
        Time requests spent waiting and served, summed over requests.
    in_queue_s
        The same of both.
    util
        Share of the run's time in which the disk had a request, in percent.
    members
        For an array: its members, indented below it in the normal output.
    """

    name: str
    read_ios: int
    write_ios: int
    read_merges: int
    write_merges: int
    read_ticks_s: float
    write_ticks_s: float
    in_queue_s: float
    util: float
    members: tuple[DiskResult, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ThreadRecord:
    """One job (a thread or process): its part of the header, and what its logs are written from.

    Attributes
    ----------
    jobname, thread_number, groupid, clone
        Its section, its number among all jobs from 1, its group, and its number among its clones from 0.
    options
        Its options with those of the global sections, by their full names.
    epoch_s
        When its statistics begin (after ``ramp_time``), which is where its logs begin; on the clock of `completions`.
    run_s
        From then to its end.
    queued
        Whether the engine submits and completes apart, so that there is a submission latency.
    completions
        Its I/Os from `epoch_s` on; None unless a log asks for them.
    operations
        What it began, with times from its start (s); none unless ``write_iolog`` asks for it.
    ended_s
        When it ended, from the start of fio (s).
    """

    jobname: str
    thread_number: int
    groupid: int
    clone: int
    options: dict[str, str]
    epoch_s: float = 0.0
    run_s: float = 0.0
    queued: bool = False
    completions: FioCompletions | None = None
    operations: Iterable[tuple[Operation, float]] = ()
    ended_s: float = 0.0


@dataclass(frozen=True, slots=True)
class FioRun:
    """A whole run of fio.

    Attributes
    ----------
    jobs
        What is reported, in order: every job separately, or one for all of a group with ``group_reporting``.
    disks
        The disks used, arrays with their members.
    global_options
        Of the global sections, as written.
    threads
        Every job separately, in order of thread number.
    started
        When, in seconds of Unix time. The model starts at 0 unless told.
    limits
        What limits the run ("disks: 98 % busy"), one sentence.
    waits
        What the I/Os of each job past the page cache spent their time on.
    notes
        What was assumed, left out or cut.
    version
        The fio whose behavior and reports these are.
    """

    jobs: tuple[JobResult, ...]
    disks: tuple[DiskResult, ...]
    global_options: dict[str, str]
    threads: tuple[ThreadRecord, ...] = ()
    started: float = 0.0
    limits: str = ""
    waits: tuple[IoWaits, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = FIO_VERSION
