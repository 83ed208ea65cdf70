"""The solid-state drive of the catalogue that a measured one is fitted from, made as large as it is.

A measurement does not tell what is inside: the nearest drive in rates and latencies lends its dies, channels and
caches, and the fit moves its times. A virtual disk is fitted the same way, as what its guest sees of somebody's drives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...model.core.exact_sums import sum_in_order
from ...model.drives.catalogue import drive, solid_state_names
from ...model.solid_state.spec import SolidStateSpec
from ..study.value_text import time_text
from .jobs import FioJob

_LARGE = 128 << 10
"""Reads in order of so many bytes run at the rate of the cable or of all channels."""
_DEEP = 16
"""Random reads with as many outstanding come near to what the controller takes."""
_CABLE = 1.1
"""Caches make reads faster than a cable by so much, at most."""
_SPARE = 8
"""Superblocks that a drive has beyond its capacity, at least, so that garbage collection has something to choose."""
_FEWEST_PAGES = 16
_INTERFACES = {"nvme": "PCIe", "sd": "SATA or SAS"}
"""Interfaces by what names of devices begin with (Documentation/admin-guide/devices.rst)."""


def solid_state(name: str) -> SolidStateSpec:
    """A solid-state drive of the catalogue."""
    spec = drive(name)
    assert isinstance(spec, SolidStateSpec)
    return spec


@dataclass(frozen=True, slots=True)
class Seen:
    """What the jobs tell of a drive at once; None where none of them does.

    Attributes
    ----------
    rate
        Most bytes a second, in order.
    iops
        Most reads at random a second, with many outstanding.
    latency_s
        Of reads at random, one at a time (s).
    flush_s
        Of a flush after each write at random, one at a time (s): what a write takes more with it.
    """

    rate: float | None
    iops: float | None
    latency_s: float | None
    flush_s: float | None = None


def seen(jobs: Sequence[FioJob]) -> Seen:
    """What jobs that the model has a load for tell of the drive."""
    plain = [job for job in jobs if job.unlike is None]
    random = [job for job in plain if not job.sequential and job.read_share == 1]

    def found(these: Sequence[FioJob], figure: str) -> list[float]:
        return [value for job in these if (value := job.measured.get(figure, 0.0)) > 0]

    rates = found([job for job in plain if job.sequential and job.block_size >= _LARGE], "rate")
    most = found([job for job in random if job.depth * job.jobs >= _DEEP], "iops")
    alone = found([job for job in random if job.depth * job.jobs == 1], "read_mean_seconds")
    synced = [job for job in plain if job.fsync == 1 and job.depth * job.jobs == 1 and job.read_share == 0]
    flushes = [
        1.0 / job.measured["iops"] - job.measured["write_mean_seconds"]
        for job in synced
        if job.measured.get("iops") and "write_mean_seconds" in job.measured
    ]
    return Seen(max(rates, default=None), max(most, default=None), min(alone, default=None), min(flushes, default=None))


def nearest(drive: Seen, device: str | None = None) -> str:
    """The catalogue's drive nearest in what was seen, of those whose cable is fast enough for it.

    Parameters
    ----------
    drive
        What the jobs tell of it.
    device
        Its name in the system, if it is known: that of an NVMe drive begins with "nvme", that of a SATA or SAS drive
        with "sd". Drives of that interface go before others.
    """
    of_interface = next((name for prefix, name in _INTERFACES.items() if device and device.startswith(prefix)), None)

    def distance(name: str) -> tuple[bool, bool, float, str]:
        spec = solid_state(name)
        pairs = [
            (spec.interface_rate, drive.rate),
            (spec.command_rate, drive.iops),
            (spec.read_time + spec.read_overhead, drive.latency_s),
        ]
        too_slow = drive.rate is not None and drive.rate > _CABLE * spec.interface_rate
        other = of_interface is not None and spec.interface.startswith("PCIe") != (of_interface == "PCIe")
        return (
            too_slow,
            other,
            sum_in_order(math.log(has / wanted) ** 2 for has, wanted in pairs if wanted is not None),
            name,
        )

    plugged_in = [name for name in solid_state_names() if not solid_state(name).interface.startswith("memory")]
    return min(plugged_in, key=distance)


def begun_with(spec: SolidStateSpec, drive: Seen) -> dict[str, Any]:
    """Overrides to begin a fit with: a read takes as long, and as many are done a second, as was seen."""
    values: dict[str, Any] = {}
    if drive.latency_s is not None:
        share = drive.latency_s / (spec.read_time + spec.read_overhead)
        for field in ("read_time", "read_overhead", "write_overhead"):
            values[field] = time_text(share * getattr(spec, field))
    if drive.flush_s is not None and drive.flush_s > 0:
        values["flush_time"] = time_text(drive.flush_s)
    if drive.iops is not None:
        values["command_rate"] = float(f"{drive.iops:.6g}")
    return values


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
