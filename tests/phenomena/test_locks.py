"""Fast arrays stop at md's locks: at which, how latency looks there, and what happens without."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from, read_document
from raidsim.scenarios.machine.lock_plan import LocksPlan
from raidsim.scenarios.machine.plan import machine_plan
from raidsim.scenarios.questions.without_bottleneck import remove_bottleneck
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate


def described(data: dict[str, Any]) -> ScenarioSpec:
    """A scenario of a document."""
    return document_from(json.dumps(data)).spec()


def scenario(kernel: str, level: str = "raid6", jobs: int = 48, **more: Any) -> ScenarioSpec:
    """Reads of RAM disks, by threads on cores of their own."""
    cpu = {"model": "server-core", "cores": 64, **more.pop("cpu", {})}
    load = {"kind": "load", "targets": ["md"], "pattern": "random", "block_size": "4KiB", "jobs": jobs, "depth": 1}
    return described(
        {
            "name": "locks",
            "kernel": f"linux-{kernel}",
            "machine": {"model": "nvme-server", "cpu": cpu, "drives": {"model": "RAM-disk", "count": 8}},
            "arrays": {"md": {"level": level, "members": [f"disk{n}" for n in range(8)]}},
            "workload": {**load, "read_share": 1.0, "warm_up": "500us", "duration": "1ms", **more},
        }
    )


@cache
def reads(kernel: str, level: str = "raid6", jobs: int = 48, nodes: int = 1) -> Prediction:
    """What they do."""
    return simulate(scenario(kernel, level, jobs, cpu={"nodes": nodes}))


def iops(kernel: str, level: str = "raid6", jobs: int = 48, nodes: int = 1) -> float:
    """Reads a second."""
    return reads(kernel, level, jobs, nodes).iops["read"]


@pytest.mark.parametrize(
    ("level", "before", "after", "lock", "nodes"),
    [
        ("raid5", "5.10", "5.14", "device_lock", 1),
        ("raid6", "5.10", "5.14", "device_lock", 1),
        ("raid10", "5.15", "6.1", "resync_lock", 1),
        ("raid1", "6.1", "6.6", "wait_barrier", 1),
        ("raid0", "6.1", "6.6", "active_io", 4),
    ],
)
def test_an_array_stops_at_its_lock_until_it_went(level: str, before: str, after: str, lock: str, nodes: int) -> None:
    """Protects each lock and the kernel that does without: a ceiling by name before, more afterwards."""
    assert reads(before, level, nodes=nodes).bottleneck.startswith(f"md's {lock} of md (Linux {before}, held ")
    assert iops(after, level, nodes=nodes) > 1.3 * iops(before, level, nodes=nodes)
    assert lock not in reads(after, level, nodes=nodes).bottleneck


@pytest.mark.parametrize("level", ["raid6", "raid10"])
def test_one_thread_meets_no_lock(level: str) -> None:
    """Counter-test: a single thread has no lock, and gives the same, however far cores are apart."""
    assert not [part for part in machine_plan(scenario("5.10", level, 1)).parts if isinstance(part, LocksPlan)]
    with_lock = reads("5.10", level, 1)
    without = simulate(scenario("5.10", level, 1, cpu={"line_transfer": 0, "far_line_transfer": 0}))
    assert with_lock.iops == without.iops
    assert with_lock.latencies == without.latencies
    assert with_lock.events == without.events


def test_cores_that_share_memory_for_nothing_do_not_stop() -> None:
    """Counter-test: the lock is still taken, but lines move at once."""
    free = simulate(scenario("5.10", cpu={"line_transfer": 0, "far_line_transfer": 0}))
    assert free.iops["read"] > 3 * iops("5.10")


def test_latency_is_flat_at_a_lock() -> None:
    """Protects the look of a software ceiling: all I/Os take the same time, which is the queue depth over the rate."""
    latency = reads("5.10").latencies["read"]
    assert latency["p99_s"] < 1.1 * latency["p50_s"]
    assert latency["mean_s"] == pytest.approx(48 / iops("5.10"), rel=0.15)


def test_more_cores_do_not_help_and_more_sockets_harm() -> None:
    """Protects contention: a queued lock serves 48 cores as it does 16, and cores of four nodes more slowly."""
    assert iops("5.10", jobs=16) == pytest.approx(iops("5.10"), rel=0.05)
    assert iops("5.10", nodes=4) < 0.7 * iops("5.10")


def test_two_arrays_have_a_lock_each() -> None:
    """Protects the remedy: the ceiling is an array's own."""
    half = {"level": "raid6", "chunk": "64KiB"}
    document: dict[str, Any] = {
        "name": "two",
        "kernel": "linux-5.10",
        "machine": {
            "model": "nvme-server",
            "cpu": {"model": "server-core", "cores": 64},
            "drives": {"model": "RAM-disk", "count": 8},
        },
        "arrays": {
            "one": {**half, "members": [f"disk{n}" for n in range(4)]},
            "two": {**half, "members": [f"disk{n}" for n in range(4, 8)]},
        },
        "workload": {
            "kind": "load",
            "targets": ["one", "two"],
            "pattern": "random",
            "block_size": "4KiB",
        },
    }
    document["workload"] |= {"jobs": 24, "depth": 1, "read_share": 1.0, "warm_up": "500us", "duration": "1ms"}
    assert simulate(described(document)).iops["read"] > 1.8 * iops("5.10")


def test_the_answer_to_a_lock_is_the_kernel_without() -> None:
    """Protects what is said of a lock: which kernel does not take it."""
    changed = remove_bottleneck(scenario("5.10"), reads("5.10").usages)
    assert changed is not None
    assert changed.what == "linux-5.14 instead of linux-5.10"
    assert changed.scenario.kernel == "linux-5.14"


def test_arrays_of_hard_disks_take_no_locks() -> None:
    """Protects hard disks, and how fast they are simulated: nothing of this is there."""
    spec = read_document("home-nas", ["kernel=linux-5.10"]).spec()
    assert not [part for part in machine_plan(spec).parts if isinstance(part, LocksPlan)]


def fio(engine: str, name: str = "/dev/md", jobs: int = 64, depth: int = 1) -> Prediction:
    """Reads by threads of fio."""
    job = f"[load]\nfilename={name}\nsize=1g\nrw=randread\nbs=4k\nioengine={engine}\n"
    job += f"iodepth={depth}\nnumjobs={jobs}\nthread=1\n"
    job += "direct=1\nnorandommap=1\ngroup_reporting\ntime_based\nramp_time=200us\nruntime=1\n"
    machine = {"model": "nvme-server", "cpu": {"model": "server-core", "cores": 64, "nodes": 4}}
    return simulate(
        described(
            {
                "name": "fio",
                "kernel": "linux-6.6",
                "machine": {**machine, "drives": {"model": "RAM-disk", "count": 8}},
                "arrays": {"md": {"level": "raid0", "members": [f"disk{n}" for n in range(8)]}},
                "file_systems": {"/data": {"on": "md", "kind": "xfs"}} if name.startswith("/data") else {},
                "workload": {"kind": "fio", "at_most": "500us", "job": job},
            }
        )
    )


def test_threads_that_seek_share_an_inode() -> None:
    """Protects lseek and read on one device, with pread as the counter-test."""
    seeks, reads_at = fio("sync"), fio("psync")
    assert seeks.bottleneck.startswith("the inode of /dev/md (Linux 6.6, held ")
    assert "inode" not in reads_at.bottleneck
    assert reads_at.figures["iops"] > 2 * seeks.figures["iops"]


def test_threads_share_the_inode_of_a_file() -> None:
    """Protects direct I/O on one file of a file system: its count of readers is one word."""
    assert fio("psync", "/data/file").figures["iops"] < 0.8 * fio("psync").figures["iops"]


def test_io_uring_is_cheaper_than_two_system_calls() -> None:
    """Protects the price of a request by the way it is asked for: one thread does one I/O in that time and no more."""
    uring, libaio = (fio(engine, jobs=1, depth=64) for engine in ("io_uring", "libaio"))
    assert "the thread of load" in uring.bottleneck
    assert uring.figures["iops"] > 1.15 * libaio.figures["iops"]
