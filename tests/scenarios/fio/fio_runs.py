"""Job files run on small machines, for the tests of their runs."""

from __future__ import annotations

from typing import Any

from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.result import FioRun, JobResult
from raidsim.scenarios.fio.run import FioOptions, run_fio

MIB = 1 << 20
DISKS = """
name: two disks
machine: {drives: {model: Generic-20GB-ATA, count: 2}, memory: 256MiB, resident: 64MiB}
arrays: {md0: {level: raid0, chunk: 64KiB}}
workload: {kind: load}
"""
FILES = """
name: files
machine: {drives: {model: Generic-20GB-ATA, count: 2}, memory: 256MiB, resident: 64MiB}
arrays: {md0: {level: raid0, chunk: 64KiB}}
file_systems: {/raid: {kind: ext3, on: md0, size: 2GiB}}
workload: {kind: programs, steps: [{program: dd, size: 1MiB}]}
"""


def scenario(text: str = DISKS) -> ScenarioSpec:
    """A scenario from its text."""
    return document_from(text).spec()


def run(job: str, on: str = DISKS, **options: Any) -> FioRun:
    """The jobs of a job file, which is written with blanks between the lines: "[a] rw=read bs=4k"."""
    return run_fio(scenario(on), sections("\n".join(job.split()), "a.fio"), FioOptions(**options))


def only(job: str, on: str = DISKS, **options: Any) -> JobResult:
    """The only job of one."""
    (found,) = run(job, on, **options).jobs
    return found
