"""Jobs of fio on the model: rates, pauses, groups and depths as arithmetic has them, each with its counter-test."""

from __future__ import annotations

from itertools import pairwise

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.running.base.supply import Supply

from .fio_runs import FILES, MIB, only, run

RAW = "direct=1 filename=/dev/md0 size=1g "


def test_a_rate_spaces_the_reads_evenly() -> None:
    """10 MiB/s in reads of 64 KiB for one second are 160; without the rate the disks give far more."""
    job = f"[a] {RAW} rw=read bs=64k time_based runtime=1 "
    assert only(job + "rate=10m").read.total_ios == pytest.approx(160, abs=1)
    assert only(job).read.total_ios > 400


def test_a_poisson_rate_has_the_mean_of_the_even_one_but_not_its_regularity() -> None:
    """rate_process=poisson: about as many I/Os, and some of them right after each other."""
    job = f"[a] {RAW} rw=read bs=4k time_based runtime=2 rate_iops=100 write_iolog=x "
    even, poisson = (run(job + more, logs=True) for more in ("", "rate_process=poisson"))
    assert even.jobs[0].read.total_ios == 200
    assert 160 < poisson.jobs[0].read.total_ios < 240
    gaps = []
    for made in (even, poisson):
        times = [seconds for operation, seconds in made.threads[0].operations if operation.kind == "read"]
        gaps.append(min(later - earlier for earlier, later in pairwise(times)))
    assert gaps[0] == pytest.approx(0.01, rel=0.01)
    assert gaps[1] < 0.002


def test_a_mixed_job_keeps_both_rates() -> None:
    """rate_iops=50,100 with rwmixread=50: the direction that is due goes first."""
    found = only(f"[a] {RAW} rw=randrw bs=4k time_based runtime=2 rate_iops=50,100")
    assert (found.read.total_ios, found.write.total_ios) == (100, 200)


def test_a_job_slower_than_its_least_rate_ends() -> None:
    """rate_min: looked at each rate_cycle after two seconds, and ended with EIO as by fio; not if it is fast enough."""
    job = f"[a] {RAW} rw=randread bs=4k time_based runtime=3 rate_cycle=500 "
    slow = only(job + "rate_min=100m")
    assert slow.error == 5
    assert slow.job_runtime_s == pytest.approx(2.5, abs=0.05)
    assert only(job + "rate_min=100k").error == 0


def test_pauses_come_after_so_many_blocks() -> None:
    """1 ms after every fourth read of about 0.05 ms: the time is that of the pauses, and half of it is CPU time."""
    job = f"[a] {RAW} rw=read bs=4k number_ios=400 "
    pausing, without = only(job + "thinktime=1ms thinktime_blocks=4 thinktime_spin=500us"), only(job)
    paused = pausing.job_runtime_s - without.job_runtime_s
    assert paused == pytest.approx(0.1, rel=0.15), "the disk reads ahead during pauses, which saves a little"
    assert pausing.user_cpu_s - without.user_cpu_s == pytest.approx(0.05, rel=0.01)


def test_pauses_may_come_by_the_clock() -> None:
    """thinktime_iotime: 100 ms after every 200 ms of I/O leave two thirds of the I/Os."""
    job = f"[a] {RAW} rw=randread bs=4k norandommap time_based runtime=3 "
    pausing, without = only(job + "thinktime=100ms thinktime_iotime=200ms"), only(job)
    assert pausing.read.total_ios / without.read.total_ios == pytest.approx(2 / 3, rel=0.05)


def test_the_ramp_time_is_not_counted() -> None:
    """It comes before the runtime, and is in the log of operations but in no figure."""
    job = f"[a] {RAW} rw=read bs=64k rate=10m time_based runtime=1 write_iolog=x "
    ramped = run(job + "ramp_time=1", logs=True)
    found = ramped.jobs[0]
    assert found.read.total_ios == pytest.approx(160, abs=2)
    assert found.job_runtime_s == pytest.approx(1.0, abs=0.02)
    assert found.elapsed_s == pytest.approx(2.0, abs=0.02)
    assert sum(operation.kind == "read" for operation, _ in ramped.threads[0].operations) == pytest.approx(320, abs=3)


def test_a_deep_queue_is_full_and_faster() -> None:
    """libaio with iodepth=16: nearly all I/Os find 16 outstanding, and two disks read faster than for one at a time."""
    job = f"[a] {RAW} rw=randread bs=4k number_ios=300 "
    one, deep = only(job), only(job + "ioengine=libaio iodepth=16")
    assert deep.iodepth_level[4] >= 280
    assert deep.read.slat.n == 300
    assert one.read.slat.n == 0, "a synchronous engine has no submission latency"
    assert deep.read.ios_per_second > 1.5 * one.read.ios_per_second


def test_batches_are_submitted_and_taken_together() -> None:
    """iodepth_batch=8, four completions at a time, down to 16."""
    found = only(
        f"[a] {RAW} rw=randread bs=4k number_ios=256 ioengine=io_uring iodepth=32 iodepth_batch=8 "
        f"iodepth_batch_complete_min=4 iodepth_low=16"
    )
    assert found.iodepth_submit == (0, 0, 32, 0, 0, 0, 0)
    assert found.iodepth_complete[1] >= 48


def test_jobs_wait_for_those_before_them() -> None:
    """stonewall and wait_for: each begins when the other has ended, on the next tick of fio's 100 ms."""
    shared = f"{RAW} rw=read bs=64k number_ios=100"
    walled = run(f"[a] {shared} [b] {shared} stonewall [c] {shared} wait_for=b")
    assert [job.groupid for job in walled.jobs] == [0, 1, 1]
    began = [thread.ended_s - thread.run_s for thread in walled.threads]
    assert began == [0.0, pytest.approx(0.1), pytest.approx(0.2)]
    assert [thread.ended_s - thread.run_s for thread in run(f"[a] {shared} [b] {shared}").threads] == [0.0, 0.0]


def test_a_delay_counts_from_the_start_of_fio() -> None:
    """startdelay, and that of a range, which is drawn."""
    threads = run(f"[a] {RAW} number_ios=1 startdelay=500ms [b] {RAW} number_ios=1 startdelay=1-2").threads
    first, second = (thread.ended_s - thread.run_s for thread in threads)
    assert first == pytest.approx(0.5)
    assert 1.0 <= second <= 2.1, "on a tick of 100 ms"


def test_clones_report_together() -> None:
    """group_reporting: one report of four jobs, in which I/Os add up and the run time is the longest."""
    job = f"[a] {RAW} rw=randread bs=4k numjobs=4 number_ios=50 "
    together, apart = run(job + "group_reporting").jobs, run(job).jobs
    assert [found.jobs for found in together] == [4]
    assert len(apart) == 4
    (whole,) = together
    assert whole.read.total_ios == whole.read.clat.n == 200
    assert whole.read.runtime_s == max(found.read.runtime_s for found in apart)
    assert whole.read.clat.mean == pytest.approx(sum(found.read.clat.mean for found in apart) / 4)
    assert whole.job_runtime_s == pytest.approx(sum(found.job_runtime_s for found in apart))


def test_one_that_ends_may_end_the_others() -> None:
    """exitall."""
    jobs = f"[a] {RAW} number_ios=100 bs=64k exitall=%s [b] {RAW} rw=randread number_ios=200"
    assert run(jobs % 1).jobs[1].read.total_ios < 100
    assert run(jobs % 0).jobs[1].read.total_ios == 200


def test_fsync_costs_a_flush_of_the_drives() -> None:
    """Every fourth write is followed by one that waits for the platter; others are done once cached."""
    job = f"[a] {RAW} rw=write bs=4k number_ios=64 "
    synced = only(job + "fsync=4")
    assert (synced.sync.n, synced.sync_ios) == (15, 15)
    assert synced.sync.mean > 2e-3
    counted = only(job + "fdatasync=4")
    assert (counted.sync.n, counted.sync_ios) == (15, 0), "fio's total_ios counts fsyncs only"
    assert synced.job_runtime_s > 5 * only(job).job_runtime_s


def test_synchronous_writes_wait_for_the_medium() -> None:
    """sync=1: each takes about a turn of the platter, 8.3 ms at 7200 a minute."""
    job = f"[a] {RAW} rw=write bs=4k number_ios=32 "
    assert only(job + "sync=1").write.clat.mean == pytest.approx(8.3e-3, rel=0.1)
    assert only(job).write.clat.mean < 1e-3


def test_buffered_reads_are_read_ahead_unless_they_are_random() -> None:
    """Sequential reads of 4 KiB mostly find their page; random ones wait for the disk each time."""
    ahead = only("[a] size=16m rw=read bs=4k")
    assert ahead.read.bytes_per_second > 30e6
    assert ahead.read.clat.percentile_ns(50) < 10_000
    random = only("[a] size=64m rw=randread bs=4k number_ios=100")
    assert random.read.clat.percentile_ns(50) > 1_000_000


def test_what_was_read_before_comes_from_memory() -> None:
    """pre_read=1; without it the cache is cold."""
    job = "[a] size=16m rw=randread bs=4k number_ios=200 "
    assert only(job + "pre_read=1").read.clat.percentile_ns(99) < 10_000
    assert only(job).read.clat.percentile_ns(50) > 1_000_000


def test_jobs_drop_what_others_have_left_in_the_cache() -> None:
    """invalidate=1, fio's default; with invalidate=0 the second job finds what the first has read."""
    jobs = "[a] filename=f size=8m bs=1m [b] stonewall filename=f size=8m bs=1m invalidate=%s"
    cold, warm = (run(jobs % value).jobs[1].read.bytes_per_second for value in (1, 0))
    assert warm > 3 * cold


def test_buffered_writes_fill_memory_first() -> None:
    """Less than the dirty limit is written at the speed of memory; end_fsync waits for the disks."""
    job = "[a] size=16m rw=write bs=64k "
    quick, synced = run(job), run(job + "end_fsync=1")
    assert quick.jobs[0].write.bytes_per_second > 500e6
    assert synced.jobs[0].write.bytes_per_second < 100e6, "the time of end_fsync counts"
    assert synced.jobs[0].write.clat.mean == pytest.approx(quick.jobs[0].write.clat.mean), "but in no latency"


def test_a_write_of_a_part_of_a_page_reads_it_first() -> None:
    """512 bytes at random places of a file that is not cached; whole pages need no reading."""
    part, whole = (only(f"[a] size=64m rw=randwrite bs={bs} number_ios=50").write.clat.mean for bs in ("512", "4k"))
    assert part > 100 * whole


def test_files_lie_on_the_file_system() -> None:
    """Relative names and names below a mount point are files there, by direct I/O as well; fsync waits."""
    made = run("[a] filename=/raid/x size=8m rw=write bs=64k fsync=32 [b] size=8m direct=1 rw=read bs=64k", FILES)
    assert [job.error for job in made.jobs] == [0, 0]
    assert made.jobs[0].sync.mean > 1e-3
    assert any("only file system" in note for note in made.notes)
    (disk,) = made.disks
    assert (disk.name, len(disk.members)) == ("md0", 2)
    assert disk.read_ios >= 128


@pytest.mark.parametrize("name", ["/raid/f", "/dev/md0"])
def test_files_and_devices_of_a_server_are_behind_its_network(name: str) -> None:
    """Protects direct I/O on a server's file system from getting past the network; without one it is faster."""
    job = f"[a] filename={name} size=8m bs=1m rw=read direct=1"
    text = FILES.replace("{kind: programs, steps: [{program: dd, size: 1MiB}]}", "{kind: load}")
    local = only(job, on=text)
    served = only(job, on=f"network: {{protocol: nfs3, port: 1GbE}}\n{text}")
    assert served.read.io_bytes == local.read.io_bytes
    # A mebibyte with its packets takes 8.9 ms of gigabit Ethernet.
    assert served.read.clat.mean > local.read.clat.mean + 0.008


def test_an_engine_that_does_nothing() -> None:
    """null: fio's own time."""
    found = only("[a] ioengine=null size=4m rw=randread bs=4k")
    assert found.job_runtime_s == pytest.approx(1024e-6, rel=1e-6)


def test_a_limit_on_time_limits_the_ramp_too() -> None:
    """Protects --at-most with published jobs, whose ramp_time of seconds would take longer than what is measured."""
    job = f"[a] {RAW} rw=randread bs=4k time_based runtime=60 ramp_time="
    made = run(job + "20", most_s=0.5)
    assert made.jobs[0].read == only(job + "500ms", most_s=0.5).read
    assert "ramp_time is 500 ms by --at-most: a" in made.notes
    assert not any("ramp_time" in note for note in run(job + "100ms", most_s=0.5).notes)


def test_a_run_is_the_same_again() -> None:
    """Nothing but the seed decides."""
    job = f"[a] {RAW} rw=randrw bs=4k number_ios=200 ioengine=libaio iodepth=8"
    assert only(job) == only(job)


def test_a_job_may_be_cut() -> None:
    """--at-most, which a note says."""
    made = run(f"[a] {RAW} rw=read bs=64k time_based runtime=3600", most_s=0.5)
    assert made.jobs[0].job_runtime_s == pytest.approx(0.5, abs=0.02)
    assert any("--at-most" in note for note in made.notes)


def test_samples_of_the_rate() -> None:
    """One every 500 ms, but none at the very end; a whole number each."""
    found = only(f"[a] {RAW} rw=read bs=64k rate=10m time_based runtime=2")
    assert (found.read.bw.n, found.read.iops.n) == (3, 3)
    assert found.read.bw.mean == pytest.approx(10240, rel=0.02)
    assert found.read.iops.mean == pytest.approx(160, rel=0.02)


@pytest.mark.parametrize(
    ("job", "options", "message"),
    [
        ("[a] filename=/dev/sdx", {}, "a.fio, line 2, filename: unknown device '/dev/sdx'; expected: /dev/disk0, /dev"),
        ("[a] filename=/dev/md0 rw=trim direct=1", {}, "line 3, rw: trims on md0, where fio fails with EOPNOTSUPP"),
        ("[a] filename=/dev/md0 bs=1000 direct=1", {}, "line 3, bs: reads of 1000 bytes with direct=1; expected: mult"),
        ("[a] size=1m wait_for=b", {}, "line 3, wait_for: unknown job 'b'"),
        ("[a] size=1m ioengine=mmap", {}, "ioengine: mmap cannot be simulated: a file mapped into memory"),
        ("[a] size=1m ioengine=libaoi", {}, "did you mean 'libaio'?"),
        ("[a] rw=write size=1m verify=md5", {}, "verify: it cannot be simulated: after its writes fio reads back"),
        ("[a] size=1m time_based", {}, "time_based: found it without a runtime"),
        ("[a] size=1m rate=1m rate_iops=5", {}, "found it beside rate"),
        ("[a] size=1t", {}, "files of 1 TiB on md0"),
        ("[a] size=1m", {"target": "sdx"}, "--target: unknown device 'sdx'"),
    ],
)
def test_what_cannot_be_run_is_refused(job: str, options: dict[str, str], message: str) -> None:
    """Protects the person with a job that the model cannot do: the option, what was found and what is expected."""
    with pytest.raises(InputError) as error:
        run(job, **options)
    assert message in str(error.value)


def test_a_target_stands_for_devices_that_are_not_there() -> None:
    """--target, for a job file of another machine; a device of the scenario stays what it is."""
    made = run(
        f"[a] direct=1 filename=/dev/nvme0n1 size={MIB} [b] direct=1 filename=/dev/disk1 size={MIB}", target="md0"
    )
    assert [disk.name for disk in made.disks] == ["md0", "disk1"]
    assert "/dev/nvme0n1 is md0" in made.notes


def test_what_limits_is_said_group_by_group() -> None:
    """One group is limited by the disks, the next by its own thread; a single reader by the latency of its I/Os."""
    deep = f"[deep] {RAW} rw=read bs=1m number_ios=100 ioengine=libaio iodepth=8"
    made = run(f"{deep} [idle] stonewall ioengine=null size=1m")
    disks, thread = made.limits.split("; ")
    assert disks.startswith("group 0: ")
    assert "disk0" in disks
    assert "busy" in disks
    assert thread == "group 1: the thread of idle, which never waits for an I/O: one core does no more"
    (alone,) = {run(f"[a] {RAW} rw=randread bs=4k number_ios=50").limits}
    assert alone.startswith(("rotational latency: ", "seek: "))


@pytest.mark.parametrize("waits", ["fsync=128", "fdatasync=128", "end_fsync=1", "fsync_on_close=1"])
def test_a_thread_that_waits_for_flushes_waits(waits: str) -> None:
    """Protects what limits a job whose I/Os never sleep, but whose flushes do: it computes for a few per cent of its
    time, and its flushes are context switches. Counter-test: without them the thread computes all of its time.
    """
    job = "[a] filename=/dev/md0 rw=write bs=4k size=16m ioengine=psync "
    free, synced = run(job), run(job + waits)
    assert free.limits.startswith("the thread of a")
    assert not synced.limits.startswith("the thread of a")
    (before,), (after,) = free.jobs, synced.jobs
    assert before.context_switches == 0
    assert after.context_switches >= (31 if waits.endswith("=128") else 1)


def test_a_job_that_is_faster_than_media_and_caches_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the check of jobs, by direct I/O and through the page cache: none of these is too fast, and were the
    drives a hundred times slower than simulated, each would be told.
    """
    jobs = f"[a] {RAW} rw=write bs=1m size=64m [b] stonewall filename=/dev/disk1 rw=write bs=1m size=64m end_fsync=1"
    assert not any("media and caches" in note for note in run(jobs).notes)
    monkeypatch.setattr("raidsim.scenarios.fio.run.supply", lambda *_, **__: Supply(1e5, 0))
    told = [note for note in run(jobs).notes if "media and caches" in note]
    assert [note.partition(":")[0] for note in told] == ["a, writes", "b, writes"]


DIRECT_ON = """
name: direct I/O on files
kernel: %s
machine: {drives: {model: WD5000AAKS, count: 4, overrides: {write_cache: false}}, memory: 256MiB, resident: 64MiB}
arrays: {md0: {level: raid0, chunk: 64KiB}}
file_systems: {/raid: {kind: %s, on: md0, size: 2GiB}}
workload: {kind: programs, steps: [{program: dd, size: 1MiB}]}
"""


def direct_writes(kind: str, size: str, kernel: str = "linux-6.1") -> float:
    """IOPS of 16 direct writes of a size at a time to a file."""
    job = f"[a] filename=/raid/f ioengine=libaio direct=1 rw=randwrite bs={size} iodepth=16 size=64m number_ios=400"
    return only(job, DIRECT_ON % (kernel, kind)).write.ios_per_second


def test_writes_of_parts_of_blocks_take_turns_on_ext4() -> None:
    """Protects the lock of ext4's inode: a direct write of 512 bytes has the file for itself, so of 16 at a time one is
    under way and four drives are as fast as one. Counter-tests: not whole blocks, not on XFS, and not since 6.5.
    """
    assert direct_writes("ext4", "4k") > 2 * direct_writes("ext4", "512")
    assert direct_writes("xfs-v5", "512") > 2 * direct_writes("ext4", "512")
    assert direct_writes("ext4", "512", "linux-6.12") > 2 * direct_writes("ext4", "512")
