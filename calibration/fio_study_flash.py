"""The solid-state drive of the catalogue that a measured one is fitted from, made as large as it is.

A measurement does not tell what is inside: the nearest drive in rates and latencies lends its dies, channels and
caches, and the fit moves its times. A virtual disk is fitted the same way, as what its guest sees of somebody's drives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..model.drives import drive, solid_state_names
from ..model.solid_state.spec import SolidStateSpec
from .fio_study_jobs import FioJob

_LARGE = 128 << 10
"""Reads in order of so many bytes run at the rate of the cable or of all channels."""
_DEEP = 16
"""Random reads with as many outstanding come near to what the controller takes."""
_SPARE = 8
"""Superblocks that a drive has beyond its capacity, at least, so that garbage collection has something to choose."""
_FEWEST_PAGES = 16


def solid_state(name: str) -> SolidStateSpec:
    """A solid-state drive of the catalogue."""
    spec = drive(name)
    assert isinstance(spec, SolidStateSpec)
    return spec


def nearest(jobs: Sequence[FioJob]) -> str:
    """The catalogue's drive nearest in what was measured: rate in order, most random reads, and one at a time."""
    plain = [job for job in jobs if job.unlike is None]
    rates = [job.measured["rate"] for job in plain if job.sequential and job.block_size >= _LARGE and _has(job, "rate")]
    random = [job for job in plain if not job.sequential and job.read_share == 1]
    many = [job.measured["iops"] for job in random if job.depth * job.jobs >= _DEEP and _has(job, "iops")]
    alone = [
        job.measured["read_mean_seconds"]
        for job in random
        if job.depth * job.jobs == 1 and _has(job, "read_mean_seconds")
    ]

    def distance(name: str) -> tuple[float, str]:
        spec = solid_state(name)
        apart = [
            *(math.log(spec.interface_rate / max(each)) for each in (rates,) if each),
            *(math.log(spec.command_rate / max(each)) for each in (many,) if each),
            *(math.log((spec.read_time + spec.read_overhead) / min(each)) for each in (alone,) if each),
        ]
        return sum(each * each for each in apart), name

    return min(solid_state_names(), key=distance)


def _has(job: FioJob, figure: str) -> bool:
    return job.measured.get(figure, 0.0) > 0


def resized(spec: SolidStateSpec, capacity: int) -> dict[str, Any]:
    """Overrides that give a drive another capacity, by the size of its blocks: it stays as parallel as it is."""
    capacity -= capacity % spec.mapping_unit
    share = capacity / spec.capacity
    pages = max(_FEWEST_PAGES, round(spec.pages_per_block * share))
    superblock = spec.dies * spec.planes * pages * spec.page
    flash = max(int(spec.flash * share), capacity + _SPARE * superblock)
    values: dict[str, Any] = {"capacity": f"{capacity}B", "flash": f"{flash}B", "pages_per_block": pages}
    if spec.slc_cache:
        values["slc_cache"] = f"{int(spec.slc_cache * share)}B"
    return values


def cable(spec: SolidStateSpec) -> str:
    """The kind of channel that it hangs on."""
    if spec.interface.startswith("PCIe"):
        return "pcie"
    return "sas" if spec.interface.startswith("SAS") else "sata"
