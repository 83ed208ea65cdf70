"""A job of fio on a pool of ZFS beside the same one on md with a file system and the page cache.

The CPU time of an I/O is compared as one ratio, and so is what memory grows by between a run and one of ten times the
I/Os. Each run has its own process, pool and array in turn.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import median
from time import process_time

from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.run import FioOptions, run_fio

from .measure import resident_mib, spread

RATIO_AIM = 1.0
"""CPU time of an I/O on the pool over that on the array, at most."""
_MACHINE = "machine: {model: server, memory: 8GiB, drives: {model: Samsung-PM9A3-3840GB, count: 4}}\n"
_LOAD = "workload: {kind: load}\n"
_POOL = "pools: {tank: {vdevs: mirrors, datasets: {data: {file: 100GiB, recordsize: 16KiB}}}}\n"
_ARRAY = "arrays: {md0: {level: raid10, bitmap: none}}\nfile_systems: {/data: {on: md0, kind: ext4}}\n"
SYSTEMS = {
    "pool": (f"{_MACHINE}{_POOL}{_LOAD}", "/dev/tank/data"),
    "array": (f"{_MACHINE}{_ARRAY}{_LOAD}", "/data/file"),
}
"""Scenario, and the file that the job uses."""
_JOB = """[global]
ioengine=psync
bs=16k
rw={pattern}
size=100g
number_ios={ios}
numjobs=16
[job]
filename={file}
"""
PATTERNS = ("randread", "randrw")


@dataclass(frozen=True, slots=True)
class Cost:
    """A run: its I/Os, the CPU time (s) of the simulation, and resident memory after it (MiB)."""

    ios: int
    cpu_s: float
    mib: float


def cost(system: str, pattern: str, ios: int) -> Cost:
    """Simulate a job of about so many I/Os."""
    text, file = SYSTEMS[system]
    spec = document_from(text).spec()
    job = sections(_JOB.format(pattern=pattern, ios=ios // 16, file=file), "job")
    began = process_time()
    found = run_fio(spec, job, FioOptions())
    done = sum(direction.total_ios for each in found.jobs for direction in each.directions.values())
    return Cost(done, process_time() - began, resident_mib())


@dataclass(frozen=True, slots=True)
class Compared:
    """One pattern on both.

    Attributes
    ----------
    pattern
        What fio calls it.
    pool, array
        The last run of each.
    ratios
        CPU time of an I/O on the pool over that on the array, by pair of runs.
    growth_mib
        What memory grew by on the pool, from a tenth of the I/Os to all.
    """

    pattern: str
    pool: Cost
    array: Cost
    ratios: tuple[float, ...]
    growth_mib: float


def compare(ios: int, rounds: int) -> list[Compared]:
    """Run each pattern on both in turn."""
    return [_compared(pattern, ios, rounds) for pattern in PATTERNS]


def _compared(pattern: str, ios: int, rounds: int) -> Compared:
    ratios = []
    few = _alone("pool", pattern, ios // 10)
    for _ in range(rounds):
        pool, array = _alone("pool", pattern, ios), _alone("array", pattern, ios)
        ratios.append(pool.cpu_s / pool.ios / (array.cpu_s / array.ios))
    return Compared(pattern, pool, array, tuple(ratios), pool.mib - few.mib)


def _alone(system: str, pattern: str, ios: int) -> Cost:
    with ProcessPoolExecutor(1, get_context("spawn")) as one:
        return one.submit(cost, system, pattern, ios).result()


def as_text(found: list[Compared]) -> str:
    """A table, to read."""
    lines = ["fio's job     I/Os   us per I/O: pool   array   ratio     +-   growth of the pool's memory"]
    for each in found:
        pool, array = (1e6 * run.cpu_s / run.ios for run in (each.pool, each.array))
        lines.append(
            f"{each.pattern:<10} {each.pool.ios:>9,} {pool:>17.1f} {array:>7.1f} {median(each.ratios):>7.2f} "
            f"{spread(list(each.ratios)):>6.1%}   {each.growth_mib:.1f} MiB"
        )
    return "\n".join([*lines, f"aim: a ratio of at most {RATIO_AIM:g}"])
