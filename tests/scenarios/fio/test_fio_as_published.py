"""What published job files come to: buffered I/O through a queue, files of two names, latencies switched off."""

from __future__ import annotations

from .fio_runs import FILES, only, run

CACHED = "[a] rw=randread bs=4k size=4m filename=f pre_read=1 invalidate=0 iodepth=16"


def test_buffered_io_waits_in_its_submission() -> None:
    """Protects the latencies of libaio without direct=1: slat is the work, clat the time until the queue is full.

    fio 3.33 on a real file had slat 1.4 us and clat 35 us at a depth of 16, with 99.6 % of the I/Os at that depth.
    """
    found = only(f"{CACHED} ioengine=libaio")
    assert 0 < found.read.slat.mean < 10e-6
    cycle_s = found.read.runtime_s / found.read.total_ios
    assert 14 < found.read.clat.mean / cycle_s < 16
    assert found.iodepth_level == (1, 2, 4, 8, 1009, 0, 0)


def test_a_synchronous_engine_has_no_queue() -> None:
    """Counter-test: with psync the same reads have no slat, and clat is the work alone."""
    found = only(f"{CACHED} ioengine=psync")
    assert found.read.slat.n == 0
    assert found.read.clat.mean < 10e-6
    assert found.iodepth_level == (1024, 0, 0, 0, 0, 0, 0)


def test_one_file_may_have_two_names() -> None:
    """Protects job files that name a file by itself and by its path: what one job reads, the other finds in memory."""
    found = run("[a] filename=f size=4m rw=read [b] stonewall filename=/raid/f size=8m invalidate=0 rw=read", FILES)
    first, second = (job.read for job in found.jobs)
    assert second.clat.min == first.clat.min
    assert second.runtime_s < 1.7 * first.runtime_s


def test_less_is_measured_if_it_is_told_so() -> None:
    """Protects ``gtod_reduce``, which is in many published jobs: no latencies, but samples of the rate as ever."""
    found = only("[a] rw=randread bs=4k filename=/dev/md0 direct=1 runtime=1200ms gtod_reduce=1")
    assert found.read.total_ios > 0
    assert (found.read.clat.n, found.read.lat.n, sum(found.latency_us), sum(found.latency_ms)) == (0, 0, 0, 0)
    assert found.read.iops.n == 2
    assert only("[a] rw=randread bs=4k filename=/dev/md0 direct=1 runtime=100ms").read.clat.n > 0
