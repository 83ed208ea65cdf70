"""What a fio job counts: fio's buckets and ladders, means and spreads over many blocks."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.model.fio.statistics import Direction, FioStatistics, Latencies, bucket_of, bucket_value


@pytest.mark.parametrize(
    ("nanoseconds", "bucket", "value"),
    [(0, 0, 0), (127, 127, 127), (128, 128, 129), (130, 129, 131), (1000, 317, 1004), (1_000_000, 954, 1_003_520)],
)
def test_buckets_are_those_of_fio(nanoseconds: int, bucket: int, value: int) -> None:
    """Protects the scale that json+ and all percentiles have: exact to 127 ns, then 64 steps for each doubling."""
    found = int(bucket_of(np.array([nanoseconds]))[0])
    assert found == bucket
    assert bucket_value(found) == value


def test_what_is_too_long_is_in_the_last_bucket() -> None:
    """Protects against latencies of minutes."""
    assert bucket_of(np.array([10**15])).tolist() == [29 * 64 - 1]


def test_mean_and_spread_are_those_of_all_samples() -> None:
    """Protects the folding of blocks of samples into one."""
    random = np.random.default_rng(1)
    samples = random.exponential(1e-4, 150_000)
    found = Latencies()
    for sample in samples.tolist():
        found.add(sample)
    found.fold()
    whole = np.rint(samples * 1e9)
    assert (found.n, found.least_ns, found.most_ns) == (whole.size, whole.min(), whole.max())
    assert found.mean_ns == pytest.approx(whole.mean())
    assert found.squares_ns == pytest.approx(whole.var() * whole.size)
    assert sum(found.counts.values()) == whole.size


def test_the_ladder_goes_from_nanoseconds_to_seconds() -> None:
    """Protects latency_ns, latency_us and latency_ms: below 2, below 4, ... and 2 s or more."""
    clat = Direction().clat
    for seconds in (1e-9, 2e-9, 999e-9, 1e-6, 4e-6, 999e-6, 1e-3, 1.5, 2.0, 60.0):
        clat.add(seconds)
    clat.fold()
    assert clat.ladder_ns.tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert clat.ladder_us.tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert clat.ladder_ms.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]


def test_depths_and_batches_have_fio_s_levels() -> None:
    """Protects iodepth_level (1, 2, 4 ... 64 or more) and iodepth_submit (0, up to 4, 8 ... more than 64)."""
    found = FioStatistics(0.0)
    for outstanding in (1, 2, 3, 4, 31, 32, 64, 200):
        found.submitted(1, outstanding)
    assert found.depths == [1, 2, 1, 0, 1, 1, 2]
    for ios in (0, 1, 4, 5, 8, 9, 64, 65):
        found.completed(ios)
    assert found.completes == [1, 2, 2, 1, 0, 1, 1]


def test_samples_without_ios_are_none() -> None:
    """Protects means of rates from the time in which a job does nothing in one direction."""
    direction = Direction()
    direction.bytes, direction.ios = 512 * 1024, 10
    for _ in range(2):
        direction.sample_rate(0.5)
        direction.sample_iops(0.5)
    assert (direction.bw_kib, direction.iops) == ([1024], [20])
