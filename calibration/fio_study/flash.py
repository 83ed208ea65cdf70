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
_OF_CABLE = 0.8
"""Writes that reach this share of what the cable takes, or of the reads, do not tell what the flash takes."""
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
    rate, write_rate
        Most bytes a second that were read and written in order.
    iops, write_iops
        Most reads and most writes at random a second, with many outstanding.
    latency_s, write_latency_s
        Of reads and of writes at random, one at a time (s).
    flush_s
        Of a flush after each write at random, one at a time (s): what a write takes more with it.
    capacity
        Bytes of the device.
    """

    rate: float | None = None
    iops: float | None = None
    latency_s: float | None = None
    flush_s: float | None = None
    write_rate: float | None = None
    write_iops: float | None = None
    write_latency_s: float | None = None
    capacity: int | None = None


def seen(jobs: Sequence[FioJob], capacity: int | None = None) -> Seen:
    """What jobs that the model has a load for tell of the drive, which has this capacity if it is known."""
    plain = [job for job in jobs if job.unlike is None]
    synced = [job for job in plain if job.fsync == 1 and job.depth * job.jobs == 1 and job.read_share == 0]
    flushes = [
        1.0 / job.measured["iops"] - job.measured["write_mean_seconds"]
        for job in synced
        if job.measured.get("iops") and "write_mean_seconds" in job.measured
    ]
    rates, most, alone = _by_direction(plain, "read", 1.0)
    write_rates, most_writes, writes_alone = _by_direction(plain, "write", 0.0)
    return Seen(
        rate=max(rates, default=None),
        iops=max(most, default=None),
        latency_s=min(alone, default=None),
        flush_s=min(flushes, default=None),
        write_rate=max(write_rates, default=None),
        write_iops=max(most_writes, default=None),
        write_latency_s=min(writes_alone, default=None),
        capacity=capacity,
    )


def _by_direction(plain: Sequence[FioJob], op: str, share: float) -> tuple[list[float], list[float], list[float]]:
    """Rates in order, I/Os a second at random with many outstanding, and latencies of one at a time, of one direction.

    A write that is flushed tells neither: the flush is in it.
    """
    these = [job for job in plain if job.read_share == share and not job.fsync]

    def found(some: Sequence[FioJob], figure: str) -> list[float]:
        return [value for job in some if (value := job.measured.get(figure, 0.0)) > 0]

    random = [job for job in these if not job.sequential]
    return (
        found([job for job in these if job.sequential and job.block_size >= _LARGE], "rate"),
        found([job for job in random if job.depth * job.jobs >= _DEEP], "iops"),
        found([job for job in random if job.depth * job.jobs == 1], f"{op}_mean_seconds"),
    )


def expected(spec: SolidStateSpec) -> Seen:
    """What jobs would tell of a drive of the catalogue, by the part of it that limits each figure."""
    parts = spec.by_commands
    bus = min(spec.interface_rate, spec.channels * spec.channel_rate)
    reads = parts.dies * parts.planes * parts.page / parts.read_time
    writes = min(bus, program_rate(spec))
    return Seen(
        rate=min(bus, reads),
        iops=min(spec.command_rate, parts.dies / parts.read_time),
        latency_s=spec.read_time + spec.read_overhead + _HOST_S,
        flush_s=spec.write_overhead if spec.flush_time is None else spec.flush_time,
        write_rate=writes,
        write_iops=min(spec.command_rate, writes / spec.mapping_unit),
        write_latency_s=spec.write_overhead + _HOST_S,
        capacity=spec.capacity,
    )


def program_rate(spec: SolidStateSpec) -> float:
    """Bytes a second that the flash takes, as one bit per cell if the drive writes so first."""
    at_once = min(spec.dies, spec.programs_at_once or spec.dies)
    if spec.slc_cache and spec.slc_program_time:
        return at_once * spec.planes * spec.page / spec.slc_program_time
    return at_once * spec.planes * spec.page * spec.bits_per_cell / spec.program_time


_WEIGHTS = {
    "rate": 1.0,
    "iops": 1.0,
    "latency_s": 1.0,
    "write_rate": 1.0,
    "write_iops": 1.0,
    "write_latency_s": 0.5,
    "flush_s": 0.2,
    "capacity": 0.05,
}
"""What the square of ln(catalogue / seen) of a figure counts. Drives of a class have the first in common. Flushes tell
drives for servers from others, but differ a hundredfold; the size is taken over anyway."""
_AT_LEAST = ("iops", "write_iops", "write_rate")
"""Figures that the host may have limited: a drive that is faster is no further away."""
_HOST_S = 10e-6
"""Of a latency of one I/O, what the system call, the block layer and the interrupt take (assumed; 5 to 15 us)."""


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
    fastest = max((rate for rate in (drive.rate, drive.write_rate) if rate is not None), default=0.0)

    def distance(name: str) -> tuple[bool, bool, float, str]:
        spec = solid_state(name)
        usual = expected(spec)
        terms = []
        for figure, weight in _WEIGHTS.items():
            wanted = getattr(drive, figure)
            if wanted is not None and wanted > 0:
                more = math.log(getattr(usual, figure) / wanted)
                terms.append(weight * (min(0.0, more) if figure in _AT_LEAST else more) ** 2)
        other = of_interface is not None and spec.interface.startswith("PCIe") != (of_interface == "PCIe")
        return fastest > _CABLE * spec.interface_rate, other, sum_in_order(terms), name

    plugged_in = [name for name in solid_state_names() if not solid_state(name).interface.startswith("memory")]
    return min(plugged_in, key=distance)


def begun_with(spec: SolidStateSpec, drive: Seen) -> dict[str, Any]:
    """Overrides to begin a fit with: a read takes as long, and as many are done a second, as was seen.

    Writes in order that are slower than the drive's cable say how long a program takes; faster ones do not.
    """
    values: dict[str, Any] = {}
    if drive.latency_s is not None:
        share = _without_host(drive.latency_s) / (spec.read_time + spec.read_overhead)
        for field in ("read_time", "read_overhead", "write_overhead"):
            values[field] = time_text(share * getattr(spec, field))
    if drive.write_latency_s is not None:
        values["write_overhead"] = time_text(_without_host(drive.write_latency_s))
    if drive.flush_s is not None and drive.flush_s > 0:
        values["flush_time"] = time_text(drive.flush_s)
    most = max((iops for iops in (drive.iops, drive.write_iops) if iops is not None), default=None)
    if most is not None:
        values["command_rate"] = float(f"{most:.6g}")
    if drive.write_rate is not None and drive.write_rate < _OF_CABLE * min(spec.interface_rate, drive.rate or math.inf):
        longer = program_rate(spec) / drive.write_rate
        for field in ("program_time", "slc_program_time"):
            if getattr(spec, field) is not None:
                values[field] = time_text(longer * getattr(spec, field))
    return values


def _without_host(latency_s: float) -> float:
    """What is left of a latency for the drive: half of it at least."""
    return max(latency_s - _HOST_S, latency_s / 2)


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
