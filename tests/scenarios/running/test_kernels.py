"""Every kernel since 2.6.32 runs what people run on it: mirrors, parity, and a job of fio, on disks and on flash."""

from __future__ import annotations

import pytest

from raidsim.model.kernels import distributions, kernel_names
from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.run import FioOptions, run_fio
from raidsim.scenarios.running.simulate import simulate

MODERN = [
    name for name in kernel_names() if name.startswith(("linux-2.6.32", "linux-3.", "linux-4.", "linux-5.", "linux-6."))
]
DISK, SATA, NVME = "WD5000AAKS", "Samsung-870-EVO-1TB", "Samsung-PM9A3-3840GB"
ONE_DISK = 80.0
"""Random I/Os a second of a disk of 7,200 rpm, at least half of which each array has."""


def spec(kernel: str, *sets: str, model: str = DISK, disks: int = 4) -> ScenarioSpec:
    """Two jobs with four random I/Os each, on an array or on a drive."""
    text = f"""
name: test
kernel: {kernel}
machine: {{drives: {{model: {model}, count: {disks}}}}}
workload:
  {{kind: load, block_size: 4KiB, pattern: random, read_share: 0.7, jobs: 2, depth: 4, warm_up: 50ms, duration: 400ms}}
"""
    return document_from(text, "test.yaml", sets).spec()


@pytest.mark.parametrize("level", ["raid1", "raid5", "raid6", "raid10"])
@pytest.mark.parametrize("name", MODERN)
def test_arrays_of_disks_run(name: str, level: str) -> None:
    """Protects combinations of queue, scheduler and md driver that only one kernel has: none of them stops."""
    found = simulate(spec(name, f"arrays.md0={level}", "bitmap=none"))
    assert found.iops["read"] > ONE_DISK / 2
    assert found.iops["write"] > ONE_DISK / 4


@pytest.mark.parametrize("model", [SATA, NVME])
@pytest.mark.parametrize("name", MODERN)
def test_arrays_of_flash_run(name: str, model: str) -> None:
    """Protects the same on drives of one hardware queue and of many: a hundred times the I/Os of disks, at least."""
    for level in ("raid1", "raid5", "raid10"):
        short = ("workload.duration=5ms", "workload.warm_up=2ms")
        found = simulate(spec(name, f"arrays.md0={level}", "bitmap=none", *short, model=model))
        assert sum(found.iops.values()) > 100 * ONE_DISK, level


@pytest.mark.parametrize("name", MODERN)
def test_a_job_of_fio_runs(name: str) -> None:
    """Protects fio on each kernel: direct and buffered I/O on a parity array."""
    job = "[global] filename=/dev/md0 size=64m bs=64k\n[a] rw=write direct=1\n[b] stonewall rw=read"
    run = run_fio(spec(name, "arrays.md0=raid5"), sections(job.replace(" ", "\n"), "a.fio"), FioOptions())
    for result in run.jobs:
        assert result.read.io_bytes + result.write.io_bytes == 64 << 20, result.jobname


def test_a_distribution_runs_as_its_kernel() -> None:
    """Protects aliases in scenarios: the scenario is that of the kernel, and so is the prediction."""
    alias, named = spec("debian12", "arrays.md0=raid5"), spec("linux-6.1", "arrays.md0=raid5")
    assert alias == named
    assert spec("rhel6", "arrays.md0=raid5") == spec("linux-2.6.32", "arrays.md0=raid5"), "chunk and bitmap too"
    assert simulate(alias).iops == simulate(named).iops
    assert "debian12" in distributions()


def readers(kernel: str, scheduler: str) -> float:
    """MB/s of four programs that each read one disk in order, one I/O at a time."""
    load = ("workload.pattern=sequential", "workload.read_share=1", "workload.jobs=4", "workload.depth=1")
    sets = (*load, "workload.block_size=128KiB", "workload.duration=3s", f"machine.drives.scheduler={scheduler}")
    return simulate(spec(kernel, *sets, disks=1)).rate / 1e6


def test_cfq_gives_readers_the_disk_by_turns() -> None:
    """Protects CFQ behind a task's plug: four readers in order get most of the disk's rate, because it idles for each.
    Counter-test: deadline, which seeks before every read.
    """
    assert readers("linux-4.18", "cfq") > 3 * readers("linux-4.18", "deadline")
