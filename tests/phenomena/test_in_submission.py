"""RAM disks cost the CPU of whoever submits: an application's thread, raid5d, a resync, write-back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

OFF = {"in_submission": None, "queued": True}
"""A RAM disk that works while the thread goes on."""
COPY_S = 4096 / 8e9 + 0.5e-6
"""A command of 4 KiB on a server's core."""
KERNELS = ("linux-2.6.20", "linux-3.10", "linux-6.1")


def described(level: str, workload: dict[str, Any], kernel: str, drives: dict[str, Any], **array: Any) -> Any:
    """A server with four RAM disks."""
    return document_from(
        json.dumps(
            {
                "kernel": kernel,
                "machine": {
                    "model": "nvme-server",
                    "cpu": {"model": "server-core", "cores": 16, "idle_states": []},
                    "drives": {"model": "RAM-disk", "count": 4, "overrides": drives},
                },
                "arrays": {"md0": {"level": level, "chunk": "64KiB", "bitmap": "none", **array}},
                "workload": workload,
            }
        )
    ).spec()


def fio(
    level: str, options: str, kernel: str = "linux-6.1", drives: dict[str, Any] | None = None, **array: Any
) -> Prediction:
    """A job of fio with direct I/O of 4 KiB."""
    job = f"[load]\nfilename=/dev/md0\nsize=1g\nbs=4k\ndirect=1\nnorandommap=1\ntime_based\nruntime=1\n{options}"
    workload = {"kind": "fio", "at_most": "2ms", "job": job}
    return simulate(described(level, workload, kernel, drives or {}, **array))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("level", ["linear", "raid0", "raid10"])
def test_a_reader_copies_one_after_the_other(level: str, kernel: str) -> None:
    """Protects reads: one thread at depth 32 is slower than its copies alone, on any striped level and kernel.

    The counter-test is the drive that works while the thread goes on.
    """
    options = "rw=randread\nioengine=libaio\niodepth=32\n"
    on = fio(level, options, kernel).figures
    assert on["iops"] < 1 / COPY_S
    assert on["load.read_submission_seconds"] > COPY_S
    off = fio(level, options, kernel, OFF).figures
    assert off["load.read_submission_seconds"] < on["load.read_submission_seconds"]


def test_the_submission_has_the_copies_and_the_completion_almost_nothing() -> None:
    """Protects fio's slat and clat on a mirror: slat has two copies, clat the call that takes the completion."""
    options = "rw=randwrite\nioengine=libaio\nrate_iops=5000\n"
    on, off = (fio("raid1", options, drives=drives).figures for drives in ({}, OFF))
    slat, lat = on["load.write_submission_seconds"], on["load.write_mean_seconds"]
    assert slat > 4 * COPY_S
    assert lat - slat < 1e-6
    assert off["load.write_mean_seconds"] - off["load.write_submission_seconds"] > 2e-6
    assert off["load.write_submission_seconds"] < slat - 3 * COPY_S


@pytest.mark.parametrize("kernel", ["linux-3.10", "linux-6.1"])
def test_writes_of_raid5_are_limited_by_the_copies_of_its_thread(kernel: str) -> None:
    """Protects parity: raid5d copies two blocks from members and two to them for each write, whoever waits.

    The counter-test is the drive that works while raid5d goes on.
    """
    options = "rw=randwrite\nioengine=libaio\niodepth=8\nramp_time=500us\n"
    slow = {"write_overhead": "5us", "read_overhead": "5us"}
    copies_s = 4 * (5e-6 + 4096 / 8e9)
    on = fio("raid5", options, kernel, slow)
    assert 0.6 / copies_s < on.figures["iops"] < 1 / copies_s
    assert "md0_raid5" in on.bottleneck
    assert fio("raid5", options, kernel, {**slow, **OFF}).figures["iops"] > 1.5 * on.figures["iops"]


def built(level: str, drives: dict[str, Any], workload: dict[str, Any], **array: Any) -> BuiltMachine:
    """The machine of a scenario, with its resyncs at work."""
    machine = BuiltMachine(described(level, workload, "linux-6.1", drives, **array))
    for resync in machine.resyncs.values():
        machine.engine.spawn(resync.run())
    return machine


@pytest.mark.parametrize("level", ["raid1", "raid5", "raid10"])
def test_a_resync_copies_with_its_own_threads(level: str) -> None:
    """Protects rebuilds: what is read and written costs CPU time, and no thread does more than a second a second.

    The counter-test: without the driver's work the CPU is less busy for the same bytes.
    """
    idle = {"kind": "load", "pattern": "random", "iops": 1, "read_share": 1.0, "warm_up": "0s", "duration": "1s"}
    limits = {"speed_min": "100GB/s", "speed_max": "100GB/s"}
    array = {"failed": ["disk0"], "rebuilding": ["disk0"], "resync": limits}
    busy = {}
    for name, drives in (("on", {}), ("off", OFF)):
        machine = built(level, drives, idle, **array)
        machine.engine.run_to(4e-3)
        moved = sum(disk.read_bytes + disk.write_bytes for disk in machine.disks.values())
        assert moved
        busy[name] = machine.cpu.busy_s / moved
        if name == "on":
            # md's resync thread and its daemon: two at once.
            assert moved < 2 * 4e-3 * 8e9
    assert busy["on"] > busy["off"] + 0.8 / 8e9


def test_write_back_copies_with_the_flusher() -> None:
    """Protects buffered writes: what is written back is CPU time, and one flusher writes no more than a core copies."""
    job = "[load]\nfilename=/dev/md0\nsize=16m\nrw=write\nbs=1m\nend_fsync=1\n"
    copy_s = (16 << 20) / 8e9
    on, off = (
        simulate(described("raid0", {"kind": "fio", "job": job}, "linux-6.1", drives)).seconds for drives in ({}, OFF)
    )
    assert on > 2 * copy_s  # the program's copy into the page cache, and the flusher's out of it
    assert on > off + 0.5 * copy_s
