"""What a fio job counts while it runs (stat.c of fio 3.33): latencies in fio's buckets, depths, samples of the rate."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..waits.trail import IoWaits

BUCKET_BITS = 6
BUCKETS = 29 << BUCKET_BITS


def bucket_of(nanoseconds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """fio's bucket of each latency (stat.c, plat_val_to_idx)."""
    bits = np.frexp(nanoseconds.astype(np.float64))[1] - 1
    error_bits = np.maximum(bits - BUCKET_BITS, 0)
    mask = (1 << BUCKET_BITS) - 1
    coarse = ((error_bits + 1) << BUCKET_BITS) + (mask & (nanoseconds >> error_bits))
    buckets = np.where(error_bits == 0, nanoseconds, coarse)
    return np.minimum(buckets, BUCKETS - 1)


def bucket_value(bucket: int) -> int:
    """The latency in nanoseconds that fio reports for a bucket (stat.c, plat_idx_to_val)."""
    if bucket < 2 << BUCKET_BITS:
        return bucket
    error_bits = (bucket >> BUCKET_BITS) - 1
    base = 1 << (error_bits + BUCKET_BITS)
    return base + int((bucket % (1 << BUCKET_BITS) + 0.5) * (1 << error_bits))


class FioCompletions:
    """Reads, writes and trims in the order of their completion, a column for each thing known of them.

    Attributes
    ----------
    op
        0 read, 1 write, 2 trim.
    offset, size
        Bytes.
    began_s, issued_s, ended_s
        When fio began to prepare it, when it was submitted, and when fio saw it complete (s).
    """

    __slots__ = ("began_s", "ended_s", "issued_s", "offset", "op", "size")

    def __init__(self) -> None:
        self.op = array("b")
        self.offset = array("q")
        self.size = array("q")
        self.began_s = array("d")
        self.issued_s = array("d")
        self.ended_s = array("d")

    def add(self, op: int, offset: int, size: int, began_s: float, issued_s: float, ended_s: float) -> None:
        """One more."""
        self.op.append(op)
        self.offset.append(offset)
        self.size.append(size)
        self.began_s.append(began_s)
        self.issued_s.append(issued_s)
        self.ended_s.append(ended_s)


_FOLD = 1 << 16
_NS_EDGES = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
"""Latencies below so many nanoseconds; the same of microseconds and of milliseconds, and 2000 of these."""
_DEPTHS = 7
_DEEP = 64
_SMALL_BATCH = 4


class Latencies:
    """Latencies of one kind, folded into counts, mean and spread a block at a time.

    Attributes
    ----------
    n, least_ns, most_ns
        How many, the smallest and the largest.
    counts
        By fio's bucket.
    """

    __slots__ = ("_mean", "_new", "_squares", "counts", "least_ns", "most_ns", "n")

    def __init__(self) -> None:
        self._new = array("d")
        self.n = 0
        self.least_ns = self.most_ns = 0
        self._mean = self._squares = 0.0
        self.counts: dict[int, int] = {}

    def add(self, seconds: float) -> None:
        """One more."""
        new = self._new
        new.append(seconds)
        if len(new) >= _FOLD:
            self.fold()

    def fold(self) -> npt.NDArray[np.int64]:
        """Take in what has come since the last time; returns it (ns)."""
        whole = np.rint(np.frombuffer(self._new, dtype=np.float64) * 1e9).astype(np.int64)
        self._new = array("d")
        count = int(whole.size)
        if not count:
            return whole
        mean = float(whole.mean())
        squares = float(((whole - mean) ** 2).sum())
        total = self.n + count
        apart = mean - self._mean
        self._squares += squares + apart * apart * self.n * count / total
        self._mean += apart * count / total
        least, most = int(whole.min()), int(whole.max())
        self.least_ns = least if not self.n else min(self.least_ns, least)
        self.most_ns = max(self.most_ns, most)
        self.n = total
        buckets, counts = np.unique(bucket_of(whole), return_counts=True)
        for bucket, times in zip(buckets.tolist(), counts.tolist(), strict=True):
            self.counts[bucket] = self.counts.get(bucket, 0) + times
        return whole

    @property
    def mean_ns(self) -> float:
        """Mean of what has been folded."""
        return self._mean

    @property
    def squares_ns(self) -> float:
        """Sum of the squared distances from the mean."""
        return self._squares


class _Completions(Latencies):
    """Completion latencies, also counted by fio's ladder of nanoseconds, microseconds and milliseconds."""

    __slots__ = ("ladder_ms", "ladder_ns", "ladder_us")

    def __init__(self) -> None:
        super().__init__()
        self.ladder_ns = np.zeros(len(_NS_EDGES), dtype=np.int64)
        self.ladder_us = np.zeros(len(_NS_EDGES), dtype=np.int64)
        self.ladder_ms = np.zeros(len(_NS_EDGES) + 2, dtype=np.int64)

    def fold(self) -> npt.NDArray[np.int64]:
        """See :meth:`Latencies.fold`."""
        whole = super().fold()
        if whole.size:
            self.ladder_ns += _steps(whole[whole < 1000], _NS_EDGES)
            self.ladder_us += _steps(whole[(whole >= 1000) & (whole < 1_000_000)] // 1000, _NS_EDGES)
            self.ladder_ms += _steps(whole[whole >= 1_000_000] // 1_000_000, (*_NS_EDGES, 2000, 1 << 62))
        return whole


def _steps(values: npt.NDArray[np.int64], edges: Iterable[int]) -> npt.NDArray[np.int64]:
    edges = tuple(edges)
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges))[: len(edges)]


class Direction:
    """Reads, writes or trims of a job.

    Attributes
    ----------
    ios, bytes
        Complete.
    slat, clat, lat
        Their latencies.
    bw_kib, iops
        Samples of the rate, each a whole number of KiB/s or of I/Os per second.
    """

    __slots__ = ("_sampled_bytes", "_sampled_ios", "bw_kib", "bytes", "clat", "iops", "ios", "lat", "slat")

    def __init__(self) -> None:
        self.ios = self.bytes = 0
        self.slat = Latencies()
        self.clat = _Completions()
        self.lat = Latencies()
        self.bw_kib: list[int] = []
        self.iops: list[int] = []
        self._sampled_bytes = self._sampled_ios = 0

    def sample_rate(self, seconds: float) -> None:
        """Sample the bandwidth of the last interval; one without any I/O is no sample."""
        moved = self.bytes - self._sampled_bytes
        self._sampled_bytes = self.bytes
        if moved:
            self.bw_kib.append(int(moved / seconds / 1024))

    def sample_iops(self, seconds: float) -> None:
        """The same of I/Os."""
        done = self.ios - self._sampled_ios
        self._sampled_ios = self.ios
        if done:
            self.iops.append(int(done / seconds))


class FioStatistics:
    """All that a job counts; what belongs to its ramp time is forgotten by making new ones.

    Attributes
    ----------
    began_s, ended_s
        When they begin, and when the job ended (s).
    directions
        Reads, writes and trims.
    sync, syncs
        Latencies of fsync and fdatasync, and how many fsyncs there were.
    depths
        I/Os by the number outstanding at their submission: 1, 2, 4, 8, 16, 32 and 64 or more.
    submits, completes
        Calls by the I/Os they took: 0, up to 4, 8, 16, 32, 64, and more.
    user_s, system_s, switches
        CPU time and context switches.
    waits
        What I/Os past the page cache spend their time (lat) on.
    """

    __slots__ = (
        "began_s",
        "completes",
        "depths",
        "directions",
        "ended_s",
        "submits",
        "switches",
        "sync",
        "syncs",
        "system_s",
        "user_s",
        "waits",
    )

    def __init__(self, began_s: float) -> None:
        self.began_s = self.ended_s = began_s
        self.waits = IoWaits()
        self.directions = (Direction(), Direction(), Direction())
        self.sync = Latencies()
        self.syncs = 0
        self.depths = [0] * _DEPTHS
        self.submits = [0] * _DEPTHS
        self.completes = [0] * _DEPTHS
        self.user_s = self.system_s = 0.0
        self.switches = 0

    def submitted(self, ios: int, outstanding: int) -> None:
        """Count the I/Os that a call has submitted, and those outstanding (io_u_mark_depth, __io_u_mark_map)."""
        self.depths[outstanding.bit_length() - 1 if outstanding < _DEEP else _DEPTHS - 1] += ios
        self.submits[1 if 0 < ios <= _SMALL_BATCH else _batch(ios)] += 1

    def completed(self, ios: int) -> None:
        """Count the completions that a call has taken."""
        self.completes[1 if 0 < ios <= _SMALL_BATCH else _batch(ios)] += 1

    def fold(self) -> None:
        """Take in everything."""
        for direction in self.directions:
            for kind in (direction.slat, direction.clat, direction.lat):
                kind.fold()
        self.sync.fold()


def _batch(ios: int) -> int:
    """fio's bucket of a number of I/Os: 0, up to 4, 8, 16, 32, 64, and more."""
    return 0 if not ios else min(_DEPTHS - 1, max(1, (ios - 1).bit_length() - 1))
